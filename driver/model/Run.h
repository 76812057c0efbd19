// SPDX-License-Identifier: Apache-2.0
// One run of the search over one kernel, as it is stored.
#pragma once

#include <cstdint>
#include <string>

namespace kopt {

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
  std::string patchText; ///< of the winner, as it was written for `git apply`; empty: none
};

} // namespace kopt
