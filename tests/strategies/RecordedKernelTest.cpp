// SPDX-License-Identifier: Apache-2.0
#include "strategies/RecordedKernel.h"
#include "tests/fakes/Results.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt::fakes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// b alone gains 2x, c on b 3x in all; a gains nothing, and d is wrong.
constexpr const char *kRecording =
    R"({"program": "p", "kernel": "k", "device": "H200", "counters": {"0": {}},
"left": [], "trials": [
  {"parent": null, "proposer": "", "technique": "", "title": "baseline", "verdict": "Same", "seconds": 5, "estimate": 1, "low": 1, "high": 1},
  {"parent": 0, "proposer": "transform", "technique": "a", "title": "a", "verdict": "Duplicate", "seconds": 0.1},
  {"parent": 0, "proposer": "transform", "technique": "b", "title": "b", "verdict": "Faster", "seconds": 1, "estimate": 2, "low": 1.9, "high": 2.1},
  {"parent": 0, "proposer": "transform", "technique": "d", "title": "d", "verdict": "WrongResult", "seconds": 2},
  {"parent": 2, "proposer": "transform", "technique": "c", "title": "b + c", "verdict": "Faster", "seconds": 1, "estimate": 3, "low": 2.9, "high": 3.1}
]})";

class RecordedKernelTest : public testing::Test {
protected:
  Result<RecordedKernel> load(const std::string &text) {
    const std::string file = testing::TempDir() + "/recording.json";
    std::ofstream(file) << text;
    auto kernel = RecordedKernel::load(file);
    std::remove(file.c_str());
    return kernel;
  }
};

TEST_F(RecordedKernelTest, ASearchFindsWhatWasRecorded) {
  const RecordedKernel kernel = must(load(kRecording));
  EXPECT_NEAR(kernel.best(), std::log(3), 1e-9);
  const auto greedy = makeTurnStrategy({.batch = 2, .proposers = kernel.proposers()});
  const Course course = must(courseOf(kernel, *greedy, 40));
  ASSERT_EQ(course.fractions.size(), 4U) << "a, b, and then c on b";
  EXPECT_DOUBLE_EQ(course.fractions[1], 0);
  EXPECT_NEAR(course.fractions[2], std::log(2) / std::log(3), 1e-9);
  EXPECT_DOUBLE_EQ(course.fractions[3], 1);
  EXPECT_EQ(course.asks, 3);
  EXPECT_EQ(course.unrecorded, 1) << "nothing was tried on the last one";
}

TEST_F(RecordedKernelTest, PriorsAreWhatTechniquesGained) {
  const RecordedKernel kernel = must(load(kRecording));
  const auto priors = priorsOf({&kernel}, "");
  EXPECT_DOUBLE_EQ(priors.at("b").chance, priors.at("c").chance) << "each gained";
  EXPECT_GT(priors.at("c").chance, priors.at("a").chance);
  EXPECT_DOUBLE_EQ(priors.at("d").chance, priors.at("a").chance) << "what is wrong gains nothing";
}

TEST_F(RecordedKernelTest, WhatIsNoRecordingIsNamed) {
  const auto broken = load(R"({"program": "p"})");
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().what, HasSubstr("recording.json is no recording"));
  std::string text = kRecording;
  text.replace(text.find("Faster"), 6, "Fasten");
  EXPECT_THAT(load(text).error().what, HasSubstr("unknown verdict"));
}

} // namespace
} // namespace kopt::fakes
