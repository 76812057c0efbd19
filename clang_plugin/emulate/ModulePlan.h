// SPDX-License-Identifier: Apache-2.0
// What the passes over the LLVM module of an emulated kernel are told, and what they find.
#pragma once

#include <string>
#include <vector>

namespace kopt::frontend::emulate {

struct ModulePlan {
  std::string kernel;          ///< mangled name of the kernel that is kept
  std::string headerDirectory; ///< kopt's own headers, in which no finding is reported
  struct Parameter {
    unsigned long long bytes, alignment;
  };
  std::vector<Parameter> parameters;
  unsigned maxThreads = 0;         ///< from __launch_bounds__
  std::vector<std::string> errors; ///< set by the passes: what cannot be emulated, with its line
  std::vector<std::string> reads;  ///< files that Clang read
  bool isLimit = false;            ///< Clang refuses what cannot be emulated either
};

} // namespace kopt::frontend::emulate
