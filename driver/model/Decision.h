// SPDX-License-Identifier: Apache-2.0
// What was decided during a run, and on which evidence: one typed record per decision, stored in
// order. A resumed run decides the same again; decisions are compared by value, never by wording.
#pragma once

#include "driver/model/Fields.h"
#include "driver/support/Result.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kopt {

/// Why a search ended. Numbers are stored: never renumber.
enum class StopReason : int {
  Exhausted = 0,       ///< no proposer has anything left to try
  Target = 1,          ///< the incumbent's lower bound reached the target speedup
  Rounds = 2,          ///< as many rounds as allowed
  Trials = 3,          ///< as many trials as allowed
  Seconds = 4,         ///< the time budget is used up
  Patience = 5,        ///< too many rounds in a row without a better incumbent
  ProposersFailed = 6, ///< every proposer that was left failed
};
template <> struct EnumNames<StopReason> {
  static constexpr std::pair<StopReason, const char *> kAll[] = {
      {StopReason::Exhausted, "exhausted"},
      {StopReason::Target, "target"},
      {StopReason::Rounds, "rounds"},
      {StopReason::Trials, "trials"},
      {StopReason::Seconds, "seconds"},
      {StopReason::Patience, "patience"},
      {StopReason::ProposersFailed, "proposers-failed"}};
};

/// What a decision was based on.
struct Evidence {
  std::string what;  ///< "speedup low", "rounds since gain", a metric's name
  std::string trial; ///< candidate hash that it was measured on; empty: none
  double value = 0;
};

/// A strategy asks a proposer for candidates.
struct Ask {
  std::string role;                 ///< name of the proposer
  std::vector<std::string> parents; ///< candidate hashes, at least one; several for a combiner
  std::string technique;            ///< only candidates of this technique; empty: any
  std::size_t limit = 0;            ///< candidates wanted
};

/// The search ends.
struct Stop {
  StopReason reason = StopReason::Exhausted;
  double limit = 0; ///< the limit that was reached, in the unit of the budget; 0: none
};

/// What a proposer answered to an Ask.
struct Offered {
  std::string role;
  std::size_t candidates = 0;
};

/// A proposer failed: it loses its turn.
struct ProposerFailure {
  std::string role;
  std::string error;
  bool givenUp = true; ///< it failed several times in a row and is not asked again in this run
};

/// A candidate became the incumbent.
struct Accept {
  std::string candidate; ///< its hash
  std::string title;
  double speedup = 1;
};

/// Two would-be winners were timed against each other.
struct Compare {
  std::string candidate, other; ///< their hashes
  std::string candidateTitle, otherTitle;
  double low = 0, estimate = 0, high = 0; ///< how many times as fast the candidate is as the other
};

/// A would-be winner was judged again on fresh samples.
struct Confirm {
  std::string candidate; ///< its hash
  std::string title;
  bool held = false;
  std::string reason; ///< of the verdict
};

/// One way in which the baseline or the winner was checked, or could not be checked.
struct Checked {
  std::string check;  ///< name of the judge's check; empty: none of them
  bool shown = false; ///< false: it could not be checked
  std::string text;
};

/// Where the time of one session of a run went: seconds by stage.
struct Spent {
  std::map<std::string, double> kernel; ///< workload, baseline, search, confirm, write
  std::map<std::string, double>
      session;      ///< for all kernels of the session: extract, observe, device
  double limit = 0; ///< seconds of the time budget that the kernel had; 0: no limit
};

/// Anything else that happened.
struct Note {
  std::string about; ///< "baseline", or "abandoned HASH" of an attempt that is not repaired again
  std::string text;
};

struct Decision {
  std::int64_t sequence = 0; ///< in the database; 0: not recorded yet
  int round = 0;
  std::variant<Note, Ask, Stop, Offered, ProposerFailure, Accept, Compare, Confirm, Checked, Spent>
      what;
  std::vector<Evidence> evidence{};
};

/// In words: "12 rounds are done".
std::string describe(const Stop &stop);

/// Of the record that `what` holds: note, ask, stop, propose, failed, accept, compare, confirm,
/// reject, verified, unchecked or time.
const char *kindOf(const Decision &decision);
/// One line for people.
std::string describe(const Decision &decision);
/// Equal for the same decision taken again, whatever the wording.
std::string identityOf(const Decision &decision);

/// `what` and the evidence, without sequence and round.
nlohmann::json toJson(const Decision &decision);
/// Reads what toJson() wrote into a decision of that kind. Fails with Internal, naming the member.
Result<Decision> decisionFromJson(const std::string &kind, const nlohmann::json &json);

} // namespace kopt
