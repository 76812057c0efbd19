// SPDX-License-Identifier: Apache-2.0
// Records the decisions of one run, in order. A resumed run decides the same again; decisions that
// are already recorded are not recorded twice.
#pragma once

#include "driver/model/Decision.h"
#include "driver/store/Store.h"

#include <map>

namespace kopt {

class DecisionLog {
public:
  /// Reads the recorded decisions of the run. `store` must outlive the log. Fails as
  /// Store::decisions() does.
  static Result<DecisionLog> open(Store &store, std::int64_t run);

  Status record(const Decision &decision);

  /// The same decision, as recorded by an earlier session of the run; null if there is none, or if
  /// it was taken again already. Valid until the next record().
  const Decision *recorded(const Decision &decision) const;

private:
  DecisionLog(Store &store, std::int64_t run) : store_(store), run_(run) {}

  Store &store_;
  std::int64_t run_;
  /// Recorded decisions that were not taken again yet, by identity.
  std::multimap<std::string, Decision> recorded_;
};

} // namespace kopt
