// SPDX-License-Identifier: Apache-2.0
#include "driver/model/HotLines.h"

#include <algorithm>
#include <tuple>

namespace kopt {

HotLines hottestLines(const std::vector<LineCost> &costs, LineSource source) {
  HotLines hot;
  hot.source = source;
  for (const LineCost &cost : costs) {
    hot.instructions += cost.instructions;
    hot.sectors += cost.sectors;
    if (!cost.file.empty() && cost.line > 0 && (cost.instructions > 0 || cost.sectors > 0))
      hot.lines.push_back({cost.file, cost.line, "", cost.instructions, cost.sectors});
  }
  // Sorted as tuples: by the larger share, then by the other one, then by place.
  const auto rank = [&](const HotLine &line) {
    const double ofInstructions = hot.instructions > 0 ? line.instructions / hot.instructions : 0,
                 ofSectors = hot.sectors > 0 ? line.sectors / hot.sectors : 0;
    return std::tuple(-std::max(ofInstructions, ofSectors), -std::min(ofInstructions, ofSectors),
                      line.file, line.line);
  };
  if (source != LineSource::Code)
    std::sort(hot.lines.begin(), hot.lines.end(),
              [&](const HotLine &a, const HotLine &b) { return rank(a) < rank(b); });
  hot.lines.resize(std::min(hot.lines.size(), kMostHotLines));
  return hot;
}

} // namespace kopt
