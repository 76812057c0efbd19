// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/LaunchClasses.h"

#include "driver/search/policy/Arms.h"
#include "driver/workload/ScalarArguments.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>

namespace kopt {
namespace {

/// An estimate that gains less over the best candidate is not worth a trial.
constexpr double kLeastEstimate = 1.005;
/// The conditions that a kernel may have: with the original that makes three classes.
constexpr int kMostGuards = 2;

bool isBaseline(const Trial &trial) {
  static const std::string hash = Candidate().contentHash();
  return trial.candidateHash == hash;
}

/// Also of a candidate that was slower, or the same, over all launches.
bool wasTimed(const Trial &trial) { return isRight(trial) && trial.verdict != Verdict::Duplicate; }

Speedup speedupOn(const Trial &trial, std::size_t launch) {
  return isBaseline(trial) ? Speedup() : trial.timings[launch].speedup;
}

double speedupOfBoth(const ClassPair &pair, const std::vector<double> &weights,
                     Objective objective) {
  std::vector<double> speedups, seconds;
  for (std::size_t i = 0; i < pair.wins.size() && i < weights.size(); ++i) {
    speedups.push_back(speedupOn(pair.wins[i] ? *pair.special : *pair.usual, i).estimate);
    seconds.push_back(pair.special->timings[i].baselineSeconds);
  }
  const double together = objectiveSpeedup(objective, weights, seconds, speedups);
  return std::isfinite(together) ? together : 0;
}

/// The conditions in the candidate's kernel that were put there for launches.
int guardsOf(const Candidate &candidate, const std::vector<Trial> &trials) {
  int most = 0;
  for (const std::string &parent : candidate.parents)
    for (const Trial &trial : trials)
      if (trial.candidateHash == parent) {
        most = std::max(most, guardsOf(trial.candidate, trials));
        break;
      }
  return most + (candidate.technique == kClassTechnique);
}

/// The least and the greatest value of the launches that win, or of the others.
struct ValueRange {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
};

ValueRange valuesWhere(const LaunchMeasure &measure, const std::vector<bool> &wins, bool won) {
  ValueRange range;
  for (std::size_t i = 0; i < wins.size(); ++i)
    if (wins[i] == won) {
      range.least = std::min(range.least, measure.values[i]);
      range.greatest = std::max(range.greatest, measure.values[i]);
    }
  return range;
}

constexpr std::int64_t kLargestPower = std::int64_t(1) << 62;

/// The power of two next to `value` that is not beyond `limit`; `value` itself if there is none.
std::int64_t roundUp(std::int64_t value, std::int64_t limit) {
  if (value <= 0 || value > kLargestPower)
    return value;
  std::int64_t power = 1;
  while (power < value)
    power *= 2;
  return power < limit ? power : value;
}
std::int64_t roundDown(std::int64_t value, std::int64_t limit) {
  std::int64_t power = 1;
  while (power <= value / 2)
    power *= 2;
  return power <= value && power > limit ? power : value;
}

/// How far apart two values are, on the scale of sizes.
double gapBetween(std::int64_t a, std::int64_t b) {
  const auto size = [](std::int64_t value) { return std::log(1 + std::abs(double(value))); };
  return a < 0 || b < 0 ? 0 : std::abs(size(a) - size(b));
}

double gapOf(const LaunchMeasure &measure, const std::vector<bool> &wins) {
  const ValueRange won = valuesWhere(measure, wins, true),
                   other = valuesWhere(measure, wins, false);
  return won.least > other.greatest ? gapBetween(won.least, other.greatest)
                                    : gapBetween(won.greatest, other.least);
}

bool isGeometry(const LaunchMeasure &measure) {
  return measure.name.find('.') != std::string::npos;
}

} // namespace

std::vector<bool> launchWins(const Trial &trial, const Trial &usual) {
  const std::size_t count = std::max(trial.timings.size(), usual.timings.size());
  for (const Trial *each : {&trial, &usual})
    if (!isBaseline(*each) && (!wasTimed(*each) || each->timings.size() != count))
      return {};
  std::vector<bool> wins;
  for (std::size_t i = 0; i < count; ++i)
    wins.push_back(speedupOn(trial, i).low > speedupOn(usual, i).high);
  return wins;
}

bool isSplit(const std::vector<bool> &wins) {
  return std::ranges::count(wins, true) > 0 && std::ranges::count(wins, false) > 0;
}

std::vector<ClassPair> classPairs(const std::vector<Trial> &trials, const Trial &best,
                                  const std::vector<double> &weights, Objective objective) {
  const Trial &baseline = trials.front();
  std::vector<const Trial *> usuals = {&baseline};
  if (!isBaseline(best))
    usuals.push_back(&best);
  const double reached = usuals.size() > 1 && best.speedup ? best.speedup->estimate : 1.0;
  std::vector<ClassPair> pairs;
  for (const Trial *usual : usuals)
    for (const Trial &trial : trials) {
      if (trial.purpose != Purpose::Search || isBaseline(trial) ||
          trial.candidateHash == usual->candidateHash)
        continue;
      ClassPair pair{&trial, usual, launchWins(trial, *usual), 1};
      if (!isSplit(pair.wins))
        continue;
      pair.estimate = speedupOfBoth(pair, weights, objective);
      if (pair.estimate >= reached * kLeastEstimate && guardsOf(trial.candidate, trials) == 0 &&
          guardsOf(usual->candidate, trials) < kMostGuards)
        pairs.push_back(std::move(pair));
    }
  std::ranges::stable_sort(pairs, std::greater(), &ClassPair::estimate);
  return pairs;
}

std::vector<double> weightsOf(const Workload &workload) {
  std::vector<double> weights;
  for (const Launch &launch : workload.launches)
    weights.push_back(launch.weight);
  return weights;
}

std::vector<LaunchMeasure> measuresOf(const Specialization &specialization,
                                      const Workload &workload) {
  std::vector<LaunchMeasure> measures;
  for (std::size_t i = 0; i < specialization.params.size(); ++i) {
    const KernelParam &param = specialization.params[i];
    const auto isNamesake = [&](const KernelParam &other) { return other.name == param.name; };
    if (param.kind != ParamKind::Scalar || param.components != 1 || param.name.empty() ||
        std::ranges::count_if(specialization.params, isNamesake) != 1)
      continue;
    LaunchMeasure measure{param.name, {}};
    for (const Launch &launch : workload.launches)
      if (const auto *argument =
              i < launch.arguments.size() ? std::get_if<ValueArg>(&launch.arguments[i]) : nullptr)
        if (const auto value = integerOf(param.scalar, argument->bytes);
            value && param.scalar != "bool")
          measure.values.push_back(*value);
    if (measure.values.size() == workload.launches.size())
      measures.push_back(std::move(measure));
  }
  const auto add = [&](const char *name, auto extentOf) {
    LaunchMeasure measure{name, {}};
    for (const Launch &launch : workload.launches)
      measure.values.push_back(extentOf(launch));
    measures.push_back(std::move(measure));
  };
  add("gridDim.x", [](const Launch &launch) { return launch.grid.x; });
  add("gridDim.y", [](const Launch &launch) { return launch.grid.y; });
  add("gridDim.z", [](const Launch &launch) { return launch.grid.z; });
  add("blockDim.x", [](const Launch &launch) { return launch.block.x; });
  add("blockDim.y", [](const Launch &launch) { return launch.block.y; });
  return measures;
}

std::optional<LaunchCondition> conditionOn(const LaunchMeasure &measure,
                                           const std::vector<bool> &wins) {
  if (!isSplit(wins) || measure.values.size() != wins.size())
    return std::nullopt;
  const ValueRange won = valuesWhere(measure, wins, true),
                   other = valuesWhere(measure, wins, false);
  if (won.least > other.greatest)
    return LaunchCondition{
        measure.name, fmt::format("{} >= {}", measure.name, roundDown(won.least, other.greatest))};
  if (won.greatest < other.least)
    return LaunchCondition{
        measure.name, fmt::format("{} <= {}", measure.name, roundUp(won.greatest, other.least))};
  return std::nullopt;
}

std::optional<LaunchCondition> conditionOn(const std::vector<LaunchMeasure> &measures,
                                           const std::vector<bool> &wins) {
  std::optional<LaunchCondition> best;
  double bestGap = -1;
  for (const LaunchMeasure &measure : measures) {
    if (isGeometry(measure) && best)
      break;
    const auto condition = conditionOn(measure, wins);
    if (condition && gapOf(measure, wins) > bestGap) {
      best = condition;
      bestGap = gapOf(measure, wins);
    }
  }
  return best;
}

} // namespace kopt
