// SPDX-License-Identifier: Apache-2.0
// Hardware counters of one kernel, in this process, through CUPTI's range profiler. The kernel runs
// once for each pass that the counters need. The caller restores buffers and caches before each
// pass, so that all passes see the same launch.
#pragma once

#include "runtime/cuda/CuptiApi.h"
#include "runtime/device/Device.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kopt::runtime::cuda {

/// The metrics of one chip and the configuration for collecting them. Needs CUPTI, but no GPU.
class MetricSet {
public:
  /// `chip` as CUPTI names it ("GH100"); `availability`: the counter availability image of a
  /// device; empty: of any device with that chip.
  MetricSet(const cupti::Api &api, std::string chip, std::vector<std::uint8_t> availability);
  ~MetricSet();
  MetricSet(const MetricSet &) = delete;
  MetricSet &operator=(const MetricSet &) = delete;

  /// Selects the metrics of `names` that the chip has. The others are left out: an unknown metric
  /// is absent, never zero. False, with the reason in `why`, if CUPTI does not know the chip, or
  /// the chip has none of the metrics.
  bool select(const std::vector<std::string> &names, std::string &why);

  const std::vector<const char *> &names() const { return names_; }
  const std::vector<std::uint8_t> &config() const { return config_; }
  std::size_t passes() const { return passes_; }
  /// The values of names(), in order, for the first range in decoded counter data.
  bool evaluate(const std::vector<std::uint8_t> &counterData, std::vector<double> &values,
                std::string &why) const;

private:
  cupti::HostObject *makeHost(std::string &why) const;
  void freeHost(cupti::HostObject *host) const;
  bool add(cupti::HostObject *host, std::vector<const char *> names) const;
  bool take(const std::vector<std::string> &names, std::string &why);
  bool configure(std::string &why);

  const cupti::Api &api_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  cupti::HostObject *host_ = nullptr;
  std::vector<std::string> kept_;
  std::vector<const char *> names_; ///< pointers into kept_
  std::vector<std::uint8_t> config_;
  std::size_t passes_ = 0;
};

class RangeProfiler {
public:
  /// Null, with the reason and the remedy in `why`, if there is no CUPTI, CUPTI does not support
  /// the GPU, or counters are denied. `ordinal` is the device's, `context` its current context.
  static std::unique_ptr<RangeProfiler> open(CuContext context, int ordinal, std::string &why);
  /// For tests, which pass their own functions.
  static std::unique_ptr<RangeProfiler> open(const cupti::Api &api, CuContext context, int ordinal,
                                             std::string &why);

  /// Chooses the counters of these metrics, as collect() does first: the slow part of it.
  void prepare(const std::vector<std::string> &metrics);

  struct Pass {
    std::function<Status()> prepare; ///< restores buffers and caches before each pass
    std::function<Status()> launch;  ///< launches the kernel and waits for it
  };
  /// Adds to `out` those of `metrics` that this chip has. DeviceError if CUPTI fails; else the
  /// status of the pass that failed.
  Status collect(const std::vector<std::string> &metrics, const Pass &pass, Counters &out);

private:
  MetricSet *select(const std::vector<std::string> &metrics, std::string &why);
  /// Runs the passes of an enabled profiler, all into the same counter data: CUPTI keeps using the
  /// first buffer that it is given and ignores later ones (seen with 13.0).
  Status run(cupti::RangeProfilerObject *profiler, const MetricSet &metrics, const Pass &pass,
             std::vector<std::uint8_t> &counterData);

  cupti::Api api_;
  CuContext context_ = nullptr;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  /// By the requested metrics.
  std::map<std::vector<std::string>, std::unique_ptr<MetricSet>> sets_;
};

} // namespace kopt::runtime::cuda
