// SPDX-License-Identifier: Apache-2.0
// What a kernel does with memory, as plain data: its accesses with their subscripts, its loops,
// barriers and conditions. Read from the kernel's device IR, so that nothing is a guess: what could
// not be determined is absent, with the reason. Lines, columns and offsets are those of the slice.
#pragma once

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/model/Polynomial.h"

namespace kopt::frontend::model {

struct Place {
  unsigned line = 0, column = 0; ///< from 1; line 0: unknown
  /// The bytes of the expression; none if a macro spells it, or no single expression stands there.
  std::optional<TextRange> range = {};
};

/// The polynomial is the value that the kernel computes only if it fits into an integer of this
/// size: arithmetic of C++ that could wrap is not assumed not to.
struct Assumption {
  Polynomial value;
  unsigned bits = 32;
  bool isSigned = true;
  bool operator==(const Assumption &) const = default;
};

enum class AccessKind { Load, Store, Atomic };
enum class MemorySpace { Global, Shared, Local, Constant, Unknown };
constexpr auto spellings(AccessKind) {
  return std::to_array<std::string_view>({"load", "store", "atomic"});
}
constexpr auto spellings(MemorySpace) {
  return std::to_array<std::string_view>({"global", "shared", "local", "constant", "unknown"});
}

/// A branch that decides whether something is reached.
struct Reached {
  unsigned condition = 0; ///< number in KernelModel::conditions
  bool when = true;       ///< the value of the condition for which it is reached
};

struct Access {
  Place place;
  std::string text;              ///< "a[i * n + j]"; empty: see Place::range
  std::vector<Place> calls = {}; ///< if it is in a called function: the calls, the kernel's last
  AccessKind kind = AccessKind::Load;
  MemorySpace space = MemorySpace::Unknown;
  /// The parameter, shared variable or local array; "rows[i]" for a pointer that was loaded. Empty
  /// if unknown.
  std::string root;
  bool isParameter = false; ///< the root is a parameter of the kernel, or a member of one
  unsigned bytes = 0;
  /// From the root, in bytes, modulo 2^64.
  std::optional<Polynomial> offset = {};
  /// What `offset` rests on: numbers in KernelModel::assumptions.
  std::set<unsigned> assumptions = {};
  std::string whyUnknown; ///< why there is no offset
  /// Bytes from one thread to the next along x, y, z, in the same iteration of all loops. 0: they
  /// read the same place.
  std::array<std::optional<Polynomial>, 3> strides = {};
  std::vector<unsigned> loops = {};                        ///< around it, the outermost first
  std::vector<std::optional<Polynomial>> loopStrides = {}; ///< bytes from iteration to iteration
  std::vector<Reached> reached = {}; ///< what decides, the outermost first; not the loops around it
  bool isVolatile = false;
};

enum class Relation { Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual };
constexpr auto spellings(Relation) {
  return std::to_array<std::string_view>({"<", "<=", ">", ">=", "==", "!="});
}

struct Comparison {
  Polynomial left, right;
  Relation relation = Relation::Less;
  std::set<unsigned> assumptions = {};
};

/// True if the comparison, where it is `when`, keeps the side that has this symbol below the other.
bool isUpperLimit(const Comparison &comparison, bool when, unsigned symbol);

/// A branch of the kernel.
struct Condition {
  Place place; ///< of the comparison
  std::string text;
  std::optional<Comparison> compared = {}; ///< where it compares integers that are known
  bool isUniform = false; ///< the threads of a block that come here together decide alike
  /// The kernel ends without another effect where the condition has the value `endsWhen`.
  bool endsKernel = false, endsWhen = false;
  /// It compares what differs from block to block and from thread to thread with what the launch
  /// passes: `i < n`.
  bool isGuard = false;
};

enum class ReductionKind { Add, Multiply, And, Or, Xor, Min, Max, FAdd, FMultiply, FMin, FMax };
constexpr auto spellings(ReductionKind) {
  return std::to_array<std::string_view>(
      {"add", "multiply", "and", "or", "xor", "min", "max", "fadd", "fmultiply", "fmin", "fmax"});
}

/// A variable that a loop only accumulates into: each iteration combines it with one value that
/// does not depend on it, and nothing else in the loop reads it.
struct Reduction {
  ReductionKind kind = ReductionKind::Add;
  std::string name; ///< of the variable; empty if unknown
  unsigned line = 0;
  unsigned bits = 0;
  bool isConditional = false; ///< some iterations may leave it as it is
};

struct LoopFacts {
  Place place; ///< of `for`, `while` or `do`
  /// `for (counter = first; counter relation bound; counter += step)`, where the loop is one. The
  /// bound does not change in the loop.
  std::string counter;
  std::optional<Polynomial> first = {}, step = {}, bound = {};
  Relation relation = Relation::Less;
  std::set<unsigned> assumptions = {};
  std::optional<std::uint64_t> trips = {};     ///< where it is a constant
  std::optional<std::uint64_t> mostTrips = {}; ///< a constant that it does not exceed
  bool isUniform = false; ///< the threads of a block that enter it together leave it together
  bool hasStores = false, hasAtomics = false, hasBarriers = false, hasCalls = false;
  std::optional<Place> otherExit = {}; ///< break, return, or a second condition
  bool carriesMore = false; ///< maybe, values other than the counter to the next iteration
  /// It strides over the grid along this axis: `first` is blockIdx times `gridWidth` and something
  /// without the grid, `step` is gridDim times `gridWidth`.
  std::optional<unsigned> gridAxis = {};
  Polynomial gridWidth = {};
  std::vector<Reduction> reductions = {};
};

enum class BarrierKind { Block, Warp, Other };
constexpr auto spellings(BarrierKind) {
  return std::to_array<std::string_view>({"block", "warp", "other"});
}

struct Barrier {
  Place place;
  BarrierKind kind = BarrierKind::Block;
  bool isUniform = false; ///< all threads of a block reach it, or none
  std::vector<unsigned> loops = {};
};

/// Something that the model does not see through: a call that is not inlined, inline assembly.
struct Blind {
  Place place;
  std::string what;
};

struct KernelModel {
  std::vector<Symbol> symbols;
  std::vector<Assumption> assumptions;
  std::vector<Access> accesses; ///< in order of lines and columns
  std::vector<LoopFacts> loops; ///< outer ones first, then in order of lines
  std::vector<Barrier> barriers;
  std::vector<Condition> conditions;
  std::vector<Blind> blind; ///< each may read and write any memory
  /// Along each axis, where blockIdx or gridDim does anything but begin and step the loops that
  /// stride over the grid.
  std::array<std::vector<Blind>, 3> gridUses = {};

  /// The symbol of a coordinate or an iteration; one that no polynomial has if there is none.
  unsigned coordinate(SymbolKind kind, unsigned index) const;
};

/// Fails if the slice does not parse, or is too large or too damaged for code generation.
llvm::Expected<KernelModel> makeModel(const KernelSource &source);
/// The same of a slice that is open.
llvm::Expected<KernelModel> makeModel(const KernelView &view);

/// The values that a polynomial can have: in that launch, or in any. Nothing if they are not known.
std::optional<Range> rangeOf(const Polynomial &polynomial, const KernelModel &model,
                             const LaunchShape *launch = nullptr);

/// Whether they are all of an integer type.
bool fits(const std::optional<Range> &values, unsigned bits, bool isSigned);

/// The value in a launch, if there is only one; without a launch, in all.
std::optional<std::int64_t> valueOf(const Polynomial &polynomial, const KernelModel &model,
                                    const LaunchShape *launch);

/// True if these assumptions hold in the launch.
bool hold(const std::set<unsigned> &assumptions, const KernelModel &model,
          const LaunchShape &launch);

} // namespace kopt::frontend::model
