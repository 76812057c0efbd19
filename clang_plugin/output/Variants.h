// SPDX-License-Identifier: Apache-2.0
// The requests of the driver to kopt-frontend about one slice, and the replies, as plain data. Each
// is one JSON object. Positions are bytes of the slice, ranges half open; lines count
// from 1.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// One kernel of a slice: the whole request of `kopt-frontend reference` and `coverage`.
struct KernelSource {
  std::string slice, expression, kernel; ///< text, specialization, qualified name
  std::vector<std::string> flags;        ///< nvcc's
  std::string directory; ///< that relative paths of the flags and includes start from
  std::string arch;      ///< for flags that name none; empty: Clang's default
};
KOPT_FIELDS(KernelSource, slice, expression, kernel, flags, directory, arch)

/// Replace the bytes [begin, end) of the slice by a text.
struct SliceEdit {
  std::uint32_t begin = 0, end = 0;
  std::string text;
};
KOPT_FIELDS(SliceEdit, begin, end, text)

/// A part of a slice.
struct TextRange {
  std::uint64_t begin = 0, end = 0;
};
KOPT_FIELDS(TextRange, begin, end)

// ---- transforms

/// The ids of the rewrites, in the order of their offers.
inline constexpr std::string_view kRewriteIds[] = {
    "loop-split",     "swap-axes",      "stage",     "jam",          "specialise",  "grid-size",
    "trim-grid",      "arithmetic",     "vectorize", "coarsen",      "grid-stride", "block-size",
    "shared-padding", "readonly-loads", "unroll",    "launch-bounds"};

/// A scalar that a launch passes: a parameter, or a member of a struct that is passed by value.
struct ScalarValue {
  std::string name;    ///< "n", "size.x"
  std::string literal; ///< its value as C++ of its type: "4096", "0x1p-3f"
  bool operator==(const ScalarValue &) const = default;
};
KOPT_FIELDS(ScalarValue, name, literal)

/// One launch of the workload.
struct LaunchShape {
  std::array<std::uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1};
  std::uint32_t sharedBytes = 0;         ///< dynamic
  double weight = 1;                     ///< its share of the workload's time, or of its launches
  std::vector<ScalarValue> scalars = {}; ///< those that are known, in the order of the parameters
};
KOPT_FIELDS(LaunchShape, grid, block, sharedBytes, weight, scalars)

struct TransformRequest {
  KernelSource source;
  std::vector<LaunchShape> launches;
  std::vector<std::string> techniques; ///< ids; only these. Empty: the whole catalogue
};
KOPT_FIELDS(TransformRequest, source, launches, techniques)

/// How the candidate is launched differently: expressions, which may name gridDim and blockDim of
/// the present launch. Empty ones stay as they are.
struct LaunchChange {
  std::array<std::string, 3> grid, block;
  std::string sharedBytes; ///< dynamic shared memory
};
KOPT_FIELDS(LaunchChange, grid, block, sharedBytes)

/// ceil(old grid * old block / new block) in each dimension.
inline std::array<std::string, 3> coveringGrid(const std::array<std::uint32_t, 3> &block) {
  std::array<std::string, 3> grid;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::string threads =
        std::string("gridDim.") + "xyz"[axis] + " * blockDim." + "xyz"[axis];
    grid[axis] = block[axis] == 1 ? threads
                                  : "(" + threads + " + " + std::to_string(block[axis] - 1) +
                                        ") / " + std::to_string(block[axis]);
  }
  return grid;
}

/// A number that an offer leaves open.
struct OfferParameter {
  std::string name;
  std::vector<std::int64_t> values; ///< the most promising first
};
KOPT_FIELDS(OfferParameter, name, values)

/// Why an offer computes the same as the original.
enum class Legality {
  Proven,  ///< for every launch
  Guarded, ///< the text asks for what it needs, and else runs the original
  Tested,  ///< as far as verification shows: sums in another order, another launch
};
constexpr auto spellings(Legality) {
  return std::to_array<std::string_view>({"proven", "guarded", "tested"});
}

/// A rewrite that the catalogue offers. ${NAME} in the title, in texts of edits and in launch
/// expressions stands for the value of a parameter.
struct Offer {
  std::string technique; ///< id in the catalogue: "unroll"
  std::string title;     ///< one line: "pad tile[32][32] to tile[32][32 + 1]"
  /// What verification must judge; empty if the rewrite cannot change the meaning.
  std::string note;
  std::vector<SliceEdit> edits; ///< sorted, not overlapping
  std::optional<LaunchChange> launch;
  std::vector<OfferParameter> parameters{};
  std::vector<std::string> requirements{}; ///< expressions over the parameters that have to be true
  Legality legality = Legality::Tested;
  /// What blockDim.x of every launch of the program has to be a multiple of; empty: of nothing.
  std::string blockMultiple{};
};
KOPT_FIELDS(Offer, technique, title, note, edits, launch, parameters, requirements, legality,
            blockMultiple)

/// The offer with these values of its parameters.
inline Offer withValues(Offer offer, const std::map<std::string, std::int64_t> &values) {
  const auto fillIn = [&](std::string &text) {
    for (const auto &[name, value] : values) {
      const std::string placeholder = "${" + name + "}";
      for (std::size_t at = text.find(placeholder); at != text.npos; at = text.find(placeholder))
        text.replace(at, placeholder.size(), std::to_string(value));
    }
  };
  fillIn(offer.title);
  fillIn(offer.blockMultiple);
  for (SliceEdit &edit : offer.edits)
    fillIn(edit.text);
  if (offer.launch) {
    for (std::string &text : offer.launch->grid)
      fillIn(text);
    for (std::string &text : offer.launch->block)
      fillIn(text);
    fillIn(offer.launch->sharedBytes);
  }
  offer.parameters.clear();
  offer.requirements.clear();
  return offer;
}

/// Why a rewrite does not apply to a kernel, or to a part of it.
struct OfferRefusal {
  std::string technique;
  unsigned line = 0; ///< of the slice; 0: the kernel as a whole
  std::string why;   ///< "the loop has a break"
};
KOPT_FIELDS(OfferRefusal, technique, line, why)

struct OfferList {
  std::vector<Offer> offers;
  std::vector<OfferRefusal> refusals;
};
KOPT_FIELDS(OfferList, offers, refusals)

// ---- screen

/// Text of the slice that code outside the slice also uses.
struct SharedText {
  std::string name, user;                 ///< what it declares; "'reference' (a.cu:12)"
  std::uint64_t begin = 0, end = 0;       ///< in the baseline's slice
  std::uint64_t newBegin = 0, newEnd = 0; ///< in the candidate's
};
KOPT_FIELDS(SharedText, name, user, begin, end, newBegin, newEnd)

/// A name that occurs in code outside the slice.
struct SharedName {
  std::string name, user;
  bool declared = false; ///< as in OutsideNamed
};
KOPT_FIELDS(SharedName, name, user, declared)

/// What a candidate must not change, because code outside its kernel's slice also uses it.
struct SharedCode {
  std::vector<SharedText> texts;
  std::vector<SharedName> names;
  std::vector<TextRange> own; ///< parts that the user's files already have
};
KOPT_FIELDS(SharedCode, texts, names, own)

struct ScreenRequest {
  std::string baseline, candidate;                     ///< slice texts
  std::string kernel;                                  ///< qualified name
  std::string baselineExpression, candidateExpression; ///< the specializations they instantiate
  std::vector<std::string> flags;                      ///< nvcc's
  std::string directory;
  SharedCode shared;
};
KOPT_FIELDS(ScreenRequest, baseline, candidate, kernel, baselineExpression, candidateExpression,
            flags, directory, shared)

enum class ScreenSeverity { Flag, Reject };
constexpr auto spellings(ScreenSeverity) {
  return std::to_array<std::string_view>({"flag", "reject"});
}

struct ScreenFinding {
  std::string id; ///< stable: host-code, inline-asm, bounds-check, …
  ScreenSeverity severity = ScreenSeverity::Flag;
  std::string message;
  unsigned line = 0; ///< of the candidate's text; 0 if the finding has no line there
};
KOPT_FIELDS(ScreenFinding, id, severity, message, line)

struct ScreenReply {
  std::vector<ScreenFinding> findings; ///< rejects first
};
KOPT_FIELDS(ScreenReply, findings)

// ---- guard

/// Which of a kernel's two bodies runs.
struct BodyGuard {
  std::string condition; ///< of the special one, in C++; the same in all threads of a launch
  /// The parameters in it: it means the values that the kernel is launched with.
  std::vector<std::string> variables;
  /// Constants of the file that only the kernel's body uses, with other values in its slice.
  std::vector<std::string> constants;
  /// The usual body ends in an if with an else that the condition becomes a part of: `else if`.
  bool extendsChain = false;
};
KOPT_FIELDS(BodyGuard, condition, variables, constants, extendsChain)

struct GuardRequest {
  KernelSource source;                    ///< with the usual body
  TextRange chunk;                        ///< the kernel's declaration
  std::string special, specialExpression; ///< the slice with the other body
  TextRange specialChunk;
  BodyGuard guard;
};
KOPT_FIELDS(GuardRequest, source, chunk, special, specialExpression, specialChunk, guard)

/// The reply to `guard` and `specialize`.
struct ChunkReply {
  std::string text;    ///< the kernel's new chunk
  std::string refusal; ///< why there is none; empty if there is
};
KOPT_FIELDS(ChunkReply, text, refusal)

// ---- specialize

struct SpecializeRequest {
  KernelSource source;   ///< whose kernel is a template
  TextRange chunk;       ///< the kernel's declaration
  bool isInline = false; ///< it may be defined in several translation units
};
KOPT_FIELDS(SpecializeRequest, source, chunk, isInline)

// ---- mutate

enum class MutantKind {
  Value,    ///< computes something else: a workload that does not notice is too weak
  Schedule, ///< a barrier or an atomic is gone: only a race check or a perturbed schedule notices
            ///< for sure
};
constexpr auto spellings(MutantKind) {
  return std::to_array<std::string_view>({"value", "schedule"});
}

struct MutantRequest {
  std::size_t atMost = 24; ///< mutants wanted, spread evenly over operators and statements
  std::uint64_t seed = 1;  ///< the same seed chooses the same ones
  std::vector<std::string> operators; ///< ids; only these. Empty: the whole catalogue
};
KOPT_FIELDS(MutantRequest, atMost, seed, operators)

struct MutateRequest {
  KernelSource source;
  MutantRequest wanted;
  std::string file; ///< named in titles; empty: "line 34"
};
KOPT_FIELDS(MutateRequest, source, wanted, file)

/// A change that makes a mutant of the kernel.
struct Mutation {
  std::string op;    ///< id of the mutation operator: "comparison", "removed-barrier", …
  std::string title; ///< one line for the user: "`<` made `<=` at line 34"
  MutantKind kind = MutantKind::Value;
  /// If not empty, says when the mutant computes the same as the original. A workload that does
  /// not notice such a mutant is not necessarily weak.
  std::string mayBeEqual;
  unsigned line = 0;
  std::vector<SliceEdit> edits; ///< sorted, not overlapping
};
KOPT_FIELDS(Mutation, op, title, kind, mayBeEqual, line, edits)

struct MutationList {
  std::vector<Mutation> mutations; ///< the chosen mutants, in order of lines; each parses
  std::size_t found = 0;           ///< in the whole kernel, before the choice
  std::size_t inMacros = 0;        ///< places left out because they come from a macro
};
KOPT_FIELDS(MutationList, mutations, found, inMacros)

// ---- reference

/// A scalar inside an element, in the original and in the clone. If `scalar` equals `newScalar`,
/// its bytes are the same.
struct ElementField {
  std::uint32_t offset = 0, newOffset = 0; ///< bytes from the start of the element
  std::string scalar, newScalar; ///< as KernelParam::scalar; newScalar is f64 if it was widened
};
KOPT_FIELDS(ElementField, offset, newOffset, scalar, newScalar)

/// What one element (a parameter passed by value, what a pointer points to, a module variable)
/// looks like before and after.
struct ElementLayout {
  std::uint32_t size = 0, newSize = 0; ///< bytes
  /// In order of offset; empty if the element is the same in both.
  std::vector<ElementField> fields;
  bool widened() const { return !fields.empty(); }
};
KOPT_FIELDS(ElementLayout, size, newSize, fields)

struct ReferenceParam {
  std::string name;
  bool pointer = false; ///< `element` is what it points to: a buffer of n elements becomes one of n
                        ///< new elements
  ElementLayout element;
};
KOPT_FIELDS(ReferenceParam, name, pointer, element)

/// A `__constant__` or `__device__` variable of the slice whose layout changed. The clone
/// has its own initial value; a value that the host program stores there must be converted like a
/// buffer.
struct ReferenceVariable {
  std::string name;        ///< qualified
  std::uint64_t count = 1; ///< elements of the array
  ElementLayout element;
};
KOPT_FIELDS(ReferenceVariable, name, count, element)

struct ReferenceNote {
  std::string id, message;
  unsigned line = 0; ///< in the original's slice; 0 if there is no single place
};
KOPT_FIELDS(ReferenceNote, id, message, line)

/// The kernel with every float, half and bfloat16 in it made a double. Numbers written in the
/// source keep their value.
struct ReferenceClone {
  /// Why there is no clone (inline assembly, punned bits, textures, …). If this is not empty,
  /// nothing below is set.
  std::vector<ReferenceNote> refusals;
  std::string slice, expression;
  std::string symbol; ///< of the clone's kernel, mangled; ends in another suffix where nvcc sees a
                      ///< file-local name
  std::vector<ReferenceParam> params;       ///< one for each of the kernel's parameters, in order
  std::vector<ReferenceVariable> variables; ///< only those that changed
  /// Dynamic shared memory of a launch is the original's bytes times this.
  std::uint32_t sharedFactor = 1;
  /// Places where the clone may decide differently from the original, such as a float that is
  /// converted to an integer.
  std::vector<ReferenceNote> notes;
  bool made() const { return refusals.empty(); }
};
KOPT_FIELDS(ReferenceClone, refusals, slice, expression, symbol, params, variables, sharedFactor,
            notes)

// ---- coverage

/// An outcome of a condition.
struct CoveragePoint {
  std::uint32_t at = 0; ///< its byte of CoverageClone::variable
  unsigned line = 0;
  std::string what; ///< "`n > 5` is true"
  /// Of the outcome, the same however and where it is spelled: one, or one for each instance of a
  /// function that differs.
  std::vector<std::string> names = {};
  std::vector<std::string> codes = {}; ///< digests of what is done then; none: nothing
  bool required = true; ///< it matters: code lies behind it, or it decides whether work is done
  /// A number of the text's own singles it out (`n == 12345`): no size, alignment or tail explains
  /// it.
  bool special = false;
  /// What decides it, to find a launch that gets there: constants, and parameters of the kernel by
  /// their position.
  std::vector<double> numbers = {};
  std::vector<std::uint32_t> params = {};
  bool blocks = false;  ///< the number of blocks has a part in it
  bool data = false;    ///< contents of memory have
  bool assumed = false; ///< the kernel promises its compiler that it never occurs
};
KOPT_FIELDS(CoveragePoint, at, line, what, names, codes, required, special, numbers, params, blocks,
            data, assumed)

/// The kernel with a byte for each outcome of a condition, set when the outcome occurs.
struct CoverageClone {
  std::string slice;
  std::string variable;    ///< of the module; 0 at first
  std::uint32_t bytes = 0; ///< of the variable; 0 if the kernel does not have such a condition
  std::vector<CoveragePoint> marks; ///< in order of their lines
  std::size_t inMacros = 0; ///< conditions that are not marked because they come from a macro
};
KOPT_FIELDS(CoverageClone, slice, variable, bytes, marks, inMacros)

// ---- code

/// A text of C++, and the name of something in it.
struct NamedText {
  std::string text, name;
};
KOPT_FIELDS(NamedText, text, name)

struct DigestRequest {
  std::vector<NamedText> texts;
};
KOPT_FIELDS(DigestRequest, texts)

/// Equal digests mean equal code: comments and white space do not count.
struct CodeDigest {
  std::string code;
  std::string nameless; ///< the same whatever the name is
};
KOPT_FIELDS(CodeDigest, code, nameless)

struct DigestReply {
  std::vector<CodeDigest> codes; ///< one of each text
};
KOPT_FIELDS(DigestReply, codes)

// ---- emulate

/// A module for the emulated device.
struct EmulateRequest {
  std::string slice;
  std::string expression;         ///< names the kernel: qualified, with template arguments
  std::vector<std::string> flags; ///< nvcc's
  std::string directory;          ///< that relative paths of the flags and includes start from
  std::string output;       ///< absolute path of the shared object; written whole or not at all
  bool unoptimized = false; ///< so that what the source leaves undefined shows
};
KOPT_FIELDS(EmulateRequest, slice, expression, flags, directory, output, unoptimized)

struct EmulateReply {
  bool ok = false;
  bool isLimit = false; ///< the slice has something that the emulated device cannot run
  std::string log;      ///< diagnostics, also warnings of a success
  std::string symbol;   ///< mangled name of the kernel
  /// The files that the module was made from; unset: not known.
  std::optional<std::vector<std::string>> reads{};
};
KOPT_FIELDS(EmulateReply, ok, isLimit, log, symbol, reads)

// The rule that a record breaks; empty if it breaks none. Readers of JSON call these. The driver,
// which has the slice, checks that edits lie inside it.
inline std::string problemOf(const LaunchShape &launch) {
  for (std::size_t i = 0; i < 3; ++i)
    if (launch.grid[i] == 0 || launch.block[i] == 0)
      return "a launch of no threads";
  return "";
}
inline std::string problemOf(const ChunkReply &reply) {
  return reply.text.empty() == reply.refusal.empty() ? "neither a text nor a refusal, or both" : "";
}
inline std::string problemOf(const ElementLayout &layout) {
  for (const ElementField &field : layout.fields)
    if (field.offset >= layout.size || field.newOffset >= layout.newSize)
      return "a field outside its element";
  return layout.fields.empty() && layout.size != layout.newSize
             ? "an element that grew without fields"
             : "";
}
inline std::string problemOf(const ReferenceClone &clone) {
  if (!clone.made())
    return "";
  if (clone.slice.empty() || clone.expression.empty() || clone.symbol.empty())
    return "a clone without text, expression or symbol";
  return clone.sharedFactor == 0 ? "a shared_factor of 0" : "";
}
inline std::string problemOf(const CoverageClone &clone) {
  for (const CoveragePoint &mark : clone.marks)
    if (mark.at >= clone.bytes)
      return "a mark outside of the variable";
  return clone.slice.empty() || clone.variable.empty() ? "a clone without text or variable" : "";
}

} // namespace kopt
