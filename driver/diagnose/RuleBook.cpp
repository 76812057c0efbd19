// SPDX-License-Identifier: Apache-2.0
// Reads the embedded rules once, checks every key, and evaluates them over counters. A rule whose
// metrics are not all known is reported as skipped, with the missing metric.
#include "driver/diagnose/RuleBook.h"
#include "driver/diagnose/Techniques.h"
#include "knowledge/RuleFiles.h"
#include "knowledge/SkillFiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace kopt {

namespace {

int severityRank(const std::string &severity) {
  return severity == "high" ? 0 : severity == "medium" ? 1 : severity == "low" ? 2 : -1;
}

const std::string_view *findSkill(const std::string &name) {
  for (const auto &[path, text] : knowledge::skills::kFiles)
    if (path == name + ".md")
      return &text;
  return nullptr;
}

/// The first paragraph under "## Signal", as one line.
std::string signalOf(std::string_view text) {
  constexpr std::string_view kHeading = "## Signal\n";
  std::size_t begin = text.find(kHeading);
  if (begin == std::string_view::npos)
    return {};
  begin = text.find_first_not_of('\n', begin + kHeading.size());
  if (begin == std::string_view::npos)
    return {};
  std::string line(text.substr(begin, std::min(text.find("\n\n", begin), text.size()) - begin));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

} // namespace

struct Rule {
  std::string id, severity, action, shownBy;
  CounterCondition when;
  std::vector<std::string> skills, techniques, evidence;
  std::vector<std::string> ncu; ///< "CPIStall: sibling warps": NVIDIA's rule, words of its message
};

namespace {

Status checkSkills(const std::vector<std::string> &skills, const KnowledgeEntry &entry) {
  for (const std::string &skill : skills)
    if (!findSkill(skill))
      return entry.fault(fmt::format("there is no skill knowledge/skills/{}.md", skill));
  return {};
}

Result<Rule> parseRule(const KnowledgeEntry &entry, const Techniques &techniques) {
  KOPT_CHECK(entry.checkKeys({"id", "severity", "values", "condition", "finding", "action",
                              "skills", "techniques", "evidence", "ncu", "shown_by", "source"}));
  KOPT_TRY(CounterCondition when, CounterCondition::read(entry));
  Rule rule{{}, {}, {}, {}, std::move(when), {}, {}, {}, {}};
  KOPT_TRY(rule.id, entry.text("id"));
  KOPT_TRY(rule.severity, entry.text("severity"));
  if (severityRank(rule.severity) < 0)
    return entry.fault(fmt::format("severity \"{}\" is not high, medium or low", rule.severity));
  KOPT_TRY(rule.action, entry.text("action"));
  KOPT_CHECK(entry.text("source"));
  KOPT_TRY(rule.shownBy, entry.text("shown_by"));
  KOPT_TRY(rule.skills, entry.texts("skills"));
  KOPT_TRY(rule.techniques, entry.texts("techniques"));
  for (const std::string &technique : rule.techniques)
    if (!techniques.has(technique))
      return entry.fault(fmt::format("knowledge/techniques.json has no \"{}\"", technique));
  KOPT_TRY(rule.evidence, entry.texts("evidence"));
  KOPT_TRY(rule.ncu, entry.texts("ncu"));
  if (rule.skills.empty())
    return entry.fault("key \"skills\" names no skill");
  KOPT_CHECK(checkSkills(rule.skills, entry));
  return rule;
}

std::vector<std::pair<std::string, double>> evidenceOf(const Rule &rule, const CounterScope &scope,
                                                       const Counters &counters) {
  std::vector<std::string> names = scope.metricsOf(rule.when.condition);
  names.insert(names.end(), rule.evidence.begin(), rule.evidence.end());
  std::vector<std::pair<std::string, double>> evidence;
  std::set<std::string> seen;
  for (const std::string &name : names)
    if (auto counter = counters.find(name); counter != counters.end() && seen.insert(name).second)
      evidence.emplace_back(name, counter->second);
  return evidence;
}

bool isMoreSevere(const Rule &a, const Rule &b) {
  return severityRank(a.severity) < severityRank(b.severity);
}

} // namespace

RuleBook::RuleBook(States states) : states_(std::move(states)) {}
RuleBook::RuleBook(RuleBook &&) noexcept = default;
RuleBook &RuleBook::operator=(RuleBook &&) noexcept = default;
RuleBook::~RuleBook() = default;

Result<RuleBook> RuleBook::load() {
  KOPT_TRY(States states, States::load());
  KOPT_TRY(const Techniques techniques, Techniques::load());
  RuleBook book(std::move(states));
  for (const States::State &state : book.states_.all())
    KOPT_CHECK(checkSkills(state.skills, {{}, "knowledge/states.json: " + state.id}));
  std::set<std::string> ids;
  for (const auto &[path, text] : knowledge::rules::kFiles) {
    KOPT_TRY(const auto entries,
             readEntries(fmt::format("knowledge/rules/{}", path), text, "rules"));
    for (const KnowledgeEntry &entry : entries) {
      KOPT_TRY(Rule rule, parseRule(entry, techniques));
      if (!ids.insert(rule.id).second)
        return entry.fault(fmt::format("rule \"{}\" exists twice", rule.id));
      auto after = std::upper_bound(book.rules_.begin(), book.rules_.end(), rule, isMoreSevere);
      book.rules_.insert(after, std::move(rule));
    }
  }
  return book;
}

static Counters together(const Counters &counted, const Counters &known) {
  Counters counters = known;
  counters.insert(counted.begin(), counted.end());
  return counters;
}

std::optional<RoofReached> RuleBook::roofReached(const Counters &counters,
                                                 const Counters &known) const {
  return states_.roofReached(together(counters, known));
}

Diagnosis RuleBook::diagnose(const Counters &counted, const Counters &known) const {
  const Counters counters = together(counted, known);
  Diagnosis diagnosis;
  states_.addTo(diagnosis, counters);
  for (const Rule &rule : rules_) {
    CounterScope scope(counters);
    scope.define(rule.when.values);
    const auto holds = scope.evaluate(rule.when.condition);
    if (!holds) {
      diagnosis.skipped.push_back(rule.id + ": " + holds.error());
      continue;
    }
    if (*holds == 0)
      continue;
    auto finding = scope.render(rule.when.finding);
    if (!finding) {
      diagnosis.skipped.push_back(rule.id + ": " + finding.error());
      continue;
    }
    diagnosis.hits.push_back(RuleHit{rule.id, rule.severity, *finding, rule.action, rule.skills,
                                     rule.techniques, evidenceOf(rule, scope, counters)});
  }
  return diagnosis;
}

std::vector<Proof> RuleBook::proofs() const {
  std::vector<Proof> proofs;
  std::map<std::string, std::set<std::string>> naming;
  const auto add = [&](const char *kind, const auto &item) {
    const Proof &proof = proofs.emplace_back(kind, item.id, item.shownBy);
    for (const std::string &skill : item.skills)
      if (proof.isProven())
        naming[skill].insert(item.id);
  };
  for (const States::State &state : states_.all())
    add("state", state);
  for (const Rule &rule : rules_)
    add("rule", rule);
  for (const auto &[path, text] : knowledge::skills::kFiles) {
    const std::string name(path.substr(0, path.rfind('.')));
    const std::set<std::string> &by = naming[name];
    proofs.push_back(
        {"skill", name, by.empty() ? "unproven" : fmt::to_string(fmt::join(by, ", "))});
  }
  return proofs;
}

std::vector<std::string> RuleBook::agreeing(const Diagnosis &diagnosis,
                                            const NcuReport::Advice &advice) const {
  std::vector<std::string> ids;
  const auto saysSo = [&](const std::string &message) {
    const std::size_t colon = std::min(message.find(": "), message.size());
    return message.substr(0, colon) == advice.rule &&
           (colon == message.size() ||
            advice.text.find(message.substr(colon + 2)) != std::string::npos);
  };
  for (const States::State &state : states_.all())
    if (state.id == diagnosis.state && std::ranges::any_of(state.ncu, saysSo))
      ids.push_back("state " + state.id);
  for (const Rule &rule : rules_)
    if (std::ranges::count(diagnosis.hits, rule.id, &RuleHit::id) > 0 &&
        std::ranges::any_of(rule.ncu, saysSo))
      ids.push_back("rule " + rule.id);
  return ids;
}

void RuleBook::putBlamedFirst(const Diagnosis &diagnosis, std::vector<StallSlice> &stalls) const {
  const auto state = std::ranges::find(states_.all(), diagnosis.state, &States::State::id);
  if (state != states_.all().end())
    std::ranges::stable_partition(stalls, [&](const StallSlice &stall) {
      return std::ranges::count(state->blames, toString(stall.kind)) > 0;
    });
}

std::vector<std::string> RuleBook::skillsFor(const Diagnosis &diagnosis) const {
  std::vector<std::string> skills;
  const auto add = [&](const std::vector<std::string> &more) {
    for (const std::string &skill : more)
      if (std::ranges::count(skills, skill) == 0)
        skills.push_back(skill);
  };
  for (const States::State &state : states_.all())
    if (state.id == diagnosis.state)
      add(state.skills);
  for (const RuleHit &hit : diagnosis.hits)
    add(hit.skills);
  return skills;
}

std::string RuleBook::skill(const std::string &name) {
  const std::string_view *text = findSkill(name);
  return text ? std::string(*text) : std::string();
}

std::vector<std::pair<std::string, std::string>> RuleBook::documents() const {
  std::vector<std::pair<std::string, std::string>> documents;
  for (const auto &[path, text] : knowledge::skills::kFiles) {
    auto &[name, document] =
        documents.emplace_back(path.substr(0, path.rfind('.')), std::string(text));
    document += "\n## Rules\n";
    for (const Rule &rule : rules_)
      if (std::ranges::count(rule.skills, name) > 0)
        document += fmt::format("\n{}: {}\n", rule.id, join(rule.when.finding.literals, "…"));
  }
  return documents;
}

std::string RuleBook::skillCatalogue() {
  std::string catalogue;
  for (const auto &[path, text] : knowledge::skills::kFiles)
    catalogue += fmt::format("- {}: {}\n", path.substr(0, path.rfind(".md")), signalOf(text));
  return catalogue;
}

} // namespace kopt
