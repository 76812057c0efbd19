// SPDX-License-Identifier: Apache-2.0
// Whether a workload can tell a wrong kernel from the right one: wrong versions of the original
// (mutants) go through the same checks as a candidate. Where one passes, so might a wrong
// candidate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kopt {

struct AdequacyReport {
  struct Survivor {
    std::string title, op;
    unsigned line = 0;  ///< in the slice
    std::string excuse; ///< why it may be as right as the original; empty: it is surely wrong
  };
  /// A launch that told a mutant from the original where no other did: candidates are judged on it
  /// as well. Made again from the numbers, on any device.
  struct Addition {
    std::string kind;       ///< "sizes", "scalars", "contents" or "larger"
    std::size_t base = 0;   ///< index of the derived launch that it comes from
    std::uint64_t seed = 0; ///< of what is drawn
  };
  std::size_t tried = 0; ///< mutants that compile to another program than the original
  std::size_t noticed = 0;
  std::size_t untried = 0; ///< for want of time
  int draws = 1; ///< of the inputs, that noticing them took: with fewer a gain is not verified
  std::vector<Survivor> survivors;
  std::vector<Addition> additions;

  /// Those that nothing excuses: each is wrong, or as right as the original, and nothing that was
  /// tried says which.
  std::vector<Survivor> unexplained() const;
  /// Every mutant was tried, and nothing is unexplained.
  bool isConclusive() const { return untried == 0 && unexplained().empty(); }
  std::string inWords() const;
  std::string remedy() const; ///< what would notice the survivors; empty where there are none
};

/// from_json() throws nlohmann::json::exception on anything but what to_json() wrote.
void to_json(nlohmann::json &json, const AdequacyReport &report);
void from_json(const nlohmann::json &json, AdequacyReport &report);

} // namespace kopt
