// SPDX-License-Identifier: Apache-2.0
// Hardware counters of one kernel, in this process, through CUPTI's range profiler. As many passes
// as the counters need; before each the caller puts everything back as it was, so that all passes
// see the same launch.
#pragma once

#include "runtime/cuda/CuptiApi.h"
#include "runtime/device/Device.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kopt::runtime::cuda {

/// Metrics of one chip: those that it has, and what collecting them takes. Needs CUPTI, but no GPU.
class MetricSet {
public:
  /// `chip` as CUPTI names it ("GH100"); `availability`: the counter availability image of a
  /// device, or empty: of any.
  MetricSet(const cupti::Api &api, std::string chip, std::vector<std::uint8_t> availability);
  ~MetricSet();
  MetricSet(const MetricSet &) = delete;
  MetricSet &operator=(const MetricSet &) = delete;

  /// Takes those of `names` that the chip has. The others are left out: unknown is absent, never
  /// zero. False with `why` filled where CUPTI does not know the chip, or the chip has none of
  /// them.
  bool select(const std::vector<std::string> &names, std::string &why);

  const std::vector<const char *> &names() const { return names_; }
  const std::vector<std::uint8_t> &config() const { return config_; }
  std::size_t passes() const { return passes_; }
  /// Values of names(), in order, of the first range in decoded counter data.
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
  std::vector<const char *> names_; ///< of kept_
  std::vector<std::uint8_t> config_;
  std::size_t passes_ = 0;
};

class RangeProfiler {
public:
  /// Null with `why` filled, the remedy included, where there is no CUPTI, the GPU is none that it
  /// counts on, or counters are denied. `ordinal` is the device's, `context` its current context.
  static std::unique_ptr<RangeProfiler> open(CuContext context, int ordinal, std::string &why);
  /// For tests, which pass their own functions.
  static std::unique_ptr<RangeProfiler> open(const cupti::Api &api, CuContext context, int ordinal,
                                             std::string &why);

  struct Pass {
    std::function<Status()> prepare; ///< before each: buffers and caches as they were
    std::function<Status()> launch;  ///< the kernel, and waits for it
  };
  /// Fills `out` with those of `metrics` that this chip has. DeviceError where CUPTI fails; else
  /// what a pass's status says.
  Status collect(const std::vector<std::string> &metrics, const Pass &pass, Counters &out);

private:
  Status failed(const char *what, cupti::Result result) const;
  MetricSet *select(const std::vector<std::string> &metrics, std::string &why);
  /// Runs the passes of an enabled profiler, all of them into the same counter data: CUPTI takes
  /// the first place that it is told and ignores what follows (seen with 13.0).
  Status run(cupti::RangeProfilerObject *profiler, const MetricSet &metrics, const Pass &pass,
             std::vector<std::uint8_t> &counterData);

  cupti::Api api_;
  CuContext context_ = nullptr;
  std::string chip_;
  std::vector<std::uint8_t> availability_;
  std::map<std::vector<std::string>, std::unique_ptr<MetricSet>> sets_; ///< by what was asked for
};

} // namespace kopt::runtime::cuda
