// SPDX-License-Identifier: Apache-2.0
#include "driver/app/TuneSettings.h"

#include "driver/app/config/GpuSelection.h"

namespace kopt {

Result<TuneSettings> tuneSettingsOf(const ResolvedOptions &options,
                                    const std::filesystem::path &root) {
  TuneSettings settings;
  settings.root = root;
  settings.output = root / options.output; // `output` may be absolute
  KOPT_TRY(settings.gpus, parseGpuSelection(options.gpus));
  settings.arch = options.arch;
  settings.proposers = options.proposers;
  settings.model = options.model;
  settings.maxTokens = options.maxTokens;
  settings.budget.rounds = int(options.rounds);
  settings.budget.trials = int(options.trials);
  settings.budget.patience = int(options.patience);
  settings.budget.seconds = options.budgetSeconds;
  settings.minGain = options.minSpeedup - 1;
  settings.seed = std::uint64_t(options.seed);
  return settings;
}

} // namespace kopt
