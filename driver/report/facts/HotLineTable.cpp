// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/HotLineTable.h"

#include "driver/report/facts/TrialNames.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

std::string shortPath(const RunRecord &run, const std::string &file) {
  const std::string folder = textIn(recordedObject(run.configJson), "directory");
  const std::filesystem::path relative =
      folder.empty() ? "" : std::filesystem::path(file).lexically_relative(folder);
  return relative.empty() || *relative.begin() == ".." ? file : relative.generic_string();
}

double share(double part, double all) { return all > 0 ? part / all : 0; }

} // namespace

HotLineTable hotLineTable(const RunRecord &run, const HotLines &hot) {
  HotLineTable table;
  if (hot.lines.empty()) {
    table.missing = !hot.missing.empty() ? hot.missing
                    : hot.source == LineSource::None
                        ? "the run did not record any"
                        : "no instruction of the launch has a known line";
    return table;
  }
  const bool hasSectors = hot.source != LineSource::Code && hot.sectors > 0;
  double instructions = hot.instructions, sectors = hot.sectors;
  for (const HotLine &line : hot.lines) {
    instructions -= line.instructions;
    sectors -= line.sectors;
    HotLineRow &row = table.rows.emplace_back();
    if (!line.file.empty())
      row.place = fmt::format("{}:{}", shortPath(run, line.file), line.line);
    row.text = line.text;
    row.instructions = share(line.instructions, hot.instructions);
    if (hasSectors)
      row.sectors = share(line.sectors, hot.sectors);
  }
  table.otherInstructions = std::max(0.0, share(instructions, hot.instructions));
  if (hasSectors)
    table.otherSectors = std::max(0.0, share(sectors, hot.sectors));
  return table;
}

std::string howCounted(const HotLines &hot) {
  const std::string launch =
      hot.launch.empty() ? "one launch" : "the launch '" + oneLine(hot.launch) + "'";
  switch (hot.source) {
  case LineSource::Emulated:
    return fmt::format("Counted on the emulated device in {}: instructions of warps, as it models "
                       "them from the optimised code, and 32-byte sectors of global memory that "
                       "warps access. No GPU counted them.",
                       launch);
  case LineSource::Code:
    return "Instructions of the machine code that come from each line: each counts once, however "
           "often it runs, or never runs. Nothing was executed for this, and sectors are not "
           "known.";
  case LineSource::None:
    break;
  }
  return "";
}

const HotLines *winnersHotLines(const RunHistory &history) {
  const Trial *confirmed = history.confirmation() ? history.confirmation() : history.winner();
  return confirmed ? &confirmed->hotLines : nullptr;
}

std::vector<std::string> inWords(const HotLineTable &table, std::size_t most) {
  std::vector<std::string> lines;
  for (const HotLineRow &row : table.rows) {
    if (lines.size() == most)
      break;
    lines.push_back(fmt::format(
        "{} has {} of the instructions{}{}",
        row.place.empty() ? "a line that is not yours" : row.place, formatPercent(row.instructions),
        row.sectors ? " and " + formatPercent(*row.sectors) + " of the sectors" : "",
        row.text.empty() ? "" : ": " + oneLine(row.text, 120)));
  }
  return lines;
}

} // namespace kopt
