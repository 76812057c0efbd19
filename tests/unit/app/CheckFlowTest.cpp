// SPDX-License-Identifier: Apache-2.0
#include "driver/app/integrate/CheckFlow.h"

#include "driver/integrate/overlay/Lock.h"
#include "driver/support/FileSystem.h"

#include <gtest/gtest.h>

namespace kopt {
namespace {

const std::string kText = "int a;\nvoid k() {}\n";

class CheckFlowTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(writeFileAtomically(root() / "k.cu", kText));
    writeLock("");
    ASSERT_TRUE(writeFileAtomically(lockFolder() / "k.cuh", overlay::sectionBegin("one") +
                                                                "void k() {\n}\n" +
                                                                std::string(overlay::kSectionEnd)));
  }
  std::filesystem::path root() const { return folder_.path(); }
  std::filesystem::path lockFolder() const { return root() / "kopt"; }
  void writeLock(const std::string &regressed) {
    overlay::Entry entry;
    entry.kernel = "k";
    entry.symbol = "_Z1k";
    entry.place = "k.cu:2";
    entry.variants = "k.cuh";
    entry.run = "k-1";
    entry.archs = {"sm_90"};
    entry.deviceOnly = true;
    entry.speedup = 1.5;
    entry.regressed = regressed;
    entry.uses = {{"k.cu", 7, 18, 2, "the kernel 'k'", overlay::contentHash("void k() {}")}};
    entry.edits = {{0, 7, 18, overlay::contentHash("void k() {\n}"), "", "", "one"}};
    overlay::Lock lock;
    lock.entries = {entry};
    ASSERT_TRUE(writeFileAtomically(lockFolder() / "kopt.lock", overlay::lockText(lock)));
  }
  TunedKernel check() {
    const auto kernels = checkLock(lockFolder(), {});
    EXPECT_TRUE(kernels) << kernels.error().what;
    return kernels && kernels->size() == 1 ? kernels->front() : TunedKernel();
  }
  TemporaryDirectory folder_ = std::move(TemporaryDirectory::create("kopt-check").value());
};

TEST_F(CheckFlowTest, WhatIsAsItWasIsTuned) {
  EXPECT_EQ(check().state, TunedState::Tuned);
  EXPECT_EQ(check().speedup, 1.5);
  ASSERT_TRUE(writeFileAtomically(root() / "k.cu", "// moved\n" + kText));
  EXPECT_EQ(check().state, TunedState::Tuned);
}

TEST_F(CheckFlowTest, AChangedTextIsStaleWithItsLine) {
  ASSERT_TRUE(writeFileAtomically(root() / "k.cu", "\nint a;\nvoid k() { }\n"));
  const TunedKernel kernel = check();
  EXPECT_EQ(kernel.state, TunedState::Stale);
  ASSERT_EQ(kernel.changes.size(), 1u);
  EXPECT_EQ(kernel.changes[0].file, (root() / "k.cu").string());
  EXPECT_EQ(kernel.changes[0].what, "the kernel 'k' changed");
}

TEST_F(CheckFlowTest, AVariantThatIsNotWhatWasMeasuredIsStale) {
  std::filesystem::remove(lockFolder() / "k.cuh");
  EXPECT_EQ(check().state, TunedState::Stale);
  EXPECT_EQ(check().changes.at(0).what, "the file with the variant is missing");
}

TEST_F(CheckFlowTest, ARegressionIsSaid) {
  writeLock("0.9x in run 7");
  EXPECT_EQ(check().state, TunedState::Regressed);
  EXPECT_EQ(check().regressed, "0.9x in run 7");
}

TEST_F(CheckFlowTest, WithoutALockItSaysHowToGetOne) {
  const auto missing = checkLock(root() / "none", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::Usage);
  ASSERT_TRUE(writeFileAtomically(lockFolder() / "kopt.lock", "{"));
  EXPECT_EQ(checkLock(lockFolder(), {}).error().code, ErrorCode::StaleInput);
}

TEST_F(CheckFlowTest, ABuildFolderSaysWhichLocksItUses) {
  ASSERT_TRUE(
      writeFileAtomically(root() / "build/kopt/locks.txt",
                          (root() / "none").string() + "\n" + lockFolder().string() + "\n"));
  const auto folders = lockFoldersOf(root() / "build");
  ASSERT_TRUE(folders);
  EXPECT_EQ(*folders, std::vector<std::filesystem::path>{lockFolder()});
  EXPECT_EQ(lockFoldersOf(root()).error().code, ErrorCode::Usage);
}

} // namespace
} // namespace kopt
