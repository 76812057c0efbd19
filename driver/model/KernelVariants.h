// SPDX-License-Identifier: Apache-2.0
// Versions of the user's own kernel that verification needs: wrong ones, which a workload must tell
// from the right one, and one that computes in double precision, against which errors are measured.
// kopt-frontend makes both from a slice.
#pragma once

#include "driver/model/KernelSpec.h"

#include <nlohmann/json_fwd.hpp>

namespace kopt {

enum class MutantKind {
  Value,    ///< computes something else: a workload that does not notice is too weak
  Schedule, ///< a barrier or an atomic is gone: only a race check or a perturbed schedule notices
            ///< for sure
};

struct MutantRequest {
  std::size_t atMost = 24; ///< mutants wanted, spread evenly over operators and statements
  std::uint64_t seed = 1;  ///< the same seed chooses the same ones
  std::vector<std::string> operators; ///< ids; only these. Empty: the whole catalogue
};

struct Mutant {
  std::string op;    ///< id of the mutation operator: "comparison", "removed-barrier", …
  std::string title; ///< one line for people: "`<` made `<=` at line 34"
  MutantKind kind = MutantKind::Value;
  /// Where not empty, the mutant may compute the same as the original, and this says when. That a
  /// workload does not notice such a mutant says nothing about the workload.
  std::string mayBeEqual;
  unsigned line = 0;             ///< in the slice, from 1
  std::vector<SourceEdit> edits; ///< in slice coordinates, sorted, not overlapping
  std::string sliceText;         ///< the slice with the edits made
};

struct MutantSet {
  std::vector<Mutant> mutants;
  std::size_t found = 0;    ///< in the whole kernel, of which `mutants` were chosen
  std::size_t inMacros = 0; ///< places left out as a macro spells them
};

/// A scalar inside an element, in the original and in the clone. Where `scalar` equals `newScalar`
/// its bytes are the same.
struct ElementField {
  std::uint32_t offset = 0, newOffset = 0; ///< bytes from the start of the element
  std::string scalar, newScalar; ///< as KernelParam::scalar; newScalar is f64 where it was widened
};

/// What one element (a parameter passed by value, what a pointer points to, a module variable)
/// looks like before and after.
struct ElementLayout {
  std::uint32_t size = 0, newSize = 0; ///< bytes
  std::vector<ElementField>
      fields; ///< in order of offset; empty where the element is the same in both
  bool widened() const { return !fields.empty(); }
};

struct ReferenceParam {
  std::string name;
  bool pointer = false; ///< `element` is what it points to: a buffer of n elements becomes one of n
                        ///< new elements
  ElementLayout element;
};

/// A `__constant__` or `__device__` variable of the slice whose layout changed. Its initial value
/// is the clone's own; a value that the host program puts there has to be converted as a buffer's
/// is.
struct ReferenceVariable {
  std::string name;        ///< qualified
  std::uint64_t count = 1; ///< elements of the array
  ElementLayout element;
};

struct ReferenceNote {
  std::string id, message;
  unsigned line = 0; ///< in the original's slice, from 1; 0 where it has no one place
};

/// The kernel with every float, half and bfloat16 in it made a double. Numbers written in the
/// source keep their value.
struct ReferenceClone {
  /// Why there is no clone (inline assembly, punned bits, textures, …). Where this is not empty
  /// nothing below is set.
  std::vector<ReferenceNote> refusals;
  std::string sliceText, expression;
  std::string symbol; ///< of the clone's kernel, mangled; ends in another suffix where nvcc sees a
                      ///< file-local name
  std::vector<ReferenceParam> params;       ///< one for each of the kernel's parameters, in order
  std::vector<ReferenceVariable> variables; ///< only those that changed
  std::uint32_t sharedFactor =
      1; ///< dynamic shared memory of a launch is the original's bytes times this
  /// Where the clone may take another way than the original: a float that is converted to an
  /// integer, and the like.
  std::vector<ReferenceNote> notes;
  bool made() const { return refusals.empty(); }
};

/// An outcome of a condition.
struct CoveragePoint {
  std::uint32_t at = 0; ///< its byte of CoverageClone::variable
  unsigned line = 0;    ///< in the slice, from 1
  std::string what;     ///< "`n > 5` is true"
  std::vector<std::string> names =
      {}; ///< of the outcome, the same however and where it is spelled; none: of no other kernel
  std::vector<std::string> codes = {}; ///< digests of what is done then; none: nothing
  bool required = true; ///< it matters: code lies behind it, or it decides whether work is done
};

/// The kernel with a byte for each such outcome, set where it occurs.
struct CoverageClone {
  std::string sliceText;
  std::string variable;    ///< of the module; 0 at first
  std::uint32_t bytes = 0; ///< of the variable; 0 where the kernel has no such condition
  std::vector<CoveragePoint> marks;
  std::size_t inMacros = 0; ///< conditions that are not seen, as a macro spells them
};

/// Read the replies of `kopt-frontend mutate`, `precise` and `reach`. They throw std::exception on
/// a document that breaks its schema, on edits outside the slice, on a clone without text, on marks
/// outside the variable.
MutantSet parseMutants(const nlohmann::json &reply, const std::string &sliceText,
                       const std::string &sliceFile);
ReferenceClone parseReferenceClone(const nlohmann::json &reply);
CoverageClone parseCoverageClone(const nlohmann::json &reply);

} // namespace kopt
