// SPDX-License-Identifier: Apache-2.0
// What earlier runs say of a rewrite before it is tried: of this very one on the same text, or of
// its like on kernels of the same kind. Hashes and words alone: proposers offer the rewrites again.
#pragma once

#include "driver/knowledge/ExperienceBase.h"

namespace kopt {

/// A rewrite that was tried on the same text.
struct Tried {
  std::string parent, technique; ///< the first as the hash of its content
  double gain = 0;               ///< log of the speedup over the baseline; -inf: it was not right
  double reach = 0; ///< of it and of what was made from it, less kLogGainOfStep for each step there
  double pays = -1; ///< what that is over the parent; negative: not worth a step
};
constexpr double kLogGainOfStep = 0.005;

/// Values of tunables that were tried on the same text, on this GPU or another.
struct TriedNumbers {
  Candidate candidate;
  double gain = 0; ///< log of the speedup over its baseline; it was right
};

struct Precedents {
  std::map<std::string, Tried> ofText; ///< by the hash of their content
  std::map<Recipe, Outcomes> ofAKind;
  std::vector<TriedNumbers> numbers;

  /// The order of what is offered for one parent: above 0 is what led on, the furthest first; 0: it
  /// is not known; below 0 is what did not. `parentTitle`: if the candidate's begins with it.
  double rank(const Candidate &candidate, const std::string &parentTitle = {}) const;
};

/// Of the rows of one text. Those of this architecture count first, and a failure on no other does.
std::map<std::string, Tried> triedIn(const std::vector<Remembered> &rows, const std::string &arch,
                                     const std::string &baseline);

} // namespace kopt
