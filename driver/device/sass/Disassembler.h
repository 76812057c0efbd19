// SPDX-License-Identifier: Apache-2.0
// NVIDIA's nvdisasm, where it is installed.
#pragma once

#include "driver/device/sass/SassListing.h"
#include "driver/sandbox/CompilerSandbox.h"

namespace kopt {

class Disassembler {
public:
  /// `program` is nvdisasm, or why there is none.
  Disassembler(ProcessRunner &processes, Result<std::filesystem::path> program,
               CompilerSandbox sandbox = CompilerSandbox())
      : processes_(processes), program_(std::move(program)), sandbox_(std::move(sandbox)) {}

  /// The code of a cubin. Fails with the reason where there is no nvdisasm, and with Internal where
  /// it does not list the module: its version may be older than the toolkit's.
  Result<SassListing> list(const std::filesystem::path &cubin) const;

private:
  ProcessRunner &processes_;
  Result<std::filesystem::path> program_;
  CompilerSandbox sandbox_;
};

} // namespace kopt
