// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/Reproduce.h"

#include "unit/store/SampleRun.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

TEST(Reproduce, NamesEverythingThatDecidesTheRun) {
  EXPECT_EQ(reproduceCommand(sampleRun()),
            "kopt tune src/transpose.cu --device emulated --model-gpu H200 --proposers "
            "params,transform --rounds 12 --trials 200 --patience 4 --budget-seconds 1800 "
            "--min-gain 1.02 --seed 1 -- -O3");
}

TEST(Reproduce, StartsWhereTheRunDidAndQuotes) {
  RunRecord run = sampleRun();
  run.configJson =
      R"j({"directory":"/home/a b","files":["it's.cu"],"kernels":["k<1, 2>"],"program":"./app 7","other_runs":["./app 8"],)j"
      R"j("build":"make -j","device":"auto","gpus":[0,2],"model":"exec:m","max_tokens":1000,)j"
      R"j("objective":"worst,target:1ms","max_launch_regression":5.5,)j"
      R"j("min_gain":0.0123456,"assurance":"strict","strategy":"beam","flags":["-DX=\"1\""]})j";
  run.deviceJson = R"j({"kind":"cuda"})j";
  EXPECT_EQ(reproduceCommand(run),
            "cd '/home/a b' && kopt tune 'it'\\''s.cu' --kernel 'k<1, 2>' --run './app 7' --run "
            "'./app 8' --build 'make -j' --device cuda --gpus 0,2 --model exec:m --max-tokens 1000 "
            "--min-gain 1.0123456 --objective worst,target:1ms --max-launch-regression 5.5 "
            "--strategy beam --assurance strict -- '-DX=\"1\"'");
}

TEST(Reproduce, ProfilesTheKernelOnTheSameDevice) {
  RunRecord run = sampleRun();
  run.kernel = "scale<float, 4>";
  EXPECT_EQ(profileCommand(run), "kopt profile src/transpose.cu --kernel 'scale<float, 4>' "
                                 "--device emulated --model-gpu H200 -- -O3");
}

TEST(Reproduce, OfARecordThatCannotBeReadIsTheBareCommand) {
  RunRecord run;
  run.configJson = "{";
  EXPECT_EQ(reproduceCommand(run), "kopt tune");
}

} // namespace
} // namespace kopt
