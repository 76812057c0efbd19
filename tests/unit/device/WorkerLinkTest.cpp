// SPDX-License-Identifier: Apache-2.0
#include "driver/device/worker/Worker.h"
#include "driver/model/Version.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "fakes/FakeProcessRunner.h"
#include "fakes/Results.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// A worker that greets with the line that its start writes first, as the fake speaks only when
/// spoken to.
class WorkerLinkTest : public testing::Test {
protected:
  using Lines = std::vector<std::string>;
  /// What the worker answers to the request with this method; unset: it ends.
  using Answer = std::function<std::optional<Lines>(std::uint64_t id, const std::string &method,
                                                    const json &params)>;

  class Greeting final : public ProcessRunner {
  public:
    explicit Greeting(WorkerLinkTest &test) : test_(test) {}
    Result<ProcessResult> run(const ProcessSpec &) override {
      return makeError(ErrorCode::Environment, "not asked for");
    }
    Result<std::unique_ptr<InteractiveProcess>> start(const ProcessSpec &) override {
      ++test_.starts_;
      auto process = std::make_unique<fakes::FakeInteractiveProcess>(
          [this](const std::string &line) -> std::optional<Lines> {
            if (line == "start")
              return test_.greeting_;
            const json request = json::parse(line, nullptr, false);
            return test_.answer_(request["id"], request["method"], request["params"]);
          });
      must(process->writeLine("start"));
      return process;
    }

  private:
    static void must(const Status &status) { EXPECT_TRUE(status); }
    WorkerLinkTest &test_;
  };

  static json hello() {
    WorkerHello hello;
    hello.version = koptVersion();
    hello.device.name = "NVIDIA H200";
    return {{"kopt_worker", toJson(hello)}};
  }
  static std::string answer(std::uint64_t id, const json &result) {
    return json{{"id", id}, {"result", result}}.dump();
  }
  Result<std::unique_ptr<WorkerLink>> start() {
    return WorkerLink::start(
        processes_, {"worker"}, "gpu1", [this](const std::string &text) { told_.push_back(text); },
        Duration(1));
  }

  Greeting processes_{*this};
  Lines greeting_ = {"Welcome to gpu1", hello().dump()};
  Answer answer_ = [](std::uint64_t id, const std::string &method, const json &) {
    return Lines{answer(id, method)};
  };
  int starts_ = 0;
  std::string sent_;
  Lines told_;
};

TEST_F(WorkerLinkTest, WhatALoginShellPrintsIsPassedOver) {
  const auto link = must(start());
  EXPECT_EQ(link->hello().device.name, "NVIDIA H200");
  answer_ = [](std::uint64_t id, const std::string &, const json &) {
    return Lines{"motd", R"({"alive": true})", R"({"tell": "another uses the GPU"})",
                 answer(id - 1, 1), answer(id, 2)};
  };
  EXPECT_EQ(must(link->ask("rates", {})), 2);
  EXPECT_THAT(told_, ElementsAre("gpu1: another uses the GPU"));
}

TEST_F(WorkerLinkTest, AnotherVersionIsRefused) {
  json other = hello();
  other["kopt_worker"]["version"] = "0.0.1";
  greeting_ = {other.dump()};
  const auto link = start();
  ASSERT_FALSE(link);
  EXPECT_THAT(link.error().what, HasSubstr("the worker on gpu1 is kopt 0.0.1, and this is"));
}

TEST_F(WorkerLinkTest, AnErrorIsTheWorkersAnswerAndNotALoss) {
  const auto link = must(start());
  answer_ = [](std::uint64_t id, const std::string &, const json &) {
    const Error error{ErrorCode::BaselineFailed, "it does not build", "a.cu:1", "mend it", {}};
    return Lines{json{{"id", id}, {"error", toJson(WorkerError::of(error))}}.dump()};
  };
  const auto failed = link->ask("baseline", {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::BaselineFailed);
  EXPECT_EQ(failed.error().where, "a.cu:1");
  EXPECT_FALSE(link->isLost());
}

TEST_F(WorkerLinkTest, OneThatEndsIsStillOrHasNoDeviceIsLost) {
  const std::vector<std::pair<Answer, const char *>> ways = {
      {[](auto, auto &, auto &) { return std::nullopt; }, "ended"},
      {[](auto, auto &, auto &) { return Lines{}; }, "was silent for"},
      {[](std::uint64_t id, auto &, auto &) {
         const Error error{ErrorCode::Environment, "the device is gone", "", "", {}};
         return Lines{
             json{{"id", id}, {"error", toJson(WorkerError::of(error))}, {"lost", true}}.dump()};
       },
       "the device is gone"}};
  for (const auto &[way, words] : ways) {
    answer_ = way;
    const auto link = must(start());
    const auto failed = link->ask("judge", {});
    ASSERT_FALSE(failed) << words;
    EXPECT_THAT(failed.error().what, HasSubstr(words));
    EXPECT_TRUE(link->isLost()) << words;
    EXPECT_FALSE(link->ask("judge", {})) << "it stays lost";
  }
}

TEST_F(WorkerLinkTest, OnlyFilesThatTheHostDoesNotHaveAreSent) {
  const auto folder = must(TemporaryDirectory::create("kopt-test"));
  std::vector<WorkerFile> files;
  for (const char *text : {"first", "second\n"}) {
    const auto path = folder.path() / hashHex(text);
    ASSERT_TRUE(writeFileAtomically(path, text));
    files.push_back({path.string(), hashHex(text), std::string_view(text).size()});
  }
  answer_ = [&](std::uint64_t id, const std::string &method, const json &params) {
    if (method == "put")
      sent_ += params.value("bytes", "");
    return Lines{answer(id, method == "missing" ? json{files[1].digest} : json::object())};
  };
  const auto link = must(start());
  ASSERT_TRUE(link->give(files));
  EXPECT_EQ(sent_, "second\n");
  ASSERT_TRUE(writeFileAtomically(files[1].path, "changed"));
  const Status stale = link->give(files);
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().code, ErrorCode::StaleInput);
}

TEST_F(WorkerLinkTest, ALostWorkerIsStartedAnewSoOftenAndNotFurther) {
  Worker worker({processes_, [](const std::string &) {}, Duration(1), 2},
                {[](const auto &) { return Lines{"worker"}; }, "gpu1"});
  answer_ = [](auto, auto &, auto &) { return std::nullopt; };
  worker.thread().runAndWait([&] {
    for (int i = 0; i < 3; ++i) {
      const auto link = worker.link();
      ASSERT_TRUE(link) << i;
      EXPECT_FALSE((*link)->ask("judge", {}));
    }
    const auto gone = worker.link();
    ASSERT_FALSE(gone);
    EXPECT_THAT(gone.error().what, HasSubstr("was lost 3 times"));
  });
  EXPECT_TRUE(worker.isGone());
  EXPECT_EQ(starts_, 3);
}

TEST_F(WorkerLinkTest, OneThatNeverComesUpIsNotTriedAgain) {
  greeting_ = {"Permission denied (publickey)"};
  Worker worker({processes_, [](const std::string &) {}, Duration(1), 2},
                {[](const auto &) { return Lines{"worker"}; }, "gpu1"});
  worker.thread().runAndWait([&] { EXPECT_FALSE(worker.link()); });
  EXPECT_TRUE(worker.isGone());
  EXPECT_EQ(starts_, 1);
}

} // namespace
} // namespace kopt
