// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/learn/WorkloadAdequacy.h"

#include "driver/judge/learn/Strengthening.h"
#include "driver/model/Json.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/JobQueue.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <future>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

constexpr int kFormat = 6; ///< version of the cached reports and of how mutants are judged: a new
                           ///< number makes all be judged anew

std::string identity(CheckContext &context, const std::vector<std::unique_ptr<Check>> &checks,
                     const AdequacySettings &settings, const MutantSet &mutants) {
  const Subject &subject = context.subject();
  std::string names, versions;
  for (const std::unique_ptr<Check> &check : checks)
    names += std::string(toString(check->id())) + " ";
  for (const Mutant &mutant : mutants.mutants)
    versions += mutant.sliceText;
  const DeviceInfo &device = context.runner().device();
  Workload workload = subject.workload;
  workload.launches = context.baseline().launches;
  for (Launch &launch : workload.launches)
    launch.weight = 0; // measured, so different each time, and irrelevant here
  return hashFields(
      std::to_string(kFormat), hashHex(versions), subject.sliceText, settings.build.expression,
      join(settings.build.flags, " "), canonicalJson(workload), names + context.switches().list(),
      toString(device.kind), device.name, settings.toolchain, std::to_string(context.seed()));
}

struct BuiltMutant {
  const Mutant *mutant = nullptr;
  std::future<Result<BuildOutcome>> outcome;
};

/// Why a version that no check refuses may be as right as the original.
std::string excuseOf(const Mutant &mutant) {
  if (mutant.mayBeEqual.empty() && mutant.kind == MutantKind::Schedule)
    return "only another order of threads shows it";
  return mutant.mayBeEqual;
}

/// What was needed to notice a mutant.
struct Noticed {
  int draws = 0; ///< draws of inputs until some check refuses it; 0: none did
  std::optional<AdequacyReport::Addition> addition; ///< the launch that shows it, if one was added
};

/// The most launches derived for one mutant, and for all of them; a try runs five small launches.
constexpr std::size_t kTries = 24, kAllTries = 96;
constexpr double kMutantSeconds = 0.5; ///< as CheckContext::candidateSeconds
/// Of a launch, for each draw of its inputs: the original's and the mutant's.
constexpr double kRunsPerDraw = 2;

Result<MutantSet> mutantsOf(Frontend &frontend, const Subject &subject, std::uint64_t seed,
                            const AdequacySettings &settings) {
  MutantRequest request;
  request.atMost = settings.atMost;
  request.seed = seed;
  return frontend.mutants(subject.sliceText, settings.build.expression, subject.kernel, request);
}

std::vector<BuiltMutant> startBuilds(const MutantSet &mutants, Toolchain &toolchain,
                                     const AdequacySettings &settings, JobQueue &builders) {
  std::vector<BuiltMutant> built;
  for (const Mutant &mutant : mutants.mutants) {
    BuildRequest build = settings.build;
    build.sliceText = mutant.sliceText;
    build.output = settings.scratch / fmt::format("mutant-{}", built.size());
    built.push_back(
        {&mutant, builders.call([&toolchain, build] { return toolchain.build(build); })});
  }
  return built;
}

/// Runs the mutants of one kernel through the checks.
class MutantTest {
public:
  MutantTest(CheckContext &context, const std::vector<std::unique_ptr<Check>> &checks,
             const DerivedReplays &replays, RenderedCandidate original, std::string symbol,
             double mostSeconds)
      : context_(context), checks_(checks), replays_(replays), original_(std::move(original)),
        symbol_(std::move(symbol)), mostSeconds_(mostSeconds),
        forCandidates_(context.candidateSeconds) {
    context_.candidateSeconds = kMutantSeconds; // they differ little from the original, or hang
  }
  ~MutantTest() { context_.candidateSeconds = forCandidates_; }
  MutantTest(const MutantTest &) = delete;
  MutantTest &operator=(const MutantTest &) = delete;

  /// Once so many seconds more have passed.
  bool isOutOfTime(double more = 0) const { return time_.seconds() + more > mostSeconds_; }

  /// True if one of the checks that every candidate goes through refuses the mutant, on one draw of
  /// inputs.
  Result<bool> isNoticedAtFirst(const Mutant &mutant, const BuildOutcome &outcome) {
    const LoggedStage logged("try " + mutant.title);
    return onLoaded(outcome, true, [&](const Built &built) {
      return isNoticed(mutant, built, seedFrom(outcome.hash), 1, Depth::Search);
    });
  }

  /// Runs every check, as for a winner, on more and more draws of inputs; then tries other
  /// launches, which become the report's additions.
  Result<Noticed> lookCloser(const Mutant &mutant, const BuildOutcome &outcome,
                             const std::vector<AdequacyReport::Addition> &additions) {
    const LoggedStage logged("look closer at " + mutant.title);
    return onLoaded(outcome, Noticed{1, {}}, [&](const Built &built) -> Result<Noticed> {
      const std::uint64_t seed = seedFrom(outcome.hash);
      for (const int draws : {1, 5, 25}) {
        if (isOutOfTime(kRunsPerDraw * draws * runSeconds()))
          return Noticed();
        KOPT_TRY(const bool noticed,
                 isNoticed(mutant, built, ~seed + std::uint64_t(draws) * 2, draws, Depth::Win));
        if (noticed)
          return Noticed{draws, {}};
      }
      const std::size_t own = std::min(tries_, kTries);
      tries_ -= own;
      KOPT_TRY(auto addition, findTellingLaunch(context_, replays_, built, seed, own, additions,
                                                [this] { return isOutOfTime(); }));
      return Noticed{addition ? 1 : 0, std::move(addition)};
    });
  }

private:
  /// Loads the module and calls `look`. `untaken` is the answer if the device cannot load it.
  template <class Answer, class Look>
  Result<Answer> onLoaded(const BuildOutcome &outcome, Answer untaken, Look look) {
    Built built;
    built.path = outcome.module;
    built.symbol = symbol_;
    built.launches = context_.baseline().launches;
    auto loaded = context_.runner().load(built.path, built.symbol);
    if (!loaded && loaded.error().code == ErrorCode::BaselineFailed)
      return untaken;
    if (!loaded)
      return tl::unexpected(loaded.error());
    built.module = loaded->id;
    Result<Answer> answer = look(built);
    context_.runner().unload(built.module);
    return answer;
  }

  Result<bool> isNoticed(const Mutant &mutant, const Built &built, std::uint64_t freshSeed,
                         int draws, Depth depth) {
    RenderedCandidate version = original_; // it has no edits of its own
    version.title = mutant.title;
    version.slice.text = mutant.sliceText;
    Trial trial;
    Strength strength;
    strength.freshDraws = draws;
    Examination examination{version, built, freshSeed, strength, depth, trial};
    std::vector<Check *> inOrder;
    for (const std::unique_ptr<Check> &check : checks_)
      if (check->seesResults())
        inOrder.push_back(check.get());
    // Which check notices it makes no difference, so those that run gigabytes come last.
    if (replays_.isLight())
      std::ranges::stable_partition(inOrder,
                                    [](const Check *check) { return !check->runsWorkload(); });
    for (Check *check : inOrder) {
      CheckRecord record;
      KOPT_TRY(const auto failure, check->check(context_, examination, record));
      if (failure || !trial.assurance.counterexamples.empty())
        return true;
    }
    return false;
  }

  double runSeconds() const {
    const std::size_t heaviest = context_.heaviest();
    return heaviest < context_.baselineSeconds.size() ? context_.baselineSeconds[heaviest] : 0;
  }

  CheckContext &context_;
  const std::vector<std::unique_ptr<Check>> &checks_;
  const DerivedReplays &replays_;
  const RenderedCandidate original_;
  const std::string symbol_;
  const double mostSeconds_, forCandidates_;
  const OwnTime time_{context_};
  std::size_t tries_ = kAllTries;
};

} // namespace

Result<AdequacyReport> testAdequacy(CheckContext &context,
                                    const std::vector<std::unique_ptr<Check>> &checks,
                                    const DerivedReplays &replays, Frontend &frontend,
                                    Toolchain &toolchain, const AdequacySettings &settings) {
  const Subject &subject = context.subject();
  KOPT_TRY(const MutantSet mutants, mutantsOf(frontend, subject, context.seed(), settings));
  const std::filesystem::path file =
      settings.cache.empty()
          ? settings.cache
          : settings.cache / (identity(context, checks, settings, mutants) + ".json");
  if (const auto text = readFile(file); text && !file.empty())
    if (auto known = fromJson<AdequacyReport>(nlohmann::json::parse(*text, nullptr, false)))
      return *known;
  JobQueue builders(std::max(1u, settings.threads));
  std::vector<BuiltMutant> built = startBuilds(mutants, toolchain, settings, builders);
  AdequacyReport report;
  KOPT_TRY(RenderedCandidate original, renderCandidate(subject, Candidate()));
  MutantTest test(context, checks, replays, std::move(original), settings.build.symbol,
                  settings.mostSeconds);
  // Grouped by machine code, as several mutants may be the same program. All are first tried as
  // candidates are; those that pass are then examined more closely. So the time is enough to try
  // every mutant once.
  struct Version {
    BuildOutcome outcome;
    std::vector<const Mutant *> mutants;
    Noticed noticed;
  };
  std::vector<Version> versions;
  for (BuiltMutant &item : built) {
    // Do not wait for mutants that are not compiled when the time is over.
    if (test.isOutOfTime() &&
        item.outcome.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
      ++report.untried;
      continue;
    }
    KOPT_TRY(BuildOutcome outcome, item.outcome.get());
    if (!outcome.ok || outcome.hash == context.baseline().hash)
      continue; // not a wrong version of the kernel
    const auto known = std::ranges::find(
        versions, outcome.hash, [](const Version &version) { return version.outcome.hash; });
    if (known != versions.end()) {
      known->mutants.push_back(item.mutant);
      continue;
    }
    if (test.isOutOfTime()) {
      ++report.untried;
      continue;
    }
    KOPT_TRY(const bool noticed, test.isNoticedAtFirst(*item.mutant, outcome));
    versions.push_back({std::move(outcome), {item.mutant}, {noticed ? 1 : 0, {}}});
  }
  for (Version &version : versions) {
    const Mutant &mutant = *version.mutants.front();
    if (version.noticed.draws == 0 && excuseOf(mutant).empty()) {
      KOPT_TRY(version.noticed, test.lookCloser(mutant, version.outcome, report.additions));
    }
    const auto &addition = version.noticed.addition;
    if (addition && std::ranges::count(report.additions, *addition) == 0)
      report.additions.push_back(*addition);
    report.tried += version.mutants.size();
    if (version.noticed.draws > 0) {
      report.noticed += version.mutants.size();
      report.draws = std::max(report.draws, version.noticed.draws);
      continue;
    }
    for (const Mutant *one : version.mutants)
      report.survivors.push_back({one->title, one->op, one->line, excuseOf(*one)});
  }
  if (test.isOutOfTime())
    return report; // not cached: another run may get further
  if (!file.empty() && createDirectories(settings.cache))
    (void)writeFileAtomically(file, // if this fails, the next run judges them again
                              canonicalJson(report));
  return report;
}

void compileMutantsAhead(std::shared_ptr<const Subject> subject, std::uint64_t seed,
                         Frontend &frontend, Toolchain &toolchain, AdequacySettings settings,
                         JobQueue &jobs) {
  jobs.add([subject = std::move(subject), seed, &frontend, &toolchain,
            settings = std::move(settings), &jobs] {
    const auto mutants = mutantsOf(frontend, *subject, seed, settings);
    for (std::size_t i = 0; mutants && i < mutants->mutants.size(); ++i) {
      BuildRequest build = settings.build;
      build.sliceText = mutants->mutants[i].sliceText;
      build.output = settings.scratch / fmt::format("mutant-ahead-{}", i);
      jobs.add(
          [&toolchain, build = std::move(build)] { static_cast<void>(toolchain.build(build)); });
    }
  });
}

} // namespace kopt
