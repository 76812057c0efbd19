// SPDX-License-Identifier: Apache-2.0
// The source lines that a launch of a kernel spends its instructions and memory sectors on.
#pragma once

#include "clang_plugin/output/Fields.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kopt {

/// What one line costs in one launch.
struct LineCost {
  std::string file; ///< as the compiler names it; empty: no line is known
  unsigned line = 0;
  double instructions = 0; ///< executed, one for each warp
  double sectors = 0;      ///< of global memory, in requests of warps
};
KOPT_FIELDS(LineCost, file, line, instructions, sectors)

/// How the costs of lines were found.
enum class LineSource {
  None,
  Emulated, ///< executed on the emulated device, which models a GPU's instructions
  Code,     ///< instructions in the machine code, each once however often it runs; no sectors
};
constexpr auto spellings(LineSource) {
  return std::to_array<std::string_view>({"none", "emulated", "code"});
}

struct HotLine {
  std::string file; ///< the user's; empty: the line is not in one of the user's files
  unsigned line = 0;
  std::string text; ///< without the space around it
  double instructions = 0, sectors = 0;
  /// Shares of samples of warps that wait for the line. Nothing sets it; records of today have it.
  std::optional<std::map<std::string, double>> stalls{};
};
KOPT_FIELDS(HotLine, file, line, text, instructions, sectors, stalls)

/// The hot lines of one launch.
struct HotLines {
  LineSource source = LineSource::None;
  std::string missing;                  ///< why there are none
  std::string launch;                   ///< name of the launch that was counted
  double instructions = 0, sectors = 0; ///< of the whole launch
  std::vector<HotLine> lines;           ///< the hottest first
};
KOPT_FIELDS(HotLines, source, missing, launch, instructions, sectors, lines)

/// The number of lines that a record keeps.
inline constexpr std::size_t kMostHotLines = 10;

/// The hottest lines of a launch, named as in `costs`: those with the largest share of the
/// instructions or of the sectors, whichever is larger. Lines of LineSource::Code stay in the order
/// of `costs`: how often a line runs is not known. Costs without a line are only part of the sums.
HotLines hottestLines(const std::vector<LineCost> &costs, LineSource source);

} // namespace kopt
