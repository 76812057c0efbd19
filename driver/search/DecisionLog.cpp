// SPDX-License-Identifier: Apache-2.0
#include "driver/search/DecisionLog.h"

namespace kopt {

Result<DecisionLog> DecisionLog::open(Store &store, std::int64_t run) {
  DecisionLog log(store, run);
  KOPT_TRY(const std::vector<Decision> decisions, store.decisions(run));
  for (const Decision &decision : decisions)
    log.recorded_.emplace(identityOf(decision), decision);
  return log;
}

const Decision *DecisionLog::recorded(const Decision &decision) const {
  const auto known = recorded_.find(identityOf(decision));
  return known == recorded_.end() ? nullptr : &known->second;
}

Status DecisionLog::record(const Decision &decision) {
  if (const auto known = recorded_.find(identityOf(decision)); known != recorded_.end()) {
    recorded_.erase(known);
    return {};
  }
  return store_.recordDecision(run_, decision);
}

} // namespace kopt
