// SPDX-License-Identifier: Apache-2.0
// The journal of one run: what happened, in order. A resumed run replays what its earlier sessions
// wrote, then goes on.
#pragma once

#include "driver/model/Event.h"
#include "driver/store/Store.h"

namespace kopt {

class Journal {
public:
  /// Reads the events of the run. `store` must outlive the journal. Fails as Store::events() does.
  static Result<Journal> open(Store &store, std::int64_t run);
  /// Nothing is kept of it: for what can be run again at once.
  static Journal inMemory() { return {nullptr, 0}; }

  const std::vector<Event> &events() const { return events_; }
  /// Commits the event as the next one.
  Status append(Event event);

  /// The same event, by identityOf(), in an earlier session of the run; null if there is none, or
  /// if it was appended again already. Valid until the next call of a function that is not const.
  const Event *recorded(const Event &event) const;
  /// For what is not of the search and happens again in a resumed run: appends the event unless it
  /// is recorded().
  Status appendOnce(const Event &event);

private:
  Journal(Store *store, std::int64_t run) : store_(store), run_(run) {}

  Store *store_; ///< null: none
  std::int64_t run_;
  std::vector<Event> events_;
  std::vector<std::size_t> earlier_; ///< indices of events that were not appended again yet
};

} // namespace kopt
