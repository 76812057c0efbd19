// SPDX-License-Identifier: Apache-2.0
// Hot lines for all formats of a report: their places, shares, and how they were counted.
#pragma once

#include "driver/report/facts/RunHistory.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct HotLineRow {
  std::string place;             ///< "scale.cu:31"; empty: not a line of the user's files
  std::string text;              ///< empty: not recorded
  double instructions = 0;       ///< share of all of the launch
  std::optional<double> sectors; ///< share; nothing if none were counted
};

/// The hot lines of one version of the kernel.
struct HotLineTable {
  std::vector<HotLineRow> rows; ///< the hottest first
  /// Share of the instructions and the sectors that no row has.
  double otherInstructions = 0;
  std::optional<double> otherSectors{};
  std::string missing; ///< why there are no rows; empty if there are some
};

/// Files below the folder in which the run was started are named relative to it.
HotLineTable hotLineTable(const RunRecord &run, const HotLines &hot);

/// What the shares are shares of, and who counted them: a sentence or two.
std::string howCounted(const HotLines &hot);

/// The hot lines of the winner: those of its confirmation. Null if nothing won.
const HotLines *winnersHotLines(const RunHistory &history);

/// "scale.cu:31 has 62.5% of the instructions and 80.0% of the sectors: p[i] += 1;". At most `most`
/// lines.
std::vector<std::string> inWords(const HotLineTable &table, std::size_t most);

} // namespace kopt
