// SPDX-License-Identifier: Apache-2.0
// What the parts of a judge on one device share.
#pragma once

#include "driver/judge/JudgeOptions.h"
#include "driver/judge/context/CheckContext.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace kopt {

/// The seconds that a confirmation may still take.
class TimeLeft {
public:
  /// What cannot be done in time is left out, and says this.
  static constexpr const char *kOver =
      "the time budget was nearly used up; --budget-seconds gives more";

  /// `seconds` is as JudgeServices has it.
  explicit TimeLeft(std::function<double()> seconds) : seconds_(std::move(seconds)) {}
  /// The seconds that it took to time the baseline.
  void setTiming(double seconds) { timing_ = seconds; }
  /// True if there is just the time left to time a candidate.
  bool isOver() const { return seconds_ && seconds_() < kTimings * timing_; }
  /// The seconds that one step of learning may take, at most `most`.
  double forStep(double most) const {
    return seconds_ ? std::clamp(kShare * seconds_(), 0.0, most) : most;
  }

private:
  /// A candidate is timed in five processes and on held-out launches, which together take about so
  /// many times the baseline's timing.
  static constexpr double kTimings = 6;
  /// The most of the time that one step of learning may take.
  static constexpr double kShare = 0.2;
  std::function<double()> seconds_;
  double timing_ = 0;
};

struct JudgeBench {
  JudgeDevice device;
  Frontend &frontend;
  Toolchain &toolchain;
  JudgeOptions options;
  CheckContext context;
  TimeLeft left;
  std::vector<AssuranceGap> gaps{}; ///< gaps of the workload, and so of every candidate

  Runner &runner() { return device.runner; }
  const Runner &runner() const { return device.runner; }
  bool isModelled() const { return device.runner.device().modelled; }
  const Subject &subject() const { return context.subject(); }

  /// Loads a module. Returns false, with the verdict in the trial, if the device cannot.
  Result<bool> load(Built &built, Trial &trial);
  /// Starts the processes in which a confirmation times. They take longest to start all at once,
  /// and beside compute-sanitizer's, so they start before they are needed; they are idle while one
  /// times.
  void prepareProcesses();
};

} // namespace kopt
