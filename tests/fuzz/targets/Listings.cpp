// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's tools print of code and of launches: nvdisasm's listings, Nsight Compute's pages,
// ptxas's words.
#include "driver/device/build/PtxasInfo.h"
#include "driver/device/profile/NcuSections.h"
#include "driver/device/sass/SourceLines.h"
#include "tests/fuzz/Fuzz.h"

#include <cmath>

using namespace kopt;
using kopt::fuzz::require;

namespace {

void disassembly(std::string_view text, const InstructionCounts &counts) {
  const auto listing = parseSassListing(text);
  if (!listing)
    return;
  for (const SassFunction &function : listing->functions) {
    require(!function.instructions.empty(), "a function that is listed has code");
    std::uint64_t reached = 0, byLine = 0;
    for (const SassFunction *each : listing->reachableFrom(function.symbol))
      reached += each->instructions.size();
    for (const LineUse &line : linesOf(*listing, function.symbol, counts))
      byLine += line.mix.all;
    require(reached == byLine, "each instruction belongs to one line");
    const Counters counters = sassCounters(*listing, function.symbol);
    require(counters.at("sass__inst") == double(reached), "each instruction is counted once");
    for (const auto &[name, value] : counters)
      require(std::isfinite(value) && value >= 0, "a count is a number from 0");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string_view text = kopt::fuzz::textOf(data, size);
  const auto counts = parseNcuSource(text);
  if (counts) {
    require(!counts->empty() && counts->begin()->first == 0,
            "offsets are from the first instruction");
    for (const auto &[offset, count] : *counts)
      require(std::isfinite(count.executed) && std::isfinite(count.samples), "a count is a number");
  }
  if (const auto report = parseNcuDetails(text))
    for (const NcuReport::Advice &advice : report->advice)
      require(!advice.rule.empty() &&
                  (!advice.speedupPercent || std::isfinite(*advice.speedupPercent)),
              "advice is a rule's, and a speedup a number");
  disassembly(text, counts ? *counts : InstructionCounts{});
  for (const auto &[name, value] : parsePtxasInfo(text, "k"))
    require(name.starts_with("ptxas__") && std::isfinite(value) && value >= 0,
            "what ptxas counts is a number from 0");
  return 0;
}
