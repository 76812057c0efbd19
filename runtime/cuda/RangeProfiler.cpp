// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/RangeProfiler.h"

#include "runtime/device/Check.h"

#include <cmath>
#include <utility>

namespace kopt::runtime::cuda {

namespace {

/// Stops a loop that does not end by itself. Far more passes than any chip needs for the few dozen
/// metrics of the rules (14 on GH100).
constexpr int kMaxPasses = 500;

/// Calls a function of CUPTI. DeviceError, with the reason, if it fails.
template <class Params>
Status call(const cupti::Api &api, const cupti::Function<Params> &function, Params &params) {
  const cupti::Result result = function(params);
  if (result == cupti::kOk)
    return {};
  std::string text = std::string(function.name) + ": " + api.describe(result);
  if (result == cupti::kInsufficientPrivileges ||
      result == cupti::kVirtualizedInsufficientPrivileges)
    text += "; the driver denies hardware counters to this user: load the nvidia module with "
            "NVreg_RestrictProfilingToAdminUsers=0, or give the process CAP_SYS_ADMIN";
  return {StatusCode::DeviceError, text};
}

/// The same: false, with the reason in `why`, if it fails.
template <class Params>
bool succeeds(const cupti::Api &api, const cupti::Function<Params> &function, Params &params,
              std::string &why) {
  const Status status = call(api, function, params);
  if (!status.ok())
    why = status.detail;
  return status.ok();
}

} // namespace

MetricSet::MetricSet(const cupti::Api &api, std::string chip,
                     std::vector<std::uint8_t> availability)
    : api_(api), chip_(std::move(chip)), availability_(std::move(availability)) {}

MetricSet::~MetricSet() { freeHost(host_); }

cupti::HostObject *MetricSet::makeHost(std::string &why) const {
  auto params = cupti::params<cupti::HostInitializeParams>();
  params.profilerType = cupti::kRangeProfiler;
  params.chipName = chip_.c_str();
  params.counterAvailabilityImage = availability_.empty() ? nullptr : availability_.data();
  return succeeds(api_, api_.hostInitialize, params, why) ? params.host : nullptr;
}

void MetricSet::freeHost(cupti::HostObject *host) const {
  if (!host)
    return;
  auto params = cupti::params<cupti::HostDeinitializeParams>();
  params.host = host;
  api_.hostDeinitialize(params);
}

bool MetricSet::add(cupti::HostObject *host, std::vector<const char *> names) const {
  auto params = cupti::params<cupti::AddMetricsParams>();
  params.host = host;
  params.names = names.data();
  params.count = names.size();
  return api_.addMetrics(params) == cupti::kOk;
}

/// A refused name makes the host object unusable for all others (seen with CUPTI 13.0). If the
/// names are not accepted together, each is therefore tried in an object of its own.
bool MetricSet::select(const std::vector<std::string> &names, std::string &why) {
  if (!names.empty() && take(names, why))
    return configure(why);
  std::vector<std::string> known;
  for (const std::string &name : names) {
    cupti::HostObject *host = makeHost(why);
    if (!host)
      return false;
    if (add(host, {name.c_str()}))
      known.push_back(name);
    freeHost(host);
  }
  if (known.empty()) {
    why = chip_ + " has none of the metrics asked for";
    return false;
  }
  if (!take(known, why)) {
    why = "CUPTI takes each of the metrics, but not all together";
    return false;
  }
  return configure(why);
}

/// Adds all names to a new host object. False if it refuses any.
bool MetricSet::take(const std::vector<std::string> &names, std::string &why) {
  freeHost(host_);
  host_ = makeHost(why);
  if (!host_)
    return false;
  kept_ = names;
  names_.clear();
  for (const std::string &name : kept_)
    names_.push_back(name.c_str());
  return add(host_, names_);
}

bool MetricSet::configure(std::string &why) {
  auto size = cupti::params<cupti::ConfigImageSizeParams>();
  size.host = host_;
  if (!succeeds(api_, api_.configImageSize, size, why))
    return false;
  config_.assign(size.imageSize, 0);
  auto image = cupti::params<cupti::ConfigImageParams>();
  image.host = host_;
  image.imageSize = config_.size();
  image.image = config_.data();
  if (!succeeds(api_, api_.configImage, image, why))
    return false;
  auto passes = cupti::params<cupti::PassesParams>();
  passes.imageSize = config_.size();
  passes.image = config_.data();
  if (!succeeds(api_, api_.passes, passes, why))
    return false;
  passes_ = passes.passes;
  return true;
}

bool MetricSet::evaluate(const std::vector<std::uint8_t> &counterData, std::vector<double> &values,
                         std::string &why) const {
  values.assign(names_.size(), 0);
  std::vector<const char *> names = names_;
  auto params = cupti::params<cupti::EvaluateParams>();
  params.host = host_;
  params.counterData = counterData.data();
  params.counterDataSize = counterData.size();
  params.names = names.data();
  params.count = names.size();
  params.values = values.data();
  return succeeds(api_, api_.evaluate, params, why);
}

std::unique_ptr<RangeProfiler> RangeProfiler::open(CuContext context, int ordinal,
                                                   std::string &why) {
  cupti::Api api;
  return cupti::load(api, why) ? open(api, context, ordinal, why) : nullptr;
}

std::unique_ptr<RangeProfiler> RangeProfiler::open(const cupti::Api &api, CuContext context,
                                                   int ordinal, std::string &why) {
  std::unique_ptr<RangeProfiler> made(new RangeProfiler);
  made->api_ = api;
  made->context_ = context;
  auto initialize = cupti::params<cupti::InitializeParams>();
  if (!succeeds(api, api.initialize, initialize, why))
    return nullptr;
  auto chip = cupti::params<cupti::ChipNameParams>();
  chip.deviceIndex = std::size_t(ordinal);
  if (!succeeds(api, api.chipName, chip, why))
    return nullptr;
  made->chip_ = chip.chipName ? chip.chipName : "";
  auto availability = cupti::params<cupti::CounterAvailabilityParams>();
  availability.context = context;
  if (!succeeds(api, api.counterAvailability, availability, why))
    return nullptr;
  made->availability_.assign(availability.imageSize, 0);
  availability.image = made->availability_.data();
  if (!succeeds(api, api.counterAvailability, availability, why))
    return nullptr;
  made->availability_.resize(availability.imageSize);
  return made;
}

MetricSet *RangeProfiler::select(const std::vector<std::string> &metrics, std::string &why) {
  if (const auto known = sets_.find(metrics); known != sets_.end())
    return known->second.get();
  auto set = std::make_unique<MetricSet>(api_, chip_, availability_);
  if (!set->select(metrics, why))
    return nullptr;
  return sets_.emplace(metrics, std::move(set)).first->second.get();
}

void RangeProfiler::prepare(const std::vector<std::string> &metrics) {
  std::string unused;
  select(metrics, unused);
}

Status RangeProfiler::run(cupti::RangeProfilerObject *profiler, const MetricSet &metrics,
                          const Pass &pass, std::vector<std::uint8_t> &counterData) {
  std::vector<const char *> names = metrics.names();
  auto size = cupti::params<cupti::CounterDataSizeParams>();
  size.profiler = profiler;
  size.names = names.data();
  size.count = names.size();
  size.maxRanges = 1;
  size.maxRangeTreeNodes = 1;
  KOPT_CHECK(call(api_, api_.counterDataSize, size));
  counterData.assign(size.counterDataSize, 0);
  auto image = cupti::params<cupti::CounterDataParams>();
  image.profiler = profiler;
  image.counterDataSize = counterData.size();
  image.counterData = counterData.data();
  KOPT_CHECK(call(api_, api_.counterDataInitialize, image));

  auto config = cupti::params<cupti::SetConfigParams>();
  config.profiler = profiler;
  config.configSize = metrics.config().size();
  config.config = metrics.config().data();
  config.counterDataSize = counterData.size();
  config.counterData = counterData.data();
  config.range = cupti::kAutoRange;
  config.replayMode = cupti::kUserReplay;
  config.maxRangesPerPass = 1;
  config.nestingLevels = 1;
  config.minNestingLevel = 1;
  config.targetNestingLevel = 1;
  KOPT_CHECK(call(api_, api_.setConfig, config));

  auto self = cupti::params<cupti::ProfilerParams>();
  self.profiler = profiler;
  bool complete = false;
  for (int i = 0; i < kMaxPasses && !complete; ++i) {
    KOPT_CHECK(pass.prepare());
    KOPT_CHECK(call(api_, api_.start, self));
    KOPT_CHECK(pass.launch());
    auto stop = cupti::params<cupti::StopParams>();
    stop.profiler = profiler;
    KOPT_CHECK(call(api_, api_.stop, stop));
    complete = stop.allPassesSubmitted != 0;
  }
  if (!complete)
    return {StatusCode::DeviceError,
            "the counters were not complete after " + std::to_string(kMaxPasses) + " passes"};

  auto decode = cupti::params<cupti::DecodeParams>();
  decode.profiler = profiler;
  KOPT_CHECK(call(api_, api_.decode, decode));
  auto info = cupti::params<cupti::CounterDataInfoParams>();
  info.counterData = counterData.data();
  info.counterDataSize = counterData.size();
  KOPT_CHECK(call(api_, api_.counterDataInfo, info));
  if (decode.rangesDropped != 0 || info.ranges != 1)
    return {StatusCode::DeviceError,
            "the profiler kept " + std::to_string(info.ranges) + " ranges and dropped " +
                std::to_string(decode.rangesDropped) + " where one was measured"};
  return {};
}

/// A kernel that waits for DRAM takes 2% longer in the first pass of a session than in all later
/// ones (a copy of 256 MiB on an H200, CUDA 13.0: 206.5 us, then 201.5 us). Metrics of that pass
/// would not match those of the other passes, nor those of ncu, whose session lasts as long as the
/// program. All passes therefore run once before those that count. One alone would save a third of
/// a second, but leaves most metrics absent (seen with 13.0).
Status RangeProfiler::collect(const std::vector<std::string> &metrics, const Pass &pass,
                              Counters &out) {
  std::string why;
  const MetricSet *set = select(metrics, why);
  if (!set)
    return {StatusCode::DeviceError, why};
  auto enable = cupti::params<cupti::EnableParams>();
  enable.context = context_;
  KOPT_CHECK(call(api_, api_.enable, enable));
  std::vector<std::uint8_t> counterData;
  Status status;
  for (int round = 0; round < 2 && status.ok(); ++round)
    status = run(enable.profiler, *set, pass, counterData);
  // An enabled profiler would slow down the next launches of this process and keep ncu and all
  // other processes from counting on this GPU. It would also fail once a module is unloaded whose
  // kernel it has seen (CUPTI 13.0).
  auto disable = cupti::params<cupti::ProfilerParams>();
  disable.profiler = enable.profiler;
  if (Status disabled = call(api_, api_.disable, disable); status.ok())
    status = std::move(disabled);
  if (!status.ok())
    return status;
  std::vector<double> values;
  if (!set->evaluate(counterData, values, why))
    return {StatusCode::DeviceError, why};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i]))
      out[set->names()[i]] = values[i];
  return {};
}

} // namespace kopt::runtime::cuda
