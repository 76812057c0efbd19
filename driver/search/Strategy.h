// SPDX-License-Identifier: Apache-2.0
// Decides what happens next from records alone, so that a resumed run decides the same again. A new
// strategy is one file in strategies/, its factory here, and one line in TuneSession::search().
#pragma once

#include "driver/search/SearchHistory.h"

#include <memory>

namespace kopt {

class Strategy {
public:
  virtual ~Strategy() = default;
  /// An Ask or a Stop, with the evidence for it. A pure function of the history.
  virtual Decision decide(const SearchHistory &history) = 0;
};

/// Proposers take turns on the incumbent, `batch` candidates a round. One that failed, or has
/// nothing left for this incumbent, is passed over; the search ends when none is left.
std::unique_ptr<Strategy> makeTurnStrategy(std::size_t batch);

} // namespace kopt
