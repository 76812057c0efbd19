// SPDX-License-Identifier: Apache-2.0
#include "driver/app/CleanFlow.h"

#include "driver/store/Store.h"
#include "driver/support/FileSystem.h"
#include "tests/fakes/Results.h"
#include "unit/store/SampleRun.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CleanFlowTest : public testing::Test {
protected:
  /// A finished run with one trial and a folder.
  std::int64_t add(const std::string &name, const std::string &symbol) {
    RunRecord run = sampleRun();
    run.name = name;
    run.symbol = symbol;
    run = must(store_->beginRun(run));
    EXPECT_TRUE(store_->recordTrial(run.id, sampleWinner()));
    Event event;
    event.what = Note{"baseline", "measured"};
    EXPECT_TRUE(store_->recordEvent(run.id, event));
    EXPECT_TRUE(writeFileAtomically(folderOf(name) / "report.html", std::string(1000, 'x')));
    return run.id;
  }
  void addSession(const std::string &name, const std::vector<std::int64_t> &runs) {
    SessionRecord session;
    session.name = name;
    for (const std::int64_t run : runs)
      session.wins.emplace_back().run = run;
    EXPECT_TRUE(store_->putSession(session));
  }
  std::filesystem::path folderOf(const std::string &name) const {
    return folder_.path() / "kopt.out" / name;
  }
  Cleaned clean(std::size_t keep, bool dryRun = false) {
    return must(cleanRuns({folder_.path(), folder_.path() / "kopt.out", keep, dryRun}));
  }

  TemporaryDirectory folder_ = must(TemporaryDirectory::create("kopt-clean"));
  std::unique_ptr<Store> store_ = must(openStore(folder_.path() / ".kopt" / "kopt.db"));
};

TEST_F(CleanFlowTest, TheLastRunsOfEachKernelStay) {
  const std::int64_t first = add("a-1", "a"), second = add("a-2", "a");
  add("b-1", "b");
  const Cleaned cleaned = clean(1);
  EXPECT_THAT(cleaned.removed, ElementsAre("a-1"));
  EXPECT_THAT(cleaned.kept, ElementsAre("a-2", "b-1"));
  EXPECT_GE(cleaned.bytes, 1000u);
  EXPECT_FALSE(isThere(folderOf("a-1")));
  EXPECT_TRUE(isThere(folderOf("a-2")));
  EXPECT_THAT(must(store_->trials(first)), IsEmpty());
  EXPECT_THAT(must(store_->events(first)), IsEmpty());
  EXPECT_EQ(must(store_->trials(second)).size(), 1u);
  EXPECT_THAT(clean(1).removed, IsEmpty());
}

TEST_F(CleanFlowTest, WhatASessionConsistsOfStaysWithIt) {
  const std::int64_t one = add("a-1", "a"), other = add("b-1", "b");
  addSession("session-1", {one, other});
  add("a-2", "a"); // b-1 is the last of its kernel
  addSession("session-2", {});
  EXPECT_THAT(clean(1).removed, IsEmpty());
  add("b-2", "b");
  EXPECT_THAT(clean(1).removed, ElementsAre("a-1", "b-1", "session-1"));
}

TEST_F(CleanFlowTest, ADryRunRemovesNothing) {
  add("a-1", "a");
  add("a-2", "a");
  EXPECT_THAT(clean(1, true).removed, ElementsAre("a-1"));
  EXPECT_TRUE(isThere(folderOf("a-1")));
  EXPECT_EQ(must(store_->runs()).size(), 2u);
}

TEST_F(CleanFlowTest, AFolderWithoutRunsIsClean) {
  const auto empty = must(TemporaryDirectory::create("kopt-clean"));
  EXPECT_THAT(must(cleanRuns({empty.path(), empty.path() / "kopt.out"})).removed, IsEmpty());
  EXPECT_FALSE(isThere(empty.path() / ".kopt"));
}

} // namespace
} // namespace kopt
