// SPDX-License-Identifier: Apache-2.0
// A candidate is device code plus declared launch parameters, never host code.
#pragma once

#include "driver/model/Workload.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The candidate's changes of the launch: expressions in C syntax over the launch site's variables,
/// the kernel's parameters, the candidate's constants and tunables, and gridDim and blockDim, which
/// are those of the launch site. Unset members follow the launch site.
struct LaunchOverride {
  std::optional<std::array<std::string, 3>> grid, block;
  std::optional<std::string> sharedBytes; ///< dynamic shared memory
  /// The program opts in to more dynamic shared memory with cudaFuncSetAttribute.
  bool largeShared = false;

  /// True if the grid, the block or the shared memory may differ from the launch site's.
  bool changesGeometry() const { return grid || block || sharedBytes; }
  bool operator==(const LaunchOverride &) const = default;
};
KOPT_FIELDS(LaunchOverride, grid, block, sharedBytes, largeShared)

/// A tunable of the candidate's own text, not of the user's clauses: `constexpr int name = value;`,
/// which its text and its launch name, and which the user's patch keeps.
struct CandidateTunable {
  std::string name;
  std::vector<std::int64_t> values; ///< in order, without duplicates, never empty
  std::vector<std::string>
      requirements; ///< expressions over tunables and constants; it is tried only if all are true
  std::int64_t value = 0; ///< the chosen element of `values`
  std::size_t before = 0; ///< index of the slice's chunk before which it is declared
  bool operator==(const CandidateTunable &) const = default;
};
KOPT_FIELDS(CandidateTunable, name, values, requirements, value, before)

/// A header that the candidate includes and the baseline's slice does not include.
struct CandidateInclude {
  std::string header; ///< as spelled: "<cuda/barrier>"
  /// A header of the user: what the kernel needs of it is among `declarations`, so the slice does
  /// not include it.
  bool isUsers = false;
  bool operator==(const CandidateInclude &) const = default;
};
KOPT_FIELDS(CandidateInclude, header, isUsers)

/// A declaration, macro or using-declaration that the candidate adds to the slice.
struct CandidateDeclaration {
  std::string text; ///< wrapped in those of its namespaces that the place of insertion is not in
  std::size_t before = 0; ///< index of the slice's chunk before which it goes
  /// The user's file that already has it, or the header that provides it; empty: the patch adds it.
  std::string file;
  bool operator==(const CandidateDeclaration &) const = default;
};
KOPT_FIELDS(CandidateDeclaration, text, before, file)

/// ptxas's -dlcm: in which caches global loads are kept.
enum class LoadCache { Default, Ca, Cg };
constexpr auto spellings(LoadCache) {
  return std::to_array<std::string_view>({"default", "ca", "cg"});
}

/// Options that nvcc builds a candidate with, besides the file's own. They are for a whole file.
struct CompilerOptions {
  std::optional<std::int64_t> maxRegisters{};
  LoadCache loadCache = LoadCache::Default;
  bool fastMath = false;
  std::string controls{}; ///< the user's file for --apply-controls, absolute; empty: none
  std::string controlsHash{};

  std::vector<std::string> flags() const; ///< as nvcc takes them
  /// Only a run of which the user says so may try them.
  bool needPermission() const { return fastMath || !controls.empty(); }
  bool operator==(const CompilerOptions &) const = default;
};
KOPT_FIELDS(CompilerOptions, maxRegisters, loadCache, fastMath, controls, controlsHash)

/// What a candidate is to do to a counter, by who proposed it.
struct ExpectedEffect {
  std::string metric;
  double factor = 1; ///< the candidate's value over its parent's
};
KOPT_FIELDS(ExpectedEffect, metric, factor)

struct Candidate {
  std::string proposer; ///< params, transform, merge, llm, person
  std::string title;    ///< one line for messages: "TILE = 32", "pad tile by 1"
  std::string
      technique; ///< id in the catalogue of rewrites, or the proposer's name for what it did
  std::vector<std::string> parents; ///< content hashes of the candidates that it was made from;
                                    ///< empty: only from the baseline
  std::map<std::size_t, std::string> chunks; ///< new text of changed slice chunks
  std::map<std::string, std::int64_t>
      constants; ///< new values of named constants and integral template arguments
  LaunchOverride launch;
  std::string rationale; ///< the finding that led to it, or the model's explanation
  std::vector<CandidateTunable> tunables{}; ///< the candidate's own tunables
  std::vector<CandidateInclude> includes{};
  std::vector<CandidateDeclaration> declarations{}; ///< in source order
  /// What holds of the launches on which it differs from the baseline, over the kernel's
  /// parameters: "n % 4 == 0".
  std::vector<std::string> requirements{};
  std::optional<std::vector<ExpectedEffect>> expects{}; ///< unset where nobody could say
  std::optional<CompilerOptions> options{};             ///< unset: the file's own alone

  /// Identity of what would run: candidates with equal hashes have the same trial. The proposer,
  /// the parents, the title, the technique, the rationale and expectations do not affect it.
  std::string contentHash() const;
};
KOPT_FIELDS(Candidate, proposer, title, technique, parents, chunks, constants, launch, rationale,
            tunables, includes, declarations, requirements, expects, options)

/// What the candidate adds to the slice before its chunks: its own declarations, then those of its
/// tunables.
std::vector<CandidateDeclaration> declarationsOf(const Candidate &candidate);

} // namespace kopt
