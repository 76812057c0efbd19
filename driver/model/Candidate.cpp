// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Candidate.h"

#include "driver/model/Json.h"
#include "driver/support/Hash.h"

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
  std::string form;
  if (!candidate.tunables.empty())
    form = "a tunable of its own ('" + candidate.tunables.front().name + "')";
  else if (!candidate.includes.empty())
    form = "a new include (" + candidate.includes.front() + ")";
  else if (!candidate.declarations.empty())
    form = "a new declaration";
  if (form.empty())
    return {};
  return makeError(ErrorCode::Usage, "the candidate has " + form + ", which kopt cannot build yet");
}

Status refuseUnbuiltForms(const LaunchOverride &launch) {
  const char *form = launch.gridExpressions    ? "a grid as expressions"
                     : launch.blockExpressions ? "a block as expressions"
                     : launch.sharedExpression ? "shared memory as an expression"
                     : launch.largeShared      ? "large shared memory that it opts in to"
                                               : nullptr;
  if (!form)
    return {};
  return makeError(ErrorCode::Usage, "the candidate's launch has " + std::string(form) +
                                         ", which kopt cannot apply yet");
}

} // namespace kopt
