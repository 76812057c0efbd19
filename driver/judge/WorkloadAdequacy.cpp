// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/WorkloadAdequacy.h"

#include "driver/judge/Strengthening.h"
#include "driver/model/Json.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/JobQueue.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <map>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

using nlohmann::json;

constexpr int kFormat =
    5; ///< of what is kept and of how mutants are judged: another number, and all are judged anew

std::string identity(CheckContext &bench, const std::vector<std::unique_ptr<Check>> &checks,
                     const AdequacySettings &settings, const MutantSet &mutants) {
  const Subject &subject = bench.subject();
  std::string names, versions;
  for (const std::unique_ptr<Check> &check : checks)
    names += check->name() + " ";
  for (const Mutant &mutant : mutants.mutants)
    versions += mutant.sliceText;
  const DeviceInfo &device = bench.runner().device();
  Workload workload = subject.workload;
  for (Launch &launch : workload.launches)
    launch.weight = 0; // measured, so another each time, and of no consequence here
  return hashFields(std::to_string(kFormat), hashHex(versions), subject.sliceText,
                    settings.build.expression, join(settings.build.flags, " "),
                    canonicalJson(workload), names + bench.switches().list(), toString(device.kind),
                    device.name, settings.toolchain, std::to_string(bench.seed()));
}

/// Nothing where there is none, or none that can be read: then it is made anew.
std::optional<AdequacyReport> findReport(const std::filesystem::path &file) {
  const auto text = readFile(file);
  const json value = text ? json::parse(*text, nullptr, false) : json();
  if (!value.is_object())
    return std::nullopt;
  try {
    return value.get<AdequacyReport>();
  } catch (const json::exception &) {
    return std::nullopt;
  }
}

struct BuiltMutant {
  const Mutant *mutant = nullptr;
  std::future<Result<BuildOutcome>> outcome;
};

/// Why a version that nothing refuses may be as right as the original.
std::string excuseOf(const Mutant &mutant) {
  if (mutant.mayBeEqual.empty() && mutant.kind == MutantKind::Schedule)
    return "only another order of threads shows it";
  return mutant.mayBeEqual;
}

/// What it takes to notice a mutant.
struct Noticed {
  int draws = 0; ///< of the inputs, on which some check refuses it; 0: on none that are tried
  std::optional<AdequacyReport::Addition> addition; ///< where another launch tells it
};

/// Launches that are derived for one mutant, and for all of them: a try takes five small launches.
constexpr std::size_t kTries = 24, kAllTries = 96;

/// A first look takes one draw of the inputs, and so does the second that a winner has, with every
/// check; what only some inputs show takes more. `tries` is what is left of launches that may be
/// derived.
Result<Noticed> notice(CheckContext &bench, const std::vector<std::unique_ptr<Check>> &checks,
                       const DerivedReplays &replays, const Mutant &mutant,
                       const BuildOutcome &outcome, const std::string &symbol,
                       const std::vector<AdequacyReport::Addition> &additions, std::size_t &tries) {
  Built built;
  built.path = outcome.module;
  built.symbol = symbol;
  built.launches = bench.baseline().launches;
  auto loaded = bench.runner().load(built.path, built.symbol);
  if (!loaded) {
    if (loaded.error().code == ErrorCode::BaselineFailed)
      return Noticed{1, {}}; // the device does not take it
    return tl::unexpected(loaded.error());
  }
  built.module = loaded->id;
  Trial trial;
  trial.sliceText = mutant.sliceText;
  const Candidate original;
  const std::uint64_t seed = seedFrom(outcome.hash);
  const auto isNoticed = [&](std::uint64_t freshSeed, int draws, Depth depth) -> Result<bool> {
    Strength strength;
    strength.freshDraws = draws;
    Examination examination{original, built, freshSeed, strength, depth, trial};
    for (const std::unique_ptr<Check> &check : checks) {
      if (!check->seesResults())
        continue;
      CheckRecord record;
      KOPT_TRY(const auto failure, check->check(bench, examination, record));
      if (failure)
        return true;
    }
    return false;
  };
  const auto judge = [&]() -> Result<Noticed> {
    KOPT_TRY(const bool atFirst, isNoticed(seed, 1, Depth::Search));
    if (atFirst)
      return Noticed{1, {}};
    if (!excuseOf(mutant).empty())
      return Noticed(); // it may be as right as the original
    for (const int draws : {1, 5, 25}) {
      KOPT_TRY(const bool noticed, isNoticed(~seed + std::uint64_t(draws) * 2, draws, Depth::Win));
      if (noticed)
        return Noticed{draws, {}};
    }
    const std::size_t own = std::min(tries, kTries);
    tries -= own;
    KOPT_TRY(auto addition, findTellingLaunch(bench, replays, built, seed, own, additions));
    return Noticed{addition ? 1 : 0, std::move(addition)};
  };
  Result<Noticed> noticed = judge();
  bench.runner().unload(built.module);
  return noticed;
}

} // namespace

Result<AdequacyReport> testAdequacy(CheckContext &bench,
                                    const std::vector<std::unique_ptr<Check>> &checks,
                                    const DerivedReplays &replays, Frontend &frontend,
                                    Toolchain &toolchain, const AdequacySettings &settings) {
  const Subject &subject = bench.subject();
  MutantRequest request;
  request.atMost = settings.atMost;
  request.seed = bench.seed();
  KOPT_TRY(const MutantSet mutants,
           frontend.mutants(subject.sliceText, settings.build.expression, subject.kernel, request));
  const std::filesystem::path file =
      settings.cache.empty()
          ? settings.cache
          : settings.cache / (identity(bench, checks, settings, mutants) + ".json");
  if (!file.empty())
    if (auto known = findReport(file))
      return *known;
  std::vector<BuiltMutant> built;
  JobQueue builders(std::max(1u, settings.threads));
  for (const Mutant &mutant : mutants.mutants) {
    auto job = std::make_shared<std::packaged_task<Result<BuildOutcome>()>>(
        [&toolchain, &mutant, build = settings.build,
         output = settings.scratch / fmt::format("mutant-{}", built.size())]() mutable {
          build.sliceText = mutant.sliceText;
          build.output = output;
          return toolchain.build(build);
        });
    built.push_back({&mutant, job->get_future()});
    builders.add([job] { (*job)(); });
  }
  AdequacyReport report;
  std::map<std::string, int> known; // by machine code: several mutants may be the same program
  std::size_t tries = kAllTries;
  for (BuiltMutant &item : built) {
    KOPT_TRY(const BuildOutcome outcome, item.outcome.get());
    if (!outcome.ok || outcome.hash == bench.baseline().hash)
      continue; // no wrong version of the kernel
    ++report.tried;
    auto seen = known.find(outcome.hash);
    if (seen == known.end()) {
      KOPT_TRY(const Noticed noticed, notice(bench, checks, replays, *item.mutant, outcome,
                                             settings.build.symbol, report.additions, tries));
      seen = known.emplace(outcome.hash, noticed.draws).first;
      const auto isSame = [&](const AdequacyReport::Addition &other) {
        return other.kind == noticed.addition->kind && other.base == noticed.addition->base &&
               other.seed == noticed.addition->seed;
      };
      if (noticed.addition && std::ranges::none_of(report.additions, isSame))
        report.additions.push_back(*noticed.addition);
    }
    if (seen->second > 0) {
      ++report.noticed;
      report.draws = std::max(report.draws, seen->second);
      continue;
    }
    const Mutant &mutant = *item.mutant;
    report.survivors.push_back({mutant.title, mutant.op, mutant.line, excuseOf(mutant)});
  }
  if (!file.empty() && createDirectories(settings.cache))
    (void)writeFileAtomically(file,
                              json(report).dump()); // without it the next run judges them again
  return report;
}

} // namespace kopt
