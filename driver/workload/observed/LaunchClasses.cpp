// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/LaunchClasses.h"

#include "driver/support/ElementType.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kopt {

namespace trace = runtime::trace;

namespace {

struct KernelLaunches {
  std::vector<LaunchRef> launches;
  std::vector<std::string> scalars; ///< of each launch
};

/// The arguments with every word that is an address set to zero, because addresses say nothing
/// about the work.
std::string scalarsOf(const trace::Launch &launch, const trace::LiveAllocations &live) {
  std::string bytes(reinterpret_cast<const char *>(launch.arguments.data()),
                    launch.arguments.size());
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= bytes.size();
       at += sizeof(std::uint64_t)) {
    const auto word = loadAs<std::uint64_t>(bytes.data() + at);
    if (word != 0 && live.find(word))
      std::memset(bytes.data() + at, 0, sizeof word);
  }
  return bytes;
}

/// Groups the launches into classes, in the order of their first launch.
std::vector<LaunchClass> group(const ObservedTrace &trace, const KernelLaunches &kernel,
                               bool byScalars) {
  std::vector<LaunchClass> classes;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < kernel.launches.size(); ++i) {
    const LaunchRef &ref = kernel.launches[i];
    const trace::Launch &launch = trace.processes[ref.process].launches[ref.launch];
    std::string key(reinterpret_cast<const char *>(launch.grid.data()), sizeof launch.grid);
    key.append(reinterpret_cast<const char *>(launch.block.data()), sizeof launch.block);
    key.append(reinterpret_cast<const char *>(&launch.sharedBytes), sizeof launch.sharedBytes);
    if (byScalars)
      key += kernel.scalars[i];
    const auto [found, isNew] = known.emplace(std::move(key), classes.size());
    if (isNew) {
      LaunchClass &made = classes.emplace_back();
      made.grid = launch.grid;
      made.block = launch.block;
      made.sharedBytes = launch.sharedBytes;
      if (byScalars)
        made.scalars = kernel.scalars[i];
    }
    classes[found->second].launches.push_back(ref);
  }
  return classes;
}

std::vector<double> knownSeconds(const LaunchClass &of) {
  std::vector<double> seconds;
  for (const LaunchRef &ref : of.launches)
    if (ref.seconds > 0)
      seconds.push_back(ref.seconds);
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

double percentile(const std::vector<double> &sorted, double p) {
  return sorted[std::min(sorted.size() - 1, std::size_t(p * double(sorted.size())))];
}

/// Splits classes whose times differ too much, at the geometric mean of the two percentiles.
void splitFastAndSlow(std::vector<LaunchClass> &classes) {
  for (std::size_t i = 0, count = classes.size(); i < count; ++i) {
    const std::vector<double> seconds = knownSeconds(classes[i]);
    if (seconds.size() < 4)
      continue;
    const double low = percentile(seconds, 0.25), high = percentile(seconds, 0.95);
    if (high <= kSplitRatio * low)
      continue;
    const double border = std::sqrt(low * high);
    LaunchClass slow = classes[i];
    slow.slow = true;
    classes[i].fast = true;
    const auto isSlow = [&](const LaunchRef &ref) { return ref.seconds > border; };
    std::erase_if(slow.launches, [&](const LaunchRef &ref) { return !isSlow(ref); });
    std::erase_if(classes[i].launches, isSlow);
    classes.push_back(std::move(slow));
  }
}

void sortByTime(std::vector<LaunchClass> &classes) {
  std::ranges::stable_sort(classes, std::greater(), [](const LaunchClass &one) {
    return std::pair(one.seconds, one.launches.size());
  });
}

/// True if the classes with the most time have too little of it, and all times are known.
bool areTooMany(const KernelUse &use) {
  double seconds = 0;
  for (std::size_t i = 0; i < std::min(kKindsOfLaunches, use.classes.size()); ++i)
    seconds += use.classes[i].seconds;
  return use.timed == use.launches && seconds < kLeastCoverage * use.seconds;
}

/// Puts all launches into kKindsOfLaunches classes by their times, each with about the same total.
std::vector<LaunchClass> mergeByTime(const KernelUse &use) {
  std::vector<std::pair<LaunchRef, std::size_t>> all; // and the class
  for (std::size_t i = 0; i < use.classes.size(); ++i)
    for (const LaunchRef &ref : use.classes[i].launches)
      all.emplace_back(ref, i);
  std::ranges::stable_sort(all, {}, [](const auto &one) { return one.first.seconds; });
  std::vector<LaunchClass> merged;
  std::vector<std::set<std::size_t>> from;
  double before = 0;
  for (const auto &[ref, index] : all) {
    const auto turn = std::size_t(double(kKindsOfLaunches) * before / use.seconds);
    if (merged.empty() || std::min(turn, kKindsOfLaunches - 1) >= merged.size()) {
      merged.push_back(use.classes[index]);
      merged.back().launches.clear();
      merged.back().seconds = 0;
      from.emplace_back();
    }
    merged.back().launches.push_back(ref);
    merged.back().seconds += ref.seconds;
    from.back().insert(index);
    before += ref.seconds;
  }
  for (std::size_t i = 0; i < merged.size(); ++i) {
    merged[i].merged = from[i].size();
    std::ranges::stable_sort(merged[i].launches, {}, &LaunchRef::place);
  }
  return merged;
}

KernelUse describeKernel(const ObservedTrace &trace, const std::string &symbol,
                         const KernelLaunches &launches) {
  KernelUse use;
  use.symbol = symbol;
  use.classes = group(trace, launches, true);
  if (use.classes.size() > kMostClasses) {
    use.scalarsVary = true;
    use.classes = group(trace, launches, false);
  }
  splitFastAndSlow(use.classes);
  double known = 0;
  for (const LaunchRef &ref : launches.launches)
    if (ref.seconds > 0) {
      known += ref.seconds;
      ++use.timed;
    }
  const double mean = use.timed > 0 ? known / double(use.timed) : 0;
  for (LaunchClass &one : use.classes) {
    const std::vector<double> seconds = knownSeconds(one);
    double sum = 0;
    for (const double value : seconds)
      sum += value;
    const double own = seconds.empty() ? mean : sum / double(seconds.size());
    one.seconds = sum + own * double(one.launches.size() - seconds.size());
    use.seconds += one.seconds;
  }
  use.launches = launches.launches.size();
  sortByTime(use.classes);
  if (areTooMany(use)) {
    use.classes = mergeByTime(use);
    sortByTime(use.classes);
  }
  return use;
}

std::string extent(const std::array<std::uint32_t, 3> &of) {
  return of[2] != 1   ? fmt::format("{}x{}x{}", of[0], of[1], of[2])
         : of[1] != 1 ? fmt::format("{}x{}", of[0], of[1])
                      : fmt::format("{}", of[0]);
}

} // namespace

std::string LaunchClass::describe() const {
  return fmt::format("grid {} block {}{}{}", extent(grid), extent(block),
                     sharedBytes ? fmt::format(" shared {}", sharedBytes) : "",
                     merged > 1 ? fmt::format(", for {} kinds of launches", merged)
                     : slow     ? ", slow"
                     : fast     ? ", fast"
                                : "");
}

std::vector<KernelUse> rankKernels(const ObservedTrace &trace) {
  std::map<std::string, KernelLaunches> kernels;
  std::map<std::string, std::uint64_t> unrecorded;
  for (std::size_t p = 0; p < trace.processes.size(); ++p) {
    const trace::ProcessTrace &process = trace.processes[p];
    trace::LiveAllocations live(process);
    std::map<std::uint32_t, std::uint64_t> recorded;
    for (std::size_t i = 0; i < process.launches.size(); ++i) {
      const trace::Launch &launch = process.launches[i];
      live.advance(launch.sequence);
      KernelLaunches &kernel = kernels[process.functions[launch.function].symbol];
      kernel.launches.push_back({p, i, launch.seconds});
      kernel.scalars.push_back(scalarsOf(launch, live));
      ++recorded[launch.function];
    }
    for (const auto &[function, total] : process.totals)
      if (total > recorded[function])
        unrecorded[process.functions[function].symbol] += total - recorded[function];
  }
  std::vector<KernelUse> all;
  double total = 0;
  for (const auto &[symbol, launches] : kernels) {
    KernelUse use = describeKernel(trace, symbol, launches);
    // Launches that were not recorded are assumed to take as long as the others.
    const std::uint64_t more = unrecorded[symbol];
    use.seconds += use.seconds / double(use.launches) * double(more);
    use.launches += more;
    total += use.seconds;
    all.push_back(std::move(use));
  }
  for (KernelUse &use : all)
    use.share = total > 0 ? use.seconds / total : 0;
  std::ranges::stable_sort(all, std::greater(), [](const KernelUse &use) {
    return std::pair(use.seconds, use.launches);
  });
  return all;
}

Selection chooseRepresentatives(const KernelUse &kernel, std::size_t most, double coverage,
                                const std::function<bool(const LaunchRef &)> &usable) {
  Selection selection;
  double all = 0, chosen = 0;
  for (const LaunchClass &one : kernel.classes)
    all += one.seconds > 0 ? one.seconds : double(one.launches.size());
  for (std::size_t i = 0;
       i < kernel.classes.size() && selection.chosen.size() < most && chosen < coverage * all;
       ++i) {
    const LaunchClass &one = kernel.classes[i];
    std::vector<LaunchRef> candidates;
    for (const LaunchRef &ref : one.launches)
      if (usable(ref))
        candidates.push_back(ref);
    if (candidates.empty())
      continue;
    const std::vector<double> seconds = knownSeconds(one);
    if (!seconds.empty()) {
      const double median = percentile(seconds, 0.5);
      const auto distance = [&](const LaunchRef &ref) {
        return ref.seconds > 0 ? std::fabs(std::log(ref.seconds / median)) : 1e9;
      };
      std::ranges::stable_sort(candidates, {}, distance);
    }
    Representative made;
    made.index = i;
    made.launch = candidates.front();
    if (candidates.size() > 1)
      made.heldOut = candidates[1];
    made.weight = one.seconds > 0 ? one.seconds : double(one.launches.size());
    chosen += made.weight;
    selection.chosen.push_back(made);
  }
  for (Representative &one : selection.chosen)
    one.weight /= chosen;
  selection.coverage = all > 0 ? chosen / all : 0;
  return selection;
}

} // namespace kopt
