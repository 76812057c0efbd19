// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Candidate.h"

#include "driver/model/Json.h"
#include "driver/support/Hash.h"

#include <fmt/format.h>

namespace kopt {

std::string Candidate::contentHash() const {
  Candidate content = *this;
  for (std::string *words :
       {&content.proposer, &content.title, &content.technique, &content.rationale})
    words->clear();
  content.parents.clear();
  return hashHex(canonicalJson(content));
}

Status refuseUnbuiltForms(const Candidate &candidate) {
  if (candidate.tunables.empty())
    return {};
  return makeError(ErrorCode::Usage, "the candidate has a tunable of its own ('" +
                                         candidate.tunables.front().name +
                                         "'), which kopt cannot build yet");
}

Status refuseUnbuiltForms(const LaunchOverride &launch) {
  const char *part = launch.block && launch.blockExpressions         ? "block"
                     : launch.coverGrid && launch.gridExpressions    ? "grid"
                     : launch.sharedBytes && launch.sharedExpression ? "shared memory"
                                                                     : nullptr;
  if (!part)
    return {};
  return makeError(
      ErrorCode::Usage,
      fmt::format("the candidate's launch gives its {} twice, as numbers and as expressions",
                  part));
}

} // namespace kopt
