// SPDX-License-Identifier: Apache-2.0
#include "driver/app/tune/Recall.h"

#include "driver/app/tune/Lessons.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// Stored edits that are offered again, one trial each.
constexpr std::size_t kMostRecalled = 6;

/// Kernels of its kind that a kernel learns from.
constexpr std::size_t kMostAlike = 8;

/// What techniques are expected to gain, and for the user on what that rests.
Status addPriors(Recalled &recalled, ExperienceBase &base, const DeviceInfo &device,
                 const KernelPrint &print, const RunRecord &run, const std::string &state) {
  const std::string arch = experienceArch(device);
  auto &ofAKind = recalled.precedents.ofAKind;
  KOPT_TRY(ofAKind, base.ofAKind(run.experience, print.features, device.modelled, kMostAlike));
  KOPT_TRY(const std::vector<TechniqueOutcomes> known,
           base.outcomes(run.experience, device.modelled));
  if (!device.modelled) { // GPUs teach nothing about it
    KOPT_TRY(const std::vector<TechniqueOutcomes> seed, seedOutcomes());
    recalled.priors = priorsFrom(seed, state, arch);
  }
  recalled.priors = priorsFrom(known, state, arch, ofAKind, std::move(recalled.priors));
  std::int64_t trials = 0, alike = 0;
  for (const TechniqueOutcomes &each : known)
    trials += each.sums.trials;
  for (const auto &[recipe, sums] : ofAKind)
    alike += sums.trials;
  if (trials > 0)
    recalled.rests = fmt::format(
        "what techniques are expected to gain rests on {} of earlier runs, {} of them of kernels "
        "of this kind",
        counted(std::size_t(trials), "trial", "trials"), alike);
  return {};
}

} // namespace

Result<Recalled> recall(ExperienceBase &base, Workbench &bench, const TuneSubject &subject,
                        const RunRecord &run, const Trial &baseline, bool withPriors) {
  const DeviceInfo &device = bench.device();
  const KernelPrint print = printOf(subject, baseline.counters, codeCounts(bench, subject));
  Recalled recalled;
  KOPT_TRY(recalled.edits,
           base.recall(run.experience, print.text, experienceArch(device), kMostRecalled));
  if (withPriors)
    KOPT_CHECK(addPriors(recalled, base, device, print, run, baseline.diagnosis.state));
  const std::string changes = counted(recalled.edits.size(), "change", "changes");
  if (!recalled.rests.empty())
    recalled.rests += fmt::format("; {} to try first", changes);
  else if (!recalled.edits.empty())
    recalled.rests = fmt::format("{} of earlier runs to try first", changes);
  KOPT_TRY(std::vector<Remembered> same, base.ofKernels(run.experience, print.name));
  std::erase_if(same, [&](const Remembered &row) {
    return row.experience.kernel.text != print.text ||
           (row.experience.arch == kEmulatedArch) != device.modelled;
  });
  if (withPriors)
    recalled.precedents.ofText = triedIn(same, experienceArch(device), baseline.candidateHash);
  for (const Remembered &row : same)
    if (row.edits && row.experience.overBaseline)
      recalled.precedents.numbers.push_back({*row.edits, row.experience.overBaseline->estimate});
  return recalled;
}

} // namespace kopt
