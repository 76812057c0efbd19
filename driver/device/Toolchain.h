// SPDX-License-Identifier: Apache-2.0
// Builds what runs: nvcc for a CUDA device, the front end's emulation compiler for the emulated
// one.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

struct BuildRequest {
  std::string sliceText, expression; ///< as rendered
  std::string symbol;                ///< wanted kernel, empty: the only one
  std::string arch;                  ///< "sm_90"
  std::vector<std::string> flags;    ///< the user's own nvcc flags
  std::string directory;             ///< where relative flags are meant from
  /// Where the module goes. Its folder is this build's alone: the compiler may write there and
  /// nowhere else.
  std::filesystem::path output;
};

struct BuildOutcome {
  bool ok = false;
  std::filesystem::path module;
  std::string
      log; ///< diagnostics as cleanDiagnostics() leaves them, without the scratch folder's name
  std::string hash;                   ///< of the machine code: equal hashes are the same program
  std::vector<std::string> externals; ///< what it calls and does not hold
};

enum class ToolchainKind { Nvcc, Emulated };

class Toolchain {
public:
  virtual ~Toolchain() = default;
  virtual ToolchainKind kind() const = 0;
  virtual std::string name() const = 0; ///< "nvcc 13.0.88", "emulated (clang 19.1.7)"
  virtual Result<BuildOutcome> build(const BuildRequest &request) = 0;
};

/// A module larger than this is refused: no kernel needs that much.
inline constexpr std::uintmax_t kLargestModule = 64u << 20;

} // namespace kopt
