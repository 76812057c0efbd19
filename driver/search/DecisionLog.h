// SPDX-License-Identifier: Apache-2.0
// The decisions of one run, recorded in order. A resumed run decides the same again; what is
// recorded already is not recorded twice.
#pragma once

#include "driver/model/Decision.h"
#include "driver/store/Store.h"

#include <map>

namespace kopt {

class DecisionLog {
public:
  /// Reads what the run has recorded. `store` outlives the log. Fails as Store::decisions() does.
  static Result<DecisionLog> open(Store &store, std::int64_t run);

  Status record(const Decision &decision);

  /// The same decision as an earlier session of the run recorded it; null where none did, or where
  /// it was taken again already. Valid until the next record().
  const Decision *recorded(const Decision &decision) const;

private:
  DecisionLog(Store &store, std::int64_t run) : store_(store), run_(run) {}

  Store &store_;
  std::int64_t run_;
  /// Decisions that were not taken again yet, by their identity.
  std::multimap<std::string, Decision> recorded_;
};

} // namespace kopt
