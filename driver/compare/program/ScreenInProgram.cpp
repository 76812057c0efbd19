// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/program/ScreenInProgram.h"

#include "driver/compare/program/ProgramTimes.h"

namespace kopt {
namespace {

/// If the program runs longer, the candidates left are not tried: the other runs of the session
/// take long enough.
constexpr double kLongRun = 6;
/// Of the interval, which is not used.
constexpr double kConfidence = 0.95;

} // namespace

std::vector<std::optional<double>> screenInProgram(ProgramPair &programs,
                                                   const std::vector<ProgramSample> &before,
                                                   const std::string &symbol,
                                                   const std::vector<ProgramEdits> &edits) {
  std::vector<std::optional<double>> speedups(edits.size());
  const std::vector<Status> built = programs.buildNew(edits);
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (!built[i])
      continue;
    const auto ran = programs.run(Side::New, i);
    if (!ran)
      continue;
    const ProgramSample all = together(*ran), old = together(before);
    if (all.failure.empty() && all.exitCode == old.exitCode)
      if (const auto time = timeOf({{old}, {all}}, symbol, kConfidence, 1))
        speedups[i] = time->speedup.estimate;
    if (all.seconds > kLongRun)
      break;
  }
  return speedups;
}

} // namespace kopt
