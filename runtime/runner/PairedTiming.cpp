// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/PairedTiming.h"

#include "runtime/device/Check.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

namespace kopt::runtime {

namespace {

/// Of launches, to raise the clocks. Measured to suffice on an H200.
constexpr double kWarmUpSeconds = 0.025;
constexpr std::uint32_t kMaxWarmUpLaunches = 2000;
/// Below this, event resolution and launch jitter hide the time of a single launch.
constexpr double kShortKernel = 10e-6;
constexpr double kBatchSeconds = 250e-6; ///< length of a batch
constexpr std::size_t kMaxBatch = 256;
/// A kernel that takes longer reads or writes more than L2 holds, or does not depend on it.
constexpr double kRefillsCache = 2e-3;
constexpr std::size_t kCheckEvery = 10; ///< pairs between two calls of isTight()
/// Of in-place buffers. Comparing them goes through the host: some 0.1 s for so many bytes.
constexpr std::uint64_t kMostCompared = 256u << 20;

/// One of the two modules: its launch and the buffers it runs on.
struct Side {
  const char *name = "";
  const LaunchSpec *launch = nullptr;
  const std::vector<std::string> *outputs = nullptr;
  std::vector<BufferSet *> sets; ///< more than one if a batch rotates over copies
  std::vector<LaunchRequest> requests;
  bool audited = false;
};

Status named(const Side &side, Status status) {
  if (!status.ok())
    status.detail = std::string(side.name) + " module: " + status.detail;
  return status;
}

bool writesVariables(const LaunchSpec &launch) {
  return std::any_of(launch.buffers.begin(), launch.buffers.end(),
                     [](const BufferSpec &spec) { return !spec.symbol.empty() && !spec.readOnly; });
}

class PairTimer {
public:
  PairTimer(RunContext context, const TimingPlan &plan, const SecondsClock &clock)
      : context_(context), device_(context.device), plan_(plan), clock_(clock), begun_(clock()),
        random_(plan.inputSeed ^ 0x6b6f7074u), cold_(plan.coldCache) {}

  Status run(const LaunchSpec &a, const LaunchSpec &b, TimingResult &out);

private:
  Status makeSets(const LaunchSpec &a, const LaunchSpec &b, std::size_t copies);
  Status warmUp();
  Status chooseBatch(const LaunchSpec &a, const LaunchSpec &b);
  Status samplePairs(TimingResult &out);
  Status sample(Side &side, double &seconds, bool restore = true);
  Status audit(Side &side, double &seconds);
  Status timeModelled(TimingResult &out);
  Status findUnchanged(std::vector<bool> &unchanged);
  bool isRestored(const LaunchSpec &launch) const;
  bool timeIsUp(std::size_t pairs) const;

  RunContext context_;
  Device &device_;
  const TimingPlan &plan_;
  const SecondsClock &clock_;
  double begun_;
  /// When the budget began: after the set-up, moved later by the time that audits took.
  double sampling_ = 0;
  std::mt19937_64 random_;
  bool cold_;
  bool repeats_ = false; ///< each timed launch follows another one of the same
  std::uint32_t batch_ = 1;
  double shortest_ = 0; ///< seconds of a launch while warming up
  std::vector<std::unique_ptr<BufferSet>> sets_;
  std::vector<bool> unchanged_; ///< the buffers that both launches leave as they were
  Side a_, b_;
};

Status PairTimer::makeSets(const LaunchSpec &a, const LaunchSpec &b, std::size_t copies) {
  sets_.clear();
  a_ = {"first", &a, &plan_.outputsA, {}, {}};
  b_ = {"second", &b, &plan_.outputsB, {}, {}};
  // Equal buffers are shared, so that no difference between the modules comes from where their
  // buffers lie. A variable that is written belongs to each module separately.
  const bool shared = a.buffers == b.buffers && !writesVariables(a);
  std::vector<std::uint32_t> modules{a.module};
  if (shared && b.module != a.module)
    modules.push_back(b.module);
  const auto add = [&](Side &side) -> Status {
    sets_.push_back(std::make_unique<BufferSet>(
        context_, side.launch->buffers, plan_.inputSeed,
        shared ? modules : std::vector<std::uint32_t>{side.launch->module}, plan_.checks));
    side.sets.push_back(sets_.back().get());
    sets_.back()->leaveAlone(unchanged_);
    KOPT_CHECK(sets_.back()->allocate(true));
    return sets_.back()->reset({plan_.inputSeed, false},
                               side.sets.size() > 1 ? side.sets.front() : nullptr);
  };
  for (std::size_t i = 0; i < copies; ++i) {
    KOPT_CHECK(add(a_));
    if (shared)
      b_.sets.push_back(a_.sets.back());
    else
      KOPT_CHECK(add(b_));
  }
  for (Side *side : {&a_, &b_})
    for (std::uint32_t i = 0; i < batch_; ++i)
      side->requests.push_back(side->sets[i % copies]->request(*side->launch));
  return {};
}

Status PairTimer::warmUp() {
  const Stages::Scope stage(context_.stages, "warm-up");
  const double until = clock_() + kWarmUpSeconds;
  for (std::uint32_t i = 0; i < 3 || (i < kMaxWarmUpLaunches && clock_() < until); ++i) {
    for (Side *side : {&a_, &b_}) {
      KOPT_CHECK(side->sets[0]->restore());
      double seconds = 0;
      KOPT_CHECK(named(*side, device_.time(side->requests[0], false, seconds)));
      if (i == 0)
        KOPT_CHECK(findUnchanged(unchanged_));
      // The first launches still upload code and raise the clocks.
      if (i > 0 && (shortest_ == 0 || seconds < shortest_))
        shortest_ = seconds;
      if (i > 0 && clock_() - begun_ > 0.4 * plan_.deadlineSeconds)
        return {};
    }
    sets_[0]->leaveAlone(unchanged_);
  }
  return {};
}

/// Takes out the buffers that have changed in any set.
Status PairTimer::findUnchanged(std::vector<bool> &unchanged) {
  for (const std::unique_ptr<BufferSet> &set : sets_)
    KOPT_CHECK(unchanged.empty() ? Status() : set->findUnchanged(unchanged));
  return {};
}

bool PairTimer::isRestored(const LaunchSpec &launch) const {
  for (std::size_t i = 0; i < launch.buffers.size(); ++i)
    if (launch.buffers[i].inPlace() && (unchanged_.empty() || !unchanged_[i]))
      return true;
  return false;
}

/// Kernels under 10 us run in batches. L2 cannot be flushed between the launches of a batch, so a
/// cold batch rotates over copies of the buffers that together exceed twice the size of L2. If that
/// needs more copies than launches, the batch is warm and is reported as warm. In-place buffers are
/// restored only before each batch, so each launch needs its own copy.
Status PairTimer::chooseBatch(const LaunchSpec &a, const LaunchSpec &b) {
  if (shortest_ <= 0 || shortest_ >= kShortKernel)
    return {};
  if (writesVariables(a) || writesVariables(b))
    return {}; // a module has one of each, which cannot be restored between the launches of a batch
  const std::size_t wanted =
      std::clamp<std::size_t>(std::size_t(kBatchSeconds / shortest_), 10, kMaxBatch);
  const bool inPlace = isRestored(a) || isRestored(b);
  std::uint64_t data = 1;
  for (const BufferSpec &spec : a.buffers)
    data += spec.bytes;
  const std::uint64_t forCold = 2 * device_.properties().l2Bytes / data + 1;
  const bool cold = plan_.coldCache && forCold <= wanted;
  const std::size_t copies = inPlace ? wanted : cold ? std::size_t(forCold) : 1;
  const std::uint64_t memory = copies * (BufferSet::footprint(device_, a.buffers, true) +
                                         BufferSet::footprint(device_, b.buffers, true));
  if (memory > device_.properties().memoryBytes / 4)
    return {}; // time single launches instead
  batch_ = std::uint32_t(wanted);
  cold_ = cold;
  return makeSets(a, b, copies);
}

Status PairTimer::sample(Side &side, double &seconds, bool restore) {
  const Stages::Scope stage(context_.stages, "sample");
  if (restore && repeats_)
    KOPT_CHECK(named(side, device_.launch(side.requests[0])));
  if (restore)
    for (BufferSet *set : side.sets)
      KOPT_CHECK(set->restore());
  const Status status = batch_ > 1 ? device_.timeBatch(side.requests, cold_, seconds)
                                   : device_.time(side.requests[0], cold_, seconds);
  if (status.ok() && !(seconds > 0 && std::isfinite(seconds)))
    return named(side, {StatusCode::DeviceError, "the device reported no time for a launch"});
  return named(side, status);
}

/// One sample on outputs and in-place buffers that the host wrote anew: those of one launch, if it
/// is a batch. Its results are checked and written to the files.
Status PairTimer::audit(Side &side, double &seconds) {
  const double begun = clock_();
  BufferSet &chosen = *side.sets[random_() % side.sets.size()];
  for (BufferSet *set : side.sets)
    KOPT_CHECK(set == &chosen ? set->renew() : set->restore());
  KOPT_CHECK(sample(side, seconds, /*restore=*/false));
  KOPT_CHECK(named(side, chosen.check()));
  if (!side.outputs->empty())
    KOPT_CHECK(chosen.collect(*side.outputs, nullptr));
  side.audited = true;
  sampling_ += clock_() - begun;
  return {};
}

Status PairTimer::timeModelled(TimingResult &out) {
  double seconds[2] = {0, 0};
  Side *sides[2] = {&a_, &b_};
  // A device that already knows the first module's time on this memory need not launch it again, so
  // the memory must be the same each time.
  KOPT_CHECK(b_.sets[0]->reset({plan_.inputSeed, false}));
  for (int i = 0; i < 2; ++i) {
    KOPT_CHECK(sides[i]->sets[0]->reset({plan_.inputSeed, false}));
    KOPT_CHECK(sample(*sides[i], seconds[i]));
  }
  // The device has counted them while it timed; nothing has changed since.
  KOPT_CHECK(named(b_, device_.profile(b_.requests[0], out.counters, &out.lines)));
  if (!plan_.outputsB.empty()) {
    BufferSet &buffers = *b_.sets[0];
    KOPT_CHECK(buffers.reset({plan_.inputSeed, true}));
    KOPT_CHECK(named(b_, device_.launch(b_.requests[0])));
    KOPT_CHECK(named(b_, buffers.check()));
    KOPT_CHECK(buffers.collect(plan_.outputsB, nullptr));
  }
  out.samples.emplace_back(seconds[0], seconds[1]);
  return {};
}

bool PairTimer::timeIsUp(std::size_t pairs) const {
  if (pairs > 0 && clock_() - begun_ > 0.8 * plan_.deadlineSeconds)
    return true;
  return pairs >= plan_.minSamples && clock_() - sampling_ > plan_.budgetSeconds;
}

Status PairTimer::run(const LaunchSpec &a, const LaunchSpec &b, TimingResult &out) {
  KOPT_CHECK(makeSets(a, b, 1));
  out.modelled = device_.properties().modelled;
  out.cold = cold_;
  if (out.modelled)
    return timeModelled(out);

  std::uint64_t inPlace = 0;
  for (const BufferSpec &spec : a.buffers)
    inPlace += spec.inPlace() ? spec.bytes : 0;
  if (sets_.size() == 1 && inPlace > 0 && inPlace <= kMostCompared)
    unchanged_.assign(a.buffers.size(), true);
  KOPT_CHECK(warmUp());
  for (;;) { // once more at most: the second time every buffer is restored
    KOPT_CHECK(chooseBatch(a, b));
    KOPT_CHECK(samplePairs(out));
    std::vector<bool> still = unchanged_;
    KOPT_CHECK(findUnchanged(still));
    if (still == unchanged_)
      break;
    unchanged_.clear();
    out.samples.clear();
    batch_ = 1;
    cold_ = plan_.coldCache;
    KOPT_CHECK(makeSets(a, b, 1));
  }
  for (const std::unique_ptr<BufferSet> &set : sets_)
    KOPT_CHECK(set->check());
  return {};
}

Status PairTimer::samplePairs(TimingResult &out) {
  const LaunchSpec &a = *a_.launch, &b = *b_.launch;
  out.batch = batch_;
  out.cold = cold_;
  // The other version ran last, on memory of its own. A program that launches the kernel again and
  // again finds in L2 what the last launch left there.
  repeats_ = !cold_ && batch_ == 1 && shortest_ < kRefillsCache && !writesVariables(a) &&
             !writesVariables(b);

  device_.throttleReasons(); // clears the reasons from before the samples
  const std::size_t most = std::max<std::uint32_t>(plan_.maxSamples, 1);
  const std::size_t likely = std::clamp<std::size_t>(plan_.minSamples, 1, most);
  const std::size_t auditA = random_() % likely, auditB = random_() % likely;
  sampling_ = clock_();
  while (out.samples.size() < most && !timeIsUp(out.samples.size())) {
    const std::size_t pair = out.samples.size();
    double secondsA = 0, secondsB = 0;
    const auto takeA = [&] { return pair == auditA ? audit(a_, secondsA) : sample(a_, secondsA); };
    const auto takeB = [&] { return pair == auditB ? audit(b_, secondsB) : sample(b_, secondsB); };
    const bool aFirst = random_() & 1;
    KOPT_CHECK(aFirst ? takeA() : takeB());
    KOPT_CHECK(aFirst ? takeB() : takeA());
    out.samples.emplace_back(secondsA, secondsB);
    if (out.samples.size() >= plan_.minSamples && out.samples.size() % kCheckEvery == 0 &&
        isTight(out.samples))
      break;
  }
  out.smClockMHz = device_.smClockMHz();
  out.throttled = device_.throttleReasons();
  // The deadline may have come before the pair that was chosen for the audit. The guard zones and
  // inputs still show what any timed launch wrote outside its buffers, so the check below covers
  // all of them.
  for (Side *side : {&a_, &b_}) {
    double seconds = 0;
    if (!side->audited)
      KOPT_CHECK(audit(*side, seconds));
  }
  return {};
}

} // namespace

bool isTight(const std::vector<std::pair<double, double>> &samples) {
  constexpr std::size_t kFewest = 30, kFewestIfSlower = 10;
  constexpr double kClearlySlower = 1.1;
  constexpr double kNormal99 = 2.576, kAbsolute = 0.002, kRelative = 0.1;
  const std::size_t n = samples.size();
  if (n >= kFewestIfSlower && std::all_of(samples.begin(), samples.end(), [](const auto &pair) {
        return pair.second > kClearlySlower * pair.first;
      }))
    return true;
  if (n < kFewest)
    return false;
  std::vector<double> logs;
  logs.reserve(n);
  for (const auto &[a, b] : samples)
    logs.push_back(std::log(a / b));
  std::sort(logs.begin(), logs.end());
  const double centre = double(n) / 2, reach = kNormal99 * std::sqrt(double(n)) / 2;
  const auto low = std::size_t(std::max(0.0, std::floor(centre - reach)));
  const std::size_t high = n - 1 - low;
  const double halfWidth = (logs[high] - logs[low]) / 2;
  return halfWidth <= std::max(kAbsolute, kRelative * std::fabs(logs[n / 2]));
}

Status timePairs(RunContext context, const LaunchSpec &a, const LaunchSpec &b,
                 const TimingPlan &plan, const SecondsClock &clock, TimingResult &out) {
  return PairTimer(context, plan, clock).run(a, b, out);
}

} // namespace kopt::runtime
