// SPDX-License-Identifier: Apache-2.0
// compare_strategies [--check] RECORDING...: searches each recorded kernel with each strategy and
// prints how much of the best recorded gain is found after 10, 20 and 40 trials. With --check it
// fails unless `auto` is what the default should be: ahead of greedy by 0.03 after 20 trials, with
// an interval above 0, and not behind after 10 and 40.
//
// A figure is a mean over kernels of log(best speedup found) over log(best speedup recorded), with
// a 95 % interval from 10,000 resamples of the kernels, and the same of the difference from greedy.
// Priors of a kernel come from the other programs' recordings. A kernel on which nothing gains 2 %
// is left out and named. The last column is the share of the asks for what no recording has.
#include "strategies/RecordedKernel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <numeric>
#include <random>

namespace kopt::fakes {
namespace {

constexpr int kTrials[] = {10, 20, 40}, kMostTrials = 200;
constexpr int kPatience = 8;        ///< rounds, as kopt tune has them
constexpr double kLeastGain = 0.02; // of the log speedup

/// A strategy by its name, and what is changed in its settings.
struct Named {
  const char *name, *preset;
  nlohmann::json set;
};

const Named kStrategies[] = {
    {"greedy", "", {}},
    {"auto", "auto", {}},
    {"auto without priors", "auto", {{"prior_weight", 0}}},
    {"auto without diagnosis", "auto", {{"recommended", 1}}},
    {"auto without exploring", "auto", {{"explore", 0}}},
    {"auto with families", "auto", {{"families", true}}},
    {"auto with gates", "auto", {{"gates", true}}},
    {"auto with one parent beside the baseline", "auto", {{"width", 1}}},
    {"navigator", "navigator", {}},
    {"navigator without gates", "navigator", {{"gates", false}}},
    {"beam", "beam", {}},
    {"beam without families", "beam", {{"families", false}}},
    {"memory", "memory", {}},
};

Result<std::unique_ptr<Strategy>> strategyFor(const Named &named, const PolicyBook &book,
                                              const RecordedKernel &kernel,
                                              std::map<std::string, Prior> priors) {
  const PolicySettings *preset = book.find(named.preset);
  if (!preset)
    return makeTurnStrategy(
        {.proposers = kernel.proposers(), .rounds = 100, .patience = kPatience});
  KOPT_TRY(const PolicySettings policy, changed(*preset, named.set));
  return makePortfolio({.policy = policy,
                        .gates = book.gates(),
                        .proposers = kernel.proposers(),
                        .priors = std::move(priors),
                        .patience = kPatience * 3});
}

struct Interval {
  double mean = 0, low = 0, high = 0;
  std::string text() const { return fmt::format("{:.3f} [{:.3f}, {:.3f}]", mean, low, high); }
};

Interval intervalOf(const std::vector<double> &values) {
  std::mt19937 random(1);
  std::vector<double> means;
  for (int i = 0; i < 10000; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < values.size(); ++j)
      sum += values[random() % values.size()];
    means.push_back(sum / double(values.size()));
  }
  std::ranges::sort(means);
  return {std::accumulate(values.begin(), values.end(), 0.0) / double(values.size()), means[250],
          means[9750]};
}

/// What a strategy finds: after each of kTrials, on each kernel.
struct Found {
  std::vector<std::vector<double>> fractions{std::size(kTrials)};
  int asks = 0, unrecorded = 0;
  std::vector<double> last, trials; ///< when the strategy stops: the fraction, and after how many

  std::vector<Interval> ahead(const Found &other) const {
    std::vector<Interval> result;
    for (std::size_t i = 0; i < fractions.size(); ++i) {
      std::vector<double> differences;
      for (std::size_t j = 0; j < fractions[i].size(); ++j)
        differences.push_back(fractions[i][j] - other.fractions[i][j]);
      result.push_back(intervalOf(differences));
    }
    return result;
  }
};

Result<std::vector<RecordedKernel>> load(const std::vector<std::string> &files) {
  std::vector<RecordedKernel> kernels;
  for (const std::string &file : files) {
    KOPT_TRY(RecordedKernel kernel, RecordedKernel::load(file));
    fmt::print("{}, {}: {} trials, {}, {}\n", kernel.program, kernel.kernel,
               kernel.trials.size() - 1,
               kernel.best() >= kLeastGain ? fmt::format("{:.3f}x at best", std::exp(kernel.best()))
                                           : "nothing gains 2 %: left out",
               kernel.device);
    if (kernel.best() >= kLeastGain)
      kernels.push_back(std::move(kernel));
  }
  if (kernels.empty())
    return makeError(ErrorCode::Usage, "there is nothing to compare strategies on",
                     "give recordings of kernels on which something gains 2 %");
  return kernels;
}

Result<Found> findWith(const Named &named, const PolicyBook &book,
                       const std::vector<RecordedKernel> &kernels) {
  Found found;
  for (const RecordedKernel &kernel : kernels) {
    std::vector<const RecordedKernel *> others;
    for (const RecordedKernel &other : kernels)
      if (other.program != kernel.program)
        others.push_back(&other);
    KOPT_TRY(const auto strategy,
             strategyFor(named, book, kernel, priorsOf(others, kernel.stateOf(0))));
    KOPT_TRY(const Course course, courseOf(kernel, *strategy, kMostTrials));
    found.last.push_back(course.fractions.back());
    found.trials.push_back(double(course.fractions.size() - 1));
    for (std::size_t i = 0; i < std::size(kTrials); ++i)
      found.fractions[i].push_back(
          course.fractions[std::min(std::size_t(kTrials[i]), course.fractions.size() - 1)]);
    found.asks += course.asks;
    found.unrecorded += course.unrecorded;
  }
  return found;
}

std::string rowOf(const Named &named, const Found &found, const Found &greedy) {
  std::string row = fmt::format("| {} |", named.name);
  for (const std::vector<double> &each : found.fractions)
    row += " " + intervalOf(each).text() + " |";
  for (const Interval &ahead : found.ahead(greedy))
    row += " " + ahead.text() + " |";
  return fmt::format("{} {} | {:.0f} | {:.0f} % |\n", row, intervalOf(found.last).text(),
                     intervalOf(found.trials).mean,
                     100.0 * found.unrecorded / std::max(1, found.asks));
}

/// The fraction on each kernel after 10, 20 and 40 trials.
std::string eachOf(const Named &named, const Found &found,
                   const std::vector<RecordedKernel> &kernels) {
  std::string text = fmt::format("{}:", named.name);
  for (std::size_t j = 0; j < kernels.size(); ++j)
    text += fmt::format(" {} {:.2f}/{:.2f}/{:.2f};", kernels[j].program, found.fractions[0][j],
                        found.fractions[1][j], found.fractions[2][j]);
  return text + "\n";
}

/// Whether `auto` is what the default should be.
bool isAhead(const std::vector<Interval> &ahead) {
  return ahead[1].mean >= 0.03 && ahead[1].low > 0 && ahead[0].high >= 0 && ahead[2].high >= 0;
}

Result<int> run(const std::vector<std::string> &files, bool isCheck) {
  KOPT_TRY(const PolicyBook book, PolicyBook::load());
  KOPT_TRY(const std::vector<RecordedKernel> kernels, load(files));
  fmt::print("\n| strategy | after 10 | 20 | 40 | ahead of greedy after 10 | 20 | 40 | when it "
             "stops | after "
             "| not recorded |\n|---|---|---|---|---|---|---|---|---|---|\n");
  std::vector<Found> all;
  std::string each = "\n";
  for (const Named &named : kStrategies) {
    KOPT_TRY(Found found, findWith(named, book, kernels));
    all.push_back(std::move(found));
    fmt::print("{}", rowOf(named, all.back(), all.front()));
    each += eachOf(named, all.back(), kernels);
  }
  fmt::print("{}", each);
  if (!isCheck || isAhead(all[1].ahead(all[0])))
    return 0;
  fmt::print(stderr, "error: auto is not ahead of greedy as the default should be\n");
  return 1;
}

} // namespace
} // namespace kopt::fakes

int main(int count, char **arguments) {
  return kopt::fakes::runChecked(count, arguments, kopt::fakes::run);
}
