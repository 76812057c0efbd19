// SPDX-License-Identifier: Apache-2.0
// The result of testing whether a workload can tell a wrong kernel from the right one: wrong
// versions of the original (mutants) go through the same checks as a candidate. If one passes, a
// wrong candidate might pass, too.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kopt {

/// How a launch is made that is added to the derived ones.
enum class AdditionKind { Sizes, Contents, Scalars, Larger };
constexpr auto spellings(AdditionKind) {
  return std::to_array<std::string_view>({"sizes", "contents", "scalars", "larger"});
}

struct AdequacyReport {
  struct Survivor {
    std::string title, op;
    unsigned line = 0;  ///< line of the slice
    std::string excuse; ///< why it may be as right as the original; empty: nothing excuses it
  };
  /// A launch that noticed a mutant that no other launch noticed: candidates are judged on it as
  /// well. Any device can make it again from these numbers.
  struct Addition {
    AdditionKind kind = AdditionKind::Sizes;
    std::size_t base = 0;   ///< index of the derived launch that it comes from
    std::uint64_t seed = 0; ///< seed of what is drawn
    bool operator==(const Addition &) const = default;
  };
  std::size_t tried = 0; ///< mutants that compile to a different program than the original
  std::size_t noticed = 0;
  std::size_t untried = 0; ///< mutants for which there was no time
  int draws = 1; ///< draws of inputs that were needed to notice all mutants that were noticed; a
                 ///< gain is verified on at least as many
  std::vector<Survivor> survivors;
  std::vector<Addition> additions;

  /// The survivors without an excuse: each is either wrong or as right as the original, but no test
  /// showed which.
  std::vector<Survivor> unexplained() const;
  /// True if every mutant was tried and none is unexplained.
  bool isConclusive() const { return untried == 0 && unexplained().empty(); }
  std::string inWords() const;
  std::string remedy() const; ///< what would notice the survivors; empty if there are none
};
KOPT_FIELDS(AdequacyReport::Survivor, title, op, line, excuse)
KOPT_FIELDS(AdequacyReport::Addition, kind, base, seed)
KOPT_FIELDS(AdequacyReport, tried, noticed, untried, draws, survivors, additions)

} // namespace kopt
