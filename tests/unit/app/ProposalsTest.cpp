// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ci/Proposals.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using testing::ElementsAre;

TEST(KernelsToTune, AlarmsComeFirstThenWhatTakesLongest) {
  GateReport report;
  const auto add = [&](KernelChange change, GateVerdict verdict, double seconds) {
    GateKernel kernel;
    kernel.change = change;
    kernel.verdict = verdict;
    kernel.launches.resize(1);
    kernel.launches[0].headSeconds = seconds;
    report.kernels.push_back(kernel);
  };
  add(KernelChange::Modified, GateVerdict::Same, 1);
  add(KernelChange::Moved, GateVerdict::Same, 9);
  add(KernelChange::Added, GateVerdict::NotMeasured, 0);
  add(KernelChange::Signature, GateVerdict::Same, 2);
  add(KernelChange::Modified, GateVerdict::Slower, 0.5);
  add(KernelChange::Removed, GateVerdict::NotMeasured, 3);
  add(KernelChange::Modified, GateVerdict::NotMeasured, 4);
  report.kernels.back().broken = true;
  EXPECT_THAT(kernelsToTune(report), ElementsAre(4u, 3u, 0u, 2u));
}

} // namespace
