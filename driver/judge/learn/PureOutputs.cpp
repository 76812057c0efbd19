// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/learn/PureOutputs.h"

#include "driver/judge/context/CompareBuffers.h"
#include "driver/support/Log.h"
#include "driver/workload/WorkloadBuilder.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

using Buffers = std::vector<std::size_t>; ///< indices into Launch::buffers

/// A buffer with at most so many elements is small: a counter, a lock or a partial result. Of more
/// random elements, some are extreme.
constexpr std::uint64_t kFew = 4096;

class Classifier {
public:
  Classifier(CheckContext &context, std::size_t index, const Expected &reference,
             std::set<std::string> &read)
      : context_(context), index_(index), reference_(reference), read_(read),
        launch_(context.baseline().launches[index]) {}

  /// Decides which buffers of `group` are pure outputs. Returns true if the kernel uses one of
  /// them.
  Result<bool> decide(Buffers group) {
    const LoggedStage logged(fmt::format("poison {} buffers of {}, '{}' first", group.size(),
                                         launch_.name, launch_.buffers[group.front()].name));
    mark(group, true);
    // With a poisoned lock or counter the kernel may wait forever. Then it needs the buffer's old
    // contents, which is all there is to know.
    const RunOptions options = context_.forTrying(
        context_.options(context_.seed(), kOtherPoison, index_, fmt::format("run-{}", index_)),
        context_.baselineSeconds[index_]);
    KOPT_TRY(const RunOutcome poisoned,
             context_.runner().run(context_.baseline().module, launch_, options));
    KOPT_TRY(const bool same, isSame(launch_, poisoned, group));
    if (!same) {
      mark(group, false);
      if (group.size() > 1)
        return decideHalves(std::move(group));
      read_.insert(launch_.buffers[group.front()].name);
      return true;
    }
    bool isUsed = false;
    Buffers small;
    for (const std::size_t b : group) {
      const std::uint64_t elements = writableElements(launch_.buffers[b]);
      isUsed |= poisoned.unwritten[b] < elements;
      launch_.buffers[b].output = poisoned.unwritten[b] == 0;
      if (launch_.buffers[b].output && elements <= kFew)
        small.push_back(b);
    }
    KOPT_CHECK(excludeExtremes(small));
    return isUsed;
  }

private:
  Result<bool> decideHalves(Buffers group) {
    // Large buffers first: old contents that are read are mostly those of small ones.
    const auto isLarge = [&](std::size_t b) { return writableElements(launch_.buffers[b]) > kFew; };
    auto middle = std::ranges::stable_partition(group, isLarge).begin();
    if (middle == group.begin() || middle == group.end())
      middle = group.begin() + std::ptrdiff_t(group.size() / 2);
    KOPT_TRY(const bool isFirstUsed, decide({group.begin(), middle}));
    KOPT_TRY(const bool isSecondUsed, decide({middle, group.end()}));
    return isFirstUsed || isSecondUsed;
  }

  void mark(const Buffers &group, bool isOutput) {
    for (const std::size_t b : group)
      launch_.buffers[b].output = isOutput;
  }

  /// True if the run ended with the reference's results in all buffers but those of `group` that it
  /// did not write all of.
  Result<bool> isSame(const Launch &launch, const RunOutcome &outcome, const Buffers &group) const {
    if (outcome.status != RunStatus::Ok)
      return false;
    std::vector<std::filesystem::path> compared = outcome.buffers;
    for (const std::size_t b : group)
      if (outcome.unwritten[b] > 0)
        compared[b].clear();
    KOPT_TRY(const auto mismatch,
             firstMismatch(launch.buffers, context_.subject().workload.tolerance,
                           reference_.buffers, compared));
    return !mismatch;
  }

  /// True if the results do not change when the buffers are filled with the largest or the smallest
  /// numbers.
  Result<bool> ignoresExtremes(const Buffers &small) const {
    constexpr double kExtreme = 1e30; // clamped to the range of the type
    Launch launch = launch_;
    for (const double value : {kExtreme, -kExtreme}) {
      for (const std::size_t b : small) {
        launch.buffers[b].output = false;
        launch.buffers[b].fill = Fill{FillKind::Constant, value, value};
      }
      KOPT_TRY(
          const RunOutcome outcome,
          context_.runner().run(context_.baseline().module, launch,
                                context_.options(context_.seed(), kPoison, index_, "extreme")));
      KOPT_TRY(const bool same, isSame(launch, outcome, {}));
      if (!same)
        return false;
    }
    return true;
  }

  /// Poison alone may miss an atomicMax(), because random bits may be smaller than its result.
  Status excludeExtremes(const Buffers &small) {
    if (small.empty())
      return {};
    KOPT_TRY(const bool areIgnored, ignoresExtremes(small));
    if (areIgnored)
      return {};
    for (const std::size_t b : small) {
      KOPT_TRY(launch_.buffers[b].output,
               small.size() > 1 ? ignoresExtremes({b}) : Result<bool>(false));
    }
    return {};
  }

  CheckContext &context_;
  const std::size_t index_;
  const Expected &reference_;
  std::set<std::string> &read_;
  Launch &launch_;
};

} // namespace

Result<bool> findPureOutputs(CheckContext &context, std::size_t launch, const Expected &reference,
                             std::set<std::string> &read) {
  Buffers writable;
  bool isRead = false;
  const std::vector<Buffer> &buffers = context.baseline().launches[launch].buffers;
  for (std::size_t b = 0; b < buffers.size(); ++b)
    if (!buffers[b].readOnly && read.contains(buffers[b].name))
      isRead = true;
    else if (!buffers[b].readOnly)
      writable.push_back(b);
  if (writable.empty())
    return isRead;
  KOPT_TRY(const bool isUsed,
           Classifier(context, launch, reference, read).decide(std::move(writable)));
  return isUsed || isRead;
}

} // namespace kopt
