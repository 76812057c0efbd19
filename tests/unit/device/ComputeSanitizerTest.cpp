// SPDX-License-Identifier: Apache-2.0
#include "driver/device/profile/ComputeSanitizer.h"
#include "driver/support/FileSystem.h"
#include "fakes/FakeProcessRunner.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace {

using namespace kopt;
using kopt::fakes::FakeProcessRunner;

TEST(SanitizerOutput, NoErrorsIsARunWithoutAny) {
  const SanitizerReport report = parseSanitizer(
      "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", "memcheck");
  EXPECT_TRUE(report.ran);
  EXPECT_EQ(report.errors, 0u);
}

TEST(SanitizerOutput, TheFirstErrorIsNamedWithItsPlace) {
  const SanitizerReport report = parseSanitizer(R"(========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at scale(const float *, float *, int)+0x130 in slice.cu:12
=========     by thread (31,0,0) in block (93,0,0)
=========     Address 0x7f3a00 is out of bounds
========= Invalid __global__ read of size 4 bytes
=========     at scale(const float *, float *, int)+0x130 in slice.cu:12
========= ERROR SUMMARY: 2 errors
)",
                                                "memcheck");
  EXPECT_TRUE(report.ran);
  EXPECT_EQ(report.errors, 2u);
  EXPECT_EQ(report.first, "Invalid __global__ read of size 4 bytes at scale(const float *, float "
                          "*, int)+0x130 in slice.cu:12");
}

TEST(SanitizerOutput, HazardsOfRacecheckAreErrors) {
  const SanitizerReport report = parseSanitizer(R"(========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at gemm(float *)+0x1a0 in slice.cu:9
=========     and Read access at gemm(float *)+0x290 in slice.cu:14 [1024 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
)",
                                                "racecheck");
  EXPECT_TRUE(report.ran);
  EXPECT_EQ(report.errors, 1u);
  EXPECT_EQ(report.warnings, 0u);
  EXPECT_NE(report.first.find("Race reported"), std::string::npos);
  const SanitizerReport mixed = parseSanitizer(
      "========= Warning: Race reported between two\n========= Error: Race reported of warps\n"
      "========= RACECHECK SUMMARY: 13 hazards displayed (1 error, 12 warnings)\n",
      "racecheck");
  EXPECT_EQ(mixed.errors, 13u);
  EXPECT_EQ(mixed.warnings, 12u);
  EXPECT_EQ(mixed.first, "Error: Race reported of warps");
}

TEST(SanitizerOutput, WhatIsNotSupportedIsNoPass) {
  for (const char *text : {"", "some other program's words\n", "========= COMPUTE-SANITIZER\n",
                           "========= COMPUTE-SANITIZER\n========= Error: Target application "
                           "terminated before first instrumented API call\n"
                           "========= ERROR SUMMARY: 0 errors\n",
                           "========= COMPUTE-SANITIZER\n========= Warning: initcheck is not "
                           "supported with this device\n========= ERROR SUMMARY: 0 "
                           "errors\n"}) {
    const SanitizerReport report = parseSanitizer(text, "memcheck");
    EXPECT_FALSE(report.ran) << text;
    EXPECT_FALSE(report.first.empty()) << text;
  }
  // The summary of another tool is not this one's.
  EXPECT_FALSE(parseSanitizer("========= ERROR SUMMARY: 0 errors\n", "racecheck").ran);
}

TEST(SanitizerOutput, AKernelCannotPrintASummary) {
  const SanitizerReport report = parseSanitizer("ERROR SUMMARY: 0 errors\n", "memcheck");
  EXPECT_FALSE(report.ran);
}

TEST(ComputeSanitizer, MemcheckIsNotAskedForTheRunnersOwnQuestionsToTheDriver) {
  FakeProcessRunner processes;
  const TemporaryDirectory folder = std::move(*TemporaryDirectory::create("kopt-sanitizer"));
  ComputeSanitizer sanitizer(processes, "/usr/bin/compute-sanitizer");
  for (const char *tool : {"memcheck", "racecheck"}) {
    WatchRequest request;
    request.runner = {"/kopt-runner", "--device", "cuda"};
    request.folder = folder.path();
    EXPECT_FALSE(sanitizer.check(tool, request)); // the fake has no such program
    const std::vector<std::string> &argv = processes.calls.back().argv;
    const auto runner = std::find(argv.begin(), argv.end(), "/kopt-runner");
    EXPECT_EQ(std::find(argv.begin(), runner, "--report-api-errors") != runner,
              std::string(tool) == "memcheck");
  }
}

TEST(ComputeSanitizer, WithoutTheProgramNothingRan) {
  FakeProcessRunner processes;
  ComputeSanitizer sanitizer(processes, makeError(ErrorCode::Environment,
                                                  "compute-sanitizer was not found", "install it"));
  const auto report = sanitizer.check("memcheck", {});
  ASSERT_TRUE(report);
  EXPECT_FALSE(report->ran);
  EXPECT_EQ(report->first, "compute-sanitizer was not found; install it");
}

} // namespace
