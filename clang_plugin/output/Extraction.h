// SPDX-License-Identifier: Apache-2.0
// What extraction finds, as plain data: the model that the front end, its cache and the driver
// share. kernels.schema.json describes its JSON. Byte ranges are half open and count from the start
// of the file as it was when it was read (see fileHashes). A new member does not compile until it
// is in its record's list, and the test of the schema fails until it is in the schema.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct SourceRange {
  std::string file;
  std::uint64_t begin = 0, end = 0;
  bool operator==(const SourceRange &) const = default;
};
KOPT_FIELDS(SourceRange, file, begin, end)

enum class ParamKind { Pointer, Scalar, Struct };
constexpr auto spellings(ParamKind) {
  return std::to_array<std::string_view>({"pointer", "scalar", "struct"});
}

/// A number in a value that consists of several.
struct ParamMember {
  std::string name; ///< its access path: "x", "origin.x", "weights[2]"
  std::string scalar;
  std::uint32_t offset = 0; ///< bytes
};
KOPT_FIELDS(ParamMember, name, scalar, offset)

struct KernelParam {
  std::string name;
  std::string type; ///< as the user would spell it after template substitution
  ParamKind kind = ParamKind::Scalar;
  std::uint32_t size = 0, align = 0; ///< bytes, in the device ABI
  /// f16, bf16, f32, f64, i8..i64, u8..u64 or bool: the scalar of the type or, for a pointer, of
  /// the element that it points to. For an element with several kinds of scalars, or with gaps,
  /// "struct 16 f32 0 i32 4 ...": its size in bytes, and each scalar with its offset
  /// (runtime::StructType). Empty if the element contains anything else, such as a pointer. "empty"
  /// for a struct that is passed by value and has no members: a lambda that captures nothing.
  std::string scalar;
  std::uint32_t components = 1;  ///< scalars of an element: 4 of float4
  std::uint32_t pointeeSize = 0; ///< bytes of one pointed-to element
  bool pointeeConst = false, restrict = false;
  /// Integers that the kernel compares it with by ==, != or as cases of a switch, and those beside
  /// the ones that it is tested to be less or more than.
  std::vector<std::int64_t> comparedWith{};
  /// The numbers of a struct or vector that is passed by value, in order. Empty if it contains
  /// anything else, such as a pointer.
  std::vector<ParamMember> members{};
};
KOPT_FIELDS(KernelParam, name, type, kind, size, align, scalar, components, pointeeSize,
            pointeeConst, restrict, comparedWith, members)

struct TemplateArg {
  std::string name, value; ///< "TILE", "32" or "T", "float"
  bool integral = false;
  std::optional<SourceRange> range; ///< what to edit so that the launch uses another value
};
KOPT_FIELDS(TemplateArg, name, value, integral, range)

/// Code of the unit outside a slice that uses code of the slice.
struct OutsideUser {
  std::string name, file;
  unsigned line = 0;
  bool host = false;
};
KOPT_FIELDS(OutsideUser, name, file, line, host)

/// A name in code outside the kernel's slices: a new declaration of the name could change the
/// meaning of that code.
struct OutsideNamed {
  std::string name;
  /// True for a function or type that is called or declared there. False for any other word, which
  /// only a macro would replace.
  bool declared = false;
  OutsideUser user; ///< the first code found that has the name
};
KOPT_FIELDS(OutsideNamed, name, declared, user)

enum class ChunkRole {
  Kernel,
  Function,
  Type,
  Variable,
  Constant,
  Macro,
  Alias,
  Include,
  Instantiation, ///< what the front end adds so that the specialization is emitted
  Other
};
constexpr auto spellings(ChunkRole) {
  return std::to_array<std::string_view>({"kernel", "function", "type", "variable", "constant",
                                          "macro", "alias", "include", "instantiation", "other"});
}

/// A part of the slice, copied from one place of the user's files.
struct SliceChunk {
  SourceRange source;
  std::uint64_t sliceBegin = 0, sliceEnd = 0;
  ChunkRole role = ChunkRole::Other;
  std::string name;      ///< qualified name of what it declares
  bool editable = false; ///< the kernel and the user's device functions and constants
  /// Users outside the slice; at most a few, those that run on the device first.
  std::vector<OutsideUser> users;
  /// False for a header that the kernel does not seem to need, included with the file's others.
  bool needed = true;
};
KOPT_FIELDS(SliceChunk, source, sliceBegin, sliceEnd, role, name, editable, users, needed)

enum class NeedKind {
  Texture, ///< a texture object, which kopt's own launches do not have
  Surface,
  Cooperative, ///< a barrier of the whole grid
};
constexpr auto spellings(NeedKind) {
  return std::to_array<std::string_view>({"texture", "surface", "cooperative"});
}

/// What a kernel needs from its launch besides geometry, arguments and memory.
struct LaunchNeed {
  NeedKind kind = NeedKind::Texture;
  std::string name; ///< of the object, or the barrier, as the user spells it
  std::string file; ///< where it is taken or used
  unsigned line = 0;
  bool isCooperative() const { return kind == NeedKind::Cooperative; }
};
KOPT_FIELDS(LaunchNeed, kind, name, file, line)

/// A __constant__ variable that the kernel reads and that has no initializer: host code sets it
/// before the launch.
struct ConstantVariable {
  std::string name; ///< without its namespaces
  /// nvcc's; within a namespace without what nvcc puts before what only one file sees.
  std::string symbol;
  std::uint64_t bytes = 0;
  std::string type,
      scalar; ///< of its elements: as KernelParam has them of what a pointer points to
};
KOPT_FIELDS(ConstantVariable, name, symbol, bytes, type, scalar)

enum class Route {
  Slice,   ///< a translation unit of its own
  InPlace, ///< candidates are built in the user's file
  Refused, ///< nvcc does not compile the file
};
constexpr auto spellings(Route) {
  return std::to_array<std::string_view>({"slice", "in-place", "refused"});
}

/// The front end's own copy of the slice; others read the file `Specialization::slice`.
struct LiftedText {
  std::string text;
  std::string instantiation; ///< what the slice names so that the kernel is emitted; empty for a
                             ///< kernel that is not a template
};
KOPT_FIELDS(LiftedText, text, instantiation)

struct Specialization {
  std::string symbol;     ///< mangled, as in the PTX of the original
  std::string expression; ///< "ns::stencil<float, 4>"; the kernel's name if it is not a template
  bool fileLocal = false; ///< the symbol holds the file's name: the slice's kernel has another
  std::vector<TemplateArg> templateArgs;
  std::vector<KernelParam> params;
  std::vector<LaunchNeed> needs;
  std::vector<ConstantVariable> constantVariables;
  bool testsNonFinite = false; ///< its code treats infinities or NaNs by themselves
  Route route = Route::Slice;
  std::string slice;   ///< path of the slice file; empty if none was written
  std::string reason;  ///< why it is not a proven slice
  bool proven = false; ///< PTX equal to the original's
  std::vector<SliceChunk> chunks;
  std::size_t kernelChunk = 0;
  std::optional<LiftedText> lifted; ///< nothing in what is printed
};
KOPT_FIELDS(Specialization, symbol, expression, fileLocal, templateArgs, params, needs,
            constantVariables, testsNonFinite, route, slice, reason, proven, chunks, kernelChunk,
            lifted)

/// What a pointer argument is based on: a variable, a member or the result of an accessor, with its
/// value at the launch, and the offset from it. Two arguments of a launch with the same root and
/// offset are the same pointer, however they are spelled.
struct PointerOrigin {
  std::string root; ///< empty: not a pointer, or its base has no name
  /// An expression over numbers and variables of the host program; empty if unknown.
  std::string offset;
  /// What the launching function allocates for a pointer whose offset is 0: such an expression,
  /// too.
  std::string bytes{};
};
KOPT_FIELDS(PointerOrigin, root, offset, bytes)

enum class GeometryKind {
  Exact,
  Symbolic, ///< over variables of the host program
  Unresolved
};
constexpr auto spellings(GeometryKind) {
  return std::to_array<std::string_view>({"exact", "symbolic", "unresolved"});
}

/// A launch in the source. Geometry is given as integer expressions in C syntax over named
/// constants, host variables and kernel arguments; empty if unresolved.
/// The variable that a launch's grid or block is, where its initializer stands in the same file.
struct LaunchVariable {
  SourceRange value; ///< the text of its initializer; without the parentheses or braces around it
  /// Variables that the launching function can name there and whose values stay the same from there
  /// to the launch: an expression over these means the same at both places.
  std::vector<std::string> settled;
};
KOPT_FIELDS(LaunchVariable, value, settled)

struct LaunchSite {
  std::string file;
  unsigned line = 0, column = 0;
  std::string symbol; ///< of the launched specialization; empty if the kernel is not known
  GeometryKind geometry = GeometryKind::Unresolved;
  std::array<std::string, 3> grid, block;
  std::string sharedBytes = "0";
  std::vector<std::string> args;           ///< one expression per kernel parameter, as spelled
  std::vector<std::string> templateArgs{}; ///< as spelled; without those that are deduced
  std::optional<SourceRange> gridRange, blockRange, sharedRange; ///< the launch's own arguments
  std::optional<LaunchVariable> gridVariable{}, blockVariable{}; ///< what those ranges name
  std::vector<std::string> variables;  ///< those of the host program that the expressions name
  std::optional<std::string> reason;   ///< why the geometry is unresolved, or the kernel not known
  std::vector<PointerOrigin> pointers; ///< of each argument
  /// Each integer argument as an expression over numbers and variables of the host program, also
  /// where it is spelled as a variable that was computed before; empty if it cannot be told.
  std::vector<std::string> values;
  /// What holds wherever the function comes to the launch, each such an expression: its own checks
  /// of the sizes, if they can be told.
  std::vector<std::string> guards{};
  std::optional<std::string> callee; ///< as spelled, if the kernel is not known
};
KOPT_FIELDS(LaunchSite, file, line, column, symbol, geometry, grid, block, sharedBytes, args,
            templateArgs, gridRange, blockRange, sharedRange, gridVariable, blockVariable,
            variables, reason, pointers, values, guards, callee)

enum class ConstantKind { Macro, Constexpr, Const, Enum };
constexpr auto spellings(ConstantKind) {
  return std::to_array<std::string_view>({"macro", "constexpr", "const", "enum"});
}

/// A named integer constant that the kernel or a launch site depends on: what a tunable can change.
struct NamedConstant {
  std::string name;
  ConstantKind kind = ConstantKind::Constexpr;
  std::int64_t value = 0;
  SourceRange valueRange; ///< the text of its value
  unsigned line = 0;
  bool usedByKernel = false, usedByLaunch = false;
};
KOPT_FIELDS(NamedConstant, name, kind, value, valueRange, line, usedByKernel, usedByLaunch)

/// How a program uses a named constant, or a template parameter of a kernel.
struct SizeUse {
  std::string name;
  bool inKernel = false, inOtherKernels = false; ///< device code of the slice, and other
  bool steps = false;                            ///< a loop steps by it, or it multiplies blockIdx
  bool acrossBlocks = false;                     ///< it multiplies blockIdx: the grid has to follow
  bool tiles = false;                            ///< the extent of an array, or the bound of a loop
  /// A use with which another value may mean another result, with the place: "an argument of
  /// 'malloc' at main.cu:12". Empty if there is none.
  std::string otherUse;
};
KOPT_FIELDS(SizeUse, name, inKernel, inOtherKernels, steps, acrossBlocks, tiles, otherUse)

/// What the text of a kernel says of the numbers that it is written with. Expressions are over
/// constants, template parameters and the kernel's parameters.
struct KernelSizes {
  std::vector<SizeUse> uses; ///< of the kernel's constants and integral template parameters
  std::vector<std::string> requirements; ///< what its arithmetic needs
  std::vector<std::string> kept;         ///< what has to have the same value as now
  std::vector<std::string> sharedBytes;  ///< of each static shared array
  bool guardsThreads = false;            ///< it compares what depends on the thread with a size
  bool readsBlockDim = false;
};
KOPT_FIELDS(KernelSizes, uses, requirements, kept, sharedBytes, guardsThreads, readsBlockDim)

/// One clause of [[kopt::tune(...)]] or of kopt.toml; driver/source/TuneClauses.h has the grammar.
struct TuneClause {
  std::string text, file;
  unsigned line = 0;
};
KOPT_FIELDS(TuneClause, text, file, line)

struct KernelSpec {
  std::string name, file, unit;   ///< qualified; where it is defined; the file that is compiled
  std::vector<std::string> units; ///< all compiled files that it was found in, `unit` the first
  unsigned line = 0;
  bool annotated = false;
  bool defined = true; ///< false: another file defines it, this one only launches it
  std::vector<TuneClause> clauses;
  std::vector<Specialization> specializations;
  std::vector<LaunchSite> launches;
  std::vector<NamedConstant> constants;
  std::optional<KernelSizes> sizes{};
  std::vector<OutsideNamed> outside; ///< by name
  /// What the user's files declare for the device before the kernel and its slices do not have:
  /// candidates may use it. Only the last definition of a macro; `users` are set for variables
  /// only.
  std::vector<SliceChunk> unused;
  std::vector<std::string> compileFlags; ///< the user's own nvcc flags for the file
  std::string directory;                 ///< where the compile command runs
  /// XXH3-128 of what the compilation reads from inside the project and slices do not contain:
  /// headers of -isystem and -include, files of options.
  std::map<std::string, std::string> projectFiles;
};
KOPT_FIELDS(KernelSpec, name, file, unit, units, line, annotated, defined, clauses, specializations,
            launches, constants, sizes, outside, unused, compileFlags, directory, projectFiles)

/// A kernel of the toolkit or of another system header that the user's code instantiates.
struct LibraryKernel {
  std::string symbol, name, file;
  unsigned line = 0;
};
KOPT_FIELDS(LibraryKernel, symbol, name, file, line)

inline constexpr int kExtractionSchema = 1;

enum class NoteKind {
  Other,
  FileLeftOut,     ///< a file does not compile
  SeveralCommands, ///< a file has several compile commands
  PartlyRead,      ///< nvcc compiles a file that Clang reads with errors
};
constexpr auto spellings(NoteKind) {
  return std::to_array<std::string_view>(
      {"other", "file-left-out", "several-commands", "partly-read"});
}

/// What could not be checked or read, e.g. that no nvcc proved the slices.
struct ExtractionNote {
  std::string text;
  NoteKind kind = NoteKind::Other;
  bool operator==(const ExtractionNote &) const = default;
};
KOPT_FIELDS(ExtractionNote, text, kind)

struct ExtractionResult {
  int schemaVersion = kExtractionSchema;
  std::string tool; ///< "kopt-extract 0.1.0"
  std::vector<KernelSpec> kernels;
  std::vector<LibraryKernel> libraryKernels;
  std::vector<LaunchSite> unresolvedLaunches;    ///< of kernels that are not known
  std::map<std::string, std::string> fileHashes; ///< XXH3-128 of every file of the user read
  std::vector<ExtractionNote> notes;
};
KOPT_FIELDS(ExtractionResult, schemaVersion, tool, kernels, libraryKernels, unresolvedLaunches,
            fileHashes, notes)

// The rule that a record breaks; empty if it breaks none. Readers of JSON call these.
inline std::string problemOf(const SourceRange &range) {
  return range.end < range.begin ? "a range that ends before it begins" : "";
}
inline std::string problemOf(const SliceChunk &chunk) {
  return chunk.sliceEnd < chunk.sliceBegin ? "a chunk that ends before it begins" : "";
}
inline std::string problemOf(const Specialization &specialization) {
  const std::vector<SliceChunk> &chunks = specialization.chunks;
  if (specialization.route != Route::Slice)
    return "";
  if (specialization.slice.empty() && !specialization.lifted)
    return "a slice without a file";
  if (specialization.kernelChunk >= chunks.size())
    return "a kernel_chunk that is not a chunk";
  for (std::size_t i = 0; i + 1 < chunks.size(); ++i)
    if (chunks[i].sliceEnd > chunks[i + 1].sliceBegin)
      return "chunks that overlap or are out of order";
  return "";
}

} // namespace kopt
