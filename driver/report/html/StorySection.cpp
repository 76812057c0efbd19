// SPDX-License-Identifier: Apache-2.0
// Why the search went as it did, where the time went, and how to apply and reproduce the result.
#include "driver/report/html/Sections.h"

#include "driver/report/facts/Explain.h"
#include "driver/report/facts/Reproduce.h"
#include "driver/support/Text.h"

#include <fmt/format.h>

namespace kopt::html {
namespace {

void writeTable(Writer &writer, Literal label, const std::vector<Column> &head,
                const std::vector<std::vector<std::string>> &rows) {
  const Table table(writer, "narrow", label.text());
  writeTableHead(writer, head);
  const auto body = writer.open("tbody");
  for (const auto &line : rows) {
    const auto row = writer.open("tr");
    for (std::size_t i = 0; i < line.size(); ++i)
      writer.element(i == 0 ? Literal("th") : Literal("td"), {{"class", head[i].style.text()}},
                     line[i]);
  }
}

void writeTime(Writer &writer, const PageFacts &facts) {
  const Spent spent = timeSpent(facts.history);
  std::vector<std::vector<std::string>> rows;
  for (const auto &[stages, of] :
       {std::pair(&spent.session, "all kernels"), std::pair(&spent.kernel, "this kernel")})
    for (const auto &[name, seconds] : *stages)
      rows.push_back({name, formatDuration(seconds), of});
  if (rows.empty())
    return;
  writer.element("h3", "Where the time went");
  writeTable(writer, "Where the time went", {{"stage"}, {"time", "n"}, {"of"}}, rows);
}

void writeCost(Writer &writer, const PageFacts &facts) {
  const auto rows = evaluationCosts(facts.history);
  if (rows.empty())
    return;
  writer.element("h3", "What the evaluations cost");
  writeTable(writer, "What the evaluations cost",
             {{"stage"}, {"candidates", "n"}, {"median", "n"}, {"longest", "n"}, {"total", "n"}},
             rows);
}

void writeModels(Writer &writer, const PageFacts &facts) {
  const auto rows = modelCosts(facts.history);
  if (rows.empty())
    return;
  writer.element("h3", "Language model");
  writeTable(writer, "Language model",
             {{"purpose"},
              {"model"},
              {"calls", "n"},
              {"input tokens", "n"},
              {"output tokens", "n"},
              {"from cache", "n"}},
             rows);
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
    writer.element("pre", applyCommand(facts.history));
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
  add("device", fmt::format("{} ({})", deviceName(facts.device), textOf(facts.device, "kind")));
  add("driver", textOf(facts.device, "driver"));
  add("compiler", textOf(facts.device, "toolchain"));
  add("sandbox of the candidates", sandboxLayers(facts.device, true));
  add("missing sandbox layers", sandboxLayers(facts.device, false));
  add("started", run.startedUtc);
  add("finished", run.finishedUtc.empty() ? "not finished" : run.finishedUtc);
  add("every sample and every candidate's source", ".kopt/kopt.db, and this run's folder");
}

} // namespace kopt::html
