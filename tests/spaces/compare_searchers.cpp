// SPDX-License-Identifier: Apache-2.0
// Searches recorded spaces with each searcher of numbers: tests/benchmarks/README.md.
#include "driver/search/space/Searcher.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <functional>
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
  double best = std::numeric_limits<double>::infinity(); ///< logarithm of the shortest time
};

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
  double best = std::numeric_limits<double>::infinity();
  for (const auto &entry : json["cache"]) {
    Point point;
    for (const SpaceParameter &parameter : parameters) {
      const auto at =
          std::ranges::find(parameter.values, entry[parameter.name].get<std::int64_t>());
      point.push_back(std::uint16_t(at - parameter.values.begin()));
    }
    const auto &time = entry["time"]; // a string where the point failed
    const Outcome outcome = time.is_number() ? Outcome(std::log(time.get<double>())) : std::nullopt;
    best = std::min(best, outcome.value_or(best));
    outcomes[point] = outcome;
    points.push_back(std::move(point));
  }
  KOPT_TRY(Space space, Space::of(std::move(parameters), std::move(points)));
  return RecordedSpace{path.substr(path.rfind('/') + 1), std::move(space), std::move(outcomes),
                       best};
}

using Make = std::function<std::unique_ptr<Searcher>(const Searched &, std::uint64_t seed)>;
using Curve = std::array<double, kAfter.size()>; ///< fraction of the optimum

Curve search(const RecordedSpace &recorded, const Make &make, std::uint64_t seed) {
  Searched searched(recorded.space);
  const auto searcher = make(searched, seed);
  Curve curve{};
  for (int trial = 1; trial <= kAfter.back(); ++trial) {
    if (const auto point = searcher->ask()) {
      searched.asked(*point);
      searched.told(*point, recorded.outcomes.at(*point));
    }
    for (std::size_t i = 0; i < kAfter.size(); ++i)
      if (trial == kAfter[i] && searched.best())
        curve[i] = std::exp(recorded.best - *searched.best()->outcome);
  }
  return curve;
}

std::vector<Curve> searchAll(const RecordedSpace &recorded, const Make &make, int repeats) {
  std::vector<Curve> curves(std::size_t(repeats), Curve{});
  std::vector<std::thread> threads;
  const int count = int(std::max(1u, std::thread::hardware_concurrency()));
  for (int thread = 0; thread < count; ++thread)
    threads.emplace_back([&, thread] {
      for (int repeat = thread; repeat < repeats; repeat += count)
        curves[std::size_t(repeat)] = search(recorded, make, std::uint64_t(repeat) + 1);
    });
  for (std::thread &each : threads)
    each.join();
  return curves;
}

/// "0.912 +- 0.004": the mean of the spaces' means, and 1.96 standard errors of it.
std::string meanOf(const std::vector<std::vector<Curve>> &spaces, std::size_t after) {
  double mean = 0, variance = 0;
  for (const std::vector<Curve> &curves : spaces) {
    double sum = 0, squares = 0;
    for (const Curve &curve : curves) {
      sum += curve[after];
      squares += curve[after] * curve[after];
    }
    const double n = double(curves.size()), own = sum / n;
    mean += own / double(spaces.size());
    variance += std::max(0.0, squares / n - own * own) / n / double(spaces.size() * spaces.size());
  }
  return fmt::format("{:.3f} +- {:.3f}", mean, 1.96 * std::sqrt(variance));
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  int repeats = 100;
  std::vector<RecordedSpace> spaces;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--repeats" && i + 1 < arguments.size()) {
      repeats = std::atoi(arguments[++i].c_str());
      continue;
    }
    auto space = readSpace(arguments[i]);
    if (!space) {
      fmt::print(stderr, "error: {}\n", space.error().what);
      return 1;
    }
    spaces.push_back(std::move(*space));
  }
  if (spaces.empty() || repeats < 1) {
    fmt::print(stderr, "usage: compare_searchers [--repeats 100] SPACE.json...\n");
    return 1;
  }
  const std::pair<const char *, Make> searchers[] = {{"random", makeRandomSearcher},
                                                     {"model", makeModelSearcher}};
  fmt::print("{} repeats; fraction of the optimum after {} trials\n", repeats,
             fmt::join(kAfter, ", "));
  for (const auto &[name, make] : searchers) {
    std::vector<std::vector<Curve>> all;
    for (const RecordedSpace &space : spaces) {
      all.push_back(searchAll(space, make, repeats));
      fmt::print("{:8} {:28}", name, space.name);
      for (std::size_t after = 0; after < kAfter.size(); ++after)
        fmt::print(" | {}", meanOf({all.back()}, after));
      fmt::print("\n");
      std::fflush(stdout);
    }
    fmt::print("{:8} {:28}", name, "all");
    for (std::size_t after = 0; after < kAfter.size(); ++after)
      fmt::print(" | {}", meanOf(all, after));
    fmt::print("\n");
  }
}
