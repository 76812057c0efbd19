// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/WorkloadAdequacy.h"

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
    4; ///< of what is kept and of how mutants are judged: another number, and all are judged anew

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

json toJson(const AdequacyReport &report) {
  json survivors = json::array();
  for (const AdequacyReport::Survivor &survivor : report.survivors)
    survivors.push_back({{"title", survivor.title},
                         {"op", survivor.op},
                         {"line", survivor.line},
                         {"excuse", survivor.excuse}});
  return {{"tried", report.tried},
          {"noticed", report.noticed},
          {"draws", report.draws},
          {"survivors", survivors}};
}

/// Nothing where there is none, or none that can be read: then it is made anew.
std::optional<AdequacyReport> findReport(const std::filesystem::path &file) {
  const auto text = readFile(file);
  const json value = text ? json::parse(*text, nullptr, false) : json();
  if (!value.is_object())
    return std::nullopt;
  try {
    AdequacyReport report;
    report.tried = value.at("tried");
    report.noticed = value.at("noticed");
    report.draws = value.at("draws");
    for (const json &item : value.at("survivors"))
      report.survivors.push_back(
          {item.at("title"), item.at("op"), item.at("line"), item.at("excuse")});
    return report;
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

/// On how many draws of the inputs some check refuses it; 0: on none that are tried. A first look
/// takes one, and so does the second that a winner has, with every check; what only some inputs
/// show takes more.
Result<int> drawsToNotice(CheckContext &bench, const std::vector<std::unique_ptr<Check>> &checks,
                          const Mutant &mutant, const BuildOutcome &outcome,
                          const std::string &symbol) {
  Built built;
  built.path = outcome.module;
  built.symbol = symbol;
  built.launches = bench.baseline().launches;
  auto loaded = bench.runner().load(built.path, built.symbol);
  if (!loaded) {
    if (loaded.error().code == ErrorCode::BaselineFailed)
      return 1; // the device does not take it
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
  const auto judge = [&]() -> Result<int> {
    KOPT_TRY(const bool atFirst, isNoticed(seed, 1, Depth::Search));
    if (atFirst)
      return 1;
    if (!excuseOf(mutant).empty())
      return 0; // it may be as right as the original
    for (const int draws : {1, 5, 25}) {
      KOPT_TRY(const bool noticed, isNoticed(~seed + std::uint64_t(draws) * 2, draws, Depth::Win));
      if (noticed)
        return draws;
    }
    return 0;
  };
  const Result<int> draws = judge();
  bench.runner().unload(built.module);
  return draws;
}

} // namespace

bool AdequacyReport::isTooWeak() const {
  return std::any_of(survivors.begin(), survivors.end(),
                     [](const Survivor &survivor) { return survivor.excuse.empty(); });
}

std::string AdequacyReport::inWords() const {
  std::string text =
      fmt::format("{} of {} wrong versions of the kernel are noticed", noticed, tried);
  if (draws > 1)
    text += fmt::format(", not all on fewer than {} draws of the inputs", draws);
  for (const Survivor &survivor : survivors)
    text += fmt::format("; not noticed: {}{}", survivor.title,
                        survivor.excuse.empty() ? "" : " (" + survivor.excuse + ")");
  return text;
}

std::string AdequacyReport::remedy() const {
  static const std::pair<const char *, const char *> kRemedies[] = {
      {"comparison", "a launch whose size is no multiple of the block, or with another number of "
                     "rows and columns"},
      {"bound", "a launch whose size is no multiple of the block"},
      {"loop", "a launch with more steps or longer rows"},
      {"index", "a launch with more than one block in each dimension"},
      {"literal", "inputs that reach the branch with that number"},
      {"arithmetic", "other fills, so that the operand is neither 0 nor 1"},
  };
  std::vector<std::string> remedies;
  for (const Survivor &survivor : survivors)
    if (survivor.excuse.empty()) {
      std::string text = "inputs or arguments with which that line decides an output";
      for (const auto &[part, remedy] : kRemedies)
        if (survivor.op.find(part) != std::string::npos)
          text = remedy;
      if (std::find(remedies.begin(), remedies.end(), text) == remedies.end())
        remedies.push_back(text);
    }
  return join(remedies, "; ");
}

Result<AdequacyReport> testAdequacy(CheckContext &bench,
                                    const std::vector<std::unique_ptr<Check>> &checks,
                                    Frontend &frontend, Toolchain &toolchain,
                                    const AdequacySettings &settings) {
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
  for (BuiltMutant &item : built) {
    KOPT_TRY(const BuildOutcome outcome, item.outcome.get());
    if (!outcome.ok || outcome.hash == bench.baseline().hash)
      continue; // no wrong version of the kernel
    ++report.tried;
    auto seen = known.find(outcome.hash);
    if (seen == known.end()) {
      KOPT_TRY(const int draws,
               drawsToNotice(bench, checks, *item.mutant, outcome, settings.build.symbol));
      seen = known.emplace(outcome.hash, draws).first;
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
                              toJson(report).dump()); // without it the next run judges them again
  return report;
}

} // namespace kopt
