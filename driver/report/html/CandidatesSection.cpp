// SPDX-License-Identifier: Apache-2.0
// Every trial with its verdict and reason; the page's script sorts the table.
#include "driver/report/html/Sections.h"

#include "driver/report/facts/TrialNames.h"
#include "driver/support/Text.h"

#include <fmt/format.h>
#include <set>

namespace kopt::html {
namespace {

constexpr std::size_t kLongestReason = 600, kLongestTitle = 240;

const char *styleOf(Verdict verdict) {
  switch (verdict) {
  case Verdict::Faster:
    return "faster";
  case Verdict::WrongResult:
  case Verdict::RunFailed:
  case Verdict::BuildFailed:
  case Verdict::TimedOut:
  case Verdict::Rejected:
    return "wrong";
  case Verdict::Suspect:
  case Verdict::Ambiguous:
    return "doubt";
  case Verdict::Same:
  case Verdict::Slower:
  case Verdict::Duplicate:
    return "calm";
  }
  return "calm";
}

class CandidateTable {
public:
  CandidateTable(Writer &writer, const PageFacts &facts) : writer_(writer), facts_(facts) {
    std::vector<Speedup> speedups;
    std::set<std::string> gpus;
    for (const Trial &trial : facts.history.trials) {
      if (trial.speedup)
        speedups.push_back(*trial.speedup);
      if (!trial.gpu.empty())
        gpus.insert(trial.gpu);
    }
    scale_ = stripScale(speedups);
    isPool_ = gpus.size() > 1;
  }

  void write() {
    const Table table(writer_, "sortable", "Every trial");
    head();
    const auto body = writer_.open("tbody");
    for (std::size_t i = 0; i < facts_.history.trials.size(); ++i)
      row(i);
  }

private:
  void head() {
    const auto head = writer_.open("thead");
    const auto row = writer_.open("tr");
    writeHead(writer_, {{"#", "n"}, {"verdict"}, {"speedup", "n"}});
    {
      const auto cell = writer_.open("th", {{"scope", "col"}});
      writeStripAxis(writer_, scale_);
    }
    writeHead(writer_, {{"candidate"}, {"by"}, {"round", "n"}, {"decided at", "nw"}});
    if (isPool_)
      writeHead(writer_, {{"GPU"}});
    writeHead(writer_, {{"took", "n"}, {"reason"}});
  }

  void speedup(const Trial &trial, bool isBaseline) {
    if (!trial.speedup || isBaseline) {
      // Sort below all others.
      writer_.element("td", {{"class", "n"}, {"data-v", "0"}}, "");
      writer_.element("td", "");
      return;
    }
    writer_.element("td",
                    {{"class", "n"}, {"data-v", fmt::format("{:.6g}", trial.speedup->estimate)}},
                    factorInWords(trial.speedup->estimate));
    const auto cell = writer_.open("td", {{"title", intervalInWords(*trial.speedup)}});
    writeStrip(writer_, scale_, *trial.speedup);
  }

  void title(const Trial &trial, bool isBaseline) {
    const auto cell = writer_.open("td", {{"class", "wide"}});
    if (isBaseline) {
      writer_.text("your own kernel");
      return;
    }
    if (trial.purpose == Purpose::Confirmation)
      writer_.text("confirmation of: ");
    else if (trial.purpose == Purpose::HeldOut)
      writer_.text("on held-out launches: ");
    writer_.text(oneLine(trial.candidate.title, kLongestTitle));
    if (trial.purpose != Purpose::Search)
      return;
    if (&trial == facts_.winner) {
      writer_.text(" ");
      writer_.element("span", {{"class", "tag faster"}}, "winner");
    } else if (facts_.accepted.contains(trial.candidateHash)) {
      writer_.text(" ");
      writer_.element("span", {{"class", "tag calm"}}, "incumbent");
    }
    if (!trial.candidate.technique.empty() && trial.candidate.technique != trial.candidate.proposer)
      writer_.element("div", {{"class", "small"}}, trial.candidate.technique);
  }

  void row(std::size_t index) {
    const Trial &trial = facts_.history.trials[index];
    const bool isBaseline = &trial == facts_.baseline;
    const auto row = writer_.open("tr", {{"class", &trial == facts_.winner ? "winner" : ""}});
    writer_.element("td", {{"class", "n"}}, std::to_string(index));
    writer_.element(
        "td", {{"class", std::string("nw ") + (isBaseline ? "calm" : styleOf(trial.verdict))}},
        isBaseline ? "baseline" : verdictInWords(trial.verdict));
    speedup(trial, isBaseline);
    title(trial, isBaseline);
    {
      const auto cell = writer_.open("td");
      if (!isBaseline)
        writeProposer(writer_, trial.candidate.proposer);
    }
    const auto round = facts_.story.roundOf[index];
    writer_.element("td", {{"class", "n"}},
                    round ? std::to_string(facts_.story.rounds[*round].number + 1) : "");
    writer_.element("td", {{"class", "nw"}}, toString(trial.stage));
    if (isPool_)
      writer_.element("td", {{"class", "nw"}}, trial.gpu);
    writer_.element("td", {{"class", "n"}, {"data-v", fmt::format("{:.6g}", trial.seconds)}},
                    formatDuration(trial.seconds));
    writer_.element("td", {{"class", "wide small"}}, oneLine(trial.reason, kLongestReason));
  }

  Writer &writer_;
  const PageFacts &facts_;
  Scale scale_;
  bool isPool_ = false;
};

} // namespace

void writeCandidates(Writer &writer, const PageFacts &facts) {
  const Section section(writer, "candidates", "Every candidate");
  if (facts.history.trials.empty()) {
    writeNote(writer, "No trial was recorded.");
    return;
  }
  writeNote(writer, "Numbers are those of the folders below trials/, which have each candidate's "
                    "source and compiler output. 'kopt explain' says more of each.");
  CandidateTable(writer, facts).write();
}

} // namespace kopt::html
