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
  if (!options)
    json.erase("options");
  return hashHex(dumpJson(json));
}

std::vector<std::string> CompilerOptions::flags() const {
  std::vector<std::string> flags;
  if (maxRegisters)
    flags.push_back(fmt::format("-maxrregcount={}", *maxRegisters));
  if (loadCache != LoadCache::Default)
    flags.push_back(fmt::format("-Xptxas=-dlcm={}", toString(loadCache)));
  if (fastMath)
    flags.push_back("-use_fast_math");
  if (!controls.empty())
    flags.push_back("--apply-controls=" + controls);
  return flags;
}

std::vector<CandidateDeclaration> declarationsOf(const Candidate &candidate) {
  std::vector<CandidateDeclaration> declarations = candidate.declarations;
  for (const CandidateTunable &tunable : candidate.tunables)
    declarations.push_back(
        {fmt::format("constexpr int {} = {};", tunable.name, tunable.value), tunable.before, ""});
  return declarations;
}

} // namespace kopt
