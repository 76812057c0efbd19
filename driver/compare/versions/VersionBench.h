// SPDX-License-Identifier: Apache-2.0
// Compares two versions of a kernel side by side on one device, in one process.
#pragma once

#include "driver/compare/Gate.h"
#include "driver/compare/versions/PairedWorkload.h"
#include "driver/device/Runner.h"
#include "driver/device/Toolchain.h"
#include "driver/judge/JudgeOptions.h"
#include "driver/source/Frontend.h"

#include <filesystem>
#include <functional>
#include <vector>

namespace kopt {

/// Where two versions are built and run.
struct BenchServices {
  Frontend &frontend;
  /// Null in a dry run, where nothing runs.
  Runner *runner = nullptr;
  Toolchain *toolchain = nullptr;
  /// If the device uses another compiler, or there is no device; null: there is none.
  Toolchain *nvcc = nullptr;
  DeviceInfo device;
  std::filesystem::path scratch;
  std::function<void(const std::string &)> tell; ///< shows progress
};

class VersionBench {
public:
  /// The policy of `options` decides which change of time counts.
  VersionBench(BenchServices services, JudgeOptions options)
      : services_(std::move(services)), options_(std::move(options)) {}

  /// Fills in verdict, reason, times and notes of the kernel. Equal code with equal launches is not
  /// run; `sameLaunches` tells whether the source launches both in the same way. The first
  /// measurement can only give the verdict `same`; any other verdict, and a failure of the head,
  /// must come from a second one in fresh processes. A problem of a version is data, not a failure.
  /// Fails with Environment, Internal or Interrupted.
  Status compare(const TuneSubject &base, const TuneSubject &head, bool sameLaunches,
                 GateKernel &kernel);

private:
  /// The machine code of a version.
  struct Code {
    BuildOutcome outcome;
    std::string symbol, problem; ///< why there is none
  };
  struct Codes {
    Code base, head;
    bool isSame() const {
      return base.problem.empty() && head.problem.empty() && base.outcome.hash == head.outcome.hash;
    }
  };

  Result<Code> build(Toolchain &toolchain, const TuneSubject &subject);
  Result<Codes> buildBoth(Toolchain &toolchain, const TuneSubject &base, const TuneSubject &head);
  Status measure(const TuneSubject &base, const TuneSubject &head, const Codes &codes,
                 const PairedWorkload &workload, GateKernel &kernel);

  BenchServices services_;
  JudgeOptions options_;
  unsigned builds_ = 0, judges_ = 0;
};

/// The number of fresh processes that confirm an alarm. Each counts once, so the confidence
/// interval depends on their number: 8 can show a loss of 2% if their results differ by up to 0.8%.
inline constexpr std::uint32_t kGateProcesses = 8;

/// Sets the kernel's verdict from a trial of the head's version against the base's.
void takeTrial(const Trial &trial, const VerdictPolicy &policy, GateKernel &kernel);

} // namespace kopt
