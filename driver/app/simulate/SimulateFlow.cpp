// SPDX-License-Identifier: Apache-2.0
#include "driver/app/simulate/SimulateFlow.h"

#include "driver/judge/recorded/RecordedSpaceJudge.h"
#include "driver/report/html/Drawings.h"
#include "driver/search/SearchLoop.h"
#include "driver/search/policy/Portfolio.h"
#include "driver/search/proposers/ParamsProposer.h"
#include "driver/support/FileSystem.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

namespace kopt {
namespace {

Result<nlohmann::json> readJson(const std::filesystem::path &file) {
  KOPT_TRY(const std::string text, readFile(file));
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded())
    return makeError(ErrorCode::Usage, file.string() + " is no JSON");
  return json;
}

Result<Space> pointsOf(const RecordedSpace &recorded) {
  std::vector<SpaceParameter> parameters;
  for (const TunableParam &param : recorded.declaration.params)
    parameters.push_back({param.name, param.values});
  std::vector<Point> points;
  for (const auto &[values, measured] : recorded.points) {
    Point point;
    for (std::size_t p = 0; p < values.size(); ++p)
      point.push_back(std::uint16_t(std::ranges::find(parameters[p].values, values[p]) -
                                    parameters[p].values.begin()));
    points.push_back(std::move(point));
  }
  return Space::of(std::move(parameters), std::move(points));
}

/// The values of the point in the middle of those that ran, by time.
std::vector<std::int64_t> middleOf(const RecordedSpace &space) {
  std::vector<std::pair<double, const std::vector<std::int64_t> *>> times;
  for (const auto &[values, point] : space.points)
    if (!point.seconds.empty())
      times.emplace_back(point.mean(), &values);
  std::ranges::sort(times, {}, &std::pair<double, const std::vector<std::int64_t> *>::first);
  return *times[times.size() / 2].second;
}

/// What the knowledge base would have of a run of the same text elsewhere.
std::vector<TriedNumbers> numbersOf(const RecordedSpace &space) {
  std::vector<TriedNumbers> numbers;
  for (const auto &[values, point] : space.points) {
    if (point.seconds.empty())
      continue;
    TriedNumbers &tried = numbers.emplace_back();
    for (std::size_t p = 0; p < values.size(); ++p)
      tried.candidate.constants[space.declaration.params[p].name] = values[p];
    tried.gain = -std::log(point.mean());
  }
  return numbers;
}

Result<SimulatedSearch> searchOnce(const SpaceToSearch &space, const SimulationSettings &settings,
                                   std::uint64_t seed) {
  const RecordedSpace &recorded = space.recorded;
  SimulatedClock clock;
  RecordedSpaceJudge judge(recorded, middleOf(recorded), VerdictPolicy(), clock);
  KOPT_TRY(const Baseline baseline, judge.baseline());
  std::vector<std::unique_ptr<Proposer>> proposers;
  proposers.push_back(std::make_unique<ParamsProposer>(
      recorded.declaration,
      NumberSearch{.seed = seed, .searcher = settings.searcher, .points = &space.points}));
  KOPT_TRY(const PolicyBook policies, PolicyBook::load());
  const PolicySettings *const policy = policies.find(settings.strategy);
  const std::unique_ptr<Strategy> strategy =
      policy ? makePortfolio({.policy = *policy,
                              .gates = policies.gates(),
                              .proposers = {kNumbersRole},
                              .weights = {1},
                              .open = settings.open,
                              .patience = std::size_t(settings.patience) * kTrialsOfRound})
             : makeTurnStrategy(
                   {.proposers = {kNumbersRole}, .weights = {1}, .patience = settings.patience});
  const std::unique_ptr<Inbox> inbox = makeInbox();
  SearchObserver observer;
  Journal journal = Journal::inMemory();
  KernelSpec kernel;
  kernel.name = recorded.kernel;
  const Specialization specialization;
  const std::string text;
  const DeviceInfo device;
  SearchProblem problem{kernel, specialization, baseline.workload, text, device};
  if (settings.elsewhere)
    problem.precedents.numbers = numbersOf(*settings.elsewhere);
  SearchSettings limits;
  limits.budget.trials = int(settings.trials > 0 ? settings.trials : space.scale.trials());
  limits.budget.seconds = settings.seconds;
  const SearchServices services{judge,  *strategy, proposers, journal,
                                *inbox, clock,     observer,  [] { return false; }};
  KOPT_TRY(const SearchHistory history, SearchLoop(services, problem, limits).run(baseline));
  SimulatedSearch search;
  double spent = 0;
  for (const Trial &trial : history.trials) {
    const RecordedPoint &point = recorded.points.at(judge.valuesOf(trial.candidate));
    search.times.push_back(point.seconds.empty() ? std::numeric_limits<double>::infinity()
                                                 : point.mean());
    search.seconds.push_back(spent += trial.seconds);
  }
  return search;
}

/// The best fraction of the optimum after 1, 2, ... trials, on average over the runs.
std::vector<double> curveOf(const SearchScale &scale, const std::vector<TriedTimes> &runs) {
  std::vector<double> curve(scale.trials(), 0.0);
  for (const TriedTimes &times : runs) {
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t trial = 0; trial < curve.size(); ++trial) {
      if (trial < times.size())
        best = std::min(best, times[trial]);
      curve[trial] += scale.best() / best / double(runs.size());
    }
  }
  return curve;
}

void drawCurve(html::Writer &writer, const html::Axes &axes, const std::vector<double> &curve,
               const char *style) {
  std::string path;
  for (std::size_t trial = 1; trial <= curve.size(); ++trial)
    path +=
        fmt::format("{}{} {}", trial == 1 ? "M" : "L", html::coordinate(axes.x.at(double(trial))),
                    html::coordinate(axes.y.at(curve[trial - 1])));
  writer.leaf("path", {{"class", style}, {"d", path}});
}

Drawing drawingOf(const SpaceToSearch &space, std::vector<std::vector<double>> curves) {
  return [&space, curves = std::move(curves)](html::Writer &writer) {
    html::Axes axes{560, 290, 46, 14, 18, 40};
    std::vector<double> chance;
    for (std::size_t trial = 1; trial <= space.scale.trials(); ++trial)
      chance.push_back(space.scale.best() / space.scale.byChance(trial));
    axes.x = html::Scale::linear(0, double(chance.size()), axes.left, axes.end());
    axes.y = html::Scale::linear(chance.front(), 1, axes.floor(), axes.top);
    const auto svg = axes.open(writer, "Fraction of the optimum by trials: " + space.name);
    axes.draw(writer, "trial");
    drawCurve(writer, axes, chance, "best baseline");
    for (const std::vector<double> &curve : curves)
      drawCurve(writer, axes, curve, "best");
  };
}

} // namespace

Result<SpaceToSearch> readSpaceToSearch(const std::filesystem::path &file,
                                        const std::filesystem::path &t1) {
  KOPT_TRY(const nlohmann::json json, readJson(file));
  nlohmann::json declared;
  if (!t1.empty()) {
    KOPT_TRY(declared, readJson(t1));
  }
  auto recorded = readRecordedSpace(json, t1.empty() ? nullptr : &declared);
  if (!recorded)
    return makeError(ErrorCode::Usage, fmt::format("{}: {}", file.string(), recorded.error().what));
  KOPT_TRY(Space points, pointsOf(*recorded));
  SearchScale scale(*recorded);
  return SpaceToSearch{file.filename().string(), std::move(*recorded), std::move(points),
                       std::move(scale)};
}

Result<std::vector<SimulatedSearch>> simulate(const SpaceToSearch &space,
                                              const SimulationSettings &settings) {
  std::vector<Result<SimulatedSearch>> searches(std::size_t(settings.repeats));
  std::vector<std::thread> threads;
  const int count =
      std::min(settings.repeats, int(std::max(1u, std::thread::hardware_concurrency())));
  for (int thread = 0; thread < count; ++thread)
    threads.emplace_back([&, thread] {
      for (int repeat = thread; repeat < settings.repeats; repeat += count)
        searches[std::size_t(repeat)] =
            searchOnce(space, settings, settings.seed + std::uint64_t(repeat));
    });
  for (std::thread &each : threads)
    each.join();
  std::vector<SimulatedSearch> all;
  for (auto &search : searches) {
    if (!search)
      return tl::unexpected(search.error());
    all.push_back(std::move(*search));
  }
  return all;
}

Document documentOf(const std::vector<SpaceToSearch> &spaces,
                    const std::vector<ComparedSearch> &searches) {
  Document document;
  document.title = "Searches of recorded spaces";
  document.heading = "simulate";
  document.over = "over all spaces, on average; ± 1.96 standard errors";
  Table table{"searches", "narrow", {{"search"}, {"space"}, {"repeats", "n"}}};
  for (const int after : SearchScale::kAfter)
    table.columns.push_back({std::to_string(after), "n"});
  table.columns.push_back({"score", "n"});
  Section section{"figures", "Fraction of the optimum after so many trials, and score"};
  const auto add = [&](const ComparedSearch &search, const std::string &name, std::size_t first,
                       std::size_t last) {
    std::vector<std::vector<SearchScale::Figures>> figures;
    for (std::size_t i = first; i < last; ++i) {
      figures.emplace_back();
      for (const TriedTimes &times : search.runs[i])
        figures.back().push_back(spaces[i].scale.figures(times));
    }
    Row row{{{search.name}, {name}, {std::to_string(search.runs[first].size())}}};
    for (const MeanFigure &figure : meanFigures(figures))
      row.cells.push_back({fmt::format("{:.3f} ± {:.3f}", figure.mean, figure.error)});
    document.answer = row.cells[5].words.spans.front().text;
    document.answerMore = fmt::format(" of the optimum after {} trials", SearchScale::kAfter[2]);
    table.rows.push_back(std::move(row));
  };
  for (const ComparedSearch &search : searches) {
    for (std::size_t i = 0; i < spaces.size(); ++i)
      add(search, spaces[i].name, i, i + 1);
    if (spaces.size() > 1)
      add(search, "all", 0, spaces.size());
  }
  section.add(std::move(table));
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    std::vector<std::vector<double>> curves;
    for (const ComparedSearch &search : searches)
      curves.push_back(curveOf(spaces[i].scale, search.runs[i]));
    section.add(
        Figure{fmt::format("{}: {} points, scored for {} trials; dashed: random points",
                           spaces[i].name, spaces[i].points.size(), spaces[i].scale.scored()),
               drawingOf(spaces[i], std::move(curves))});
  }
  document.sections.push_back(std::move(section));
  return document;
}

} // namespace kopt
