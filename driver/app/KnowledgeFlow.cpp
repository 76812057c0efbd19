// SPDX-License-Identifier: Apache-2.0
#include "driver/app/KnowledgeFlow.h"

#include "driver/app/services/Installation.h"

namespace kopt {

static std::filesystem::path knowledgeFile() { return userFolder() / "knowledge.db"; }

Result<ExperienceBase> openExperience() { return ExperienceBase::open(knowledgeFile()); }

Result<std::vector<Proof>> proofsOfKnowledge() {
  KOPT_TRY(const RuleBook rules, RuleBook::load());
  return rules.proofs();
}

Result<Passages> openPassages() {
  KOPT_TRY(Passages passages, Passages::open(knowledgeFile()));
  KOPT_TRY(const RuleBook rules, RuleBook::load());
  std::vector<NamedDocument> skills;
  for (auto &[name, text] : rules.documents())
    skills.push_back({name + ".md", std::move(text)});
  KOPT_CHECK(passages.put("kopt", 1, skills));
  return passages;
}

} // namespace kopt
