// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/Toolchains.h"
#include "driver/support/FileSystem.h"

#include <gtest/gtest.h>

using namespace kopt;

namespace {

namespace fs = std::filesystem;

/// Writes the text, with a suffix as the emulated device's modules have.
class CountingToolchain final : public Toolchain {
public:
  explicit CountingToolchain(int &builds) : builds_(builds) {}
  ToolchainKind kind() const override { return ToolchainKind::Emulated; }
  std::string name() const override { return "counting"; }
  Result<BuildOutcome> build(const BuildRequest &request) override {
    ++builds_;
    if (request.sliceText == "full")
      return makeError(ErrorCode::Environment, "the disk is full");
    BuildOutcome outcome;
    outcome.log = "built as " + request.arch;
    if (request.sliceText == "wrong")
      return outcome;
    outcome.ok = true;
    outcome.module = request.output;
    outcome.module += ".so";
    KOPT_CHECK(createDirectories(outcome.module.parent_path()));
    KOPT_CHECK(writeFileAtomically(outcome.module, request.sliceText));
    return outcome;
  }

private:
  int &builds_;
};

class RememberingToolchainTest : public testing::Test {
protected:
  BuildRequest request(const std::string &text, const std::string &output) const {
    BuildRequest made;
    made.sliceText = text;
    made.output = folder_.path() / output / "module";
    return made;
  }
  TemporaryDirectory folder_ = std::move(*TemporaryDirectory::create("builds"));
  int builds_ = 0;
  std::unique_ptr<Toolchain> toolchain_ =
      makeRememberingToolchain(std::make_unique<CountingToolchain>(builds_));
};

TEST_F(RememberingToolchainTest, TheSameTextIsBuiltOnceAndEachHasItsModule) {
  const auto first = toolchain_->build(request("text", "a")),
             second = toolchain_->build(request("text", "b"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(builds_, 1);
  EXPECT_EQ(first->module, folder_.path() / "a" / "module.so");
  EXPECT_EQ(second->module, folder_.path() / "b" / "module.so");
  EXPECT_FALSE(fs::equivalent(first->module, second->module));
  EXPECT_EQ(*readFile(second->module), "text");
}

TEST_F(RememberingToolchainTest, WhatDecidesTheCodeMakesAnotherBuild) {
  BuildRequest other = request("text", "b");
  ASSERT_TRUE(toolchain_->build(request("text", "a")));
  for (const auto &change : std::initializer_list<void (*)(BuildRequest &)>{
           [](BuildRequest &r) { r.sliceText = "another"; },
           [](BuildRequest &r) { r.expression = "f<2>"; },
           [](BuildRequest &r) { r.symbol = "_Z1fv"; }, [](BuildRequest &r) { r.arch = "sm_90"; },
           [](BuildRequest &r) { r.flags = {"-O1"}; },
           [](BuildRequest &r) { r.directory = "/"; }}) {
    const int before = builds_;
    change(other);
    ASSERT_TRUE(toolchain_->build(other));
    EXPECT_EQ(builds_, before + 1);
  }
}

TEST_F(RememberingToolchainTest, ATextThatDoesNotCompileIsNotTriedAgainAndAnErrorIs) {
  EXPECT_FALSE(toolchain_->build(request("wrong", "a"))->ok);
  EXPECT_EQ(toolchain_->build(request("wrong", "b"))->log, "built as ");
  EXPECT_EQ(builds_, 1);
  EXPECT_FALSE(toolchain_->build(request("full", "a")));
  EXPECT_FALSE(toolchain_->build(request("full", "a")));
  EXPECT_EQ(builds_, 3);
}

TEST_F(RememberingToolchainTest, WhatWasRemovedIsBuiltAgain) {
  ASSERT_TRUE(toolchain_->build(request("text", "a")));
  fs::remove_all(folder_.path() / "a");
  const auto again = toolchain_->build(request("text", "b"));
  ASSERT_TRUE(again);
  EXPECT_EQ(builds_, 2);
  EXPECT_EQ(*readFile(again->module), "text");
}

} // namespace
