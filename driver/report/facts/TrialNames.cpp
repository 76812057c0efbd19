// SPDX-License-Identifier: Apache-2.0
#include "driver/report/facts/TrialNames.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/support/Text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kopt {

std::string nameOfTrial(const RunHistory &history, std::size_t index) {
  const Trial &trial = history.trials[index];
  if (&trial == history.baseline())
    return "the baseline";
  return fmt::format("#{} '{}'", index, oneLine(trial.candidate.title, 120));
}

std::string outcomeOf(const RunHistory &history, std::size_t index) {
  const Trial &trial = history.trials[index];
  const std::string decided = trial.check == CheckId::None
                                  ? std::string(toString(trial.stage))
                                  : fmt::format("the check '{}'", toString(trial.check));
  return fmt::format("{}: {}, decided at {}: {}", nameOfTrial(history, index),
                     verdictInWords(trial.verdict), decided, oneLine(trial.reason));
}

std::string factorInWords(double estimate) { return fmt::format("{:.3f}x", estimate); }

std::string intervalInWords(const Speedup &speedup) {
  if (speedup.modelled)
    return "modelled";
  return fmt::format("[{:.3f}, {:.3f}]", speedup.low, speedup.high);
}

std::string speedupInWords(const Speedup &speedup) {
  return factorInWords(speedup.estimate) + " " + intervalInWords(speedup);
}

std::vector<std::string> partsOf(const Candidate &candidate) {
  std::vector<std::string> parts;
  for (const auto &[name, value] : candidate.constants)
    parts.push_back(fmt::format("{} = {}", name, value));
  const LaunchOverride &launch = candidate.launch;
  if (launch.grid && !isCovering(launch))
    parts.push_back(fmt::format("grid = {}", fmt::join(*launch.grid, " x ")));
  if (launch.block)
    parts.push_back(fmt::format("block = {}{}", fmt::join(*launch.block, " x "),
                                isCovering(launch) ? ", the grid covers the same threads" : ""));
  if (launch.sharedBytes)
    parts.push_back("dynamic shared memory = " + *launch.sharedBytes);
  if (launch.largeShared)
    parts.push_back("the launch opts in to large shared memory");
  for (const CandidateTunable &tunable : candidate.tunables)
    parts.push_back(fmt::format("its own tunable {} = {} of {}", tunable.name, tunable.value,
                                fmt::join(tunable.values, ", ")));
  if (candidate.options)
    parts.push_back(fmt::format("compiled with {}", fmt::join(candidate.options->flags(), " ")));
  for (const CandidateInclude &include : candidate.includes)
    parts.push_back("includes " + include.header);
  if (!candidate.declarations.empty())
    parts.push_back(fmt::format("{} new declarations", candidate.declarations.size()));
  return parts;
}

std::string oneLine(const std::string &text, std::size_t width) {
  std::string line;
  for (const std::string &piece : split(replaceAll(text, "\r", ""), '\n'))
    if (const std::string_view words = trim(piece); !words.empty())
      line += (line.empty() ? "" : " ") + std::string(words);
  if (line.size() <= width)
    return line;
  std::size_t end = width;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80)
    --end; // do not cut within a character
  return line.substr(0, end) + "…";
}

std::string withoutStop(std::string text) {
  while (!text.empty() && text.back() == '.')
    text.pop_back();
  return text;
}

} // namespace kopt
