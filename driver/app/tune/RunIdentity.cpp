// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/RunIdentity.h"

#include "driver/model/Json.h"
#include "driver/support/Hash.h"

namespace kopt {

/// Used for writing JudgeOptions, which has a field of this type.
static nlohmann::json toJson(const CheckSwitches &switches) { return switches.list(); }

std::string hashOf(RunIdentity identity) {
  const auto forgetPlace = [](TuneClause &clause) {
    clause.file.clear();
    clause.line = 0;
  };
  for (TunableParam &param : identity.declaration.params)
    forgetPlace(param.clause);
  for (DeclaredLaunch &launch : identity.declaration.launches)
    forgetPlace(launch.clause);
  identity.judge.scratch.clear();
  identity.judge.cache.clear();
  identity.judge.buildThreads = 0;
  return hashHex(canonicalJson(identity));
}

} // namespace kopt
