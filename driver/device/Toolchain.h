// SPDX-License-Identifier: Apache-2.0
// Builds modules: with nvcc for a CUDA device, with the front end's emulation compiler for the
// emulated one.
#pragma once

#include "driver/support/Result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// How the additions, multiplications, divisions and roots of a kernel in double precision round.
/// Another rounding gives another result that is as right: how far it is away tells how large the
/// kernel's own error is.
enum class Rounding { Nearest, Up, Down };

struct BuildRequest {
  std::string sliceText, expression; ///< of the rendered slice
  std::string symbol;                ///< the kernel's symbol; empty: the only kernel
  std::string arch;                  ///< "sm_90"
  std::vector<std::string> flags;    ///< the user's own nvcc flags
  std::string directory;             ///< directory that paths in flags are relative to
  /// Path of the module. Its folder belongs to this build alone: the compiler may write there and
  /// nowhere else.
  std::filesystem::path output;
  /// Only nvcc builds for another rounding; fused multiply-adds then still round to nearest.
  Rounding rounding = Rounding::Nearest;
  /// Without optimisation, and on the emulated device with other contents in variables that are not
  /// initialised: what the source leaves undefined shows.
  bool unoptimized = false;
};

/// What a build failed by.
enum class BuildFault {
  Source,   ///< it does not compile
  Compiler, ///< the compiler crashed on it, or did not end
  Device,   ///< it has something that the emulated device cannot run
};

struct BuildOutcome {
  bool ok = false;
  BuildFault fault = BuildFault::Source; ///< if it is not ok
  std::filesystem::path module;
  std::string
      log; ///< diagnostics as cleanDiagnostics() leaves them, without the scratch folder's name
  std::string hash;                   ///< of the machine code: equal hashes mean the same program
  std::vector<std::string> externals; ///< functions that it calls but does not define
  /// The files that the compiler read besides the request's text, as it names them. Unset if that
  /// is not known, or if the outcome is not the text's own: a time limit, a crash.
  std::optional<std::vector<std::string>> reads{};
};

enum class ToolchainKind { Nvcc, Emulated };

class Toolchain {
public:
  virtual ~Toolchain() = default;
  virtual ToolchainKind kind() const = 0;
  virtual std::string name() const = 0; ///< "nvcc 13.0.88", "emulated (clang 19.1.7)"
  virtual Result<BuildOutcome> build(const BuildRequest &request) = 0;
  /// The programs that make a module, and their own data; none: they are not known.
  virtual std::vector<std::filesystem::path> programs() const { return {}; }
};

/// Bytes of a module; a larger one is refused, because no kernel needs that much.
inline constexpr std::uintmax_t kLargestModule = 64u << 20;

} // namespace kopt
