// SPDX-License-Identifier: Apache-2.0
// One run of the search over one kernel, as it is stored.
#pragma once

#include "driver/model/Decision.h"
#include "driver/model/Fields.h"
#include "driver/model/KernelSpec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// Numbers are stored: never renumber.
enum class RunState : int { Running = 0, Finished = 1, Failed = 2 };
template <> struct EnumNames<RunState> {
  static constexpr std::pair<RunState, const char *> kAll[] = {{RunState::Running, "running"},
                                                               {RunState::Finished, "finished"},
                                                               {RunState::Failed, "failed"}};
};

/// What a winner changes in one of the user's files.
struct FileEdits {
  std::string path;              ///< with forward slashes, relative to the root of the patch
  std::string baseHash;          ///< XXH3-128 of the file that the ranges count in
  std::string resultHash;        ///< of the file once the edits are made
  std::vector<SourceEdit> edits; ///< in order; their ranges' file is `path`
};

struct RunRecord {
  std::int64_t id = 0;
  std::string name; ///< folder under kopt.out
  std::string kernel, symbol, file;
  /// Of everything that decides a result: a run resumes only on the same.
  std::string inputsHash;
  std::string configJson; ///< everything needed to repeat it
  std::string deviceJson;
  std::string startedUtc, finishedUtc; ///< finishedUtc is empty while it runs
  RunState state = RunState::Running;
  std::optional<StopReason> stop; ///< why the search ended; nothing where it has not
  std::string stopText;           ///< the same for people; of a failed run what went wrong
  std::string winnerHash;         ///< empty: no candidate was accepted
  /// The baseline's slice: trials show their difference to it. Set it at beginRun().
  std::string sliceText;
  std::vector<FileEdits> edits; ///< of the winner, as `kopt apply` makes them; empty: none
  std::string patchText;        ///< the same as a mail for people and git; empty: none
};

} // namespace kopt
