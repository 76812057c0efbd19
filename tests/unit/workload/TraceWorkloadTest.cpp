// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/observed/TraceWorkload.h"
#include "driver/model/TuneSubject.h"
#include "driver/workload/observed/SubjectWorkload.h"

#include "driver/device/capture/ObserveProgram.h"
#include "driver/workload/WorkloadBuilder.h"
#include "unit/workload/TraceSample.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using kopt::test::TraceSample;
using testing::HasSubstr;

class TraceWorkloadTest : public testing::Test {
protected:
  Result<TraceWorkload> make(DeviceKind device = DeviceKind::Emulated) {
    return workloadFromTrace(sample.observed, kernel, kernel.specializations[0], TuneDeclaration{},
                             device, 5);
  }
  TraceSample sample;
  KernelSpec kernel = TraceSample::kernel();
};

TEST_F(TraceWorkloadTest, BuffersArgumentsAndGeometry) {
  for (int i = 0; i < 3; ++i)
    sample.snapshot(sample.launch(1000, 10e-6));
  const auto made = make();
  ASSERT_TRUE(made) << made.error().what;
  ASSERT_EQ(made->workload.launches.size(), 1u);
  ASSERT_EQ(made->heldOut.size(), 1u);
  EXPECT_EQ(made->captured.size(), 3u);
  const Launch &launch = made->workload.launches[0];
  ASSERT_EQ(launch.buffers.size(), 2u);
  EXPECT_EQ(launch.buffers[0].name, "out");
  EXPECT_FALSE(launch.buffers[0].readOnly);
  EXPECT_EQ(launch.buffers[0].fill.kind, FillKind::Captured);
  EXPECT_THAT(launch.buffers[0].fill.path, HasSubstr("/trace/contents/01/01"));
  EXPECT_EQ(launch.buffers[1].name, "in");
  EXPECT_TRUE(launch.buffers[1].readOnly);
  EXPECT_EQ(launch.buffers[1].scalar, "f32");
  EXPECT_FALSE(launch.buffers[1].holdsPointers);
  EXPECT_EQ(launch.buffers[1].address, test::kIn);
  const auto &in = std::get<BufferArg>(launch.arguments.at(1));
  EXPECT_EQ(in.buffer, 1u);
  EXPECT_EQ(in.offset, 16u);
  EXPECT_EQ(std::get<ValueArg>(launch.arguments.at(2)).bytes, std::string("\xe8\x03\0\0", 4));
  // The launch site's expressions, so that a candidate may change the block.
  EXPECT_EQ(launch.geometry.grid[0], "(count + 127) / 128");
  EXPECT_EQ(launch.bindings.at("count"), 1000);
  EXPECT_EQ(launch.grid.x, 8u);
  EXPECT_THAT(made->captured[0].after.at(0), HasSubstr("/trace/contents/03/03"));
}

TEST_F(TraceWorkloadTest, StructsAreOfTheirMembersWhereTheyBeginWithOne) {
  std::vector<KernelParam> &params = kernel.specializations[0].params;
  params[0].scalar = "struct 16 f32 0 u64 8";
  params[1].scalar = "struct 16 f32 0 i32 4";
  sample.snapshot(sample.launch(1000, 10e-6));
  auto made = make();
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->workload.launches[0].buffers[0].scalar, params[0].scalar);
  EXPECT_TRUE(made->workload.launches[0].buffers[0].holdsPointers)
      << "eight bytes may be an address";
  EXPECT_EQ(made->workload.launches[0].buffers[1].scalar, params[1].scalar);
  EXPECT_FALSE(made->workload.launches[0].buffers[1].holdsPointers);
  params[1].scalar = "struct 24 f32 0 i32 4"; // the argument points 16 bytes into the buffer
  made = make();
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->workload.launches[0].buffers[1].scalar, "u8");
}

TEST_F(TraceWorkloadTest, GeometryThatNoSiteExplainsIsTakenAsItIs) {
  sample.snapshot(sample.launch(1000, 10e-6, 3));
  const auto made = make();
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->workload.launches[0].geometry.grid[1], "3");
}

TEST_F(TraceWorkloadTest, ARequirementThatTheProgramDoesNotKeepIsNotUsed) {
  sample.snapshot(sample.launch(1000, 10e-6));
  TuneDeclaration declared;
  declared.requirements = {"n % 8 == 0", "n == 60", "width == 3", "in % 16 == 0", "in % 32 == 0"};
  const TuneSubject subject{{kernel, kernel.specializations[0], ""}, declared, "scale"};
  const auto made = workloadOf(subject, sample.observed, DeviceKind::Cuda);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_THAT(made->notes, testing::Contains(testing::HasSubstr("'require n == 60' is not used")));
  EXPECT_THAT(keptByLaunches(subject, made->workload.launches).requirements,
              testing::ElementsAre("n % 8 == 0", "width == 3", "in % 16 == 0"))
      << "the program passes a pointer 16 bytes into a buffer";
}

TEST_F(TraceWorkloadTest, TheLaunchesOfSeveralCommandsAreOneWorkload) {
  TraceSample small, other;
  for (int i = 0; i < 3; ++i)
    small.snapshot(small.launch(500, 5e-6));
  sample.snapshot(sample.launch(1000, 10e-6));
  other.observed.processes[0].functions[0].symbol = "_Z5otherv";
  other.launch(1, 1e-6);
  const TuneSubject subject{{kernel, kernel.specializations[0], ""}, {}, "scale"};
  std::vector<ObservedRun> runs = {
      {"./app 1", small.observed}, {"./app other", other.observed}, {"./app 2", sample.observed}};
  const auto made = workloadOf(subject, runs, DeviceKind::Cuda);
  ASSERT_TRUE(made) << made.error().what;
  const std::vector<Launch> &launches = made->workload.launches;
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_THAT(launches[0].name, testing::StartsWith("./app 1: grid 4 block 128 (launch "));
  EXPECT_THAT(launches[1].name, testing::StartsWith("./app 2: grid 8 block 128 (launch "));
  EXPECT_DOUBLE_EQ(launches[0].weight, 0.75);
  EXPECT_DOUBLE_EQ(launches[1].weight, 0.25);
  EXPECT_DOUBLE_EQ(made->programSeconds.at(launches[0].name), 5e-6);
  ASSERT_EQ(made->heldOut.size(), 1u) << "of the command that launches it more than once";
  EXPECT_THAT(made->heldOut[0].name, testing::StartsWith("./app 1: "));

  runs.erase(runs.begin() + 1);
  runs.pop_back();
  const auto alone = workloadOf(subject, runs, DeviceKind::Cuda);
  ASSERT_TRUE(alone) << alone.error().what;
  EXPECT_THAT(alone->workload.launches[0].name, testing::StartsWith("grid 4 "));

  const auto none = workloadOf(subject, {{"./app other", other.observed}, {"./x", other.observed}},
                               DeviceKind::Cuda);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().what, testing::HasSubstr("never launched 'scale'"));
}

TEST_F(TraceWorkloadTest, StructsAndNullPointers) {
  kernel.specializations[0].params[0] = {"span", "Span", ParamKind::Struct, 8, 8, "", 1, 0,
                                         false,  false};
  const std::uint64_t sequence = sample.launch(1000, 10e-6);
  sample.snapshot(sequence);
  const std::uint64_t null = 0;
  auto &launch = sample.observed.processes[0].launches[0];
  std::memcpy(const_cast<std::byte *>(launch.arguments.data()) + 8, &null, 8);
  const auto made = make();
  ASSERT_TRUE(made) << made.error().what;
  const auto &span = std::get<ValueArg>(made->workload.launches[0].arguments.at(0));
  ASSERT_EQ(span.pointers.size(), 1u);
  EXPECT_EQ(span.pointers[0].buffer, 0u);
  EXPECT_EQ(std::get<ValueArg>(made->workload.launches[0].arguments.at(1)).bytes,
            std::string(8, '\0'));
  // Nothing says what a pointer within a struct points to.
  EXPECT_EQ(made->workload.launches[0].buffers[0].scalar, "u8");
  EXPECT_TRUE(made->workload.launches[0].buffers[0].holdsPointers);
}

TEST_F(TraceWorkloadTest, AStructsPointersSayWhatTheyPointTo) {
  kernel.specializations[0].params[0] = {
      "span", "Span", ParamKind::Struct, 8, 8, "pointers 0 f32 16 i32", 1, 0, false, false};
  sample.snapshot(sample.launch(1000, 10e-6));
  const auto made = make();
  ASSERT_TRUE(made) << made.error().what;
  const Buffer &buffer = made->workload.launches[0].buffers[0];
  EXPECT_EQ(buffer.name, "span");
  EXPECT_EQ(buffer.scalar, "f32");
  EXPECT_FALSE(buffer.holdsPointers);
  EXPECT_FALSE(buffer.readOnly) << "nobody says that it is const";
}

TEST_F(TraceWorkloadTest, APointerThatWasNotCapturedIsNamed) {
  sample.snapshot(sample.launch(1000, 10e-6));
  auto &launch = sample.observed.processes[0].launches[0];
  const std::uint64_t elsewhere = 0x123456789;
  std::memcpy(const_cast<std::byte *>(launch.arguments.data()) + 8, &elsewhere, 8);
  const auto made = make();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::Usage);
  EXPECT_THAT(made.error().hint, HasSubstr("'in'"));
}

TEST_F(TraceWorkloadTest, LaunchesThatCannotBeRepeatedSayWhy) {
  sample.snapshot(sample.launch(1000, 10e-6));
  sample.snapshot(sample.launch(500, 90e-6));
  sample.observed.processes[0].launches[1].flags = runtime::trace::kCluster;
  const auto made = make();
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->workload.launches.size(), 1u);
  EXPECT_NEAR(made->coverage, 0.1, 1e-9);
  ASSERT_EQ(made->notes.size(), 2u);
  EXPECT_THAT(made->notes[0], HasSubstr("10.0%"));
  EXPECT_THAT(made->notes[1], HasSubstr("clusters"));
}

TEST_F(TraceWorkloadTest, AKernelThatReadsATextureIsRefusedWhateverWasCaptured) {
  sample.snapshot(sample.launch(1000, 10e-6));
  kernel.specializations[0].needs = {{NeedKind::Texture, "image.pixels", "image.cuh", 12}};
  const auto made = make();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::BaselineFailed);
  EXPECT_EQ(made.error().where, "image.cuh:12");
  EXPECT_THAT(made.error().what, HasSubstr("texture object 'image.pixels'"));
  EXPECT_THAT(made.error().hint, HasSubstr("pointer"));
  kernel.specializations[0].needs = {{NeedKind::Surface, "to", "image.cuh", 13}};
  EXPECT_THAT(make().error().what, HasSubstr("surface object 'to'"));
  // Without a trace too.
  const auto declared =
      buildWorkload(kernel, kernel.specializations[0], TuneDeclaration{}, DeviceKind::Cuda);
  ASSERT_FALSE(declared);
  EXPECT_EQ(declared.error().where, "image.cuh:13");
}

TEST_F(TraceWorkloadTest, CooperativeLaunchesStayCooperative) {
  sample.snapshot(sample.launch(1000, 10e-6));
  sample.observed.processes[0].launches[0].flags = runtime::trace::kCooperative;
  kernel.specializations[0].needs = {{NeedKind::Cooperative, "grid.sync()", "scale.cu", 9}};
  const auto made = make(DeviceKind::Cuda);
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_TRUE(made->workload.launches[0].cooperative);
}

TEST_F(TraceWorkloadTest, StacksAreAsDeepAsTheProgramHadThem) {
  const std::uint64_t launch = sample.launch(1000, 10e-6);
  sample.snapshot(launch);
  sample.observed.processes[0].snapshots.at(launch).stackBytes = 16384;
  const auto made = make();
  ASSERT_TRUE(made) << made.error().what;
  EXPECT_EQ(made->workload.launches[0].stackBytes, 16384u);
}

TEST_F(TraceWorkloadTest, AKernelThatWaitsForItsGridIsRefusedWhereBlocksTakeTurns) {
  sample.snapshot(sample.launch(1000, 10e-6));
  kernel.specializations[0].needs = {{NeedKind::Cooperative, "grid.sync()", "scale.cu", 9}};
  const auto made = make();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::BaselineFailed);
  EXPECT_THAT(made.error().what, HasSubstr("grid.sync()"));
  EXPECT_THAT(made.error().what, HasSubstr("cooperative"));
  EXPECT_EQ(made.error().where, "scale.cu:9");
}

TEST_F(TraceWorkloadTest, AttributesOfSpeedAreSaidAndUnknownOnesRefused) {
  sample.snapshot(sample.launch(1000, 10e-6));
  sample.observed.processes[0].launches[0].flags = runtime::trace::kOtherAttributes;
  const auto made = make();
  ASSERT_TRUE(made) << made.error().what;
  ASSERT_EQ(made->notes.size(), 1u);
  EXPECT_THAT(made->notes[0], HasSubstr("attributes"));
  sample.observed.processes[0].launches[0].flags = runtime::trace::kUnknownAttributes;
  const auto refused = make();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().hint, HasSubstr("does not know"));
  sample.observed.processes[0].launches[0].flags = runtime::trace::kCluster;
  EXPECT_THAT(make().error().hint, HasSubstr("clusters"));
}

TEST_F(TraceWorkloadTest, WhatIsNotStoredAfterTheLaunchSaysWhy) {
  const std::uint64_t first = sample.launch(1000, 1e-3);
  sample.snapshot(first);
  runtime::trace::Snapshot &taken = sample.observed.processes[0].snapshots[first];
  taken.after[0].stored = false;
  taken.after[0].reason = "the limit of 2 bytes of snapshots was reached";
  taken.after.pop_back();
  const auto made = make();
  ASSERT_TRUE(made) << made.error().what;
  const CapturedLaunch &launch = made->captured.at(0);
  EXPECT_EQ(launch.after, (std::vector<std::string>{"", ""}));
  EXPECT_EQ(launch.notAfter,
            (std::vector<std::string>{"the limit of 2 bytes of snapshots was reached",
                                      "it is no longer allocated"}));
}

TEST_F(TraceWorkloadTest, AnotherSignatureIsStale) {
  sample.snapshot(sample.launch(1000, 10e-6));
  kernel.specializations[0].params[2].size = 8;
  const auto made = make();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::StaleInput);
  EXPECT_THAT(made.error().what, HasSubstr("8, 8, 8"));
}

TEST_F(TraceWorkloadTest, AKernelThatWasNeverLaunchedNamesThoseThatWere) {
  sample.launch(1000, 10e-6);
  kernel.specializations[0].symbol = "_Z5otherv";
  kernel.specializations[0].expression = "other";
  const auto made = make();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::Usage);
  EXPECT_THAT(made.error().hint, HasSubstr("scale"));
}

TEST(CheckPrograms, AChangedProgramIsStaleAndAMissingOneIsSaid) {
  TraceSample sample;
  auto &info = sample.observed.processes[0].info;
  info.program = "/proc/self/exe";
  info.programHash = std::string(32, '0');
  std::string note;
  const auto stale = checkPrograms(sample.observed, note);
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, ErrorCode::StaleInput);
  info.program = "/nowhere/app";
  EXPECT_TRUE(checkPrograms(sample.observed, note));
  EXPECT_THAT(note, HasSubstr("/nowhere/app"));
}

} // namespace
