// SPDX-License-Identifier: Apache-2.0
// kopt.toml of a user and of a repository, the manifest of kopt_tune_kernels(), descriptions of
// GPUs.
#include "driver/config/Options.h"
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
  const auto textOf = [&](const char *key) {
    const auto found = options.find(key);
    return found == options.end() ? std::string() : std::get<std::string>(found->second);
  };
  if (reader == 1) {
    require(!options.contains("tests") && !options.contains("benchmark"),
            "a repository chooses no command");
    require(!textOf("model").starts_with("exec:"), "a repository's model runs no command");
  }
  require(reader != 2 || !options.contains("model"), "a build system chooses no model");
  for (const char *key : {"rounds", "trials", "patience"})
    require(!options.contains(key) || std::get<std::int64_t>(options.at(key)) >= 1,
            "numbers lie in their ranges");
  require(!options.contains("budget-seconds") || std::get<double>(options.at("budget-seconds")) > 0,
          "numbers lie in their ranges");
  require(!options.contains("min-gain") || std::get<double>(options.at("min-gain")) >= 1,
          "numbers lie in their ranges");
  for (const KernelClauses &kernel : source->kernels) {
    require(!kernel.pattern.empty(), "clauses belong to a kernel");
    (void)parseTuneDeclaration(kernel.clauses);
  }
  return 0;
}
