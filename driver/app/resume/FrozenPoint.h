// SPDX-License-Identifier: Apache-2.0
// A recorded ask of a model that is asked again, several times, with and without parts of what it
// was told: what these are worth. One run has all of these turns, and the trials of their
// candidates, so that they are measured in one session; none of them hears of another.
#pragma once

#include "driver/model/Run.h"
#include "driver/search/Proposer.h"
#include "driver/store/Store.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace kopt {

struct FrozenPoint {
  std::string run; ///< name of the recorded run
  int ask = 0;     ///< id of its ask
  int samples = 1; ///< turns of the model for each of `variants`
  /// What each leaves out, as LlmOptions::without has it. The first one leaves out nothing.
  std::vector<std::set<std::string>> variants{{}};

  std::string prefix() const; ///< of the names of the new runs
  /// What is left out of the turns of the new run, by the ids of its asks: for sample after sample,
  /// each variant once.
  std::map<int, std::set<std::string>> turns() const;
  std::string identity() const; ///< of the point and its turns, as the config of a run keeps it
};

/// "RUN:ASK". Fails with Usage.
Result<FrozenPoint> parseFrozenPoint(const std::string &text);

/// Copies what the recorded run knew when it asked, and the exchanges with the model before, to the
/// new run, and returns the asks of the new run. Fails with Usage if the run has no such ask of a
/// model.
Result<std::vector<Ask>> thaw(Store &store, const FrozenPoint &point, std::int64_t from,
                              std::int64_t to);

/// Copies the exchanges of the last earlier run of the same turns, which was on another device, to
/// the new one: they go on, and their candidates are judged anew.
Status takeOver(Store &store, const FrozenPoint &point, const std::vector<RunRecord> &runs,
                std::int64_t to);

} // namespace kopt
