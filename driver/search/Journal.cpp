// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Journal.h"

#include <algorithm>
#include <numeric>

namespace kopt {

Result<Journal> Journal::open(Store &store, std::int64_t run) {
  Journal journal(&store, run);
  KOPT_TRY(journal.events_, store.events(run));
  journal.earlier_.resize(journal.events_.size());
  std::iota(journal.earlier_.begin(), journal.earlier_.end(), 0);
  return journal;
}

Status Journal::append(Event event) {
  if (store_)
    KOPT_CHECK(store_->recordEvent(run_, event));
  event.sequence = std::int64_t(events_.size()) + 1;
  events_.push_back(std::move(event));
  return {};
}

const Event *Journal::recorded(const Event &event) const {
  const std::string identity = identityOf(event);
  for (const std::size_t index : earlier_)
    if (identityOf(events_[index]) == identity)
      return &events_[index];
  return nullptr;
}

Status Journal::appendOnce(const Event &event) {
  const Event *known = recorded(event);
  if (!known)
    return append(event);
  std::erase(earlier_, std::size_t(known - events_.data()));
  return {};
}

} // namespace kopt
