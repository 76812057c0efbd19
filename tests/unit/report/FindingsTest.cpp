// SPDX-License-Identifier: Apache-2.0
#include "driver/report/ci/Findings.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace {

using namespace kopt;
using nlohmann::json;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

GateKernel kernel(const std::string &name, GateVerdict verdict, double lost = 0) {
  GateKernel made;
  made.kernel = name;
  made.place = {"src/" + name + ".cu", 7};
  made.verdict = verdict;
  made.reason = "why";
  made.lostSeconds = lost;
  made.measured = made.confirmed = true;
  made.speedup = Speedup{0.8, 0.79, 0.81, 0.99, 40, false, 5};
  return made;
}

GateReport sample() {
  GateReport report;
  report.name = "default";
  report.baseRef = "main";
  report.base = "0123456789abcdef";
  report.head = "fedcba9876543210";
  report.device = "NVIDIA H200";
  report.kernels = {
      kernel("same", GateVerdict::Same),          kernel("unknown", GateVerdict::NotMeasured),
      kernel("cheap", GateVerdict::Slower, 1e-6), kernel("open", GateVerdict::Ambiguous),
      kernel("dear", GateVerdict::Slower, 1e-3),  kernel("gain", GateVerdict::Faster, -1e-3),
      kernel("bad", GateVerdict::NotMeasured)};
  report.kernels.back().broken = true;
  report.variants = {{"tuned", {"src/t.cu", 3}, "the constant 'TILE' changed", true},
                     {"older", {"src/o.cu", 3}, "it changed", false}};
  return report;
}

std::vector<std::string> kernelsOf(const std::vector<GateFinding> &findings) {
  std::vector<std::string> names;
  for (const GateFinding &one : findings)
    names.push_back(one.kernel);
  return names;
}

TEST(Findings, WhatCostsMostComesFirst) {
  EXPECT_THAT(kernelsOf(findingsOf(sample())),
              ElementsAre("bad", "dear", "cheap", "tuned", "open", "unknown", "gain"));
}

TEST(Findings, ADryRunFindsNothing) {
  GateReport report = sample();
  report.isDryRun = true;
  report.kernels = {kernel("a", GateVerdict::NotMeasured)};
  EXPECT_THAT(kernelsOf(findingsOf(report)), ElementsAre("tuned"));
}

TEST(Findings, FingerprintsStayWhereTheKernelGoes) {
  GateReport report = sample();
  const auto before = findingsOf(report);
  for (GateKernel &one : report.kernels)
    one.place = {"elsewhere.cu", 99};
  const auto after = findingsOf(report);
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(before[i].fingerprint, after[i].fingerprint);
  report.name = "another job";
  EXPECT_NE(findingsOf(report)[0].fingerprint, before[0].fingerprint);

  report.kernels = {kernel("f", GateVerdict::Slower), kernel("f", GateVerdict::Slower),
                    kernel("f", GateVerdict::Slower)};
  report.kernels[0].place.file = "other.cu";
  const auto alike = findingsOf(report);
  EXPECT_NE(alike[0].fingerprint, alike[1].fingerprint);
  EXPECT_NE(alike[1].fingerprint, alike[2].fingerprint);
}

TEST(GitHubAnnotations, AreAtMostTenAndTheLastSaysHowManyMore) {
  GateReport report = sample();
  report.kernels.clear();
  report.variants.clear();
  const auto lines = [&](std::size_t count) {
    report.kernels.clear();
    for (std::size_t i = 0; i < count; ++i)
      report.kernels.push_back(kernel("k" + std::to_string(i), GateVerdict::Slower, double(i)));
    const std::string text = githubAnnotations(findingsOf(report));
    return std::pair(std::count(text.begin(), text.end(), '\n'), text);
  };
  EXPECT_EQ(lines(0).first, 0);
  EXPECT_EQ(lines(10).first, 10);
  EXPECT_THAT(lines(10).second, Not(HasSubstr("more findings")));
  const auto [count, text] = lines(13);
  EXPECT_EQ(count, 10);
  EXPECT_THAT(text, StartsWith("::error file=src/k12.cu,line=7,title=kopt%3A k12 is slower by "));
  EXPECT_THAT(text, HasSubstr("title=kopt%3A 4 more findings::"));
}

TEST(GitHubAnnotations, TextOfOthersStaysText) {
  GateReport report = sample();
  report.kernels = {kernel("f", GateVerdict::Slower)};
  report.kernels[0].place.file = "a,line=1::b\n.cu";
  report.kernels[0].reason = "100%\n::error::forged";
  report.variants.clear();
  const std::string text = githubAnnotations(findingsOf(report));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text, StartsWith("::error file=a%2Cline=1%3A%3Ab%0A.cu,line=7,"));
  EXPECT_THAT(text, HasSubstr("100%25%0A::error::forged"));
}

TEST(Sarif, NamesRulesPlacesAndFingerprints) {
  GateReport report = sample();
  report.kernels = {kernel("f", GateVerdict::Slower)};
  report.kernels[0].place = {"sp ace/ü.cu", 0};
  report.variants.clear();
  const json run = json::parse(sarifOf(report, findingsOf(report)))["runs"][0];
  const json &result = run["results"][0];
  EXPECT_EQ(result["ruleId"], "kopt/regression");
  EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<int>()]["id"],
            "kopt/regression");
  const json &place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "sp%20ace/%C3%BC.cu");
  EXPECT_FALSE(place.contains("region"));
  EXPECT_EQ(result["partialFingerprints"]["koptFinding/v1"].get<std::string>().size(), 32u);
  EXPECT_EQ(run["automationDetails"]["id"], "kopt/default/");
}

TEST(CodeQuality, HasWhatGitLabAsksFor) {
  const json list = json::parse(codeQualityOf(findingsOf(sample())));
  ASSERT_EQ(list.size(), 7u);
  EXPECT_EQ(list[0]["severity"], "critical");
  EXPECT_EQ(list[3]["severity"], "major");
  EXPECT_EQ(list[6]["severity"], "info");
  EXPECT_EQ(list[1]["location"]["path"], "src/dear.cu");
  EXPECT_EQ(list[1]["location"]["lines"]["begin"], 7);
  EXPECT_EQ(json::parse(codeQualityOf({})), json::array());
}

TEST(GateMarkdown, BeginsWithTheMarkerOfItsJob) {
  GateReport report = sample();
  const std::string text = gateMarkdown(report);
  EXPECT_THAT(text, StartsWith("<!-- kopt-ci: default -->\n### kopt: 1 kernel fails, 2 kernels are "
                               "slower, 1 tuned variant became stale, 1 kernel is faster, 1 "
                               "undecided, 1 not measured\n"));
  EXPECT_THAT(text, HasSubstr("Measured on NVIDIA H200, both versions by turns in one process."));
  EXPECT_THAT(text, HasSubstr("it was stale before this change"));
  EXPECT_LT(text.find("`bad`"), text.find("`dear`"));
  EXPECT_LT(text.find("`dear`"), text.find("`cheap`"));
  report.name = "x --> y";
  EXPECT_THAT(gateMarkdown(report), StartsWith("<!-- kopt-ci: x-y -->\n"));
}

TEST(GateMarkdown, TextOfOthersMentionsAndLinksNobody) {
  GateReport report = sample();
  report.kernels[2].reason = "@team see [this](https://evil) <b> `x`";
  report.kernels[2].place.file = "a`b|<c>.cu";
  const std::string text = gateMarkdown(report);
  for (const char *bad : {"@team", "[this](", "https://", "<b>", "a`b"})
    EXPECT_THAT(text, Not(HasSubstr(bad)));
}

TEST(GateMarkdown, WhatDoesNotFitIsLeftOutAndSaid) {
  GateReport report = sample();
  for (int i = 0; i < 500; ++i)
    report.kernels.push_back(kernel("k" + std::to_string(i), GateVerdict::Same));
  const std::string text = gateMarkdown(report, 4000);
  EXPECT_LT(text.size(), 4200u);
  EXPECT_THAT(text, HasSubstr("more lines did not fit"));
}

TEST(Headline, SaysWhatMatters) {
  GateReport report;
  EXPECT_EQ(headlineOf(report), "the change touches no kernel");
  report.kernels = {kernel("a", GateVerdict::Same)};
  EXPECT_EQ(headlineOf(report), "no kernel became slower");
  report.kernels[0].change = KernelChange::Removed;
  report.kernels[0].verdict = GateVerdict::NotMeasured;
  EXPECT_EQ(headlineOf(report), "no kernel became slower");
}

} // namespace
