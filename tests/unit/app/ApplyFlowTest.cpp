// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ApplyFlow.h"

#include "driver/store/Store.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

class ApplyFlowTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(writeFileAtomically(file(), kBefore));
    std::filesystem::create_directory(root() / ".git"); // the root of patches
    run_.name = "k-1";
    run_.file = file().string();
    run_.state = RunState::Finished;
    run_.finishedUtc = "2026-01-31T12:00:00Z";
    run_.winnerHash = "1234";
    run_.patchText = "a mail";
  }

  std::filesystem::path root() const { return folder_.path(); }
  std::filesystem::path file() const { return root() / "k.cu"; }
  Result<std::vector<AppliedFile>> apply(bool checkOnly = false) {
    const auto store = openStore(root() / ".kopt/kopt.db");
    EXPECT_TRUE(store);
    EXPECT_TRUE((*store)->beginRun(run_));
    return applyRun(root(), "k-1", checkOnly);
  }

  inline static const std::string kBefore = "int a = 1;\nint b = 2;\n";
  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-apply").value());
  RunRecord run_;
};

TEST_F(ApplyFlowTest, MakesTheEditsThatTheRunStored) {
  const std::string after = "int a = 1;\nint b = 4;\n";
  run_.edits = {{"k.cu", hashHex(kBefore), hashHex(after), {{{"k.cu", 19, 20}, "4"}}}};
  const auto applied = apply();
  ASSERT_TRUE(applied) << applied.error().what;
  EXPECT_EQ(readFile(file()).value(), after);
  const auto again = applyRun(root(), "k-1", true);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().what, "the patch is already applied to k.cu");
}

TEST_F(ApplyFlowTest, ARunOfAnOlderKoptSaysHowToGoOn) {
  const auto applied = apply();
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::StaleInput);
  EXPECT_NE(applied.error().what.find("older kopt"), std::string::npos);
  EXPECT_NE(applied.error().hint.find("git apply"), std::string::npos);
  EXPECT_EQ(readFile(file()).value(), kBefore);
}

} // namespace
} // namespace kopt
