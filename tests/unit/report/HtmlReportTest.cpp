// SPDX-License-Identifier: Apache-2.0
#include "driver/report/html/HtmlReport.h"

#include "driver/report/Report.h"
#include "driver/report/SessionReport.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/report/html/Drawings.h"
#include "unit/report/SampleHistories.h"

#include <chrono>
#include <gmock/gmock.h>
#include <regex>

namespace kopt {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string &text, const std::string &words) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos; at += words.size())
    ++found;
  return found;
}

/// The section of that id, to its end.
std::string section(const std::string &page, const std::string &id) {
  const std::size_t begin = page.find("<section id=\"" + id + "\"");
  return begin == std::string::npos ? ""
                                    : page.substr(begin, page.find("</section>", begin) - begin);
}

TEST(HtmlReport, BeginsWithTheAnswer) {
  const RunHistory history = syntheticRun(40);
  const std::string page = renderHtml(history);
  const Speedup &speedup = *history.confirmation()->speedup;
  EXPECT_THAT(page, HasSubstr(fmt::format("<div class=\"big\">{:.2f}x<small> faster, measured",
                                          speedup.estimate)));
  EXPECT_THAT(page, HasSubstr(fmt::format("99.67% interval [{:.3f}, {:.3f}] from 120 pairs in 6 "
                                          "fresh processes",
                                          speedup.low, speedup.high)));
  EXPECT_THAT(page, HasSubstr("<b class=\"partial\">partial</b>"));
  EXPECT_THAT(page, HasSubstr("1 thing was not shown"));
  EXPECT_EQ(page, renderHtml(history)); // a function of the records alone
}

TEST(HtmlReport, NeverCallsAModelledWinMeasured) {
  RunHistory history = syntheticRun(40);
  for (Trial &trial : history.trials) {
    if (trial.speedup)
      trial.speedup->modelled = true;
    for (LaunchTiming &timing : trial.timings)
      timing.speedup.modelled = true;
  }
  const std::string page = renderHtml(history);
  EXPECT_THAT(page, HasSubstr("faster, modelled"));
  EXPECT_THAT(page, Not(HasSubstr("faster, measured")));
  EXPECT_THAT(section(page, "times"), Not(HasSubstr("class=\"interval")));
}

TEST(HtmlReport, ListsEveryTrialWithVerdictAndReason) {
  const RunHistory history = syntheticRun(200);
  const std::string table = section(renderHtml(history), "candidates");
  EXPECT_EQ(count(table, "<tr"), history.trials.size() + 1); // and the head
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const Trial &trial = history.trials[i];
    const std::size_t row = table.find("<td class=\"n\">" + std::to_string(i) + "</td>");
    ASSERT_NE(row, std::string::npos) << i;
    const std::string text = table.substr(row, table.find("</tr>", row) - row);
    if (&trial != history.baseline())
      EXPECT_THAT(text, HasSubstr(verdictInWords(trial.verdict)));
    EXPECT_THAT(text, HasSubstr(html::escape(trial.reason)));
  }
  EXPECT_THAT(table, HasSubstr("<span class=\"tag faster\">winner</span>"));
}

TEST(HtmlReport, OfTwoHundredTrialsIsSmallAndQuick) {
  const RunHistory history = syntheticRun(200);
  const auto start = std::chrono::steady_clock::now();
  const std::string page = renderHtml(history);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_LT(page.size(), 1000000U);
}

TEST(HtmlReport, DrawsWhatWasMeasured) {
  const RunHistory history = syntheticRun(40);
  const std::string chart = section(renderHtml(history), "search");
  std::size_t candidates = 0;
  for (std::size_t i = 1; i < history.trials.size(); ++i) {
    const Trial &trial = history.trials[i];
    if (trial.purpose != Purpose::Search)
      continue;
    ++candidates;
    if (trial.speedup)
      EXPECT_EQ(count(chart, html::escape(fmt::format(
                                 "#{} '{}': {:.3f}x, {}", i, trial.candidate.title,
                                 trial.speedup->estimate, verdictInWords(trial.verdict)))),
                2U); // by trial and by time
  }
  EXPECT_EQ(count(chart, "<title>"), 2 * candidates);
  const auto accepted = std::ranges::count_if(history.events, [](const Event &event) {
    return std::holds_alternative<Accept>(event.what);
  });
  EXPECT_EQ(count(chart, "class=\"accepted\""), 2 * std::size_t(accepted));
}

TEST(HtmlReport, DrawsIntervalsToScale) {
  const Speedup speedup{1.5, 1.25, 2.0, 0.95, 30, false};
  const html::Scale scale = html::stripScale({speedup});
  html::Writer writer;
  html::writeStrip(writer, scale, speedup);
  const std::string strip = writer.take();
  const auto number = [&](const char *attribute, const char *after) {
    std::smatch match;
    const std::string rest = strip.substr(strip.find(after));
    EXPECT_TRUE(
        std::regex_search(rest, match, std::regex(std::string(attribute) + "=\"([0-9.]+)\"")));
    return std::stod(match[1]);
  };
  const double one = number("x1", "class=\"one\""), low = number("x1", "class=\"interval gain\""),
               high = number("x2", "class=\"interval gain\""),
               middle = number("cx", "class=\"estimate gain\"");
  EXPECT_NEAR((middle - one) / (low - one), 2, 0.01);
  EXPECT_NEAR((high - one) / (low - one), 4, 0.01);
}

TEST(HtmlReport, OfAModelledRunHasHollowEstimatesAndNoInterval) {
  html::Writer writer;
  const Speedup speedup{1.5, 1.5, 1.5, 0.95, 1, true};
  html::writeStrip(writer, html::stripScale({speedup}), speedup);
  const std::string strip = writer.take();
  EXPECT_THAT(strip, HasSubstr("estimate hollow gain"));
  EXPECT_THAT(strip, Not(HasSubstr("\"interval")));
}

TEST(HtmlReport, ShowsIsolatedAndProgramSideBySide) {
  const RunHistory history = syntheticRun(40);
  const std::string text = section(renderHtml(history), "program");
  const SessionWin &win = *history.inProgram();
  EXPECT_THAT(text, HasSubstr(factorInWords(win.isolated.estimate)));
  EXPECT_THAT(text, HasSubstr(factorInWords(win.program->speedup.estimate)));
  EXPECT_THAT(text, HasSubstr(intervalInWords(win.program->speedup)));
  EXPECT_THAT(text, HasSubstr("its machine code was 11 and is 22"));
}

TEST(HtmlReport, MarksWhatChangedWithinALine) {
  const std::string text = section(renderHtml(syntheticRun(40)), "change");
  EXPECT_THAT(text, HasSubstr("tile[TILE][TILE<b> + 1</b>];"));
  EXPECT_EQ(count(text, "<tr class=\"added\">"), 2U);
  EXPECT_EQ(count(text, "<tr class=\"removed\">"), 1U);
  EXPECT_THAT(text, Not(HasSubstr("Subject:"))); // the mail around it
}

TEST(HtmlReport, ListsChecksByTheirRecordedState) {
  const std::string text = section(renderHtml(syntheticRun(40)), "checks");
  EXPECT_THAT(text, HasSubstr("<td class=\"nw not-run\">not run</td>"));
  EXPECT_THAT(text, HasSubstr("no sanitizer looked at the candidate"));
  EXPECT_THAT(text, HasSubstr("every element of every output of 2 launches compared"));
}

TEST(HtmlReport, OfARunWithoutAWin) {
  const std::string page = renderHtml(withoutWin(syntheticRun(40)));
  EXPECT_THAT(page, HasSubstr("Nothing to apply"));
  EXPECT_THAT(page, Not(HasSubstr("kopt apply")));
  EXPECT_EQ(section(page, "change"), "");
  EXPECT_THAT(section(page, "times"), HasSubstr("Of the baseline alone"));
}

TEST(HtmlReport, OfARunWithoutCountersSaysSo) {
  RunHistory history = syntheticRun(40);
  for (Trial &trial : history.trials)
    trial.counters.clear();
  diagnose(history);
  const std::string page = renderHtml(history);
  EXPECT_THAT(section(page, "causes"), HasSubstr("no rule could fire"));
  EXPECT_THAT(section(page, "roofline"), HasSubstr("no counters of it were read"));
  EXPECT_THAT(section(page, "roofline"), Not(HasSubstr("<svg")));
}

TEST(HtmlReport, HotLinesAreTheUsersWithTheirShares) {
  RunHistory history = syntheticRun(40);
  const std::string text = section(renderHtml(history), "lines");
  EXPECT_THAT(text, HasSubstr("No GPU counted them"));
  EXPECT_THAT(text, HasSubstr("<td class=\"n\">70.0%</td>"));
  EXPECT_THAT(text, HasSubstr("<td class=\"n\">75.0%</td>"));
  EXPECT_THAT(text, HasSubstr(">src/transpose.cu:4</th>"));
  EXPECT_THAT(text, HasSubstr(">src/transpose.cu:5</th>")); // of the winner
  EXPECT_THAT(text, HasSubstr("<code>out[0] = in[0] * tile[0][0];</code>"));
  EXPECT_THAT(text, HasSubstr("not in your files"));
  EXPECT_EQ(count(text, "<table"), 2U);
  EXPECT_EQ(count(text, "all other lines"), 2U);
  EXPECT_EQ(count(section(renderHtml(withoutWin(history)), "lines"), "<table"), 1U);
  EXPECT_THAT(renderHtml(history), HasSubstr("href=\"#lines\""));
}

TEST(HtmlReport, HotLinesSayWhatWasNotCounted) {
  RunHistory history = syntheticRun(40);
  for (Trial &trial : history.trials)
    trial.hotLines.source = LineSource::Code;
  const std::string code = section(renderHtml(history), "lines");
  EXPECT_THAT(code, HasSubstr("each counts once, however often it runs"));
  EXPECT_THAT(code, HasSubstr("not counted"));
  EXPECT_THAT(code, Not(HasSubstr("75.0%")));
  for (Trial &trial : history.trials)
    trial.hotLines = {};
  EXPECT_THAT(section(renderHtml(history), "lines"), HasSubstr("the run did not record any"));
  history.trials[0].hotLines.missing = "nvdisasm was not found";
  EXPECT_THAT(section(renderHtml(history), "lines"), HasSubstr("nvdisasm was not found"));
}

TEST(HtmlReport, ARuleThatLacksACounterIsNotGone) {
  RunHistory history = syntheticRun(40);
  EXPECT_THAT(section(renderHtml(history), "causes"), HasSubstr("no longer fires"));
  for (Trial &trial : history.trials)
    if (&trial != history.trials.data())
      trial.counters.erase("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio");
  diagnose(history);
  const std::string text = section(renderHtml(history), "causes");
  EXPECT_THAT(text, HasSubstr("not judged"));
  EXPECT_THAT(text, Not(HasSubstr("no longer fires")));
}

TEST(HtmlReport, OfAnInterruptedRunAndOfOneWithoutABaseline) {
  EXPECT_THAT(renderHtml(interrupted(syntheticRun(40))), HasSubstr("No verdict yet"));
  RunHistory nothing;
  nothing.run = sampleRun();
  const std::string page = renderHtml(nothing);
  EXPECT_THAT(page, HasSubstr("No verdict yet"));
  EXPECT_THAT(page, HasSubstr("No trial was recorded"));
}

TEST(HtmlReport, EscapesWhateverComesFromOutside) {
  const RunHistory history = hostileRun();
  for (const std::string &page : {renderHtml(history), renderSessionHtml(*history.session)}) {
    EXPECT_EQ(count(page, "<script"), 1U);
    EXPECT_EQ(count(page, "</script"), 1U);
    EXPECT_THAT(page, Not(HasSubstr("<img")));
    EXPECT_THAT(page, Not(HasSubstr("onload='")));
    EXPECT_THAT(page, Not(HasSubstr("\xE2\x80\xAE")));
    EXPECT_THAT(page, HasSubstr("&lt;U+202E&gt;"));
  }
}

TEST(HtmlReport, LoadsNothing) {
  for (const std::string &page :
       {renderHtml(syntheticRun(40)), renderSessionHtml(*syntheticRun(40).session)}) {
    for (const char *word : {"http://", "https://", "url(", "@import", " src=", "<link"})
      EXPECT_THAT(page, Not(HasSubstr(word)));
    EXPECT_THAT(page, HasSubstr("default-src &#39;none&#39;"));
  }
}

TEST(SessionPage, ShowsEachWinWithItsState) {
  const std::string page = renderSessionHtml(*syntheticRun(40).session);
  EXPECT_THAT(page, HasSubstr("1 of 1 win holds in the program"));
  EXPECT_THAT(page, HasSubstr("href=\"../transpose-synthetic/report.html\""));
  EXPECT_THAT(page, HasSubstr("kopt apply --run-id session-synthetic"));
}

} // namespace
} // namespace kopt
