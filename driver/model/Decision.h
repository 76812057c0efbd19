// SPDX-License-Identifier: Apache-2.0
// The decisions of a run with their evidence: one typed record for each, stored in order. A resumed
// run decides the same again; decisions are compared by value, never by wording.
#pragma once

#include "driver/model/Fields.h"
#include "driver/support/Result.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

namespace kopt {

/// Why a search ended. Numbers are stored: never renumber.
enum class StopReason : int {
  Exhausted = 0,       ///< no proposer has anything left to try
  Target = 1,          ///< the incumbent's lower bound reached the target speedup
  Rounds = 2,          ///< the limit of rounds is reached
  Trials = 3,          ///< the limit of trials is reached
  Seconds = 4,         ///< the time budget is used up
  Patience = 5,        ///< too many rounds in a row without a better incumbent
  ProposersFailed = 6, ///< every remaining proposer failed
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
  std::string trial; ///< hash of the candidate that it was measured on; empty: none
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

/// A proposer's answer to an Ask.
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
  double low = 0, estimate = 0, high = 0; ///< speed of the candidate relative to the other
};

/// A would-be winner was judged again on fresh samples.
struct Confirm {
  std::string candidate; ///< its hash
  std::string title;
  bool held = false;
  std::string reason; ///< reason of the verdict
};

/// One way in which the baseline or the winner was checked, or could not be checked.
struct Checked {
  std::string check;  ///< name of the judge's check; empty: not one of them
  bool shown = false; ///< false: it could not be checked
  std::string text;
};

/// How the time of one session of a run was spent: seconds by stage.
struct Spent {
  std::map<std::string, double> kernel; ///< workload, baseline, search, confirm, write
  std::map<std::string, double>
      session;      ///< for all kernels of the session: extract, observe, device
  double limit = 0; ///< the kernel's time budget in seconds; 0: no limit
};

/// Anything else that happened.
struct Note {
  std::string
      about; ///< "baseline", "llm", or "abandoned HASH" for an attempt that is not repaired again
  std::string text;
};

struct Decision {
  std::int64_t sequence = 0; ///< in the database; 0: not recorded yet
  int round = 0;
  std::variant<Note, Ask, Stop, Offered, ProposerFailure, Accept, Compare, Confirm, Checked, Spent>
      what;
  std::vector<Evidence> evidence{};
};

/// The reason in words: "12 rounds are done".
std::string describe(const Stop &stop);

/// The kind of the record in `what`: note, ask, stop, propose, failed, accept, compare, confirm,
/// reject, verified, unchecked or time.
const char *kindOf(const Decision &decision);
/// The decision as one line of text.
std::string describe(const Decision &decision);
/// A text that is equal if the same decision is taken again, regardless of its wording.
std::string identityOf(const Decision &decision);

/// The JSON of `what` and the evidence, without sequence and round.
nlohmann::json toJson(const Decision &decision);
/// Reads a decision of that kind from the output of toJson(). Fails with Internal, naming the
/// member.
Result<Decision> decisionFromJson(const std::string &kind, const nlohmann::json &json);

} // namespace kopt
