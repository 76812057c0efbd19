// SPDX-License-Identifier: Apache-2.0
// warm_start [--check] RECORDING...: how many trials greedy and `auto` need on each recorded kernel
// until they have 95 % of the best recorded gain (its log), without knowledge and with that of
// other runs.
//
// A run that teaches is one of 100 trials of the same strategy without knowledge. Similar kernels
// are the three of other programs with the greatest likeness before a run, wrong ones the three
// with the least. "believed" takes even these for kernels of its kind. A search that does not come
// so far in 100 trials counts as 100; the second share is of the kernels on which the search
// without knowledge does. With --check it fails where `auto` has more than its share there. Times
// are recorded, so the same candidate is always as fast: what noise does is not shown.
#include "strategies/WarmStart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <numeric>

namespace kopt::fakes {
namespace {

constexpr int kTrials = 100;
constexpr double kEnough = 0.95, kLeastGain = 0.02;

struct Way {
  const char *name;
  std::function<Result<Taught>(std::size_t)> taught; ///< of the kernel with this number
  double most = 1;                                   ///< share of the trials without knowledge
};

Result<Course> search(bool isAuto, const RecordedKernel &kernel, const Taught &taught) {
  std::vector<std::string> proposers = kernel.proposers();
  if (!taught.edits.empty())
    proposers.insert(proposers.begin(), "recall");
  const auto strategy =
      isAuto
          ? makePortfolio(
                {.proposers = proposers, .priors = taught.priors, .precedents = taught.precedents})
          : makeTurnStrategy({.proposers = proposers, .rounds = 100, .patience = 8});
  return courseOf(kernel, *strategy, kTrials, taught);
}

int trialsToEnough(const Course &course) {
  const auto enough =
      std::ranges::find_if(course.fractions, [](double fraction) { return fraction >= kEnough; });
  return enough == course.fractions.end() ? kTrials : int(enough - course.fractions.begin());
}

Taught priorsAlone(Taught taught) {
  taught.edits.clear();
  return taught;
}

/// Prints a table; the ways that need more trials than they should.
Result<std::vector<std::string>> compare(bool isAuto, const std::vector<RecordedKernel> &kernels) {
  std::vector<RecordedRun> runs;
  for (const RecordedKernel &kernel : kernels) {
    KOPT_TRY(Course course, search(isAuto, kernel, {}));
    runs.push_back({kernel, std::move(course.judged)});
  }
  /// The runs of other programs, the most alike first.
  const auto others = [&](std::size_t kernel, bool areAlike) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (kernels[i].program != kernels[kernel].program)
        order.push_back({likeness(featuresOf(kernels[i]), featuresOf(kernels[kernel])), i});
    std::ranges::sort(order, std::greater());
    if (!areAlike)
      std::ranges::reverse(order);
    std::vector<RecordedRun> chosen;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, order.size()); ++i)
      chosen.push_back(runs[order[i].second]);
    return chosen;
  };
  const Way ways[] = {
      {"cold", [&](std::size_t) { return Result<Taught>(Taught()); }},
      {"its own run, priors alone",
       [&](std::size_t i) { return taughtBy({runs[i]}, kernels[i]).map(priorsAlone); }, 0.25},
      {"its own run, with edits", [&](std::size_t i) { return taughtBy({runs[i]}, kernels[i]); },
       0.25},
      {"all other kernels, as a seed",
       [&](std::size_t i) {
         std::vector<RecordedRun> all;
         for (const RecordedKernel &other : kernels)
           if (other.program != kernels[i].program)
             all.push_back(wholeRecording(other));
         return seededBy(all, kernels[i]);
       }},
      {"similar kernels", [&](std::size_t i) { return taughtBy(others(i, true), kernels[i]); }},
      {"wrong kernels", [&](std::size_t i) { return taughtBy(others(i, false), kernels[i]); },
       1.05},
      {"wrong kernels, believed",
       [&](std::size_t i) { return taughtBy(others(i, false), kernels[i], true); }, 1.05},
  };
  fmt::print("\n| {}, known before | trials | of cold | where cold comes so far | gain after 10 | "
             "20 | 40 |",
             isAuto ? "auto" : "greedy");
  for (const RecordedKernel &kernel : kernels)
    fmt::print(" {} |", kernel.program);
  fmt::print("\n");
  std::vector<int> cold;
  std::vector<std::string> beyond;
  for (const Way &way : ways) {
    double after[3] = {};
    std::vector<int> needed;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      KOPT_TRY(const Taught taught, way.taught(i));
      KOPT_TRY(const Course course, search(isAuto, kernels[i], taught));
      needed.push_back(trialsToEnough(course));
      for (const std::size_t at : {0, 1, 2})
        after[at] += course.fractions[std::min(std::size_t(10) << at, course.fractions.size() - 1)];
    }
    if (cold.empty())
      cold = needed;
    const auto shareOfCold = [&](int below) {
      double sum = 0, ofCold = 0;
      for (std::size_t i = 0; i < cold.size(); ++i)
        if (cold[i] < below) {
          sum += needed[i];
          ofCold += cold[i];
        }
      return sum / ofCold;
    };
    const auto count = double(kernels.size());
    fmt::print("| {} | {:.1f} | {:.0f} % | {:.0f} % | {:.3f} | {:.3f} | {:.3f} | {} |\n", way.name,
               std::accumulate(needed.begin(), needed.end(), 0.0) / count,
               100 * shareOfCold(kTrials + 1), 100 * shareOfCold(kTrials), after[0] / count,
               after[1] / count, after[2] / count, fmt::join(needed, " | "));
    if (isAuto && shareOfCold(kTrials) > way.most)
      beyond.push_back(fmt::format("{}: more than {:.0f} %", way.name, 100 * way.most));
  }
  return beyond;
}

Result<int> run(const std::vector<std::string> &files, bool isCheck) {
  std::vector<RecordedKernel> kernels;
  for (const std::string &file : files) {
    KOPT_TRY(RecordedKernel kernel, RecordedKernel::load(file));
    if (kernel.best() >= kLeastGain)
      kernels.push_back(std::move(kernel));
    else
      fmt::print("{}: nothing gains 2 %\n", kernel.program);
  }
  for (const RecordedKernel &one : kernels) {
    std::vector<std::string> alike;
    for (const RecordedKernel &other : kernels)
      if (const double like = likeness(featuresOf(one), featuresOf(other));
          other.program != one.program && like >= kOfAKind)
        alike.push_back(fmt::format("{} {:.2f}", other.program, like));
    fmt::print("of the kind of {}: {}\n", one.program, fmt::join(alike, ", "));
  }
  if (!isCheck)
    KOPT_CHECK(compare(false, kernels).map([](auto &&) {}));
  KOPT_TRY(const std::vector<std::string> beyond, compare(true, kernels));
  for (const std::string &each : beyond)
    fmt::print(stderr, "error: {} of the trials without knowledge\n", each);
  return isCheck && !beyond.empty();
}

} // namespace
} // namespace kopt::fakes

int main(int count, char **arguments) {
  return kopt::fakes::runChecked(count, arguments, kopt::fakes::run);
}
