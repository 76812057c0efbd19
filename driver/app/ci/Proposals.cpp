// SPDX-License-Identifier: Apache-2.0
#include "driver/app/ci/Proposals.h"

#include "driver/app/tune/Tune.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

double headSeconds(const GateKernel &kernel) {
  double sum = 0;
  for (const GateLaunch &launch : kernel.launches)
    sum += launch.headSeconds;
  return sum;
}

Result<TuneSettings> tuneSettings(const CiRequest &request, const ProposalSettings &settings,
                                  const GateKernel &kernel, double seconds) {
  KOPT_TRY(TuneSettings tune, tuneSettingsOf(settings.options, request));
  tune.root = settings.root;
  tune.selection.symbols = std::vector<std::string>{kernel.symbol};
  tune.output = settings.output;
  tune.budget.seconds = seconds;
  tune.assurance = settings.assurance;
  tune.options.experience = "off"; // what a gate proposes depends on nothing but the project
  return tune;
}

/// Writes the patch to a file that a later run of kopt replaces.
Result<GateProposal> writeProposal(const TuneOutcome &outcome, const GateKernel &kernel,
                                   const std::filesystem::path &folder) {
  GateProposal proposal{kernel.kernel,
                        outcome.winner->candidate.title,
                        kernel.place,
                        *outcome.winner->speedup,
                        toString(outcome.winner->assurance.level),
                        (folder / (slug(kernel.kernel, 80) + ".patch")).string()};
  KOPT_TRY(const std::string text, readFile(outcome.patch));
  KOPT_CHECK(writeFileAtomically(proposal.patch, text));
  return proposal;
}

} // namespace

std::vector<std::size_t> kernelsToTune(const GateReport &report) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < report.kernels.size(); ++i)
    if (const GateKernel &kernel = report.kernels[i]; !kernel.broken &&
                                                      kernel.change != KernelChange::Moved &&
                                                      kernel.change != KernelChange::Removed)
      order.push_back(i);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const GateKernel &one = report.kernels[a], &other = report.kernels[b];
    if (one.isAlarm() != other.isAlarm())
      return one.isAlarm();
    return headSeconds(one) > headSeconds(other);
  });
  return order;
}

Status addGateProposals(const Services &services, const CiRequest &request,
                        const ProposalSettings &settings, GateReport &report) {
  const auto start = services.clock.now();
  for (const std::size_t index : kernelsToTune(report)) {
    const GateKernel &kernel = report.kernels[index];
    const double left =
        settings.options.budgetSeconds - Duration(services.clock.now() - start).count();
    if (report.proposals.size() >= settings.most || left <= 0) {
      report.notes.push_back(fmt::format("{} was not tuned: {}", kernel.kernel,
                                         left <= 0 ? "the time of --propose is over"
                                                   : "there are as many proposals as are wanted"));
      continue;
    }
    KOPT_TRY(TuneSettings tune, tuneSettings(request, settings, kernel, left));
    TuneSession session(services, std::move(tune));
    const auto outcomes = session.run();
    if (!outcomes && (outcomes.error().code == ErrorCode::Environment ||
                      outcomes.error().code == ErrorCode::Interrupted))
      return tl::unexpected(outcomes.error());
    if (!outcomes) {
      report.notes.push_back(
          fmt::format("{} could not be tuned: {}", kernel.kernel, outcomes.error().what));
      continue;
    }
    for (const TuneOutcome &outcome : *outcomes) {
      if (outcome.error)
        report.notes.push_back(
            fmt::format("{} could not be tuned: {}", kernel.kernel, outcome.error->what));
      if (!outcome.winner || outcome.patch.empty() || report.proposals.size() >= settings.most)
        continue;
      KOPT_TRY(GateProposal proposal, writeProposal(outcome, kernel, settings.output / "ci"));
      report.proposals.push_back(std::move(proposal));
    }
  }
  return {};
}

} // namespace kopt
