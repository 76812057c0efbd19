// SPDX-License-Identifier: Apache-2.0
// What is checked on launches that are declared.
#include "driver/judge/replays/DerivedReplays.h"

#include "driver/workload/ScalarArguments.h"
#include "unit/judge/JudgeFixture.h"

#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

using ReplayCheckTest = JudgeFixture;

TEST_F(ReplayCheckTest, OtherContentsAreDerivedWhereARequirementHoldsToo) {
  makeRunner(false);
  Subject subject = declaredSubject();
  subject.declaration->arguments["n"] = "100000"; // others are derived from n = 12500
  subject.workload = buildWorkload(subject.kernel, subject.specialization, *subject.declaration,
                                   runner_->device().kind)
                         .value();
  CheckContext bench(*runner_, subject, 42, {});
  loadBaseline(bench);
  Trial baseline;
  DerivedReplays replays;
  const auto contents = [&] {
    return std::ranges::count_if(replays.replays(), [&](const Replay &replay) {
      const auto n = integersOf(bench.subject().specialization, replay.derived.launch).at("n");
      return replay.derived.kind == Derivation::Contents && n % 32 == 0;
    });
  };
  ASSERT_TRUE(replays.learnAll(bench, baseline));
  const auto before = contents();
  ASSERT_TRUE(replays.learnWhere(bench, {"n % 32 == 0"}));
  EXPECT_GT(contents(), before + 5);
}

} // namespace
