// SPDX-License-Identifier: Apache-2.0
// The journal of a run: its events in the order in which they happened, one typed record for each,
// with the evidence of those that were decided. A resumed run replays them.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/model/Candidate.h"
#include "driver/model/CheckList.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace kopt {

/// Why a search ended.
enum class StopReason {
  Exhausted,       ///< no proposer has anything left to try
  Target,          ///< the incumbent's lower bound reached the target speedup
  Rounds,          ///< the limit of rounds is reached
  Trials,          ///< the limit of trials is reached
  Seconds,         ///< the time budget is used up
  Patience,        ///< too many rounds in a row without a better incumbent
  ProposersFailed, ///< every remaining proposer failed
  AtRoof,          ///< the kernel is as fast as the device lets it be: nothing was tried
  WaitsForReplies, ///< of a model; a later session goes on with them
};
constexpr auto spellings(StopReason) {
  return std::to_array<std::string_view>({"exhausted", "target", "rounds", "trials", "seconds",
                                          "patience", "proposers-failed", "at-roof",
                                          "waits-for-replies"});
}

/// What a decision was based on.
struct Evidence {
  std::string what;  ///< "speedup low", "rounds since gain", a metric's name
  std::string trial; ///< hash of the candidate that it was measured on; empty: none
  double value = 0;
};
KOPT_FIELDS(Evidence, what, trial, value)

// The kinds of events. Each has its name in JSON, its words as one line, and what identity()
// says if that is less than all members.

/// A strategy asks a proposer for candidates.
struct Ask {
  static constexpr const char *kName = "ask";
  int id = 0;                       ///< from 1, in the order of the asks of a run
  std::string role;                 ///< name of the proposer
  std::vector<std::string> parents; ///< candidate hashes, at least one; several for a combiner
  std::string technique;            ///< only candidates of this technique; empty: any
  std::size_t limit = 0;            ///< candidates wanted

  std::string inWords() const;
};
KOPT_FIELDS(Ask, id, role, parents, technique, limit)

/// The search ends.
struct Stop {
  static constexpr const char *kName = "stop";
  StopReason reason = StopReason::Exhausted;
  double limit = 0; ///< the limit that was reached, in the unit of the budget; 0: none

  std::string identity() const { return toString(reason); }
  std::string inWords() const; ///< "12 rounds are done"
};
KOPT_FIELDS(Stop, reason, limit)

/// A proposer's answer to an Ask.
struct Offered {
  static constexpr const char *kName = "propose";
  int ask = 0; ///< its id
  std::string role;
  std::vector<Candidate> candidates;
  std::vector<std::string> notes{}; ///< why there is nothing, or what else the user should know
  std::string abandoned{};          ///< of earlier versions: a candidate that is not repaired again
  /// How many more candidates of each technique could be offered for these parents, where that is
  /// known; techniques that have none are absent.
  std::map<std::string, int> left{};

  std::string inWords() const;
};
KOPT_FIELDS(Offered, ask, role, candidates, notes, abandoned, left)

/// A proposer failed: it loses its turn.
struct ProposerFailure {
  static constexpr const char *kName = "failed";
  int ask = 0; ///< its id
  std::string role;
  std::string error;
  bool givenUp = true; ///< it failed several times in a row and is not asked again in this run

  std::string inWords() const;
};
KOPT_FIELDS(ProposerFailure, ask, role, error, givenUp)

/// An offered candidate has its trial.
struct Judged {
  static constexpr const char *kName = "judged";
  int ask = 0;           ///< id of the ask that it was offered for
  std::string candidate; ///< its hash

  std::string inWords() const { return "candidate " + candidate + " has its trial"; }
};
KOPT_FIELDS(Judged, ask, candidate)

/// Counters of a trial were read, so far as the device has them.
struct Profiled {
  static constexpr const char *kName = "profiled";
  std::string candidate; ///< its hash

  std::string inWords() const { return "counters of candidate " + candidate + " were read"; }
};
KOPT_FIELDS(Profiled, candidate)

/// A candidate became the incumbent.
struct Accept {
  static constexpr const char *kName = "accept";
  std::string candidate; ///< its hash
  std::string title;
  double speedup = 1, low = 1; ///< the estimate and the lower end of its interval

  std::string inWords() const;
};
KOPT_FIELDS(Accept, candidate, title, speedup, low)

/// Two would-be winners were timed against each other.
struct Compare {
  static constexpr const char *kName = "compare";
  std::string candidate, other; ///< their hashes
  std::string candidateTitle, otherTitle;
  double low = 0, estimate = 0, high = 0; ///< speed of the candidate relative to the other

  std::string identity() const { return candidate + "/" + other; }
  std::string inWords() const;
};
KOPT_FIELDS(Compare, candidate, other, candidateTitle, otherTitle, low, estimate, high)

/// A would-be winner was judged again on fresh samples.
struct Confirm {
  static constexpr const char *kName = "confirm";
  std::string candidate; ///< its hash
  std::string title;
  bool held = false;
  std::string reason; ///< reason of the verdict

  const char *kind() const { return held ? "confirm" : "reject"; }
  std::string identity() const { return candidate; }
  std::string inWords() const;
};
KOPT_FIELDS(Confirm, candidate, title, held, reason)

struct TimedCandidate {
  std::string candidate; ///< its hash
  std::string title;
  std::optional<double> speedup; ///< of the program; unset: it could not be timed
};
KOPT_FIELDS(TimedCandidate, candidate, title, speedup)

/// Candidates were timed in runs of the program, to choose which one to confirm first.
struct TimedInProgram {
  static constexpr const char *kName = "program";
  std::vector<TimedCandidate> times;

  std::string identity() const { return {}; }
  std::string inWords() const;
};
KOPT_FIELDS(TimedInProgram, times)

/// One way in which the baseline or the winner was checked, or could not be checked.
struct Checked {
  static constexpr const char *kName = "checked";
  CheckId check = CheckId::None; ///< None: not one of the judge's
  bool shown = false;            ///< false: it could not be checked
  std::string text;

  const char *kind() const { return shown ? "verified" : "unchecked"; }
  std::string identity() const { return toString(check); }
  std::string inWords() const { return text; }
};
KOPT_FIELDS(Checked, check, shown, text)

/// How the time of one session of a run was spent: seconds by stage.
struct Spent {
  static constexpr const char *kName = "time";
  std::map<std::string, double> kernel; ///< workload, baseline, search, confirm, write
  std::map<std::string, double>
      session;      ///< for all kernels of the session: extract, observe, device
  double limit = 0; ///< the kernel's time budget in seconds; 0: no limit

  std::string inWords() const;
};
KOPT_FIELDS(Spent, kernel, session, limit)

/// Anything else that happened.
struct Note {
  static constexpr const char *kName = "note";
  std::string about; ///< "baseline"
  std::string text;

  std::string identity() const { return about; }
  std::string inWords() const { return text; }
};
KOPT_FIELDS(Note, about, text)

struct Event {
  std::int64_t sequence = 0; ///< in the database; 0: not recorded yet
  int round = 0;
  std::variant<Note, Ask, Stop, Offered, ProposerFailure, Judged, Profiled, Accept, Compare,
               TimedInProgram, Confirm, Checked, Spent>
      what;
  std::vector<Evidence> evidence{};
};
KOPT_FIELDS(Event, sequence, round, what, evidence)

/// The kind of the record in `what`: its kName, or confirm, reject, verified, unchecked.
const char *kindOf(const Event &event);
/// True for the events that a search consists of; the others are of what comes before and after.
bool isOfSearch(const Event &event);
/// The event as one line of text.
std::string describe(const Event &event);
/// A text that is equal if the same happens again, regardless of its wording.
std::string identityOf(const Event &event);

} // namespace kopt
