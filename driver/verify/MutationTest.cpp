// SPDX-License-Identifier: Apache-2.0
#include "driver/verify/MutationTest.h"

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

constexpr int kFormat = 3; ///< of what is kept: another number, and all is judged anew

std::string describe(const Launch &launch) {
  std::string text = fmt::format("{} {},{},{} {},{},{} {};", launch.name, launch.grid.x, launch.grid.y, launch.grid.z,
                                 launch.block.x, launch.block.y, launch.block.z, launch.sharedBytes);
  for (const Buffer &buffer : launch.buffers)
    text += fmt::format("{} {} {} {} {} {} {} {} {};", buffer.name, buffer.bytes, buffer.scalar, buffer.fill.kind,
                        buffer.fill.low, buffer.fill.high, buffer.fill.path, buffer.readOnly, buffer.output);
  for (const Argument &argument : launch.arguments)
    if (const auto *value = std::get_if<ValueArg>(&argument))
      text += hashHex(value->bytes) + ";";
  return text;
}

std::string identity(Bench &bench, const std::vector<std::unique_ptr<Gate>> &gates, const MutationSettings &settings,
                     const MutantSet &mutants) {
  const Subject &subject = bench.subject();
  std::string launches, names, versions;
  for (const Launch &launch : subject.workload.launches)
    launches += describe(launch);
  for (const std::unique_ptr<Gate> &gate : gates)
    names += gate->name() + " ";
  for (const Mutant &mutant : mutants.mutants)
    versions += mutant.sliceText;
  const DeviceInfo &device = bench.runner().device();
  return hashFields(std::to_string(kFormat), hashHex(versions), subject.sliceText, settings.build.expression,
                    join(settings.build.flags, " "), launches, names + bench.switches().list(),
                    fmt::format("{} {} {}", subject.workload.tolerance.policy, subject.workload.tolerance.relative,
                                subject.workload.tolerance.absolute),
                    device.kind, device.name, settings.toolchain, std::to_string(bench.seed()));
}

json toJson(const MutationReport &report) {
  json survivors = json::array();
  for (const MutationReport::Survivor &survivor : report.survivors)
    survivors.push_back({{"title", survivor.title}, {"op", survivor.op}, {"line", survivor.line}, {"excuse", survivor.excuse}});
  return {{"tried", report.tried},
          {"noticed", report.noticed},
          {"atFullStrength", report.noticedAtFullStrength},
          {"survivors", survivors}};
}

/// Nothing where there is none, or none that can be read: then it is made anew.
std::optional<MutationReport> findReport(const std::filesystem::path &file) {
  const auto text = readFile(file);
  const json value = text ? json::parse(*text, nullptr, false) : json();
  if (!value.is_object())
    return std::nullopt;
  try {
    MutationReport report;
    report.tried = value.at("tried");
    report.noticed = value.at("noticed");
    report.noticedAtFullStrength = value.at("atFullStrength");
    for (const json &item : value.at("survivors"))
      report.survivors.push_back({item.at("title"), item.at("op"), item.at("line"), item.at("excuse")});
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

/// How hard one has to look before some gate refuses it.
enum class Noticed { AtASecondLook, AtFullStrength, Never };

/// At a first look; at the second that a winner has, on other inputs and with every layer; at full strength: what only some
/// inputs show takes many.
Result<Noticed> whenNoticed(Bench &bench, const std::vector<std::unique_ptr<Gate>> &gates, const Mutant &mutant,
                            const BuildOutcome &outcome, const std::string &symbol) {
  Built built;
  built.path = outcome.module;
  built.symbol = symbol;
  built.launches = bench.baseline().launches;
  auto loaded = bench.runner().load(built.path, built.symbol);
  if (!loaded) {
    if (loaded.error().code == ErrorCode::BaselineFailed)
      return Noticed::AtASecondLook; // the device does not take it
    return tl::unexpected(loaded.error());
  }
  built.module = loaded->id;
  Trial trial;
  trial.sliceText = mutant.sliceText;
  const Candidate original;
  const std::uint64_t seed = std::stoull(hashHex(outcome.hash).substr(0, 15), nullptr, 16);
  const auto isNoticed = [&](std::uint64_t freshSeed, Strength strength, Depth depth) -> Result<bool> {
    Examination examination{original, built, freshSeed, strength, depth, trial};
    for (const std::unique_ptr<Gate> &gate : gates) {
      if (!gate->seesResults())
        continue;
      GateRecord record;
      KOPT_TRY(const auto failure, gate->check(bench, examination, record));
      if (failure)
        return true;
    }
    return false;
  };
  const auto judge = [&]() -> Result<Noticed> {
    KOPT_TRY(const bool atFirst, isNoticed(seed, {}, Depth::Search));
    if (atFirst)
      return Noticed::AtASecondLook;
    if (!excuseOf(mutant).empty())
      return Noticed::Never; // it may be as right as the original
    KOPT_TRY(const bool atSecond, isNoticed(~seed, {}, Depth::Win));
    if (atSecond)
      return Noticed::AtASecondLook;
    KOPT_TRY(const bool atLast, isNoticed(~seed, Strength::full(), Depth::Win));
    return atLast ? Noticed::AtFullStrength : Noticed::Never;
  };
  const Result<Noticed> noticed = judge();
  bench.runner().unload(built.module);
  return noticed;
}

} // namespace

bool MutationReport::isTooWeak() const {
  return std::any_of(survivors.begin(), survivors.end(), [](const Survivor &survivor) { return survivor.excuse.empty(); });
}

std::string MutationReport::inWords() const {
  std::string text = fmt::format("{} of {} wrong versions of the kernel are noticed", noticed, tried);
  if (noticedAtFullStrength > 0)
    text += fmt::format(", {} of them only on many inputs", noticedAtFullStrength);
  for (const Survivor &survivor : survivors)
    text += fmt::format("; not noticed: {}{}", survivor.title,
                        survivor.excuse.empty() ? "" : " (" + survivor.excuse + ")");
  return text;
}

std::string MutationReport::remedy() const {
  static const std::pair<const char *, const char *> kRemedies[] = {
      {"comparison", "a launch whose size is no multiple of the block, or with another number of rows and columns"},
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

Result<MutationReport> testWorkload(Bench &bench, const std::vector<std::unique_ptr<Gate>> &gates, Frontend &frontend,
                                    Toolchain &toolchain, const MutationSettings &settings) {
  const Subject &subject = bench.subject();
  MutantRequest request;
  request.atMost = settings.atMost;
  request.seed = bench.seed();
  KOPT_TRY(const MutantSet mutants,
           frontend.mutants(subject.sliceText, settings.build.expression, subject.kernel, request));
  const std::filesystem::path file =
      settings.cache.empty() ? settings.cache : settings.cache / (identity(bench, gates, settings, mutants) + ".json");
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
  MutationReport report;
  std::map<std::string, Noticed> known; // by machine code: several mutants may be the same program
  for (BuiltMutant &item : built) {
    KOPT_TRY(const BuildOutcome outcome, item.outcome.get());
    if (!outcome.ok || outcome.hash == bench.baseline().hash)
      continue; // no wrong version of the kernel
    ++report.tried;
    auto seen = known.find(outcome.hash);
    if (seen == known.end()) {
      KOPT_TRY(const Noticed noticed, whenNoticed(bench, gates, *item.mutant, outcome, settings.build.symbol));
      seen = known.emplace(outcome.hash, noticed).first;
    }
    if (seen->second != Noticed::Never) {
      ++report.noticed;
      report.noticedAtFullStrength += seen->second == Noticed::AtFullStrength;
      continue;
    }
    const Mutant &mutant = *item.mutant;
    report.survivors.push_back({mutant.title, mutant.op, mutant.line, excuseOf(mutant)});
  }
  if (!file.empty() && createDirectories(settings.cache))
    (void)writeFileAtomically(file, toJson(report).dump()); // without it the next run judges them again
  return report;
}

} // namespace kopt
