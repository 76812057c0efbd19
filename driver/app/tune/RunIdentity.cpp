// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/RunIdentity.h"

#include "driver/model/Json.h"
#include "driver/support/Hash.h"

namespace kopt {

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
