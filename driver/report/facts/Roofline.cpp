// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/Roofline.h"

#include "driver/support/JsonText.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string_view>

namespace kopt {
namespace {

std::optional<double> valueOf(const Trial &trial, std::string_view name) {
  const auto found = trial.counters.find(std::string(name));
  if (found == trial.counters.end() || !std::isfinite(found->second))
    return std::nullopt;
  return found->second;
}

/// The first counter of `names` that is known.
std::optional<double> anyOf(const Trial &trial, std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (const auto value = valueOf(trial, name))
      return value;
  return std::nullopt;
}

/// The counters of one precision: operations that threads executed, and the model's time for them;
/// and the measured rate (MeasuredRates), null if none is measured.
struct Precision {
  const char *add, *mul, *fma, *modelled, *measured;
};
constexpr std::array kPrecisions = {Precision{"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
                                              "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
                                              "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
                                              "emulated__roofline_fp32_ns", "fp32"},
                                    Precision{"smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
                                              "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
                                              "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
                                              "emulated__roofline_fp64_ns", "fp64"},
                                    Precision{"smsp__sass_thread_inst_executed_op_hadd_pred_on.sum",
                                              "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum",
                                              "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
                                              "emulated__roofline_fp16_ns", nullptr}};

struct Operations {
  double operations = 0, instructions = 0; ///< a fused multiply-add is two operations
};

std::optional<Operations> operationsOf(const Trial &trial, const Precision &precision) {
  const auto add = valueOf(trial, precision.add), mul = valueOf(trial, precision.mul),
             fma = valueOf(trial, precision.fma);
  if (!add || !mul || !fma)
    return std::nullopt;
  return Operations{*add + *mul + 2 * *fma, *add + *mul + *fma};
}

std::optional<double> floatingPoint(const Trial &trial) {
  double sum = 0;
  for (const Precision &precision : kPrecisions) {
    const auto operations = operationsOf(trial, precision);
    if (!operations)
      return std::nullopt;
    sum += operations->operations;
  }
  return sum;
}

std::optional<double> dramBytes(const Trial &trial) {
  const auto read = valueOf(trial, "dram__bytes_read.sum"),
             write = valueOf(trial, "dram__bytes_write.sum");
  if (!read || !write)
    return std::nullopt;
  return *read + *write;
}

double numberOf(const nlohmann::json &object, const char *key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

class RooflineBuilder {
public:
  explicit RooflineBuilder(const RunHistory &history)
      : baseline_(history.baseline()), device_(recordedObject(history.run.deviceJson)) {
    if (const auto found = device_.find("measured"); found != device_.end() && found->is_object())
      measured_ = *found;
    if (baseline_)
      kernels_.push_back({"baseline", baseline_});
    if (history.winner())
      kernels_.push_back({"winner", history.winner()});
  }

  Roofline build() {
    if (!baseline_) {
      result_.missing.push_back("the baseline was not measured");
      return result_;
    }
    const auto compute = floatingPointCeiling();
    const bool isFloat = compute && std::ranges::all_of(kernels_, [](const auto &kernel) {
                           // Operations of the tensor cores are not counted.
                           return floatingPoint(*kernel.second).value_or(0) > 0 &&
                                  valueOf(*kernel.second, "sass__inst_tensor").value_or(0) == 0;
                         });
    result_.unit = isFloat ? "floating-point operations" : "warp instructions";
    for (const auto &[name, trial] : kernels_)
      addPoint(name, *trial, isFloat);
    double work = 0, bytes = 0; // the most that a kernel reached, a second
    for (const RooflinePoint &point : result_.points) {
      work = std::max(work, point.rate);
      bytes = std::max(bytes, point.rate / point.intensity);
    }
    result_.compute = isFloat ? compute : issueCeiling(work);
    result_.memory = memoryCeiling(bytes);
    if (const std::string why = textIn(measured_, "missing"); !why.empty())
      result_.missing.push_back("not measured on this GPU: " + why);
    if (!result_.memory)
      result_.missing.push_back("the bandwidth of the DRAM is not recorded with this run");
    if (!result_.compute)
      result_.missing.push_back("the rate at which the device issues instructions is not recorded "
                                "with this run");
    return result_;
  }

private:
  void addPoint(const char *name, const Trial &trial, bool isFloat) {
    const auto work = isFloat ? floatingPoint(trial) : valueOf(trial, "smsp__inst_executed.sum");
    const auto bytes = dramBytes(trial), duration = valueOf(trial, "gpu__time_duration.sum");
    std::vector<std::string> lacks;
    if (!work)
      lacks.push_back("smsp__inst_executed.sum");
    if (!bytes)
      lacks.push_back("dram__bytes_read.sum or dram__bytes_write.sum");
    if (!duration)
      lacks.push_back("gpu__time_duration.sum");
    if (!lacks.empty())
      result_.missing.push_back(
          fmt::format("of the {}: {}{}", name, join(lacks, ", "),
                      trial.counters.empty() ? " (no counters of it were read)" : ""));
    else if (*bytes <= 0 || *duration <= 0 || *work <= 0)
      result_.missing.push_back(fmt::format("of the {}: its counters show no {}", name,
                                            *bytes <= 0  ? "DRAM traffic"
                                            : *work <= 0 ? "work"
                                                         : "duration"));
    else
      result_.points.push_back({name, *work / *bytes, *work / (*duration * 1e-9)});
  }

  /// A rate that was measured on the device, unless a kernel reached more: then it is no ceiling.
  /// `how` is what was measured.
  std::optional<Ceiling> measured(const char *key, double reached, const std::string &how) const {
    const double rate = numberOf(measured_, key);
    if (rate <= 0 || reached > rate)
      return std::nullopt;
    return Ceiling{rate, "measured on this GPU: " + how};
  }

  /// How much of the GPU worked in the times that the emulated device models.
  double busyShare() const {
    return valueOf(*baseline_, "emulated__busy_multiprocessors.pct").value_or(100) / 100;
  }

  /// The ceiling of the precision that the baseline uses most: measured, or from the model's time
  /// for it.
  std::optional<Ceiling> floatingPointCeiling() const {
    std::optional<Ceiling> best;
    double most = 0;
    for (const Precision &precision : kPrecisions) {
      const auto operations = operationsOf(*baseline_, precision);
      if (!operations || operations->operations <= most)
        continue;
      most = operations->operations;
      best.reset();
      double reached = 0;
      for (const auto &[name, trial] : kernels_)
        if (const auto ns = valueOf(*trial, "gpu__time_duration.sum"); ns && *ns > 0)
          reached = std::max(reached, floatingPoint(*trial).value_or(0) / (*ns * 1e-9));
      const auto nanoseconds = valueOf(*baseline_, precision.modelled);
      if (nanoseconds && *nanoseconds > 0)
        best = Ceiling{2 * operations->instructions / (*nanoseconds * 1e-9 * busyShare()),
                       "the emulated device's model, all operations fused multiply-adds"};
      else if (precision.measured)
        best = measured(
            precision.measured, reached,
            fmt::format("fused multiply-adds of {} on all multiprocessors", precision.measured));
    }
    return best;
  }

  std::optional<Ceiling> issueCeiling(double reached) const {
    const auto issued = valueOf(*baseline_, "smsp__inst_executed.sum"),
               nanoseconds = valueOf(*baseline_, "emulated__roofline_issue_ns");
    if (issued && nanoseconds && *nanoseconds > 0)
      return Ceiling{*issued / (*nanoseconds * 1e-9 * busyShare()), "the emulated device's model"};
    if (const auto known = measured("instructions", reached,
                                    "float and integer instructions in turn, on all "
                                    "multiprocessors"))
      return known;
    // A multiprocessor stores at most 128 bytes a clock and issues four warp instructions.
    if (const double store = numberOf(device_, "store_bytes_per_second");
        store > 0 && !device_.value("modelled", false))
      return Ceiling{store / 128 * 4, "four warp instructions a clock and multiprocessor, at the "
                                      "highest clock that the driver reports"};
    return std::nullopt;
  }

  std::optional<Ceiling> memoryCeiling(double reached) const {
    if (auto known = measured("dram_bytes", reached,
                              "reads and copies of a buffer much larger than the L2 cache")) {
      if (const double bus = numberOf(device_, "dram_bytes_per_second"); bus > 0)
        known->source += fmt::format(", {:.0f}% of what width and clock of the memory allow",
                                     100 * known->perSecond / bus);
      return known;
    }
    if (const double recorded = numberOf(device_, "dram_bytes_per_second"); recorded > 0)
      return Ceiling{recorded, device_.value("modelled", false)
                                   ? "the emulated device's model"
                                   : "width and clock of the memory, as the driver reports them"};
    const auto bytes = dramBytes(*baseline_),
               nanoseconds = valueOf(*baseline_, "gpu__time_duration.sum"),
               share = valueOf(*baseline_, "dram__throughput.avg.pct_of_peak_sustained_elapsed");
    // With a small share, a small error would have a large effect.
    if (bytes && nanoseconds && share && *bytes > 0 && *nanoseconds > 0 && *share >= 5)
      return Ceiling{*bytes / (*nanoseconds * 1e-9) / (*share / 100),
                     "the baseline's counters: its traffic over its share of the peak"};
    return std::nullopt;
  }

  const Trial *baseline_;
  nlohmann::json device_, measured_ = nlohmann::json::object();
  std::vector<std::pair<const char *, const Trial *>> kernels_;
  Roofline result_;
};

} // namespace

Roofline rooflineOf(const RunHistory &history) { return RooflineBuilder(history).build(); }

std::vector<PartUse> utilisationOf(const Trial &before, const Trial *after) {
  struct Part {
    const char *name;
    std::initializer_list<const char *> counters;
  };
  static const Part kParts[] = {
      {"DRAM",
       {"dram__throughput.avg.pct_of_peak_sustained_elapsed",
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"}},
      {"L2 cache", {"lts__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {"L1 cache and shared memory",
       {"l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
        "l1tex__throughput.avg.pct_of_peak_sustained_active"}},
      {"multiprocessors", {"sm__throughput.avg.pct_of_peak_sustained_elapsed"}},
      {"warps resident (occupancy)", {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
  };
  std::vector<PartUse> result;
  for (const Part &part : kParts) {
    PartUse row{part.name, anyOf(before, part.counters), std::nullopt};
    if (after)
      row.after = anyOf(*after, part.counters);
    if (row.before || row.after)
      result.push_back(std::move(row));
  }
  return result;
}

std::vector<PartUse> resourceTimesOf(const Trial &before, const Trial *after) {
  constexpr std::string_view kPrefix = "emulated__roofline_", kSuffix = "_ns";
  static const std::map<std::string_view, const char *> kNames = {
      {"dram", "DRAM"},
      {"l2", "L2 cache"},
      {"l1", "L1 cache and shared memory"},
      {"atomics", "atomics on the same sector"},
      {"issue", "instruction issue"},
      {"latency", "latency of dependent steps"},
      {"integer", "integer units"},
      {"fp32", "float units"},
      {"fp64", "double units"},
      {"fp16", "half units"},
      {"special", "special functions"},
      {"conversion", "conversions"}};
  std::vector<PartUse> result;
  for (const auto &[name, value] : before.counters) {
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix))
      continue;
    const std::string key =
        name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
    const auto words = kNames.find(key);
    PartUse row{words == kNames.end() ? key : words->second, std::nullopt, std::nullopt};
    if (const auto old = valueOf(before, name))
      row.before = *old * 1e-9;
    if (const auto now = after ? valueOf(*after, name) : std::nullopt)
      row.after = *now * 1e-9;
    if (row.before.value_or(0) > 0 || row.after.value_or(0) > 0)
      result.push_back(std::move(row));
  }
  std::ranges::stable_sort(result, std::greater(), [](const PartUse &row) {
    return std::max(row.before.value_or(0), row.after.value_or(0));
  });
  return result;
}

} // namespace kopt
