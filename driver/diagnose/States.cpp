// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/States.h"

#include "knowledge/StateFiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

/// Where no resource reaches this percentage of its peak, the kernel waits: Nsight Compute's Speed
/// Of Light rule calls that latency.
constexpr double kBusy = 60;

const Expression kUsed = Expression::parseReal("used").value(),
                 kNeeded = Expression::parseReal("needed").value();

} // namespace

Result<States> States::load() {
  const auto &[name, text] = knowledge::states::kFiles.front();
  const std::string file = fmt::format("knowledge/{}", name);
  States states;
  KOPT_TRY(states.values_, readValues({nlohmann::json::parse(text, nullptr, false), file}));
  KOPT_TRY(const auto roofs, readEntries(file, text, "roofs"));
  for (const KnowledgeEntry &entry : roofs) {
    KOPT_CHECK(entry.checkKeys({"id", "bound", "values", "source"}));
    KOPT_TRY(const std::string id, entry.text("id"));
    KOPT_TRY(const std::string kind, entry.text("bound"));
    const auto bound = parseEnum<BoundKind>(kind);
    if (!bound)
      return entry.fault(fmt::format("there is no bound \"{}\"", kind));
    KOPT_CHECK(entry.text("source"));
    KOPT_TRY(std::vector<CounterValue> values, readValues(entry));
    if (!std::ranges::count(values, "used", &CounterValue::name))
      return entry.fault("there is no value \"used\"");
    states.roofs_.push_back({id, *bound, std::move(values)});
  }
  KOPT_TRY(const auto entries, readEntries(file, text, "states"));
  for (const KnowledgeEntry &entry : entries) {
    KOPT_CHECK(entry.checkKeys(
        {"id", "values", "condition", "finding", "skills", "ncu", "blames", "shown_by", "source"}));
    KOPT_TRY(std::string id, entry.text("id"));
    KOPT_CHECK(entry.text("source"));
    KOPT_TRY(std::string shownBy, entry.text("shown_by"));
    KOPT_TRY(std::vector<std::string> skills, entry.texts("skills"));
    KOPT_TRY(std::vector<std::string> ncu, entry.texts("ncu"));
    KOPT_TRY(CounterCondition when, CounterCondition::read(entry));
    KOPT_TRY(std::vector<std::string> blames, entry.texts("blames"));
    states.states_.push_back({std::move(id), std::move(when), std::move(shownBy), std::move(skills),
                              std::move(ncu), std::move(blames)});
  }
  KOPT_TRY(const auto stops, readEntries(file, text, "stops"));
  for (const KnowledgeEntry &entry : stops) {
    KOPT_CHECK(entry.checkKeys(
        {"id", "values", "condition", "finding", "evidence", "shown_by", "source"}));
    KOPT_CHECK(entry.text("source"));
    KOPT_CHECK(entry.text("shown_by"));
    KOPT_TRY(CounterCondition when, CounterCondition::read(entry));
    Stop stop{std::move(when), {}};
    KOPT_TRY(const auto evidence, entry.texts("evidence"));
    for (const std::string &figure : evidence) {
      KOPT_TRY(Expression expression, readExpression(entry, figure));
      stop.evidence.emplace_back(figure, std::move(expression));
    }
    states.stops_.push_back(std::move(stop));
  }
  return states;
}

void States::addTo(Diagnosis &diagnosis, const Counters &counters) const {
  CounterScope common(counters);
  common.define(values_);
  double needed = 0;
  for (const Roof &roof : roofs_) {
    CounterScope scope = common;
    scope.define(roof.values);
    const auto used = scope.evaluate(kUsed), least = scope.evaluate(kNeeded);
    if (!used)
      continue;
    const bool isBusiest =
        *used > diagnosis.bound.percent || diagnosis.bound.kind == BoundKind::Unknown;
    if (isBusiest && roof.kind != BoundKind::Latency) // a launch is no resource
      diagnosis.bound = {roof.kind, roof.resource, *used};
    needed = std::max(needed, least.value_or(0));
  }
  Bound &bound = diagnosis.bound;
  if (bound.kind == BoundKind::Unknown)
    return;
  if (bound.percent < kBusy)
    bound.kind = BoundKind::Latency;
  // A count that does not fit the time says nothing of what is left.
  diagnosis.headroom = needed > 0 ? std::max(1.0, 100 / needed) : 0;
  for (const State &state : states_) {
    CounterScope scope = common;
    scope.define(state.when.values);
    const auto holds = scope.evaluate(state.when.condition);
    if (!holds) {
      diagnosis.unjudged.push_back(state.id + ": " + holds.error());
    } else if (*holds != 0) {
      diagnosis.state = state.id;
      diagnosis.finding = scope.render(state.when.finding).value_or(state.id);
      return;
    }
  }
  diagnosis.state = fmt::format("other:{}", toString(bound.kind));
  diagnosis.finding = fmt::format("no named state has these counters; the busiest resource is {}, "
                                  "at {:.0f}% of its peak",
                                  bound.resource, bound.percent);
}

std::optional<RoofReached> States::roofReached(const Counters &counters) const {
  CounterScope common(counters);
  common.define(values_);
  for (const Stop &stop : stops_) {
    CounterScope scope = common;
    scope.define(stop.when.values);
    if (scope.evaluate(stop.when.condition).value_or(0) == 0)
      continue;
    RoofReached reached{scope.render(stop.when.finding).value_or(""), {}};
    for (const auto &[name, figure] : stop.evidence)
      if (const auto value = scope.evaluate(figure))
        reached.evidence.emplace_back(name, *value);
    return reached;
  }
  return std::nullopt;
}

std::string boundInWords(const Diagnosis &diagnosis) {
  const Bound &bound = diagnosis.bound;
  if (bound.kind == BoundKind::Unknown)
    return {};
  std::string text = fmt::format(
      "{}, {}{} at {:.0f}% of its peak", toString(bound.kind),
      bound.kind == BoundKind::Latency ? "nothing is busy: the busiest resource is " : "",
      bound.resource, bound.percent);
  if (diagnosis.headroom > 0)
    text += fmt::format("; at most {:.{}f}x as fast with the bytes that it has to move",
                        diagnosis.headroom, diagnosis.headroom < 10 ? 2 : 0);
  return text;
}

} // namespace kopt
