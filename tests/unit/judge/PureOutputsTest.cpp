// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/learn/PureOutputs.h"

#include "fakes/FakeBench.h"

#include <gtest/gtest.h>

using namespace kopt;
using namespace kopt::fakes;

namespace {

/// Runs a function over the contents of all buffers, as 32-bit words. Old contents are the number
/// of the buffer, what the fill says, or poison.
class KernelRunner : public Runner {
public:
  using Contents = std::vector<std::vector<std::uint32_t>>;
  using Kernel = std::function<RunStatus(Contents &)>;

  KernelRunner(std::filesystem::path folder, Kernel kernel)
      : folder_(std::move(folder)), kernel_(std::move(kernel)) {
    device_.kind = DeviceKind::Cuda;
  }
  const DeviceInfo &device() const override { return device_; }
  Result<ModuleInfo> load(const std::filesystem::path &, const std::string &) override {
    return ModuleInfo();
  }
  void unload(ModuleId) override {}
  Result<RunOutcome> run(ModuleId, const Launch &launch, const RunOptions &options) override {
    ++runs;
    wasLimited |= options.limit.has_value();
    Contents contents;
    Contents poison;
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      const Buffer &buffer = launch.buffers[b];
      const std::size_t words = buffer.bytes / 4;
      poison.emplace_back(words);
      for (std::size_t i = 0; i < words; ++i)
        poison[b][i] = std::uint32_t(0x80000000u + options.poisonSeed * 1000 + b * 100 + i % 7);
      const double low = buffer.fill.low;
      const std::uint32_t filled = low > 1e9 ? 0xffffffffu : low < 0 ? 0u : std::uint32_t(b);
      contents.push_back(buffer.output ? poison[b] : std::vector<std::uint32_t>(words, filled));
    }
    RunOutcome outcome;
    outcome.status = kernel_(contents);
    if (outcome.status != RunStatus::Ok)
      return outcome;
    for (std::size_t b = 0; b < contents.size(); ++b) {
      std::uint64_t unwritten = 0;
      for (std::size_t i = 0; i < contents[b].size(); ++i)
        unwritten += launch.buffers[b].output && contents[b][i] == poison[b][i];
      outcome.unwritten.push_back(unwritten);
      outcome.buffers.push_back(folder_ / fmt::format("{}-{}", options.slot, b));
      KOPT_CHECK(writeFileAtomically(
          outcome.buffers.back(),
          std::string(reinterpret_cast<const char *>(contents[b].data()), contents[b].size() * 4)));
    }
    return outcome;
  }
  Result<TimingOutcome> time(ModuleId, const Launch &, ModuleId, const Launch &,
                             const TimeOptions &) override {
    return TimingOutcome();
  }
  Result<ProfileOutcome> profile(ModuleId, const Launch &, const RunOptions &) override {
    return ProfileOutcome();
  }

  int runs = 0;
  bool wasLimited = false; ///< a run had little time

private:
  std::filesystem::path folder_;
  Kernel kernel_;
  DeviceInfo device_;
};

constexpr std::size_t kLarge = 10'000, kSmall = 4; ///< words

class PureOutputs : public testing::Test {
protected:
  /// Returns which of the buffers, of so many words, are pure outputs of the kernel.
  std::vector<bool> outputsOf(const std::vector<std::size_t> &words, KernelRunner::Kernel kernel) {
    runner_ = std::make_unique<KernelRunner>(folder_.path(), std::move(kernel));
    Subject subject = makeSubject();
    CheckContext context(*runner_, subject, 1, {});
    Launch launch;
    for (std::size_t b = 0; b < words.size(); ++b) {
      Buffer buffer;
      buffer.name = fmt::format("b{}", b);
      buffer.bytes = words[b] * 4;
      buffer.scalar = "u32";
      launch.buffers.push_back(buffer);
    }
    context.baseline().launches = {launch};
    auto reference = context.expect(launch, context.options(1, kPoison, 0, "reference"));
    EXPECT_TRUE(reference);
    context.baselineSeconds = {0.1};
    runner_->runs = 0;
    const auto used = findPureOutputs(context, 0, *reference, read_);
    EXPECT_TRUE(used) << (used ? "" : used.error().what);
    isUsed_ = used && *used;
    std::vector<bool> outputs;
    for (const Buffer &buffer : context.baseline().launches[0].buffers)
      outputs.push_back(buffer.output);
    return outputs;
  }
  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("outputs"));
  std::unique_ptr<KernelRunner> runner_;
  bool isUsed_ = false;
  std::set<std::string> read_; ///< kept from one launch to the next
};

using Contents = KernelRunner::Contents;

TEST_F(PureOutputs, OneRunDecidesWhereNoOldContentsAreRead) {
  const auto outputs = outputsOf({kLarge, kLarge, kLarge, kSmall, kSmall}, [](Contents &contents) {
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t i = 0; i < kLarge; ++i)
        contents[b][i] = std::uint32_t(i + b);
    contents[2][5] = 1; // partly written; the errors in b3 and b4 never happen
    return RunStatus::Ok;
  });
  EXPECT_EQ(outputs, (std::vector<bool>{true, true, false, false, false}));
  EXPECT_EQ(runner_->runs, 1);
  EXPECT_TRUE(runner_->wasLimited);
  EXPECT_TRUE(isUsed_);
}

TEST_F(PureOutputs, TheOneThatIsReadIsFoundAmongTheOthers) {
  const auto outputs = outputsOf({kLarge, kLarge, kLarge, kSmall}, [](Contents &contents) {
    for (std::size_t i = 0; i < kLarge; ++i) {
      contents[0][i] = std::uint32_t(i);
      contents[1][i] += 1;
      contents[2][i] = contents[1][i] * 2;
    }
    contents[3].assign(kSmall, 7);
    return RunStatus::Ok;
  });
  EXPECT_EQ(outputs, (std::vector<bool>{true, false, true, true}));
}

TEST_F(PureOutputs, ALockThatPoisonClosesIsNone) {
  const auto outputs = outputsOf({kLarge, kSmall}, [](Contents &contents) {
    if (contents[1][0] > 100)
      return RunStatus::TimedOut;
    contents[0].assign(kLarge, 5);
    contents[1][0] = 1;
    return RunStatus::Ok;
  });
  EXPECT_EQ(outputs, (std::vector<bool>{true, false}));
  EXPECT_EQ(runner_->runs, 3) << "both, the large one, the small one";
}

TEST_F(PureOutputs, WhatKeepsTheLargestIsNoneThoughPoisonIsSmaller) {
  const auto outputs = outputsOf({kSmall, kSmall}, [](Contents &contents) {
    for (std::size_t i = 0; i < kSmall; ++i) {
      contents[0][i] = std::max(contents[0][i], 0xfffffff0u);
      contents[1][i] = 3;
    }
    return RunStatus::Ok;
  });
  EXPECT_EQ(outputs, (std::vector<bool>{false, true}));
}

TEST_F(PureOutputs, WhatOneLaunchReadsTheNextOneIsNotTriedWithout) {
  const auto next = [](Contents &contents) { // follows the indices of b1 and b2
    for (std::size_t i = 0; i < kLarge; ++i) {
      if (contents[1][i] > 100 || contents[2][i] > 100)
        return RunStatus::Fault;
      contents[0][i] = std::uint32_t(i);
    }
    return RunStatus::Ok;
  };
  const std::vector<bool> expected{true, false, false};
  EXPECT_EQ(outputsOf({kLarge, kLarge, kLarge}, next), expected);
  EXPECT_GT(runner_->runs, 3);
  EXPECT_EQ(read_, (std::set<std::string>{"b1", "b2"}));
  EXPECT_EQ(outputsOf({kLarge, kLarge, kLarge}, next), expected);
  EXPECT_EQ(runner_->runs, 1);
  EXPECT_TRUE(isUsed_);
}

TEST_F(PureOutputs, AKernelThatWritesNothingUsesNone) {
  const auto outputs = outputsOf({kLarge, kSmall}, [](Contents &) { return RunStatus::Ok; });
  EXPECT_EQ(outputs, (std::vector<bool>{false, false}));
  EXPECT_FALSE(isUsed_);
}

} // namespace
