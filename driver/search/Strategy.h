// SPDX-License-Identifier: Apache-2.0
// Decides what happens next from records alone, so that a resumed run decides the same again. A new
// strategy needs one file in strategies/, its factory here, and one line in TuneSession::search().
#pragma once

#include "driver/search/SearchHistory.h"

#include <memory>

namespace kopt {

class Strategy {
public:
  virtual ~Strategy() = default;
  /// Returns an Ask or a Stop, with its evidence. Must be a pure function of the history.
  virtual Decision decide(const SearchHistory &history) = 0;
};

/// Proposers take turns on the incumbent, with `batch` candidates in each round. A proposer that
/// has failed, or has nothing left for this incumbent, is skipped; the search ends when none is
/// left. A proposer that follows trials is asked first where a trial was faster on some launches
/// only, once for each incumbent and each round of the others.
std::unique_ptr<Strategy> makeTurnStrategy(std::size_t batch);

} // namespace kopt
