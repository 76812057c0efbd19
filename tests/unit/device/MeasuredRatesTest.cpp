// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/MeasuredRates.h"
#include "driver/device/runner/RunnerClient.h"
#include "driver/support/FileSystem.h"
#include "fakes/FakeDevice.h"
#include "fakes/FakeProcessRunner.h"
#include "runtime/runner/Session.h"

#include <cstdlib>
#include <gtest/gtest.h>

namespace {

using namespace kopt;
using runtime::protocol::Message;

RunnerReply replyOf(const std::string &line) {
  RunnerReply reply;
  reply.message = Message::parse(line).value_or(Message("none"));
  return reply;
}

TEST(MeasuredRates, OfAReply) {
  const MeasuredRates rates = measuredRatesOf(
      replyOf("ok status=0 dram_bytes=4e12 fp32=6e13 instructions=1e12 missing=fp64:%20none"), {});
  EXPECT_EQ(rates.dramBytes, 4e12);
  EXPECT_EQ(rates.fp32, 6e13);
  EXPECT_EQ(rates.fp64, 0);
  EXPECT_EQ(rates.instructions, 1e12);
  EXPECT_EQ(rates.missing, "fp64: none");
}

TEST(MeasuredRates, NoneOfWhatMeansNothing) {
  for (const char *value : {"inf", "nan", "-1", "0", "many"})
    EXPECT_EQ(measuredRatesOf(replyOf(std::string("ok fp32=") + value), {}).fp32, 0) << value;
  RunnerReply failed = replyOf("ok fp32=1e12");
  failed.status = RunStatus::Fault;
  failed.detail = "illegal address";
  EXPECT_EQ(measuredRatesOf(failed, {}).fp32, 0);
  EXPECT_EQ(measuredRatesOf(failed, {}).missing, "all rates: illegal address");
  const MeasuredRates shared = measuredRatesOf(replyOf("ok fp32=1e12"), {"process 7"});
  EXPECT_EQ(shared.fp32, 0);
  EXPECT_NE(shared.missing.find("process 7"), std::string::npos);
}

class MeasuredByRunner : public testing::Test {
protected:
  MeasuredByRunner() : folder(std::move(*TemporaryDirectory::create("kopt-rates"))) {
    setenv("KOPT_LOCK_DIR", folder.path().c_str(), 1);
    processes.onStart([this](const std::string &line) -> std::optional<std::vector<std::string>> {
      asked += line.substr(0, line.find(' ')) + " ";
      if (line.starts_with("rates") && dies)
        return std::nullopt;
      return std::vector{session.answer(line)};
    });
  }
  ~MeasuredByRunner() override { unsetenv("KOPT_LOCK_DIR"); }

  MeasuredRates measure() {
    auto runner = startRunner(processes, "kopt-runner", {DeviceKind::Cuda, 0, ""},
                              folder.path() / "buffers", folder.path());
    EXPECT_TRUE(runner) << (runner ? "" : runner.error().what);
    const auto rates = (*runner)->measureRates();
    EXPECT_TRUE(rates) << (rates ? "" : rates.error().what);
    return rates.value_or(MeasuredRates());
  }

  FakeProcessRunner processes;
  TemporaryDirectory folder;
  fakes::FakeDevice device;
  runtime::Session session{device, [] { return 0.0; }};
  std::string asked;
  bool dies = false;
};

TEST_F(MeasuredByRunner, OfAGpu) {
  device.rates.dramBytes = 3e12;
  EXPECT_EQ(measure().dramBytes, 3e12);
  EXPECT_EQ(asked, "hello rates ");
}

TEST_F(MeasuredByRunner, NotOfAModel) {
  device.info.kind = "emulated";
  EXPECT_EQ(measure().missing, "all rates: this device measures none");
  EXPECT_EQ(asked, "hello ");
}

TEST_F(MeasuredByRunner, AProcessThatDiesLeavesNone) {
  dies = true;
  device.rates.dramBytes = 3e12;
  const MeasuredRates rates = measure();
  EXPECT_EQ(rates.dramBytes, 0);
  EXPECT_TRUE(rates.missing.starts_with("all rates: ")) << rates.missing;
}

} // namespace
