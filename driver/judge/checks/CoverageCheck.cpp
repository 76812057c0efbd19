// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/CoverageCheck.h"
#include "driver/workload/ApplyCandidate.h"

#include "driver/judge/checks/DerivedOptions.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/MappedFile.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kopt {
namespace {

/// Recording costs a store for each condition: this many times the instructions.
constexpr std::uint64_t kSlower = 8;
constexpr std::size_t kMostNamed = 3;

/// `slice` is the file that the lines are of.
std::string inWords(const std::vector<CoveragePoint> &marks, const std::string &slice) {
  std::string text;
  for (std::size_t i = 0; i < marks.size() && i < kMostNamed; ++i)
    text += fmt::format("{}{} at {}:{}", i == 0 ? "" : "; ", marks[i].what, slice, marks[i].line);
  return text + (marks.size() > kMostNamed
                     ? fmt::format("; and {} others", marks.size() - kMostNamed)
                     : "");
}

class ReachGate final : public Check {
public:
  ReachGate(std::shared_ptr<DerivedReplays> replays, Frontend &frontend, Toolchain &toolchain,
            CoverageSettings settings)
      : replays_(std::move(replays)), frontend_(frontend), toolchain_(toolchain),
        settings_(std::move(settings)) {}
  std::string name() const override { return "coverage"; }
  bool seesResults() const override { return false; }

  Status learn(CheckContext &bench, Trial &baseline) override {
    KOPT_CHECK(replays_->learn(bench, baseline));
    KOPT_TRY(const Answer answer,
             neverDone(bench, Candidate(), bench.subject().sliceText, settings_.build.expression,
                       settings_.build.symbol, /*onlyRequired=*/false));
    for (const CoveragePoint &mark : answer.missing)
      for (const std::string &name : mark.names)
        ofOriginal_[name].insert(mark.codes.begin(), mark.codes.end());
    return {};
  }

  Result<std::optional<Failure>> check(CheckContext &bench, Examination &seen,
                                       CheckRecord &record) override {
    if (!bench.runner().device().modelled && seen.depth == Depth::Search)
      return notRun(record, kForWinners);
    const StageTimer timer(seen.trial, "verify/coverage");
    const Subject &subject = bench.subject();
    KOPT_TRY(const RenderedSlice rendered, renderSlice(subject.sliceText, subject.kernel,
                                                       subject.specialization, seen.candidate));
    KOPT_TRY(
        Answer answer,
        neverDone(bench, seen.candidate, rendered.text, rendered.expression,
                  rendered.expression == settings_.build.expression ? settings_.build.symbol : "",
                  /*onlyRequired=*/true));
    if (!answer.fails.empty())
      return Failure{name(), Verdict::Suspect,
                     fmt::format("it fails where its conditions are recorded, and not as it is: it "
                                 "depends on what a compiler makes "
                                 "of it: {}",
                                 answer.fails)};
    if (!answer.why.empty())
      return notRun(record, answer.why);
    std::erase_if(answer.missing, [&](const CoveragePoint &mark) {
      return !mark.names.empty() && std::ranges::all_of(mark.names, [&](const std::string &name) {
        return isOfOriginal(name, mark.codes);
      });
    });
    if (!answer.missing.empty())
      return Failure{
          name(), Verdict::Suspect,
          fmt::format(
              "no launch verifies all that the candidate does: never was it "
              "that {}; leave out what is not "
              "needed, or declare a launch that gets there",
              inWords(answer.missing,
                      std::filesystem::path(subject.specialization.slice).filename().string()))};
    record.detail = fmt::format("all {} outcomes of conditions occurred", answer.marks);
    if (answer.inMacros > 0)
      record.detail += fmt::format("; {} conditions in macros are not seen", answer.inMacros);
    return std::nullopt;
  }

private:
  /// The original never gets there either, and does the same there.
  bool isOfOriginal(const std::string &name, const std::vector<std::string> &codes) const {
    const auto known = ofOriginal_.find(name);
    return known != ofOriginal_.end() && std::ranges::all_of(codes, [&](const std::string &code) {
             return known->second.contains(code);
           });
  }

  struct Answer {
    std::string why;   ///< nothing is known of the kernel, and why; else empty
    std::string fails; ///< how it ended otherwise than well, in a launch that it passed as it is
    std::size_t marks = 0, inMacros = 0;
    std::vector<CoveragePoint> missing;
  };

  /// The outcomes that no launch brings about.
  Result<Answer> neverDone(CheckContext &bench, const Candidate &candidate, const std::string &text,
                           const std::string &expression, const std::string &symbol,
                           bool onlyRequired) {
    Answer answer;
    const auto clone = frontend_.coverageClone(text, expression, bench.subject().kernel);
    if (!clone && clone.error().code == ErrorCode::Environment)
      return tl::unexpected(clone.error());
    if (!clone) {
      answer.why = clone.error().what;
      return answer;
    }
    answer.marks = std::size_t(std::ranges::count(clone->marks, true, &CoveragePoint::required));
    answer.inMacros = clone->inMacros;
    if (clone->marks.empty())
      return answer;
    BuildRequest request = settings_.build;
    request.sliceText = clone->sliceText;
    request.expression = expression;
    request.symbol = symbol;
    request.output = settings_.scratch / fmt::format("coverage-{}", builds_++) / "module";
    KOPT_TRY(const BuildOutcome built, toolchain_.build(request));
    if (!built.ok) {
      answer.why = "it does not compile with its conditions recorded: " +
                   built.log.substr(0, built.log.find('\n'));
      return answer;
    }
    const auto loaded = bench.runner().load(built.module, symbol);
    if (!loaded && loaded.error().code != ErrorCode::BaselineFailed)
      return tl::unexpected(loaded.error());
    if (!loaded) {
      answer.why = loaded.error().what;
      return answer;
    }
    answer.missing = clone->marks;
    if (onlyRequired)
      std::erase_if(answer.missing, [](const CoveragePoint &mark) { return !mark.required; });
    const Status ran = runAll(bench, candidate, *clone, loaded->id, answer);
    bench.runner().unload(loaded->id);
    KOPT_CHECK(ran);
    return answer;
  }

  Status runAll(CheckContext &bench, const Candidate &candidate, const CoverageClone &clone,
                ModuleId module, Answer &answer) const {
    std::vector<CoveragePoint> &missing = answer.missing;
    const auto runOwn = [&](const Launch &launch) -> Result<RunOutcome> {
      const auto own = applyToLaunch(bench.subject().kernel, launch, candidate);
      if (!own || missing.empty())
        return RunOutcome();
      return run(bench, *own, clone, module, missing);
    };
    for (const DerivedReplays::Replay &replay : replays_->replays()) // the small ones first
      KOPT_CHECK(runOwn(replay.derived.launch));
    for (const Launch &launch : bench.baseline().launches) {
      KOPT_TRY(const RunOutcome outcome, runOwn(launch));
      if (outcome.status == RunStatus::Fault || outcome.status == RunStatus::Uninitialised)
        answer.fails = fmt::format("launch '{}': {}", launch.name, outcome.detail);
    }
    // Guards against nothing to do: no launch has it, as it would have no threads. What these leave
    // means nothing.
    const Launch *small = missing.empty() ? nullptr : replays_->small();
    for (std::size_t i = 0; small && i < small->arguments.size() && !missing.empty(); ++i)
      KOPT_CHECK(runOwn(withZero(bench.subject(), *small, i)));
    return {};
  }

  static Launch withZero(const Subject &subject, Launch launch, std::size_t argument) {
    auto *value = std::get_if<ValueArg>(&launch.arguments[argument]);
    if (value && argument < subject.specialization.params.size() &&
        subject.specialization.params[argument].kind == ParamKind::Scalar)
      std::fill(value->bytes.begin(), value->bytes.end(), '\0');
    return launch;
  }

  /// Takes from `missing` what occurs.
  static Result<RunOutcome> run(CheckContext &bench, Launch launch, const CoverageClone &clone,
                                ModuleId module, std::vector<CoveragePoint> &missing) {
    for (Buffer &buffer : launch.buffers)
      buffer.output = false; // one launch, whatever it leaves unwritten
    Buffer record;
    record.name = record.symbol = clone.variable;
    record.bytes = clone.bytes;
    record.scalar = "u8";
    record.fill = {FillKind::Zero, 0, 0};
    launch.buffers.push_back(record);
    RunOptions options = derivedOptions(bench, launch, bench.seed() + 5000, kPoison, "coverage");
    options.instructionLimit *= kSlower;
    options.checkRaces = options.checkAcrossBlocks = false;
    KOPT_TRY(RunOutcome outcome, bench.runner().run(module, launch, options));
    if (outcome.status != RunStatus::Ok || outcome.buffers.empty())
      return outcome; // what others bring about counts
    KOPT_TRY(const MappedFile seen, MappedFile::open(outcome.buffers.back()));
    std::erase_if(missing, [&](const CoveragePoint &mark) {
      return mark.at < seen.bytes().size() && seen.bytes()[mark.at] != 0;
    });
    return outcome;
  }

  std::shared_ptr<DerivedReplays> replays_;
  Frontend &frontend_;
  Toolchain &toolchain_;
  CoverageSettings settings_;
  std::map<std::string, std::set<std::string>>
      ofOriginal_; ///< names of what the original never does either, and codes of what it is
  std::size_t builds_ = 0;
};

} // namespace

std::unique_ptr<Check> makeCoverageCheck(std::shared_ptr<DerivedReplays> replays,
                                         Frontend &frontend, Toolchain &toolchain,
                                         CoverageSettings settings) {
  return std::make_unique<ReachGate>(std::move(replays), frontend, toolchain, std::move(settings));
}

} // namespace kopt
