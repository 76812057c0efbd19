// SPDX-License-Identifier: Apache-2.0
// Runs NVIDIA's nvdisasm, if it is installed.
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

  /// Lists the code of a cubin. Fails with the reason if there is no nvdisasm, and with Internal if
  /// it cannot list the module: its version may be older than nvcc's.
  Result<SassListing> list(const std::filesystem::path &cubin) const;

private:
  ProcessRunner &processes_;
  Result<std::filesystem::path> program_;
  CompilerSandbox sandbox_;
};

} // namespace kopt
