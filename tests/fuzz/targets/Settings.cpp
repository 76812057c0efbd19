// SPDX-License-Identifier: Apache-2.0
// kopt.toml of a user and of a repository, the manifest of kopt_tune_kernels(), descriptions of
// GPUs.
#include "driver/app/config/Options.h"
#include "driver/source/TuneClauses.h"
#include "runtime/emulated/model/GpuSpec.h"
#include "tests/fuzz/Fuzz.h"

#include <cmath>

using namespace kopt;
using kopt::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string_view input = kopt::fuzz::textOf(data, size);
  const unsigned reader = kopt::fuzz::takeChoice(input, 4);
  const std::filesystem::path file = kopt::fuzz::scratch().write("settings", input);
  if (reader == 3) {
    runtime::emulated::GpuSpec spec;
    std::string why;
    if (!runtime::emulated::GpuSpec::read(file.string(), spec, why))
      require(!why.empty(), "a refused description says why");
    else
      require(spec.multiprocessors > 0 && spec.dramLatencyCycles > 0 &&
                  std::isfinite(spec.dramBytesPerSecond),
              "an accepted description has all of its numbers");
    return 0;
  }
  const auto source = reader == 2 ? config::readManifest(file)
                                  : config::readToml(file, reader == 0 ? config::Trust::User
                                                                       : config::Trust::Repository);
  if (!source) {
    require(!source.error().what.empty() && !source.error().where.empty(),
            "an error says what and where");
    return 0;
  }
  const TuneOptions &options = source->options;
  if (reader == 1) {
    require(!options.tests && !options.benchmark, "a repository chooses no command");
    require(!options.model || options.model->rfind("exec:", 0) != 0,
            "a repository's model runs no command");
  }
  require(reader != 2 || !options.model, "a build system chooses no model");
  require(options.rounds.value_or(1) >= 1 && options.trials.value_or(1) >= 1 &&
              options.patience.value_or(1) >= 1 && options.budgetSeconds.value_or(1) > 0 &&
              options.minSpeedup.value_or(1) >= 1,
          "numbers lie in their ranges");
  for (const KernelClauses &kernel : source->kernels) {
    require(!kernel.pattern.empty(), "clauses belong to a kernel");
    (void)parseTuneDeclaration(kernel.clauses);
  }
  return 0;
}
