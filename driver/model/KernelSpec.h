// SPDX-License-Identifier: Apache-2.0
// What the front end found, as plain data: the C++ side of
// clang_plugin/extract/kernels.schema.json. Byte ranges are half open and count from the start of
// the file as it was when it was read (see fileHashes).
#pragma once

#include "driver/support/Result.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct SourceRange {
  std::string file;
  std::uint64_t begin = 0, end = 0;
};

/// Whether all of `inner` lies in `outer`, of the same file. Nothing lies in an empty range.
bool contains(const SourceRange &outer, const SourceRange &inner);

/// Replace the bytes of a range by a text.
struct SourceEdit {
  SourceRange range;
  std::string text;
};

enum class ParamKind { Pointer, Scalar, Struct };

struct KernelParam {
  std::string name;
  std::string type; ///< as the user would spell it after template substitution
  ParamKind kind = ParamKind::Scalar;
  std::uint32_t size = 0, align = 0; ///< bytes, in the device ABI
  std::string scalar; ///< f16 bf16 f32 f64 i8..i64 u8..u64 bool: of the scalar or vector type, or
                      ///< of all that an element holds that a pointer points to; "struct 16 f32 0
                      ///< i32 4 ..." (runtime::StructType) where that is of several kinds or has
                      ///< gaps; empty where it holds anything else, such as a pointer
  std::uint32_t components =
      1; ///< scalars of an element: of float4 and of struct { float2 a, b; } 4
  std::uint32_t pointeeSize = 0; ///< bytes of one pointed-to element
  bool pointeeConst = false;
  bool restrictQualified = false;
  std::vector<std::int64_t>
      comparedWith{}; ///< integers that the kernel tells it by, in conditions and as cases
};

struct TemplateArg {
  std::string name, value; ///< "TILE", "32" or "T", "float"
  bool integral = false;
  std::optional<SourceRange> range; ///< where the launch site spells it, if it does
};

/// Code of the unit that is no part of a slice and uses what is one.
struct OutsideUser {
  std::string name, file;
  unsigned line = 0;
  bool onHostAlone = false;
};

/// A name in code outside of the kernel's slices.
struct OutsideNamed {
  std::string name;
  bool isDeclared =
      false; ///< of a function or type that is called or declared there; false: any other word
  OutsideUser user; ///< the first that has it
};

/// A part of the slice, copied from one place of the user's files.
struct SliceChunk {
  SourceRange source;
  std::uint64_t sliceBegin = 0, sliceEnd = 0;
  std::string role; ///< kernel, function, type, variable, constant, macro, alias, include, other
  std::string name; ///< qualified name of what it declares
  bool editable = false; ///< the kernel and the user's device functions and constants
  std::vector<OutsideUser>
      users; ///< of the unit, outside of the slice; at most a few, those on the device first
};

/// What a kernel needs of its launch beside geometry, arguments and memory.
struct LaunchNeed {
  std::string kind; ///< texture, surface (an object of which a launch of kopt's has none),
                    ///< cooperative (a barrier of the whole grid)
  std::string name; ///< of the object, or the barrier, as the user spells it
  std::string file; ///< where it is taken or used
  unsigned line = 0;
  bool isCooperative() const { return kind == "cooperative"; }
};

/// A __constant__ variable that the kernel reads and that the file gives no value: host code sets
/// it before the launch.
struct ConstantVariable {
  std::string name;   ///< without its namespaces
  std::string symbol; ///< nvcc's
  std::uint64_t bytes = 0;
  std::string type,
      scalar; ///< of its elements: as KernelParam has them of what a pointer points to
};

struct Specialization {
  std::string symbol;     ///< mangled, as in the PTX
  bool fileLocal = false; ///< the symbol holds the file's name: the slice's kernel has another
  std::string expression; ///< "ns::stencil<float, 4>": what the slice instantiates; the kernel's
                          ///< name if no template
  std::vector<TemplateArg> templateArgs;
  std::vector<KernelParam> params;
  std::vector<LaunchNeed> needs;
  std::vector<ConstantVariable> constantVariables;
  std::string route;   ///< slice, in-place or refused
  std::string slice;   ///< path of the slice file
  std::string reason;  ///< why it is not a proven slice
  bool proven = false; ///< PTX equal to the original's
  std::vector<SliceChunk> chunks;
  std::size_t kernelChunk = 0;
};

/// What a pointer argument points into, as it is at the launch, and how many bytes further: two
/// arguments with the same root and offset are the same pointer, however they are spelled.
struct PointerOrigin {
  std::string root; ///< empty: no pointer, or from what cannot be named
  std::string
      offset; ///< over numbers and variables of the host program; empty where it cannot be told
};

/// Integer expressions in C syntax over named constants, host variables and kernel arguments.
struct LaunchSite {
  std::string file;
  unsigned line = 0, column = 0;
  std::string symbol;   ///< of the specialization launched
  std::string geometry; ///< exact, symbolic or unresolved
  std::array<std::string, 3> grid, block;
  std::string sharedBytes = "0";      ///< each of these is empty where it is unresolved
  std::vector<std::string> variables; ///< those of the host program that the expressions name
  std::string reason;                 ///< why the geometry is unresolved
  std::vector<std::string> args;      ///< one expression per kernel parameter, as spelled
  std::optional<SourceRange> gridRange, blockRange,
      sharedRange;                     ///< the launch's own argument expressions
  std::vector<PointerOrigin> pointers; ///< of each argument; empty where the front end did not say
};

/// A named integer constant that the kernel or a launch site depends on: what a tunable can change.
struct NamedConstant {
  std::string name;
  std::string kind; ///< macro, constexpr, enum, const
  std::int64_t value = 0;
  SourceRange valueRange; ///< the text of its value
  unsigned line = 0;
  bool usedByKernel = false, usedByLaunch = false;
};

/// One clause of [[kopt::tune(...)]] or of kopt.toml: see driver/source/TuneClauses.h for the
/// grammar.
struct TuneClause {
  std::string text;
  std::string file;
  unsigned line = 0;
};

struct KernelSpec {
  std::string name; ///< qualified
  std::string file;
  unsigned line = 0;
  std::string unit; ///< the file that is compiled; `file` may be a header
  bool annotated = false;
  std::vector<TuneClause> clauses;
  std::vector<Specialization> specializations;
  std::vector<LaunchSite> launches;
  std::vector<NamedConstant> constants;
  std::vector<OutsideNamed> outside;
  std::vector<std::string> compileFlags; ///< the user's own nvcc flags for the file
  std::string directory;                 ///< where the compile command runs
};

struct ExtractionResult {
  std::vector<KernelSpec> kernels;
  std::map<std::string, std::string> fileHashes; ///< XXH3-128 of every user file read
  std::vector<std::string>
      notes; ///< what could not be checked, e.g. that no nvcc proved the slices
};

/// Parses the JSON printed by `kopt-extract --json`. Fails with Internal on a document that breaks
/// the schema.
Result<ExtractionResult> parseExtraction(const nlohmann::json &document);

} // namespace kopt
