// SPDX-License-Identifier: Apache-2.0
// NVIDIA's nvdisasm, where it is installed.
#pragma once

#include "driver/device/sass/SassListing.h"
#include "driver/sandbox/CompilerSandbox.h"

#include <optional>

namespace kopt {

class Disassembler {
public:
  /// `program` is nvdisasm, or nothing where it is not installed.
  Disassembler(ProcessRunner &processes, std::optional<std::filesystem::path> program,
               CompilerSandbox sandbox = CompilerSandbox())
      : processes_(processes), program_(std::move(program)), sandbox_(std::move(sandbox)) {}

  /// The code of a cubin. Fails with Environment where there is no nvdisasm, saying where it is
  /// looked for, and with Internal where it does not list the module: its version may be older than
  /// the toolkit's.
  Result<SassListing> list(const std::filesystem::path &cubin) const;

private:
  ProcessRunner &processes_;
  std::optional<std::filesystem::path> program_;
  CompilerSandbox sandbox_;
};

/// nvdisasm as NVDISASM_PATH names it (the program or its folder, as cuobjdump reads it), in PATH,
/// or beside the CUDA toolkit.
std::optional<std::filesystem::path> findDisassembler();

} // namespace kopt
