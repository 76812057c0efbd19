// SPDX-License-Identifier: Apache-2.0
// One run of the search over one kernel, as it is stored.
#pragma once

#include "driver/model/KernelSpec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kopt {

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
  std::string
      inputsHash; ///< of source, flags, workload, device, options: a run resumes only on the same
  std::string configJson; ///< everything needed to repeat it
  std::string deviceJson;
  std::string startedUtc, finishedUtc; ///< finishedUtc empty while it runs
  std::string state;                   ///< running, finished, failed
  std::string stopReason;
  std::string winnerHash; ///< empty: no candidate was accepted
  std::string
      sliceText; ///< the baseline's slice: trials show their difference to it. Set it at beginRun()
  std::vector<FileEdits> edits; ///< of the winner, as `kopt apply` makes them; empty: none
  std::string patchText;        ///< the same as a mail for people and git; empty: none
};

} // namespace kopt
