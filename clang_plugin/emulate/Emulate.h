// SPDX-License-Identifier: Apache-2.0
// Builds a slice into a module that the emulated device runs.
#pragma once

#include <string>
#include <vector>

namespace kopt::frontend::emulate {

struct EmulateRequest {
  std::string slice;              ///< the whole text
  std::string expression;         ///< names the kernel: qualified, with template arguments
  std::vector<std::string> flags; ///< nvcc's
  std::string directory;          ///< that relative paths of the flags and includes are meant from
  std::string output; ///< absolute path of the shared object; written whole or not at all
};

struct EmulateReply {
  bool ok = false;
  std::string log;    ///< diagnostics, also warnings of a success
  std::string symbol; ///< mangled name of the kernel
};

/// Compiles, instruments and links. Never runs anything of the slice. Failures are `ok == false`
/// with their reason.
EmulateReply emulate(const EmulateRequest &request);

} // namespace kopt::frontend::emulate
