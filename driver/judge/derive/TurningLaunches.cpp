// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/TurningLaunches.h"

#include "driver/judge/derive/DeriveLimits.h"
#include "driver/judge/derive/LaunchNumbers.h"
#include "driver/workload/ApplyCandidate.h"
#include "driver/workload/OtherScalars.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>

namespace kopt {
namespace {

using Values = LaunchNumbers::Values;

/// One way to make the launch larger.
class Growth {
public:
  Growth(const DerivationSource &source, const Candidate &candidate, const LaunchNumbers &numbers,
         Values sizes)
      : source_(source), candidate_(candidate), numbers_(numbers), sizes_(std::move(sizes)) {}

  /// Nothing if there is no such launch, or a GPU would refuse it for the original.
  std::optional<Launch> at(double times) const {
    Values values = sizes_;
    for (auto &[name, value] : values)
      value = std::int64_t(double(value) * times) + (times > 1 ? 1 : 0);
    auto made = numbers_.larger(numbers_.allowed(values));
    if (!made || brokenRequirement(source_, *made, made->bindings) ||
        whyNotLaunched(source_.kernel, *made, Candidate()))
      return std::nullopt;
    return std::move(*made);
  }

  std::optional<std::string> refused(const Launch &made) const {
    return whyNotLaunched(source_.kernel, made, candidate_);
  }

  /// The candidate's grid; nothing if it cannot be evaluated.
  std::optional<Dim3> gridOf(const Launch &made) const {
    const auto own = applyToLaunch(source_.kernel, made, candidate_);
    return own ? std::optional(own->grid) : std::nullopt;
  }

  /// The least factor in (low, high] for which `holds` is true; it must be true for `high`.
  double least(double low, double high, const std::function<bool(const Launch &)> &holds) const {
    for (int step = 0; step < kBisections; ++step) {
      const double middle = (low + high) / 2;
      const auto made = at(middle);
      (made && holds(*made) ? high : low) = middle;
    }
    return high;
  }

  std::optional<TurningLaunch> find() const {
    struct Step {
      double times;
      Dim3 grid; ///< the candidate's grid
      std::uint64_t threads;
    };
    std::vector<Step> steps;
    for (double times = 1; times <= kMostTimes; times *= 2) {
      const auto made = at(times);
      if (!made)
        break;
      if (const auto why = refused(*made)) {
        if (times == 1)
          return std::nullopt; // refused at the workload's own size already
        const double from = least(
            times / 2, times, [&](const Launch &launch) { return refused(launch).has_value(); });
        return turn(from, "", true);
      }
      const auto grid = gridOf(*made);
      if (!grid)
        return std::nullopt;
      steps.push_back({times, *grid, made->grid.count() * made->block.count()});
    }
    for (std::size_t i = 0; i + 2 < steps.size(); ++i) {
      const Step &first = steps[i], &last = steps[i + 2];
      if (first.grid != last.grid || steps[i + 1].grid != last.grid ||
          last.threads < 3 * first.threads)
        continue;
      const double from =
          i == 0 ? steps[1].times
                 : kPastTurn * least(steps[i - 1].times, first.times, [&](const Launch &launch) {
                     return gridOf(launch) == last.grid;
                   });
      return turn(from,
                  fmt::format("the candidate's grid stays {} x {} x {} from there on", last.grid.x,
                              last.grid.y, last.grid.z),
                  false);
    }
    return std::nullopt;
  }

private:
  std::optional<TurningLaunch> turn(double times, std::string what, bool isRefused) const {
    std::optional<Launch> made = at(times);
    if (!made)
      return std::nullopt;
    if (isRefused)
      what = refused(*made).value_or("");
    return TurningLaunch{derivedFrom(*made, Derivation::Sizes, describeIn(*made, sizes_), *made),
                         std::move(what), isRefused, times};
  }

  const DerivationSource &source_;
  const Candidate &candidate_;
  const LaunchNumbers &numbers_;
  const Values sizes_;
};

} // namespace

std::vector<TurningLaunch> turningLaunches(const DerivationSource &source, const Launch &launch,
                                           const Candidate &candidate) {
  std::vector<TurningLaunch> turns;
  if (candidate.constants.empty() && !candidate.launch.changesGeometry())
    return turns;
  const auto numbers = numbersOf(source, launch);
  Values all = numbers->sizes();
  std::erase_if(all, [](const auto &size) { return size.second <= 1; });
  // Each size that decides the launch alone, those of the same value together, and all.
  std::set<Values> growing;
  for (const auto &[name, value] : all) {
    if (!numbers->deciding().contains(name))
      continue;
    growing.insert({{name, value}});
    Values alike = all;
    std::erase_if(alike, [&](const auto &size) { return size.second != value; });
    growing.insert(std::move(alike));
  }
  growing.insert(all);
  growing.erase(Values());
  std::vector<Values> ordered(growing.begin(), growing.end());
  std::ranges::stable_sort(ordered, {}, &Values::size); // the smallest launches first
  std::set<std::string> titles;
  for (Values &grown : ordered) {
    auto turn = Growth(source, candidate, *numbers, std::move(grown)).find();
    if (turn && titles.insert(turn->derived.title).second)
      turns.push_back(std::move(*turn));
  }
  return turns;
}

} // namespace kopt
