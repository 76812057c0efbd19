// SPDX-License-Identifier: Apache-2.0
// What every command prints on standard output with `--json`: one object, and nothing else.
//
//   {
//     "schema_version": 1,
//     "kopt": "0.1.0",            version of kopt
//     "command": "trial",         null where the command line could not be understood
//     "results": [ ... ],         one object per kernel, candidate, check, file or run; see below
//     "details": { ... },         facts about the whole call; {} where a command has none
//     "notes": [ "..." ],         sentences for people
//     "error": null               or {"code", "exit_code", "what", "where", "hint", "context"}
//   }
//
// "results" holds
//   tune     one object per kernel: kernel, run, winner, patch, judged; a kernel that failed has
//   its
//            own "error"
//   trial    one object per candidate: its worst verdict, and "specializations" where the kernel
//   has
//            several
//   profile  one object per kernel: launch, counters, rules, hot lines
//   observe  one object per kernel that the program launched; details: processes, seconds, trace
//   replay   one object per kernel with its launches
//   init     one object per kernel with its clauses; details: file, written
//   list     one object per specialization of a kernel
//   report   one object, the run; details: page, where --open wrote one
//   kb       search: one object per passage; show: one per source; index: details
//   explain  one object per decision: kind, round, seconds, text, details, evidence
//   apply    one object per changed file; details: mode
//   check    one object per kernel of the lock; details: how many are in each state
//   ci       one object per kernel that the change touches; details: headline, base, head, device,
//            stale variants, proposals
//   skill    one object, the written file; mcp prints none: standard output has its protocol
//   doctor   one object per check: check, ok, state, detail, remedy; details: can_start, device,
//            conclusion
//
// "error" and "results" can both be there: `kopt tune` of two kernels of which one fails. The exit
// status is then error.exit_code. error.code is one of usage, budget-ended, baseline-failed,
// stale-input, environment, internal, interrupted. The error also goes to standard error as text.
// Within a schema version, members are added and never removed.
#pragma once

#include "driver/support/Result.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What a command has found, apart from the text that it printed.
struct Answer {
  int exitCode = 0; ///< where there is no error
  nlohmann::json results = nlohmann::json::array();
  nlohmann::json details = nlohmann::json::object();
  std::vector<std::string> notes;
  std::optional<Error> error; ///< beside the results of what did succeed
};

/// The object above, with a newline. `command` is empty where none was recognised. Bytes that are
/// not UTF-8 are replaced.
std::string formatEnvelope(const std::string &command, const Answer &answer);

nlohmann::json toJson(const Error &error);

} // namespace kopt
