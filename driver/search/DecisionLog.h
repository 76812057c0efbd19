// SPDX-License-Identifier: Apache-2.0
// The decisions of one run, recorded in order. A resumed run decides the same again; what is
// recorded already is not recorded twice.
#pragma once

#include "driver/model/Decision.h"
#include "driver/store/Store.h"

#include <set>

namespace kopt {

class DecisionLog {
public:
  /// Reads what the run has recorded. `store` outlives the log. Fails as Store::decisions() does.
  static Result<DecisionLog> open(Store &store, std::int64_t run);

  Status record(const Decision &decision);

private:
  DecisionLog(Store &store, std::int64_t run) : store_(store), run_(run) {}

  Store &store_;
  std::int64_t run_;
  std::multiset<std::string> recorded_; ///< identities of decisions that were not taken again yet
};

} // namespace kopt
