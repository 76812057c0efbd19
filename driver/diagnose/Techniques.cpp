// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/Techniques.h"

#include "driver/diagnose/KnowledgeEntry.h"
#include "knowledge/TechniqueFiles.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

std::string dashed(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return c == '_' || c == ' ' ? '-' : c < 128 ? char(std::tolower(c)) : char(c);
  });
  return name;
}

} // namespace

Result<Techniques> Techniques::load() {
  const auto &[name, text] = knowledge::techniques::kFiles.front();
  KOPT_TRY(const auto entries, readEntries(fmt::format("knowledge/{}", name), text, "techniques"));
  Techniques techniques;
  for (const KnowledgeEntry &entry : entries) {
    KOPT_CHECK(entry.checkKeys({"id", "what", "aliases"}));
    Technique technique;
    KOPT_TRY(technique.id, entry.text("id"));
    KOPT_TRY(technique.what, entry.text("what"));
    KOPT_TRY(technique.aliases, entry.texts("aliases"));
    std::vector<std::string> names = technique.aliases;
    names.push_back(technique.id);
    for (const std::string &each : names) {
      if (dashed(each) != each)
        return entry.fault(fmt::format("\"{}\" is not in lower case with dashes", each));
      if (!techniques.ids_.emplace(each, technique.id).second)
        return entry.fault(fmt::format("\"{}\" has two meanings", each));
    }
    techniques.all_.push_back(std::move(technique));
  }
  return techniques;
}

std::string Techniques::named(const std::string &name) const {
  const auto found = ids_.find(dashed(name));
  return found == ids_.end() ? name : found->second;
}

bool Techniques::has(const std::string &id) const {
  return std::ranges::count(all_, id, &Technique::id) > 0;
}

} // namespace kopt
