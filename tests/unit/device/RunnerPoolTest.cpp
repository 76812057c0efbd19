// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/RunnerPool.h"
#include "driver/device/runner/RunnerClient.h"

#include "driver/support/FileSystem.h"
#include "fakes/FakeProcessRunner.h"
#include "runtime/runner/Protocol.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>

namespace {

using namespace kopt;
using kopt::fakes::FakeInteractiveProcess;
using kopt::fakes::FakeProcessRunner;
using runtime::protocol::Message;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Gpu {
  std::string name = "NVIDIA H200", arch = "sm_90", uuid;
  std::uint64_t memory = 150'000'000'000;
};

class RunnerPoolTest : public testing::Test {
protected:
  RunnerPoolTest() {
    for (const char *uuid : {"GPU-a", "GPU-b", "GPU-c"})
      gpus.push_back({"NVIDIA H200", "sm_90", uuid, 150'000'000'000});
    processes.onStartOf([this](const ProcessSpec &spec) -> FakeInteractiveProcess::Handler {
      const auto at = std::find(spec.argv.begin(), spec.argv.end(), "--ordinal");
      const std::size_t ordinal = std::stoul(*(at + 1));
      return [this, ordinal](const std::string &line) { return hello(line, ordinal); };
    });
  }

  std::optional<std::vector<std::string>> hello(const std::string &line,
                                                std::size_t ordinal) const {
    const auto request = Message::parse(line);
    Message reply("ok");
    reply.add("id", *request->number<std::uint64_t>("id"));
    if (ordinal >= gpus.size()) {
      reply = Message("error");
      reply.add("id", *request->number<std::uint64_t>("id"));
      reply.add("code", "no-device");
      reply.add("text", "there is no CUDA device " + std::to_string(ordinal));
      return std::vector{reply.format()};
    }
    const Gpu &gpu = gpus[ordinal];
    reply.add("kind", modelled ? "emulated" : "cuda");
    reply.add("name", gpu.name);
    reply.add("arch", gpu.arch);
    reply.add("uuid", modelled ? "" : gpu.uuid);
    reply.add("modelled", std::uint64_t(modelled));
    reply.add("memory", gpu.memory);
    if (!modelled)
      reply.addList("fact", {"visible_devices", std::to_string(gpus.size())});
    return std::vector{reply.format()};
  }

  Result<std::vector<PooledRunner>> start(const std::vector<int> &ordinals) {
    return startRunners(processes, "kopt-runner", {DeviceKind::Cuda, 0, ""}, ordinals,
                        folder.path(), folder.path(), {}, {});
  }
  std::vector<std::string> names(const std::vector<PooledRunner> &pool) {
    std::vector<std::string> all;
    for (const PooledRunner &member : pool)
      all.push_back(member.name);
    return all;
  }
  void refuses(const std::vector<int> &ordinals, const std::string &words) {
    EXPECT_THAT(
        start(ordinals),
        fails({.code = ErrorCode::Usage, .what = HasSubstr(words), .hint = Not(IsEmpty())}));
  }

  FakeProcessRunner processes;
  TemporaryDirectory folder = std::move(*TemporaryDirectory::create("runner-pool"));
  std::vector<Gpu> gpus;
  bool modelled = false;
};

TEST_F(RunnerPoolTest, OneGpuIsTheCallersThreads) {
  const auto pool = must(start({2}));
  EXPECT_THAT(names(pool), testing::ElementsAre("2 GPU-c"));
  EXPECT_EQ(pool.front().thread, nullptr);
}

TEST_F(RunnerPoolTest, EachOfSeveralHasItsRunnerAndItsThread) {
  const auto pool = must(start({2, 0}));
  EXPECT_THAT(names(pool), testing::ElementsAre("2 GPU-c", "0 GPU-a"));
  for (const PooledRunner &member : pool)
    EXPECT_NE(member.thread, nullptr);
}

TEST_F(RunnerPoolTest, AllAreAsManyAsCudaShows) {
  const auto pool = must(start({}));
  EXPECT_THAT(names(pool), testing::ElementsAre("0 GPU-a", "1 GPU-b", "2 GPU-c"));
}

TEST_F(RunnerPoolTest, WhatDiffersIsNamed) {
  gpus[1].name = "NVIDIA A100";
  gpus[1].arch = "sm_80";
  refuses({0, 1}, "0 GPU-a and 1 GPU-b differ in name (NVIDIA H200 and NVIDIA A100), architecture "
                  "(sm_90 and sm_80)");
  gpus[2].memory /= 2;
  refuses({0, 2}, "differ in memory (150000000000 and 75000000000 bytes)");
  refuses({}, "must be identical");
}

TEST_F(RunnerPoolTest, TheSameDeviceTwiceIsRefused) {
  gpus[1].uuid = gpus[0].uuid;
  refuses({0, 1}, "are the same device");
}

TEST_F(RunnerPoolTest, AGpuThatIsNotThereIsNamed) {
  EXPECT_THAT(start({0, 5}),
              fails({.code = ErrorCode::Environment, .what = HasSubstr("no CUDA device 5")}));
}

TEST_F(RunnerPoolTest, OfEmulatedDevicesThereIsNoAll) {
  modelled = true;
  ASSERT_TRUE(writeFileAtomically(folder.path() / "H200.txt", ""));
  refuses({}, "emulated");
  const auto pool = must(start({0, 1}));
  EXPECT_THAT(names(pool), testing::ElementsAre("0 emulated", "1 emulated"));
}

} // namespace
