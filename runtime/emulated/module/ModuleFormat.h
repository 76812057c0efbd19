// SPDX-License-Identifier: Apache-2.0
// The description that an emulated module (a shared object built by clang_plugin/emulate) contains
// for the runtime: a constant of type ModuleInfo with the name kModuleSymbol. The instrumentation
// writes it, EmulatedModule reads it. It has plain C layout.
#pragma once

#include <cstdint>

namespace kopt::runtime::emulated {

inline constexpr const char *kModuleSymbol = "kopt_emulated_module";
inline constexpr std::uint32_t kModuleVersion = 2;

enum class SiteKind : std::uint32_t {
  Load,
  Store,
  Atomic,
  Copy,
  Fill,
  Barrier,
  WarpOperation,
  Fence,
  Trap,
  Local
};

/// One place in the source that is reported to the runtime.
struct Site {
  const char *file;
  std::uint32_t line, column;
  SiteKind kind;
  std::uint32_t bytes; ///< of one access; 0 if it varies
  std::uint32_t flags; ///< SiteFlag
  std::uint32_t block; ///< index into BlockInfo
};
enum SiteFlag : std::uint32_t {
  /// An integer load that may copy a struct with its padding, so that partly initialised bytes are
  /// not an error.
  kMayBePadded = 1,
  kVolatile = 2,
};

/// Instructions of one basic block by class, as a GPU would count them.
enum class InstructionClass : std::uint32_t {
  All,
  FloatAdd,
  FloatMul,
  FloatFma,
  DoubleAdd,
  DoubleMul,
  DoubleFma,
  HalfAdd,
  HalfMul,
  HalfFma,
  Integer,
  Special, ///< square roots, divisions, transcendental functions
  Conversion,
  Branch,
  Memory,
  Barrier,
  Count
};
inline constexpr std::uint32_t kInstructionClasses =
    static_cast<std::uint32_t>(InstructionClass::Count);

struct BlockInfo {
  std::uint32_t instructions[kInstructionClasses];
  std::uint32_t endsInConditionalBranch;
};

/// The instructions of one basic block that come from one line of the source.
struct LineInfo {
  const char *file; ///< empty: no line is known
  std::uint32_t line, block;
  std::uint32_t instructions; ///< of class All
};

/// A __device__ or __constant__ variable. The runtime allocates it on the device and stores its
/// address in `*slot`.
struct GlobalInfo {
  const char *name;
  const void *initial;
  std::uint64_t bytes, alignment;
  void **slot;
};

struct ParameterInfo {
  std::uint64_t bytes, alignment;
};

struct ModuleInfo {
  std::uint32_t version;
  std::uint32_t parameterCount;
  const ParameterInfo *parameters;
  const char *kernelSymbol;
  void (*call)(
      void *kernel,
      void **arguments); ///< calls `kernel` with arguments[i] pointing to the i-th parameter
  void *kernel;
  std::uint32_t staticSharedBytes, dynamicSharedOffset;
  /// maxThreads: from __launch_bounds__; 0: none.
  std::uint32_t siteCount, blockCount, globalCount, maxThreads;
  const Site *sites;
  const BlockInfo *blocks;
  const GlobalInfo *globals;
  std::uint32_t lineCount;
  const LineInfo *lines; ///< of all blocks
};

} // namespace kopt::runtime::emulated
