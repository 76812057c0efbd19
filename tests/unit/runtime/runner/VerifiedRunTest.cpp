// SPDX-License-Identifier: Apache-2.0
// Launches on a device that looks at its memory itself, and on one that does not: the same answers.
#include "runtime/runner/VerifiedRun.h"
#include "fakes/FakeDevice.h"
#include "runtime/runner/Session.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace {

using namespace kopt::runtime;
using kopt::fakes::FakeDevice;
using protocol::Message;

/// Bytes that are no multiple of 8, and more than the host looks at by itself.
constexpr std::uint32_t kLargeCount = (2u << 20) + 3;

class VerifiedRunTest : public testing::TestWithParam<bool> {
protected:
  VerifiedRunTest() {
    char pattern[] = "/tmp/kopt-session-XXXXXX";
    folder = mkdtemp(pattern);
    device.hasMemoryKernels = GetParam();
    // Copies bytes, all but those from `count` on; touches `in` where `spoilt` says so.
    device.add("copy", [this](const LaunchRequest &request) {
      auto *in = FakeDevice::argument<char *>(request, 0);
      auto *out = FakeDevice::argument<char *>(request, 1);
      std::memcpy(out, in, FakeDevice::argument<std::uint32_t>(request, 2));
      if (spoilt)
        in[*spoilt] = char(in[*spoilt] + 1);
      if (different)
        out[*different] = char(out[*different] + 1);
      return Status{};
    });
  }
  ~VerifiedRunTest() override { std::filesystem::remove_all(folder); }

  Message ask(const std::string &line) {
    const auto reply = Message::parse(session.answer(line));
    EXPECT_TRUE(reply);
    return reply.value_or(Message("none"));
  }
  Message run(std::uint32_t count, const std::string &more = " digest=77") {
    return ask("run", count, more);
  }
  Message ask(const std::string &verb, std::uint32_t count, const std::string &more) {
    char hex[9];
    std::snprintf(hex, sizeof hex, "%02x%02x%02x%02x", count & 255, count >> 8 & 255,
                  count >> 16 & 255, count >> 24);
    const std::string bytes = std::to_string(kLargeCount);
    return ask(verb + " id=9 input_seed=5 poison_seed=6 out=," + folder + "/out" + more +
               " a.module=" + ask("load id=1 path=copy").text("module") +
               " a.grid=4,1,1 a.block=256,1,1 a.shared=0 a.buffer=in," + bytes +
               ",u8,uniform,0,255,in a.buffer=out," + bytes +
               ",u8,uniform,0,255,out a.arg=buffer,0,0 a.arg=buffer,1,0 a.arg=value," + hex);
  }
  std::string output() {
    std::ifstream file(folder + "/out", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  FakeDevice device;
  Session session{device, [this] { return device.elapsed; }};
  std::string folder;
  std::optional<std::uint32_t> spoilt, different;
};

INSTANTIATE_TEST_SUITE_P(WithAndWithout, VerifiedRunTest, testing::Bool());

int statusOf(const Message &reply) { return reply.number<int>("status").value_or(-1); }

TEST_P(VerifiedRunTest, UnwrittenBytesAreCountedToTheLast) {
  EXPECT_EQ(run(kLargeCount).list("unwritten"), (std::vector<std::string>{"0", "0"}));
  EXPECT_EQ(run(kLargeCount - 2).list("unwritten"), (std::vector<std::string>{"0", "2"}));
  EXPECT_EQ(run(kLargeCount - 1000).list("unwritten"), (std::vector<std::string>{"0", "1000"}));
  EXPECT_EQ(run(0).list("unwritten"), (std::vector<std::string>{"0", std::to_string(kLargeCount)}));
}

TEST_P(VerifiedRunTest, AChangedInputIsFoundWhereItIs) {
  for (const std::uint32_t at : {0u, 12345u, kLargeCount - 1}) {
    spoilt = at;
    const Message reply = run(kLargeCount);
    EXPECT_EQ(statusOf(reply), int(StatusCode::InputChanged));
    EXPECT_EQ(reply.text("detail"),
              "wrote to the read-only in: element " + std::to_string(at) + " changed");
  }
}

TEST_P(VerifiedRunTest, EqualDigestsAreEqualResults) {
  const std::vector<std::string> first = run(kLargeCount, " digest=77").list("digest");
  EXPECT_EQ(first.empty(), !GetParam());
  if (!GetParam())
    return;
  EXPECT_EQ(run(kLargeCount, " digest=77").list("digest"), first);
  EXPECT_NE(run(kLargeCount, " digest=78").list("digest"), first);
  for (const std::uint32_t at : {0u, 12345u, kLargeCount - 1}) {
    different = at;
    EXPECT_NE(run(kLargeCount, " digest=77").list("digest"), first) << at;
  }
}

TEST_P(VerifiedRunTest, ResultsThatMayWaitAreReadOnlyWhenAskedFor) {
  const Message reply = run(kLargeCount, " digest=77 defer=1");
  EXPECT_EQ(statusOf(reply), 0);
  EXPECT_EQ(reply.number<int>("deferred").value_or(0), int(GetParam()));
  if (!GetParam()) {
    EXPECT_EQ(output().size(), kLargeCount);
    return;
  }
  EXPECT_LT(device.bytesRead, kLargeCount / 2); // guard zones
  EXPECT_TRUE(output().empty());
  EXPECT_EQ(statusOf(ask("read id=2 out=," + folder + "/out")), 0);
  EXPECT_EQ(output().size(), kLargeCount);
  const std::string read = output();
  ask("read id=3 out=," + folder + "/out"); // once only
  EXPECT_EQ(ask("read id=3 out=," + folder + "/out").verb(), "error");
  run(kLargeCount);
  EXPECT_EQ(output(), read);
}

TEST_P(VerifiedRunTest, AnotherRequestGivesUpWhatWaits) {
  run(kLargeCount, " digest=77 defer=1");
  ask("load id=2 path=copy");
  EXPECT_EQ(ask("read id=3 out=," + folder + "/out").verb(), "error");
  EXPECT_EQ(device.liveAllocations(), 0u);
}

TEST_P(VerifiedRunTest, TheFirstLaunchOfAProfileIsTheKernels) {
  EXPECT_EQ(statusOf(ask("profile", kLargeCount, "")), 0);
  EXPECT_EQ(device.launches, 1u);
  EXPECT_EQ(device.memoryLaunches, 0u); // Nsight Compute would watch it instead
}

TEST_P(VerifiedRunTest, ResultsWithUnwrittenPartsMayWaitToo) {
  const Message reply = run(kLargeCount - 5, " digest=77 defer=1");
  EXPECT_EQ(reply.list("unwritten"), (std::vector<std::string>{"0", "5"}));
  if (GetParam()) {
    EXPECT_EQ(statusOf(ask("read id=2 out=," + folder + "/out")), 0);
  }
  const std::string read = output();
  run(kLargeCount - 5);
  EXPECT_EQ(output().substr(0, kLargeCount - 5), read.substr(0, kLargeCount - 5));
}

TEST_P(VerifiedRunTest, WithoutAKeyNoKernelsOfKoptsRun) {
  run(kLargeCount, "");
  EXPECT_EQ(device.memoryLaunches, 0u);
  run(kLargeCount);
  EXPECT_EQ(device.memoryLaunches > 0, GetParam());
}

} // namespace
