// SPDX-License-Identifier: Apache-2.0
// The course of the search: each candidate by trial and by time, and the best so far.
#include "driver/report/facts/TrialNames.h"
#include "driver/report/html/Drawings.h"
#include "driver/report/sections/Sections.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace kopt {
namespace {

using namespace html;

constexpr double kBand = 16, kGap = 8; ///< kBand: for candidates without a time

bool hasTime(const Trial &trial) {
  return trial.speedup && std::isfinite(trial.speedup->estimate) && trial.speedup->estimate > 0;
}

class SearchChart {
public:
  SearchChart(Writer &writer, const RunFacts &facts, bool isByTime)
      : writer_(writer), facts_(facts), isByTime_(isByTime) {
    double low = 1, high = 1;
    for (const Trial &trial : facts.history.trials)
      if (facts.isCandidate(trial) && hasTime(trial)) {
        low = std::min(low, trial.speedup->estimate);
        high = std::max(high, trial.speedup->estimate);
      }
    axes_.y = Scale::ofRatios(low, high * 1.02, axes_.floor() - kBand - kGap, axes_.top);
    const std::size_t count = facts.history.trials.size();
    const double last = isByTime ? facts.story.secondsAfter[count - 1] / unit() : double(count - 1);
    axes_.x = Scale::linear(0, std::max(last, isByTime ? 1e-3 : 1.0), axes_.left, axes_.end());
  }

  void draw() {
    const auto svg =
        axes_.open(writer_, isByTime_ ? "Speedup of each candidate by time of evaluation"
                                      : "Speedup of each candidate by trial");
    drawAxes();
    best();
    for (std::size_t i = 0; i < facts_.history.trials.size(); ++i)
      if (facts_.isCandidate(facts_.history.trials[i]))
        candidate(i);
  }

private:
  double placeOf(std::size_t trial) const {
    return axes_.x.at(isByTime_ ? facts_.story.secondsAfter[trial] / unit() : double(trial));
  }

  /// The unit of the time axis, in seconds.
  double unit() const {
    const double all = facts_.story.secondsAfter.back();
    return all > 3 * 3600 ? 3600 : all > 180 ? 60 : 1;
  }

  const char *unitInWords() const {
    return unit() == 3600 ? "hours" : unit() == 60 ? "minutes" : "seconds";
  }

  void drawAxes() {
    writer_.leaf("rect", {{"class", "band"},
                          {"x", coordinate(axes_.left)},
                          {"y", coordinate(axes_.floor() - kBand)},
                          {"width", coordinate(axes_.end() - axes_.left)},
                          {"height", coordinate(kBand)}});
    axes_.draw(writer_,
               isByTime_ ? fmt::format("{} of evaluation, added up", unitInWords()) : "trial", "x");
    writeLine(writer_, "baseline", axes_.left, axes_.y.at(1), axes_.end(), axes_.y.at(1));
    writeText(writer_, axes_.left - 6, axes_.floor() - 4, "end", "none");
  }

  /// Draws the line of the best so far, with a step at each faster candidate.
  void best() {
    std::string path = fmt::format("M{} {}", coordinate(placeOf(0)), coordinate(axes_.y.at(1)));
    double last = 1;
    for (std::size_t i = 0; i < facts_.history.trials.size(); ++i) {
      const double now = facts_.story.bestAfter[i];
      if (now == last)
        continue;
      path += fmt::format("H{}V{}", coordinate(placeOf(i)), coordinate(axes_.y.at(now)));
      last = now;
    }
    path += fmt::format("H{}", coordinate(placeOf(facts_.history.trials.size() - 1)));
    writer_.leaf("path", {{"class", "best"}, {"d", path}});
  }

  void candidate(std::size_t index) {
    const Trial &trial = facts_.history.trials[index];
    const double x = placeOf(index);
    const std::string &proposer = trial.candidate.proposer;
    if (!hasTime(trial)) {
      writeMark(
          writer_, proposer, x, axes_.floor() - kBand / 2, 2.6,
          fmt::format("{}: {}", nameOfTrial(facts_.history, index), verdictInWords(trial.verdict)),
          true);
      return;
    }
    const double y = axes_.y.at(trial.speedup->estimate);
    if (!trial.speedup->modelled)
      writeLine(writer_, "whisker " + proposerClass(proposer), x, axes_.y.at(trial.speedup->low), x,
                axes_.y.at(trial.speedup->high));
    writeMark(writer_, proposer, x, y, 3.2,
              fmt::format("{}: {:.3f}x, {}", nameOfTrial(facts_.history, index),
                          trial.speedup->estimate, verdictInWords(trial.verdict)),
              trial.verdict != Verdict::Faster);
    if (facts_.accepted.contains(trial.candidateHash))
      writer_.leaf(
          "circle",
          {{"class", "accepted"}, {"cx", coordinate(x)}, {"cy", coordinate(y)}, {"r", "6.5"}});
  }

  Writer &writer_;
  const RunFacts &facts_;
  const bool isByTime_;
  Axes axes_{560, 290, 46, 14, 18, 40};
};

std::vector<std::string> proposersOf(const RunFacts &facts) {
  std::vector<std::string> names;
  for (const Trial &trial : facts.history.trials)
    if (facts.isCandidate(trial) &&
        std::ranges::find(names, trial.candidate.proposer) == names.end())
      names.push_back(trial.candidate.proposer);
  return names;
}

List legend(const std::vector<std::string> &proposers) {
  List list{{}, "legend"};
  for (const std::string &proposer : proposers)
    list.items.push_back({Span(Span::Proposer, proposer)});
  for (const char *words :
       {"filled: faster; hollow: not", "ring: became the incumbent", "line: best so far",
        "grey band: no time, because it was refused, failed, or is a duplicate"})
    list.items.push_back({words});
  return list;
}

Figure chart(const RunFacts &facts, bool isByTime) {
  return {isByTime ? "Speedup over the baseline, by time" : "Speedup over the baseline, by trial",
          [&facts, isByTime](Writer &writer) { SearchChart(writer, facts, isByTime).draw(); }};
}

/// How the candidates ended, by proposer.
Table outcomes(const RunFacts &facts, const std::vector<std::string> &proposers) {
  std::map<Verdict, std::map<std::string, std::size_t>> counts;
  for (const Trial &trial : facts.history.trials)
    if (facts.isCandidate(trial))
      ++counts[trial.verdict][trial.candidate.proposer];
  Table table{"How the candidates ended", "narrow", {{"verdict"}}};
  for (const std::string &proposer : proposers)
    table.columns.push_back({proposer, "n"});
  table.columns.push_back({"all", "n"});
  for (auto &[verdict, by] : counts) {
    Row &row = table.rows.emplace_back();
    row.cells = {{verdictInWords(verdict)}};
    std::size_t sum = 0;
    for (const std::string &proposer : proposers) {
      const std::size_t count = by[proposer];
      sum += count;
      row.cells.push_back({count == 0 ? "" : std::to_string(count)});
    }
    row.cells.push_back({std::to_string(sum)});
  }
  return table;
}

} // namespace

Section searchSection(const RunFacts &facts) {
  Section section{"search", "The search as it went"};
  const std::vector<std::string> proposers = proposersOf(facts);
  if (proposers.empty())
    section.blocks = {Paragraph{"No candidate was tried.", "note"}};
  else
    section.blocks = {legend(proposers), Pair{{chart(facts, false)}, {chart(facts, true)}},
                      outcomes(facts, proposers)};
  return section;
}

} // namespace kopt
