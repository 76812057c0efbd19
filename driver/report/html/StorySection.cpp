// SPDX-License-Identifier: Apache-2.0
// Why the search went as it did, where the time went, and how to apply and reproduce the result.
#include "driver/report/html/Sections.h"

#include "driver/judge/Statistics.h"
#include "driver/report/facts/Explain.h"
#include "driver/report/facts/Reproduce.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace kopt::html {
namespace {

struct Cell {
  std::string text;
  bool isNumber = false;
};

void writeTable(Writer &writer, Literal label, const std::vector<Cell> &head,
                const std::vector<std::vector<std::string>> &rows) {
  const Table table(writer, "narrow", label.text());
  {
    const auto group = writer.open("thead");
    const auto row = writer.open("tr");
    for (const Cell &cell : head)
      writer.element("th", {{"scope", "col"}, {"class", cell.isNumber ? "n" : ""}}, cell.text);
  }
  const auto body = writer.open("tbody");
  for (const auto &line : rows) {
    const auto row = writer.open("tr");
    for (std::size_t i = 0; i < line.size(); ++i)
      writer.element(i == 0 ? Literal("th") : Literal("td"),
                     {{"class", head[i].isNumber ? "n" : ""}}, line[i]);
  }
}

void writeTime(Writer &writer, const PageFacts &facts) {
  std::map<std::string, double> session, kernel;
  for (const Decision &decision : facts.history.decisions)
    if (const auto *spent = std::get_if<Spent>(&decision.what)) {
      for (const auto &[name, seconds] : spent->session)
        session[name] += seconds;
      for (const auto &[name, seconds] : spent->kernel)
        kernel[name] += seconds;
    }
  std::vector<std::vector<std::string>> rows;
  for (const auto &[stages, of] :
       {std::pair(&session, "all kernels"), std::pair(&kernel, "this kernel")})
    for (const auto &[name, seconds] : *stages)
      rows.push_back({name, formatDuration(seconds), of});
  if (rows.empty())
    return;
  writer.element("h3", "Where the time went");
  writeTable(writer, "Where the time went", {{"stage"}, {"time", true}, {"of"}}, rows);
}

void writeCost(Writer &writer, const PageFacts &facts) {
  std::map<std::string, std::vector<double>> stages;
  double together = 0;
  for (const Trial &trial : facts.history.trials) {
    if (&trial == facts.baseline || trial.purpose != Purpose::Search || trial.stages.empty())
      continue;
    together += trial.seconds;
    for (const auto &[name, seconds] : trial.stages)
      stages[name].push_back(seconds);
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto &[name, seconds] : stages) {
    double sum = 0;
    for (const double each : seconds)
      sum += each;
    if (sum >= 0.01 * together)
      rows.push_back({name, std::to_string(seconds.size()), formatDuration(median(seconds)),
                      formatDuration(*std::ranges::max_element(seconds)), formatDuration(sum)});
  }
  if (rows.empty())
    return;
  writer.element("h3", "What the evaluations cost");
  writeTable(
      writer, "What the evaluations cost",
      {{"stage"}, {"candidates", true}, {"median", true}, {"longest", true}, {"total", true}},
      rows);
}

void writeModels(Writer &writer, const PageFacts &facts) {
  struct Sum {
    long calls = 0, input = 0, output = 0, cached = 0;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const ModelCall &call : facts.history.modelCalls) {
    Sum &sum = sums[{call.purpose, call.model}];
    ++sum.calls;
    sum.input += call.inputTokens;
    sum.output += call.outputTokens;
    sum.cached += call.cachedTokens;
  }
  if (sums.empty())
    return;
  std::vector<std::vector<std::string>> rows;
  for (const auto &[key, sum] : sums)
    rows.push_back({key.first, key.second, std::to_string(sum.calls), std::to_string(sum.input),
                    std::to_string(sum.output), std::to_string(sum.cached)});
  writer.element("h3", "Language model");
  writeTable(writer, "Language model",
             {{"purpose"},
              {"model"},
              {"calls", true},
              {"input tokens", true},
              {"output tokens", true},
              {"from cache", true}},
             rows);
}

std::string applyCommand(const PageFacts &facts) {
  const SessionWin *win = facts.history.inProgram();
  std::string command = "kopt apply --run-id " + facts.history.run.name;
  if (facts.modelled)
    command += " --modelled";
  else if (!win || win->state != WinState::Confirmed)
    command += " --unconfirmed";
  return command;
}

/// The sandbox layers that were active around the candidates, or those that were missing.
std::string sandboxOf(const PageFacts &facts, bool isActive) {
  std::vector<std::string> layers;
  const auto list = facts.device.find("sandbox");
  if (list == facts.device.end() || !list->is_array())
    return {};
  for (const nlohmann::json &layer : *list)
    if (layer.is_object() && layer.value("active", false) == isActive)
      layers.push_back(textOf(layer, "layer") +
                       (isActive ? std::string() : " (" + textOf(layer, "detail") + ")"));
  return join(layers, ", ");
}

} // namespace

void writeStory(Writer &writer, const PageFacts &facts) {
  const Section section(writer, "story", "Why it went this way");
  writeNote(writer, "Each decision in order, with the time that evaluations had taken by then. "
                    "'kopt explain' prints the same.");
  {
    const auto list = writer.open("ol", {{"class", "story"}});
    for (const Explanation &entry : explainRun(facts.history)) {
      // Every candidate is in the table above, every check in the section above.
      if (entry.kind == "trial" || entry.kind == "checked" || entry.kind == "unchecked")
        continue;
      const auto item = writer.open("li");
      writer.element("div", {{"class", "when"}}, formatDuration(entry.seconds));
      const auto body = writer.open("div");
      writer.text(entry.text);
      if (entry.details.empty())
        continue;
      const auto details = writer.open("ul");
      for (const std::string &detail : entry.details)
        writer.element("li", detail);
    }
  }
  const auto pair = writer.open("div", {{"class", "pair"}});
  {
    const auto side = writer.open("div");
    writeTime(writer, facts);
    writeModels(writer, facts);
  }
  const auto side = writer.open("div");
  writeCost(writer, facts);
}

void writeProvenance(Writer &writer, const PageFacts &facts) {
  const Section section(writer, "provenance", "Apply and reproduce");
  const RunRecord &run = facts.history.run;
  if (!run.patchText.empty()) {
    writer.element("h3", "Apply");
    writer.element("pre", applyCommand(facts));
    writeNote(writer,
              "Or, from the top of the repository, 'git apply' with the winner.patch of this "
              "folder. It changes the kernel and its launch sites, nothing else.");
  }
  writer.element("h3", "Reproduce");
  writer.element("pre", reproduceCommand(run));
  const auto list = writer.open("ul", {{"class", "plain small"}});
  const auto add = [&](Literal what, const std::string &value) {
    if (!value.empty())
      writer.element("li", std::string(what.text()) + ": " + value);
  };
  add("inputs", run.inputsHash);
  add("device", fmt::format("{} ({})", facts.deviceName(), textOf(facts.device, "kind")));
  add("driver", textOf(facts.device, "driver"));
  add("compiler", textOf(facts.device, "toolchain"));
  add("sandbox of the candidates", sandboxOf(facts, true));
  add("missing sandbox layers", sandboxOf(facts, false));
  add("started", run.startedUtc);
  add("finished", run.finishedUtc.empty() ? "not finished" : run.finishedUtc);
  add("every sample and every candidate's source", ".kopt/kopt.db, and this run's folder");
}

} // namespace kopt::html
