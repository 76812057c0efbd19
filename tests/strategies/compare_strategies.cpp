// SPDX-License-Identifier: Apache-2.0
// compare_strategies RECORDING...: searches each recorded kernel with each strategy and prints how
// much of the best recorded gain is found after 10, 20 and 40 trials.
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
#include <random>

namespace kopt::fakes {
namespace {

constexpr int kTrials[] = {10, 20, 40};
constexpr double kLeastGain = 0.02; // of the log speedup

struct Named {
  const char *name;
  std::unique_ptr<Strategy> (*make)(const RecordedKernel &, std::map<std::string, Prior>);
};

PortfolioSettings settingsFor(const RecordedKernel &kernel, std::map<std::string, Prior> priors) {
  return {.proposers = kernel.proposers(), .priors = std::move(priors)};
}

const Named kStrategies[] = {
    {"greedy",
     [](const RecordedKernel &kernel, std::map<std::string, Prior>) {
       return makeTurnStrategy({.proposers = kernel.proposers(), .rounds = 100, .patience = 8});
     }},
    {"auto",
     [](const RecordedKernel &kernel, std::map<std::string, Prior> priors) {
       return makePortfolio(settingsFor(kernel, std::move(priors)));
     }},
    {"auto without priors",
     [](const RecordedKernel &kernel, std::map<std::string, Prior>) {
       return makePortfolio(settingsFor(kernel, {}));
     }},
    {"auto without families",
     [](const RecordedKernel &kernel, std::map<std::string, Prior> priors) {
       PortfolioSettings settings = settingsFor(kernel, std::move(priors));
       settings.width = 1;
       return makePortfolio(settings);
     }},
};

std::string interval(const std::vector<double> &values) {
  std::mt19937 random(1);
  std::vector<double> means;
  for (int i = 0; i < 10000; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < values.size(); ++j)
      sum += values[random() % values.size()];
    means.push_back(sum / double(values.size()));
  }
  std::ranges::sort(means);
  double sum = 0;
  for (const double value : values)
    sum += value;
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", sum / double(values.size()), means[250],
                     means[9750]);
}

int run(const std::vector<std::string> &files) {
  std::vector<RecordedKernel> kernels;
  for (const std::string &file : files) {
    auto kernel = RecordedKernel::load(file);
    if (!kernel) {
      fmt::print(stderr, "error: {}\n", kernel.error().what);
      return 2;
    }
    if (kernel->best() >= kLeastGain)
      kernels.push_back(std::move(*kernel));
    else
      fmt::print("{}: nothing gains 2 %\n", kernel->program);
  }
  for (const RecordedKernel &kernel : kernels)
    fmt::print("{}: {} trials, {:.3f}x at best, {}\n", kernel.program, kernel.trials.size() - 1,
               std::exp(kernel.best()), kernel.device);
  if (kernels.empty())
    return 1;
  fmt::print(
      "\n| strategy | after 10 | 20 | 40 | ahead of greedy after 10 | 20 | 40 | not recorded "
      "|\n|---|---|---|---|---|---|---|---|\n");
  std::vector<std::vector<double>> greedy;
  for (const Named &named : kStrategies) {
    std::vector<std::vector<double>> found(std::size(kTrials));
    int asks = 0, unrecorded = 0;
    for (const RecordedKernel &kernel : kernels) {
      std::vector<const RecordedKernel *> others;
      for (const RecordedKernel &other : kernels)
        if (other.program != kernel.program)
          others.push_back(&other);
      const auto strategy = named.make(kernel, priorsOf(others));
      const auto course = courseOf(kernel, *strategy, kTrials[2]);
      if (!course) {
        fmt::print(stderr, "error: {}: {}\n", kernel.program, course.error().what);
        return 2;
      }
      for (std::size_t i = 0; i < std::size(kTrials); ++i)
        found[i].push_back(
            course->fractions[std::min(std::size_t(kTrials[i]), course->fractions.size() - 1)]);
      asks += course->asks;
      unrecorded += course->unrecorded;
    }
    if (greedy.empty())
      greedy = found;
    std::string line = fmt::format("| {} |", named.name), ahead;
    for (std::size_t i = 0; i < std::size(kTrials); ++i) {
      line += " " + interval(found[i]) + " |";
      std::vector<double> differences;
      for (std::size_t j = 0; j < kernels.size(); ++j)
        differences.push_back(found[i][j] - greedy[i][j]);
      ahead += " " + interval(differences) + " |";
    }
    fmt::print("{}{} {:.0f} % |\n", line, ahead, 100.0 * unrecorded / std::max(1, asks));
  }
  return 0;
}

} // namespace
} // namespace kopt::fakes

int main(int count, char **arguments) {
  return kopt::fakes::run({arguments + 1, arguments + count});
}
