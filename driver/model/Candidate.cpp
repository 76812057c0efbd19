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
  nlohmann::json json = toJson(content);
  json.erase("expects");
  return hashHex(dumpJson(json));
}

std::vector<CandidateDeclaration> declarationsOf(const Candidate &candidate) {
  std::vector<CandidateDeclaration> declarations = candidate.declarations;
  for (const CandidateTunable &tunable : candidate.tunables)
    declarations.push_back(
        {fmt::format("constexpr int {} = {};", tunable.name, tunable.value), tunable.before, ""});
  return declarations;
}

} // namespace kopt
