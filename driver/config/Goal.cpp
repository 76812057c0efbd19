// SPDX-License-Identifier: Apache-2.0
#include "driver/config/Goal.h"

#include "driver/support/Text.h"

#include <fmt/format.h>
#include <map>
#include <regex>

namespace kopt {

std::string Goal::inWords() const {
  return kopt::inWords(objective) +
         (seconds ? ", in at most " + formatDuration(*seconds) : std::string());
}

Result<Goal> parseGoal(const std::string &text) {
  static const std::regex kForm(
      R"((?:(mean|p95|worst)(?:, *(?=t)|$))?(?:target: *([0-9]*\.?[0-9]+) *(s|ms|us|ns))?)");
  static const std::map<std::string, double> kUnits = {
      {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  std::smatch parts;
  Goal goal;
  const bool isOne = !text.empty() && std::regex_match(text, parts, kForm);
  if (isOne && parts[1].matched)
    goal.objective = *parseEnum<Objective>(parts[1].str());
  if (isOne && parts[2].matched)
    goal.seconds = std::stod(parts[2]) * kUnits.at(parts[3]);
  if (!isOne || goal.seconds == 0.0)
    return makeError(ErrorCode::Usage, fmt::format("'{}' is not an objective", text),
                     "allowed are mean, p95 and worst, target:TIME with the unit s, ms, us or ns "
                     "(target:120us), and both (worst,target:0.3ms)");
  return goal;
}

} // namespace kopt
