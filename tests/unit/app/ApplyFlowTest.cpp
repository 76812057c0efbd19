// SPDX-License-Identifier: Apache-2.0
#include "driver/app/integrate/ApplyFlow.h"

#include "driver/store/Store.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "tests/fakes/Results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopt {
namespace {

using testing::HasSubstr;

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
  Result<std::vector<AppliedFile>> apply(ApplyOptions options = {false, false, true}) {
    const auto store = openStore(root() / ".kopt/kopt.db");
    EXPECT_TRUE(store);
    const auto begun = (*store)->beginRun(run_);
    EXPECT_TRUE(begun);
    if (session_) {
      for (SessionWin &win : session_->wins)
        win.run = begun->id;
      EXPECT_TRUE((*store)->putSession(*session_));
    }
    return applyRun(root(), "k-1", options);
  }
  FileEdits edit(const std::string &value) const {
    const std::string after = "int a = 1;\nint b = " + value + ";\n";
    return {"k.cu", hashHex(kBefore), hashHex(after), {{{"k.cu", 19, 20}, value}}};
  }
  /// With one win of that state.
  void session(WinState state) {
    SessionRecord &made = session_.emplace();
    made.name = "session-1";
    made.root = root().string();
    made.finishedUtc = run_.finishedUtc;
    SessionWin &win = made.wins.emplace_back();
    win.state = state;
    win.reason = "because of this";
    (state == WinState::Confirmed ? made.confirmed : made.offered) = {edit("5")};
    run_.edits = {edit("4")};
  }

  inline static const std::string kBefore = "int a = 1;\nint b = 2;\n";
  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-apply").value());
  RunRecord run_;
  std::optional<SessionRecord> session_;
};

TEST_F(ApplyFlowTest, MakesTheEditsThatTheRunStored) {
  const std::string after = "int a = 1;\nint b = 4;\n";
  run_.edits = {edit("4")};
  const auto applied = must(apply());
  EXPECT_EQ(readFile(file()).value(), after);
  EXPECT_THAT(applyRun(root(), "k-1", {true, false, true}),
              fails({.what = "the patch is already applied to k.cu"}));
}

TEST_F(ApplyFlowTest, WhatWasConfirmedIsAppliedForAllKernelsAtOnce) {
  session(WinState::Confirmed);
  ASSERT_TRUE(apply({true, false, false})); // of the run
  const auto applied = applyRun(root(), "latest", {});
  ASSERT_TRUE(applied) << applied.error().what;
  EXPECT_EQ(readFile(file()).value(), "int a = 1;\nint b = 5;\n");
}

TEST_F(ApplyFlowTest, TheLastSessionIsAppliedThoughItsLastKernelHadNoWin) {
  session(WinState::Confirmed);
  ASSERT_TRUE(apply({true, false, false}));
  const auto store = openStore(root() / ".kopt/kopt.db");
  RunRecord other;
  other.name = "no-win-1";
  other.state = RunState::Finished;
  other.startedUtc = "2026-01-31T11:59:00Z";
  ASSERT_TRUE((*store)->beginRun(other));
  EXPECT_TRUE(applyRun(root(), "latest", {true, false, false}));
  other.name = "no-win-2"; // of a later command
  other.startedUtc = "2026-01-31T12:30:00Z";
  ASSERT_TRUE((*store)->beginRun(other));
  EXPECT_THAT(applyRun(root(), "latest", {}), fails({.what = "'no-win-2' has no winner to apply"}));
}

TEST_F(ApplyFlowTest, AModelledWinNeedsItsFlag) {
  session(WinState::Modelled);
  for (const ApplyOptions &options : {ApplyOptions{}, ApplyOptions{false, false, true}}) {
    const auto refused = session_->id == 0 ? apply(options) : applyRun(root(), "latest", options);
    session_->id = 1;
    EXPECT_THAT(refused, fails({.code = ErrorCode::Usage,
                                .what = HasSubstr("because of this"),
                                .hint = HasSubstr("--modelled")}));
  }
  EXPECT_EQ(readFile(file()).value(), kBefore);
  ASSERT_TRUE(applyRun(root(), "session-1", {false, true, false}));
  EXPECT_EQ(readFile(file()).value(), "int a = 1;\nint b = 5;\n");
}

TEST_F(ApplyFlowTest, AnUnconfirmedWinNeedsItsFlag) {
  session(WinState::Unconfirmed);
  EXPECT_THAT(apply({false, true, false}), fails({.hint = HasSubstr("--unconfirmed")}));
  EXPECT_TRUE(applyRun(root(), "k-1", {true, false, true}));
}

TEST_F(ApplyFlowTest, AWinnerThatDidNotHoldIsNotApplied) {
  session(WinState::Dropped);
  session_->offered.clear();
  EXPECT_THAT(apply({false, true, true}), fails({.what = HasSubstr("because of this")}));
  EXPECT_THAT(applyRun(root(), "latest", {false, true, true}),
              fails({.what = "'session-1' has no winner to apply"}));
}

TEST_F(ApplyFlowTest, ARunOfAnOlderKoptSaysHowToGoOn) {
  EXPECT_THAT(apply(), fails({.code = ErrorCode::StaleInput,
                              .what = HasSubstr("older kopt"),
                              .hint = HasSubstr("git apply")}));
  EXPECT_EQ(readFile(file()).value(), kBefore);
}

} // namespace
} // namespace kopt
