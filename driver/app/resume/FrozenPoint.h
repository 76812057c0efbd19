// SPDX-License-Identifier: Apache-2.0
// A recorded ask of a model that is asked again, with or without a part of what it was told: what
// that part is worth. The runs are short: one turn of the model, and the trials of its candidates.
#pragma once

#include "driver/model/Run.h"
#include "driver/search/Proposer.h"
#include "driver/store/Store.h"

#include <set>
#include <string>

namespace kopt {

struct FrozenPoint {
  /// What `without` calls the tools of a model, which are no section of a prompt.
  static constexpr const char *kTools = "tools";

  std::string run;                 ///< name of the recorded run
  int ask = 0;                     ///< id of its ask
  int sample = 1;                  ///< tells runs of the same point apart
  std::set<std::string> without{}; ///< sections of the prompt, or kTools

  std::string name() const; ///< of the new run
};

/// "RUN:ASK" or "RUN:ASK:SAMPLE". Fails with Usage.
Result<FrozenPoint> parseFrozenPoint(const std::string &text);

/// Copies what the recorded run knew when it asked, and the exchanges with the model before, to the
/// new run, and returns the ask. Fails with Usage if the run has no such ask of a model.
Result<Ask> thaw(Store &store, const FrozenPoint &point, std::int64_t from, std::int64_t to);

} // namespace kopt
