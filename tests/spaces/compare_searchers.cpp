// SPDX-License-Identifier: Apache-2.0
// Searches recorded spaces with each searcher of numbers: tests/benchmarks/README.md.
#include "driver/search/space/Searcher.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

using namespace kopt;

namespace {

constexpr std::array kAfter = {25, 50, 100, 200};

/// Every point of a kernel, measured once: a cache file of Kernel Tuner.
struct RecordedSpace {
  std::string name;
  Space space;
  std::map<Point, Outcome> outcomes;
  double best = 0;              ///< the shortest time
  std::vector<double> byChance; ///< by trials, the expected shortest time of so many random points
  std::size_t scored = 0;       ///< trials that the score is the mean of
};

/// Of `times` that are sorted, among `points` of which the others failed.
std::vector<double> byChance(const std::vector<double> &times, std::size_t points,
                             std::size_t trials) {
  std::vector<double> expected(trials + 1);
  for (std::size_t drawn = 1; drawn <= trials; ++drawn) {
    double sum = 0, noneYet = 1; // the probability that none of the fastest so far is drawn
    for (std::size_t k = 0; k < times.size() && noneYet > 1e-12; ++k) {
      const double left = double(points - k);
      const double next = noneYet * std::max(0.0, left - double(drawn)) / left;
      sum += (noneYet - next) * times[k];
      noneYet = next;
    }
    expected[drawn] = sum / (1 - noneYet);
  }
  return expected;
}

/// The random points that are expected until the difference between median and optimum is down to
/// 5 %: what the field scores up to (Willemsen et al., "A methodology for comparing optimization
/// algorithms for auto-tuning", FGCS 2024).
std::size_t trialsToScore(const std::vector<double> &times) {
  const double target = times.front() + 0.05 * (times[times.size() / 2] - times.front());
  const auto good = std::ranges::upper_bound(times, target) - times.begin();
  return std::size_t(std::ceil(double(times.size() + 1) / double(good + 1)));
}

Result<RecordedSpace> readSpace(const std::string &path) {
  std::ifstream in(path);
  const auto json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object() || !json.contains("cache"))
    return makeError(ErrorCode::Usage, path + " is no cache file of Kernel Tuner");
  std::vector<SpaceParameter> parameters;
  for (const std::string key : json["tune_params_keys"])
    parameters.push_back({key, json["tune_params"][key].get<std::vector<std::int64_t>>()});
  std::map<Point, Outcome> outcomes;
  std::vector<Point> points;
  std::vector<double> times;
  for (const auto &entry : json["cache"]) {
    Point point;
    for (const SpaceParameter &parameter : parameters) {
      const auto at =
          std::ranges::find(parameter.values, entry[parameter.name].get<std::int64_t>());
      point.push_back(std::uint16_t(at - parameter.values.begin()));
    }
    const auto &time = entry["time"]; // a string where the point failed
    const Outcome outcome = time.is_number() ? Outcome(std::log(time.get<double>())) : std::nullopt;
    if (outcome)
      times.push_back(time.get<double>());
    outcomes[point] = outcome;
    points.push_back(std::move(point));
  }
  if (times.empty())
    return makeError(ErrorCode::Usage, path + " has no point that did not fail");
  KOPT_TRY(Space space, Space::of(std::move(parameters), std::move(points)));
  std::ranges::sort(times);
  const std::size_t scored = trialsToScore(times),
                    trials = std::max<std::size_t>(scored, kAfter.back());
  return RecordedSpace{path.substr(path.rfind('/') + 1),
                       std::move(space),
                       std::move(outcomes),
                       times.front(),
                       byChance(times, space.size(), trials),
                       scored};
}

/// Fractions of the optimum after kAfter trials, and the score.
using Figures = std::array<double, kAfter.size() + 1>;

/// `times` are those of trials in their order, infinite where one failed. The score is 0 for what
/// random points find and 1 for the optimum at once, on average over the trials that are scored.
Figures figuresOf(const RecordedSpace &recorded, const std::vector<double> &times) {
  Figures figures{};
  double best = std::numeric_limits<double>::infinity(), score = 0;
  for (std::size_t trial = 1; trial < recorded.byChance.size(); ++trial) {
    if (trial <= times.size())
      best = std::min(best, times[trial - 1]);
    for (std::size_t i = 0; i < kAfter.size(); ++i)
      if (trial == std::size_t(kAfter[i]))
        figures[i] = recorded.best / best;
    const double chance = recorded.byChance[trial];
    if (trial <= recorded.scored)
      score +=
          (chance - (std::isfinite(best) ? best : recorded.byChance[1])) / (chance - recorded.best);
  }
  figures.back() = score / double(recorded.scored);
  return figures;
}

std::vector<double> search(const RecordedSpace &recorded, const NamedSearcher &named,
                           std::uint64_t seed) {
  Searched searched(recorded.space);
  const auto searcher = named.make(searched, seed);
  std::vector<double> times;
  while (times.size() + 1 < recorded.byChance.size()) {
    const auto point = searcher->ask();
    if (!point)
      break;
    searched.asked(*point);
    const Outcome outcome = recorded.outcomes.at(*point);
    searched.told(*point, outcome);
    times.push_back(outcome ? std::exp(*outcome) : std::numeric_limits<double>::infinity());
  }
  return times;
}

std::vector<Figures> searchAll(const RecordedSpace &recorded, const NamedSearcher &named,
                               int repeats) {
  std::vector<Figures> figures(std::size_t(repeats), Figures{});
  std::vector<std::thread> threads;
  const int count = int(std::max(1u, std::thread::hardware_concurrency()));
  for (int thread = 0; thread < count; ++thread)
    threads.emplace_back([&, thread] {
      for (int repeat = thread; repeat < repeats; repeat += count)
        figures[std::size_t(repeat)] =
            figuresOf(recorded, search(recorded, named, std::uint64_t(repeat) + 1));
    });
  for (std::thread &each : threads)
    each.join();
  return figures;
}

/// What another program tried: {"name": ..., "runs": [[time or null, ...], ...]}.
Result<std::vector<Figures>> readRuns(const nlohmann::json &runs, const RecordedSpace &recorded) {
  std::vector<Figures> figures;
  for (const auto &run : runs) {
    std::vector<double> times;
    for (const auto &time : run)
      times.push_back(time.is_number() ? time.get<double>()
                                       : std::numeric_limits<double>::infinity());
    figures.push_back(figuresOf(recorded, times));
  }
  if (figures.empty())
    return makeError(ErrorCode::Usage, "no run on " + recorded.name);
  return figures;
}

/// "0.912 +- 0.004" for each figure: the mean of the spaces' means, and 1.96 standard errors of it.
void printRow(const std::string &name, const std::string &space,
              const std::vector<std::vector<Figures>> &spaces) {
  fmt::print("{:24} {:24}", name, space);
  for (std::size_t figure = 0; figure < Figures().size(); ++figure) {
    double mean = 0, variance = 0;
    for (const std::vector<Figures> &runs : spaces) {
      double sum = 0, squares = 0;
      for (const Figures &figures : runs) {
        sum += figures[figure];
        squares += figures[figure] * figures[figure];
      }
      const double n = double(runs.size()), own = sum / n;
      mean += own / double(spaces.size());
      variance +=
          std::max(0.0, squares / n - own * own) / n / double(spaces.size() * spaces.size());
    }
    fmt::print(" | {:.3f} +- {:.3f}", mean, 1.96 * std::sqrt(variance));
  }
  fmt::print("\n");
  std::fflush(stdout);
}

struct Settings {
  int repeats = 100;
  std::vector<std::string> only;  ///< names of searchers; all where it is empty
  std::vector<std::string> runs;  ///< files of other programs
  std::vector<std::string> files; ///< of spaces
};

Status compare(const Settings &settings) {
  std::vector<RecordedSpace> spaces;
  for (const std::string &file : settings.files) {
    KOPT_TRY(RecordedSpace space, readSpace(file));
    fmt::print("{}: {} points, scored for {} trials\n", space.name, space.space.size(),
               space.scored);
    spaces.push_back(std::move(space));
  }
  fmt::print("{} repeats; fraction of the optimum after {} trials, and score\n", settings.repeats,
             fmt::join(kAfter, ", "));
  const auto printAll = [&](const std::string &name, std::vector<std::vector<Figures>> all) {
    for (std::size_t i = 0; i < spaces.size(); ++i)
      printRow(name, spaces[i].name, {all[i]});
    printRow(name, "all", all);
  };
  for (const NamedSearcher &named : searchers()) {
    if (!settings.only.empty() &&
        std::ranges::find(settings.only, named.name) == settings.only.end())
      continue;
    std::vector<std::vector<Figures>> all;
    for (const RecordedSpace &space : spaces)
      all.push_back(searchAll(space, named, settings.repeats));
    printAll(named.name, std::move(all));
  }
  for (const std::string &file : settings.runs) {
    std::ifstream in(file);
    const auto json = nlohmann::json::parse(in, nullptr, false);
    if (!json.is_object())
      return makeError(ErrorCode::Usage, file + " is no JSON object");
    std::vector<std::vector<Figures>> all;
    for (const RecordedSpace &space : spaces) {
      KOPT_TRY(auto figures, readRuns(json.value(space.name, nlohmann::json::array()), space));
      all.push_back(std::move(figures));
    }
    printAll(json.value("name", file), std::move(all));
  }
  return {};
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Searches recorded spaces with each searcher of numbers");
  Settings settings;
  app.add_option("--repeats", settings.repeats, "searches of each space (default: 100)")
      ->check(CLI::PositiveNumber);
  app.add_option("--searcher", settings.only, "only these (default: all)")->allow_extra_args(false);
  app.add_option("--runs", settings.runs, "what other programs tried on the same spaces")
      ->allow_extra_args(false);
  app.add_option("spaces", settings.files, "cache files of Kernel Tuner")->required();
  CLI11_PARSE(app, argc, argv);
  if (const Status done = compare(settings); !done) {
    fmt::print(stderr, "error: {}\n", done.error().what);
    return 1;
  }
}
