// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/Recorder.h"
#include "unit/runtime/trace/TraceFile.h"

#include <thread>

namespace {

using namespace kopt::runtime;
using namespace kopt::runtime::capture;

class RecorderTest : public kopt::test::TraceFolder {
protected:
  void SetUp() override {
    TraceFolder::SetUp();
    log = create();
    recorder = std::make_unique<Recorder>(*log, config);
  }
  KernelEntry &kernel(const void *handle = "k", const std::string &symbol = "_Z1kPfi") {
    return recorder->kernel(handle, [&] {
      ++described;
      return KernelDescription{symbol, true, {{0, 8}, {8, 4}}};
    });
  }
  void launch(KernelEntry &entry, LaunchFacts facts = {}) {
    std::byte arguments[Recorder::kMostArgumentBytes];
    const std::size_t bytes = Recorder::pack(entry, facts, arguments);
    recorder->launch(entry, recorder->count(entry), facts, recorder->nextSequence(), arguments,
                     bytes);
  }

  Config config;
  std::unique_ptr<trace::LogFile> log;
  std::unique_ptr<Recorder> recorder;
  int described = 0;
};

TEST_F(RecorderTest, ArgumentsArePackedAsTheKernelTakesThem) {
  const void *pointer = reinterpret_cast<const void *>(0x123400);
  int count = 77;
  void *parameters[] = {&pointer, &count};
  LaunchFacts facts;
  facts.parameters = parameters;
  launch(kernel(), facts);
  struct {
    std::uint64_t pointer = 0x99;
    int count = 5;
  } packed;
  facts.parameters = nullptr;
  facts.packed = &packed;
  facts.packedBytes = 12;
  launch(kernel(), facts);
  const trace::ProcessTrace trace = read();
  ASSERT_EQ(trace.launches.size(), 2u);
  ASSERT_EQ(trace.launches[0].arguments.size(), 12u);
  std::uint64_t word = 0;
  std::memcpy(&word, trace.launches[0].arguments.data(), 8);
  EXPECT_EQ(word, 0x123400u);
  std::memcpy(&word, trace.launches[1].arguments.data(), 8);
  EXPECT_EQ(word, 0x99u);
  EXPECT_EQ(trace.launches[1].ordinal, 1u);
  EXPECT_EQ(described, 1);
}

TEST_F(RecorderTest, AHandleGivenAgainIsAskedForAgain) {
  launch(kernel("handle", "a"));
  recorder->forgetHandles();
  launch(kernel("handle", "b"));
  launch(kernel("other", "a"));
  const trace::ProcessTrace trace = read();
  ASSERT_EQ(trace.functions.size(), 2u);
  EXPECT_EQ(trace.functions[trace.launches[0].function].symbol, "a");
  EXPECT_EQ(trace.functions[trace.launches[1].function].symbol, "b");
  EXPECT_EQ(trace.launches[2].function, trace.launches[0].function);
}

TEST_F(RecorderTest, SizesFromTheConfigurationServeADriverThatTellsNothing) {
  config.parameterSizes["_Z1kcPfs"] = {1, 8, 2};
  KernelEntry &entry =
      recorder->kernel("h", [] { return KernelDescription{"_Z1kcPfs", false, {}}; });
  ASSERT_TRUE(entry.layoutKnown);
  EXPECT_EQ(entry.parameters[1].offset, 8u);
  EXPECT_EQ(entry.parameters[2].offset, 16u);
  EXPECT_EQ(entry.argumentBytes, 18u);
  KernelEntry &unknown =
      recorder->kernel("u", [] { return KernelDescription{"_Z1uv", false, {}}; });
  launch(unknown);
  EXPECT_TRUE(read().launches.at(0).flags & trace::kLayoutUnknown);
}

TEST_F(RecorderTest, PastTheCapLaunchesAreCounted) {
  config.maxLaunches = 10;
  for (int i = 0; i < 25; ++i)
    launch(kernel());
  recorder->finish();
  const trace::ProcessTrace trace = read();
  EXPECT_EQ(trace.launches.size(), 10u);
  EXPECT_EQ(trace.countedLaunches, 25u);
  EXPECT_EQ(trace.totals.at(trace.launches[0].function), 25u);
  EXPECT_TRUE(trace.ended);
}

TEST_F(RecorderTest, EveryRuleChoosesItsLaunches) {
  const auto chosen = [&](SnapshotRule rule, int count, auto geometry) {
    KernelEntry entry;
    entry.rule = &rule;
    std::vector<int> which;
    for (int i = 0; i < count; ++i) {
      LaunchFacts facts;
      facts.grid[1] = geometry(i);
      if (recorder->wants(entry, recorder->count(entry), facts))
        which.push_back(i);
    }
    return which;
  };
  const auto one = [](int) { return 1u; };
  SnapshotRule rule;
  rule.count = 3;
  rule.how = SnapshotRule::How::First;
  EXPECT_EQ(chosen(rule, 10, one), (std::vector<int>{0, 1, 2}));
  rule.how = SnapshotRule::How::Every;
  EXPECT_EQ(chosen(rule, 10, one), (std::vector<int>{0, 3, 6, 9}));
  rule.how = SnapshotRule::How::PerClass;
  rule.count = 1;
  EXPECT_EQ(chosen(rule, 10, [](int i) { return i < 4 ? 1u : 2u; }), (std::vector<int>{0, 4}))
      << "grid y counts";
  rule.how = SnapshotRule::How::Listed;
  rule.ordinals = {2, 7};
  EXPECT_EQ(chosen(rule, 10, one), (std::vector<int>{2, 7}));
  KernelEntry none;
  EXPECT_FALSE(recorder->wants(none, 0, {}));
}

TEST_F(RecorderTest, ThreadsThatEndGiveTheirSegmentsBack) {
  for (int i = 0; i < 300; ++i)
    std::thread([&] { launch(kernel()); }).join();
  const trace::ProcessTrace trace = read();
  EXPECT_EQ(trace.launches.size(), 300u);
  EXPECT_LT(std::filesystem::file_size(file), 8u << 20);
}

} // namespace
