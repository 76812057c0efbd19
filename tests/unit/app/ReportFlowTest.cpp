// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ReportFlow.h"

#include "driver/support/FileSystem.h"
#include "fakes/FakeProcessRunner.h"
#include "tests/fakes/Results.h"
#include "unit/report/SampleHistories.h"

#include <cstdlib>
#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::HasSubstr;

/// Variables of the environment for one test.
class ReportFlowTest : public testing::Test {
protected:
  void SetUp() override {
    for (const char *name : {"BROWSER", "DISPLAY", "WAYLAND_DISPLAY"})
      ::unsetenv(name);
  }
  fakes::FakeProcessRunner processes_;
};

TEST_F(ReportFlowTest, OpensAPageWithTheBrowserThatTheUserNames) {
  ::setenv("BROWSER", "no-such-browser:true --new-window %s", 1);
  processes_.on({"true"}, 0, "");
  ASSERT_TRUE(openInBrowser(processes_, "/tmp/a b/report.html"));
  ASSERT_EQ(processes_.calls.size(), 1U);
  const std::vector<std::string> &words = processes_.calls[0].argv;
  EXPECT_THAT(std::vector(words.end() - 3, words.end()),
              testing::ElementsAre("true", "--new-window", "/tmp/a b/report.html"));
}

TEST_F(ReportFlowTest, AddsTheFileWhereTheCommandDoesNotSayWhere) {
  ::setenv("BROWSER", "true", 1);
  processes_.on({"true"}, 0, "");
  ASSERT_TRUE(openInBrowser(processes_, "/tmp/report.html"));
  EXPECT_EQ(processes_.calls[0].argv.back(), "/tmp/report.html");
}

TEST_F(ReportFlowTest, SaysWhereThePageIsIfNothingOpensIt) {
  const Status none = openInBrowser(processes_, "/tmp/report.html");
  EXPECT_THAT(none, fails({.code = ErrorCode::Environment, .what = HasSubstr("/tmp/report.html")}));
  EXPECT_TRUE(processes_.calls.empty());
  ::setenv("BROWSER", "false", 1);
  processes_.on({"false"}, 3, "");
  const Status failed = openInBrowser(processes_, "/tmp/report.html");
  EXPECT_THAT(failed, fails({.what = HasSubstr("ended with status 3")}));
}

TEST_F(ReportFlowTest, RendersTheSessionWhereItHasSeveralWins) {
  const auto folder = must(TemporaryDirectory::create("kopt-report-flow"));
  const auto store = must(openStore(folder.path() / ".kopt" / "kopt.db"));
  RunHistory history = syntheticRun(20);
  const RunRecord run = store->beginRun(history.run).value();
  for (const Trial &trial : history.trials)
    ASSERT_TRUE(store->recordTrial(run.id, trial));
  history.session->wins[0].run = run.id;
  const SessionRecord session = store->putSession(*history.session).value();
  const auto one = must(renderPage(folder.path(), "latest"));
  EXPECT_EQ(one.name, "transpose-synthetic");
  EXPECT_EQ(one.file, "report.html");
  EXPECT_EQ(renderPage(folder.path(), session.name).value().file, "summary.html");
  SessionRecord both = session;
  both.wins.push_back(both.wins[0]);
  history.run.name = "another";
  both.wins[1].run = store->beginRun(history.run).value().id;
  ASSERT_TRUE(store->putSession(both));
  EXPECT_EQ(renderPage(folder.path(), "latest").value().file, "summary.html");
  EXPECT_FALSE(renderPage(folder.path(), "no-such-run"));
}

} // namespace
} // namespace kopt
