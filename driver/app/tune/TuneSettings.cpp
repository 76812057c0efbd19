// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/TuneSettings.h"

#include "driver/config/GpuSelection.h"
#include "driver/search/policy/PolicyBook.h"
#include "driver/support/Text.h"

#include <nlohmann/json.hpp>

namespace kopt {

Result<TuneSettings> tuneSettingsOf(const ResolvedOptions &options, KernelRequest request) {
  TuneSettings settings{std::move(request)};
  settings.options = options;
  settings.output = settings.root / options.output; // `output` may be absolute
  KOPT_TRY(settings.gpus, parseGpuSelection(options.gpus));
  settings.budget.rounds = int(options.rounds);
  settings.budget.trials = int(options.trials);
  settings.budget.patience = int(options.patience);
  settings.budget.seconds = options.budgetSeconds;
  settings.minGain = options.minSpeedup - 1;
  if (!settings.program.empty())
    settings.programs = {settings.program};
  KOPT_TRY(settings.goal, parseGoal(options.objective));
  return settings;
}

Result<std::string> strategyInWords(const std::string &strategy) {
  KOPT_TRY(const PolicyBook policies, PolicyBook::load());
  const PolicySettings *policy = policies.find(strategy);
  return policy ? "strategy " + inWords(*policy) : "";
}

nlohmann::json toJson(const TuneSettings &settings) {
  nlohmann::json files = nlohmann::json::array();
  for (const auto &file : settings.sources.files)
    if (!settings.sources.wholeDatabase)
      files.push_back(file.string());
  nlohmann::json json;
  for (const Option &option : allOptions())
    std::visit([&](const auto &value) { json[replaceAll(option.key, "-", "_")] = value; },
               valueOf(settings.options, option));
  std::vector<std::string> candidates;
  for (const auto &file : settings.candidates)
    candidates.push_back(file.string());
  std::error_code ignored;
  json.update({{"directory", std::filesystem::current_path(ignored).string()},
               {"files", files},
               {"build_directory", settings.sources.buildDirectory.string()},
               {"flags", settings.sources.flags},
               {"kernels", settings.selection.globs},
               {"candidates", candidates},
               {"program", settings.program},
               {"other_runs", std::vector(settings.programs.begin() + !settings.programs.empty(),
                                          settings.programs.end())},
               {"build", settings.build},
               {"gpus", settings.gpus},
               {"min_gain", settings.minGain},
               {"verify_all", settings.verifyAll},
               {"batch", settings.batch}});
  if (settings.at)
    json["at"] = settings.at->identity();
  return json;
}

} // namespace kopt
