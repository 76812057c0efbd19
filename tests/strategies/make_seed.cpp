// SPDX-License-Identifier: Apache-2.0
// make_seed RECORDING... > knowledge/seed.json: what techniques gained in these recordings
// (tests/benchmarks/record_trials.py), by the state that they were applied in and the architecture.
#include "driver/model/Json.h"
#include "driver/support/Text.h"
#include "strategies/WarmStart.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <fmt/chrono.h>

namespace kopt::fakes {
namespace {

Status make(const std::vector<std::string> &files) {
  KOPT_TRY(ExperienceBase base, ExperienceBase::open(":memory:"));
  nlohmann::json kernels = nlohmann::json::array();
  for (const std::string &file : files) {
    KOPT_TRY(const RecordedKernel kernel, RecordedKernel::load(file));
    KOPT_TRY(const std::size_t added, base.add(lessonsOfRun(wholeRecording(kernel))));
    kernels.push_back({{"program", kernel.program},
                       {"kernel", kernel.kernel},
                       {"device", kernel.device},
                       {"trials", added}});
  }
  KOPT_TRY(const std::int64_t now, base.last());
  KOPT_TRY(std::vector<TechniqueOutcomes> outcomes, base.outcomes(now, false));
  nlohmann::json rounded = nlohmann::json::array();
  for (TechniqueOutcomes &each : outcomes) {
    for (double *sum : {&each.sums.gain, &each.sums.square, &each.sums.seconds})
      *sum = std::round(*sum * 1e4) / 1e4;
    rounded.push_back(toJson(each));
  }
  const auto lines = [](const nlohmann::json &all) {
    std::vector<std::string> texts;
    for (const nlohmann::json &each : all)
      texts.push_back(dumpJson(each));
    return "[\n    " + join(texts, ",\n    ") + "\n  ]";
  };
  fmt::print("{{\n  \"made\": \"tests/strategies/make_seed, {:%Y-%m-%d}\",\n  \"kernels\": {},\n"
             "  \"outcomes\": {}\n}}\n",
             fmt::gmtime(std::time(nullptr)), lines(kernels), lines(rounded));
  return {};
}

} // namespace
} // namespace kopt::fakes

int main(int count, char **arguments) {
  const kopt::Status status = kopt::fakes::make({arguments + 1, arguments + count});
  if (!status)
    fmt::print(stderr, "error: {}\n", status.error().what);
  return status ? 0 : 2;
}
