// SPDX-License-Identifier: Apache-2.0
// How long a space takes until it is counted and 1,000 points of it are drawn, with their
// neighbours: tests/benchmarks/README.md.
#include "driver/search/space/Space.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace kopt;

namespace {

constexpr int kPoints = 1000;

struct Seconds {
  double counted = 0, drawn = 0;
  std::uint64_t points = 0, neighbours = 0;
};

Result<Seconds> measure(const std::vector<SpaceParameter> &parameters,
                        const std::vector<std::string> &requirements, std::uint64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  KOPT_TRY(const Space space, Space::make(parameters, requirements));
  Seconds seconds{.counted = since(), .points = space.size()};
  std::mt19937_64 random(seed);
  for (int i = 0; i < kPoints; ++i)
    seconds.neighbours += space.neighbours(space.draw(random), Space::Near::AnyValue).size();
  seconds.drawn = since();
  return seconds;
}

std::vector<SpaceParameter> parametersOf(const nlohmann::ordered_json &space) {
  std::vector<SpaceParameter> parameters;
  const auto lists = space.value("lists", nlohmann::ordered_json::object()),
             ranges = space.value("ranges", nlohmann::ordered_json::object());
  for (const auto &[name, values] : lists.items())
    parameters.push_back({name, values.get<std::vector<std::int64_t>>()});
  for (const auto &[name, range] : ranges.items()) {
    parameters.push_back({name, {}});
    for (std::int64_t value = range[0]; value <= range[1]; value += range[2].get<std::int64_t>())
      parameters.back().values.push_back(value);
  }
  return parameters;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: space_speed tuning_spaces.json\n");
    return 1;
  }
  std::ifstream in(argv[1]);
  const auto json = nlohmann::ordered_json::parse(in);
  fmt::print("median of 5; seconds until counted, and until 1000 points and their neighbours are "
             "drawn\n");
  for (const auto &[name, space] : json["spaces"].items()) {
    std::vector<Seconds> all;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      auto seconds =
          measure(parametersOf(space), space["requirements"].get<std::vector<std::string>>(), seed);
      if (!seconds) {
        fmt::print(stderr, "error: {}: {}\n", name, seconds.error().what);
        return 1;
      }
      all.push_back(*seconds);
    }
    std::ranges::sort(all, {}, &Seconds::drawn);
    fmt::print("{:20} {:14} points | {:.4f} | {:.4f} | {:.0f} neighbours a point\n", name,
               all[2].points, all[2].counted, all[2].drawn, double(all[2].neighbours) / kPoints);
    std::fflush(stdout);
  }
}
