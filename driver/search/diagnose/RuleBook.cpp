// SPDX-License-Identifier: Apache-2.0
// Reads the embedded rules once, checks every key, and evaluates them over counters. A rule whose
// metrics are not all known is reported as skipped, with the missing metric.
#include "driver/search/diagnose/RuleBook.h"
#include "driver/source/Expression.h"
#include "knowledge/RuleFiles.h"
#include "knowledge/SkillFiles.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {

namespace {

/// A named value of a rule: the first of its expressions whose metrics are all known is used.
struct RuleValue {
  std::string name;
  std::vector<Expression> alternatives;
};

/// The expression between braces in a message, with the number of digits after the point.
struct Placeholder {
  Expression expression;
  int digits;
};

/// literals[0] placeholders[0] literals[1] ... literals[n]
struct MessageTemplate {
  std::vector<std::string> literals;
  std::vector<Placeholder> placeholders;
};

tl::unexpected<Error> fault(const std::string &where, const std::string &what) {
  return makeError(ErrorCode::Internal, what, "the file is part of kopt: correct it and rebuild",
                   where);
}

Result<Expression> parseExpression(const std::string &text, const std::string &where) {
  auto expression = Expression::parseReal(text);
  if (!expression)
    return fault(where, expression.error().what);
  return expression;
}

Result<MessageTemplate> parseMessage(const std::string &text, const std::string &where) {
  MessageTemplate message;
  std::size_t at = 0;
  for (;;) {
    std::size_t open = text.find('{', at);
    message.literals.push_back(text.substr(at, open - at));
    if (open == std::string::npos)
      return message;
    std::size_t close = text.find('}', open);
    if (close == std::string::npos)
      return fault(where, "a '{' has no '}'");
    std::string inner = text.substr(open + 1, close - open - 1);
    int decimals = 0;
    if (std::size_t colon = inner.rfind(':'); colon != std::string::npos) {
      std::string digits = inner.substr(colon + 1);
      if (digits.size() != 1 || digits[0] < '0' || digits[0] > '9')
        return fault(where, fmt::format("'{}' after ':' is not a number of digits 0 to 9", digits));
      decimals = digits[0] - '0';
      inner.resize(colon);
    }
    KOPT_TRY(Expression expression, parseExpression(inner, where));
    message.placeholders.push_back({std::move(expression), decimals});
    at = close + 1;
  }
}

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
  Rule(std::string name, Expression when) : id(std::move(name)), condition(std::move(when)) {}

  std::string id;
  Expression condition;
  std::string severity, action, source;
  std::vector<RuleValue> values;
  MessageTemplate finding;
  std::vector<std::string> skills, techniques, evidence;
};

namespace {

using nlohmann::json;

Result<std::string> textOf(const json &rule, const char *key, const std::string &where) {
  if (!rule.contains(key) || !rule[key].is_string() || rule[key].get<std::string>().empty())
    return fault(where, fmt::format("key \"{}\" is missing or is not a text", key));
  return rule[key].get<std::string>();
}

Result<std::vector<std::string>> textsOf(const json &rule, const char *key,
                                         const std::string &where) {
  std::vector<std::string> texts;
  if (!rule.contains(key))
    return texts;
  if (!rule[key].is_array())
    return fault(where, fmt::format("key \"{}\" is not a list of texts", key));
  for (const json &entry : rule[key]) {
    if (!entry.is_string())
      return fault(where, fmt::format("key \"{}\" is not a list of texts", key));
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

Result<std::vector<RuleValue>> valuesOf(const json &rule, const std::string &where) {
  std::vector<RuleValue> values;
  if (!rule.contains("values"))
    return values;
  if (!rule["values"].is_object())
    return fault(where, "key \"values\" is not an object");
  for (const auto &[name, expressions] : rule["values"].items()) {
    RuleValue value{name, {}};
    KOPT_TRY(auto texts, textsOf(rule["values"], name.c_str(), where));
    for (const std::string &text : texts) {
      KOPT_TRY(Expression expression, parseExpression(text, where + "/values/" + name));
      value.alternatives.push_back(std::move(expression));
    }
    if (value.alternatives.empty())
      return fault(where, fmt::format("value \"{}\" has no expression", name));
    values.push_back(std::move(value));
  }
  return values;
}

Result<Rule> parseRule(const json &entry, const std::string &file, std::size_t index) {
  std::string where = fmt::format("knowledge/rules/{}#/rules/{}", file, index);
  if (!entry.is_object())
    return fault(where, "a rule is not an object");
  static const std::set<std::string> kKeys{"id",       "severity", "values", "condition",
                                           "finding",  "action",   "skills", "techniques",
                                           "evidence", "source"};
  for (const auto &[key, value] : entry.items())
    if (!kKeys.count(key))
      return fault(where, fmt::format("there is no key \"{}\"", key));
  KOPT_TRY(std::string id, textOf(entry, "id", where));
  where += " (" + id + ")";
  KOPT_TRY(const std::string text, textOf(entry, "condition", where));
  KOPT_TRY(Expression condition, parseExpression(text, where + "/condition"));
  Rule rule(std::move(id), std::move(condition));
  KOPT_TRY(rule.severity, textOf(entry, "severity", where));
  if (severityRank(rule.severity) < 0)
    return fault(where, fmt::format("severity \"{}\" is not high, medium or low", rule.severity));
  KOPT_TRY(rule.action, textOf(entry, "action", where));
  KOPT_TRY(rule.source, textOf(entry, "source", where));
  KOPT_TRY(rule.skills, textsOf(entry, "skills", where));
  KOPT_TRY(rule.techniques, textsOf(entry, "techniques", where));
  KOPT_TRY(rule.evidence, textsOf(entry, "evidence", where));
  KOPT_TRY(rule.values, valuesOf(entry, where));
  KOPT_TRY(std::string finding, textOf(entry, "finding", where));
  KOPT_TRY(rule.finding, parseMessage(finding, where + "/finding"));
  if (rule.skills.empty())
    return fault(where, "key \"skills\" names no skill");
  for (const std::string &skill : rule.skills)
    if (!findSkill(skill))
      return fault(where, fmt::format("there is no skill knowledge/skills/{}.md", skill));
  return rule;
}

/// The counters and the rule's own values; for a value without a result, remembers the first metric
/// that was missing.
class Scope {
public:
  Scope(const Rule &rule, const Counters &counters) : counters_(counters) {
    for (const RuleValue &value : rule.values)
      define(value);
  }
  /// The value, or the reason why there is none. Every name must have a value, even if the result
  /// does not depend on it.
  tl::expected<double, std::string> evaluate(const Expression &expression) const {
    std::vector<double> values;
    for (const std::string &name : expression.names()) {
      if (auto reason = missing_.find(name); reason != missing_.end())
        return tl::unexpected(reason->second);
      const std::optional<double> value = find(name);
      if (!value)
        return tl::unexpected(fmt::format("metric {} is missing", name));
      if (!std::isfinite(*value))
        return tl::unexpected(fmt::format("metric {} is not a finite number", name));
      values.push_back(*value);
    }
    const auto result = expression.evaluateReal(values);
    if (!result)
      return tl::unexpected(result.error().what);
    return *result;
  }
  /// The metrics behind a name: the name itself, or the metrics of the expression that gave a value
  /// of the rule.
  std::vector<std::string> metricsOf(const std::string &name) const {
    auto used = metrics_.find(name);
    return used == metrics_.end() ? std::vector<std::string>{name} : used->second;
  }

private:
  std::optional<double> find(const std::string &name) const {
    if (auto value = values_.find(name); value != values_.end())
      return value->second;
    if (auto counter = counters_.find(name); counter != counters_.end())
      return counter->second;
    return std::nullopt;
  }
  void define(const RuleValue &value) {
    for (const Expression &alternative : value.alternatives) {
      auto result = evaluate(alternative);
      if (result) {
        values_[value.name] = *result;
        metrics_[value.name] = alternative.names();
        missing_.erase(value.name);
        return;
      }
      missing_.emplace(value.name, result.error());
    }
  }

  const Counters &counters_;
  std::map<std::string, double> values_;
  std::map<std::string, std::vector<std::string>> metrics_;
  std::map<std::string, std::string> missing_;
};

tl::expected<std::string, std::string> render(const MessageTemplate &message, const Scope &scope) {
  std::string text = message.literals.front();
  for (std::size_t i = 0; i < message.placeholders.size(); ++i) {
    auto value = scope.evaluate(message.placeholders[i].expression);
    if (!value)
      return tl::unexpected<std::string>(value.error());
    text += fmt::format("{:.{}f}", *value, message.placeholders[i].digits);
    text += message.literals[i + 1];
  }
  return text;
}

std::vector<std::pair<std::string, double>> evidenceOf(const Rule &rule, const Scope &scope,
                                                       const Counters &counters) {
  std::vector<std::string> names;
  for (const std::string &name : rule.condition.names())
    for (std::string &metric : scope.metricsOf(name))
      names.push_back(std::move(metric));
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

RuleBook::RuleBook() = default;
RuleBook::RuleBook(RuleBook &&) noexcept = default;
RuleBook &RuleBook::operator=(RuleBook &&) noexcept = default;
RuleBook::~RuleBook() = default;

Result<RuleBook> RuleBook::load() {
  RuleBook book;
  std::set<std::string> ids;
  for (const auto &[path, text] : knowledge::rules::kFiles) {
    std::string file(path);
    json document = json::parse(text, nullptr, false);
    if (document.is_discarded() || !document.is_object() || !document.contains("rules") ||
        !document["rules"].is_array())
      return fault("knowledge/rules/" + file,
                   "the file is not a JSON object with a list \"rules\"");
    std::size_t index = 0;
    for (const json &entry : document["rules"]) {
      KOPT_TRY(Rule rule, parseRule(entry, file, index++));
      if (!ids.insert(rule.id).second)
        return fault("knowledge/rules/" + file, fmt::format("rule \"{}\" exists twice", rule.id));
      auto after = std::upper_bound(book.rules_.begin(), book.rules_.end(), rule, isMoreSevere);
      book.rules_.insert(after, std::move(rule));
    }
  }
  return book;
}

Diagnosis RuleBook::diagnose(const Counters &counters) const {
  Diagnosis diagnosis;
  for (const Rule &rule : rules_) {
    Scope scope(rule, counters);
    auto holds = scope.evaluate(rule.condition);
    if (!holds) {
      diagnosis.skipped.push_back(rule.id + ": " + holds.error());
      continue;
    }
    if (*holds == 0)
      continue;
    auto finding = render(rule.finding, scope);
    if (!finding) {
      diagnosis.skipped.push_back(rule.id + ": " + finding.error());
      continue;
    }
    diagnosis.hits.push_back(RuleHit{rule.id, rule.severity, *finding, rule.action, rule.skills,
                                     rule.techniques, evidenceOf(rule, scope, counters)});
  }
  return diagnosis;
}

std::vector<std::string> RuleBook::metrics() const {
  std::set<std::string> names;
  for (const Rule &rule : rules_) {
    std::set<std::string> defined;
    for (const RuleValue &value : rule.values) {
      defined.insert(value.name);
      for (const Expression &alternative : value.alternatives)
        names.insert(alternative.names().begin(), alternative.names().end());
    }
    std::vector<std::string> used = rule.condition.names();
    for (const Placeholder &placeholder : rule.finding.placeholders)
      used.insert(used.end(), placeholder.expression.names().begin(),
                  placeholder.expression.names().end());
    used.insert(used.end(), rule.evidence.begin(), rule.evidence.end());
    for (const std::string &name : used)
      if (!defined.count(name))
        names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::string RuleBook::skill(const std::string &name) {
  const std::string_view *text = findSkill(name);
  return text ? std::string(*text) : std::string();
}

std::vector<std::pair<std::string, std::string>> RuleBook::skills() {
  std::vector<std::pair<std::string, std::string>> skills;
  for (const auto &[path, text] : knowledge::skills::kFiles)
    skills.emplace_back(std::string(path.substr(0, path.rfind('.'))), std::string(text));
  return skills;
}

std::string RuleBook::skillCatalogue() {
  std::string catalogue;
  for (const auto &[path, text] : knowledge::skills::kFiles)
    catalogue += fmt::format("- {}: {}\n", path.substr(0, path.rfind(".md")), signalOf(text));
  return catalogue;
}

} // namespace kopt
