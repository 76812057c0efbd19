// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/Checks.h"

#include "driver/judge/derive/LargerLaunches.h"
#include "driver/judge/derive/ReachingLaunches.h"
#include "driver/judge/replays/DerivedOptions.h"
#include "driver/judge/replays/OwnLaunches.h"
#include "driver/support/MappedFile.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <set>

namespace kopt {
namespace {

/// How many times the instructions a version that records may take: it has one more store for each
/// condition.
constexpr std::uint64_t kSlower = 8;
constexpr std::size_t kMostNamed = 3, kMostGaps = 6;
/// Larger launches: how many are tried for one candidate, the threads and elements of each, and the
/// instructions of all together on the emulated device (about a second).
constexpr std::size_t kLarger = 40;
constexpr std::uint64_t kMostOnGpu = 1u << 24, kMostModelled = 1u << 18;
constexpr double kInstructions = 1e8;
/// Launches made for a missing outcome: how many outcomes of a candidate, how many launches for
/// each, and their threads and elements; on the emulated device the instructions of one launch and
/// of all together, on a GPU the seconds of all.
constexpr std::size_t kMostSought = 6, kReaching = 32;
constexpr std::uint64_t kReachingCost = 1u << 22;
constexpr double kReachingInstructions = 1e8, kAllReaching = 3e8, kReachingSeconds = 2,
                 kLargerSeconds = 2;
/// Of either kind on the emulated device, where instructions that were not expected take long.
constexpr double kModelledSeconds = 10;
constexpr int kEach = 3; ///< launches for each outcome: the candidate may be right on one by chance
constexpr std::size_t kMostLaunches = 16; ///< before the module is loaded anew
constexpr int kMostRefused = 3; ///< failures of the original on a GPU: each may cost a context

/// The outcomes with their places. `slice` is the file that the lines refer to.
std::string inWords(const std::vector<CoveragePoint> &marks, const std::string &slice) {
  std::string text;
  for (std::size_t i = 0; i < marks.size() && i < kMostNamed; ++i)
    text += fmt::format("{}{} at {}:{}", i == 0 ? "" : "; ", marks[i].what, slice, marks[i].line);
  return text + (marks.size() > kMostNamed
                     ? fmt::format("; and {} others", marks.size() - kMostNamed)
                     : "");
}

/// `name` with each number replaced by `?`, so that conditions that differ only in a constant get
/// the same name. `$2` (a parameter) and `.0` (a dimension) are not numbers.
std::string withoutNumbers(const std::string &name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto isDigit = [](unsigned char c) { return c >= '0' && c <= '9'; };
    const char before = i > 0 ? name[i - 1] : ' ';
    const bool begins = isDigit(static_cast<unsigned char>(name[i])) &&
                        !std::isalnum(static_cast<unsigned char>(before)) && before != '$' &&
                        before != '.' && before != '_' && before != '#';
    if (!begins) {
      text += name[i];
      continue;
    }
    while (i + 1 < name.size() &&
           (isDigit(static_cast<unsigned char>(name[i + 1])) || name[i + 1] == '.'))
      ++i;
    text += '?';
  }
  return text;
}

bool changesGeometry(const Candidate &candidate) {
  return !candidate.constants.empty() || candidate.launch.block || candidate.launch.grid;
}

class CoverageCheck final : public Check {
public:
  CoverageCheck(std::shared_ptr<DerivedReplays> replays, CheckServices services)
      : replays_(std::move(replays)), services_(std::move(services)) {}
  CheckId id() const override { return CheckId::Coverage; }
  bool seesResults() const override { return false; }

  Status learn(CheckContext &context, Trial &baseline) override {
    KOPT_CHECK(replays_->learnAll(context, baseline));
    KOPT_TRY(const RenderedCandidate original, renderCandidate(context.subject(), Candidate()));
    KOPT_TRY(const Answer answer, neverDone(context, original, nullptr));
    for (const CoveragePoint &mark : answer.missing)
      for (const std::string &name : mark.names)
        neverOfOriginal_[name].insert(mark.codes.begin(), mark.codes.end());
    for (const CoveragePoint &mark : answer.all)
      for (const std::string &name : mark.names) {
        ofOriginal_[name].insert(mark.codes.begin(), mark.codes.end());
        ofOriginalsText_.insert(mark.what + "\n" + withoutNumbers(name));
      }
    return {};
  }

  void compileAhead(const CompileAhead &ahead) override {
    ahead.jobs.add([this, subject = ahead.subject, candidate = ahead.candidate] {
      const RenderedSlice &slice = candidate->slice;
      const auto clone =
          services_.frontend.coverageClone(slice.text, slice.expression, subject->kernel);
      if (clone && !clone->marks.empty())
        static_cast<void>(build(*clone, slice.expression, symbolOf(slice.expression)));
    });
  }

  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    const StageTimer timer(seen.trial, "verify/coverage");
    const Subject &subject = context.subject();
    KOPT_TRY(Answer answer, neverDone(context, seen.candidate, &seen));
    if (!answer.fails.empty())
      return Failure{id(), Verdict::Suspect,
                     fmt::format("it fails when built to record its conditions, but not as it is, "
                                 "so it depends on how the compiler translates it: {}",
                                 answer.fails)};
    if (!answer.why.empty())
      return notRun(record, answer.why);
    if (answer.failure)
      return answer.failure;
    const std::string slice =
        std::filesystem::path(subject.specialization.slice).filename().string();
    std::vector<CoveragePoint> unexplained;
    std::ranges::copy_if(
        answer.missing, std::back_inserter(unexplained),
        [&](const CoveragePoint &mark) { return mark.special && !isOfOriginalsText(mark); });
    if (!unexplained.empty() && services_.assurance == AssurancePolicy::Strict)
      return Failure{
          id(), Verdict::Suspect,
          fmt::format(
              "it has a special case that the original does not have and that no launch reaches: "
              "it never happened that {}; remove it, or declare a launch that reaches it",
              inWords(unexplained, slice))};
    addGaps(answer.missing, slice, seen.trial);
    record.detail = answer.missing.empty()
                        ? fmt::format("all {} outcomes of conditions occurred", answer.marks)
                        : fmt::format("{} of {} outcomes of conditions occurred",
                                      answer.marks - answer.missing.size(), answer.marks);
    if (!answer.derived.empty())
      record.detail += fmt::format(
          "; some only in launches derived for them, on which the candidate was verified, too: {}",
          fmt::join(answer.derived, "; "));
    if (answer.inMacros > 0)
      record.detail += fmt::format("; {} conditions in macros are not recorded", answer.inMacros);
    return std::nullopt;
  }

private:
  using Codes = std::map<std::string, std::set<std::string>>; ///< CodeBehind digests by name

  /// True if the original has the same condition with the same code behind it, and the outcome
  /// never occurs there either; or if it does occur there, but the candidate's block may make it
  /// impossible: `threadIdx.x % 32 < blockDim.x / 32` is always true with 1024 threads.
  bool isOfOriginal(const CoveragePoint &mark, const Candidate &candidate) const {
    const auto isIn = [&](const Codes &codes) {
      return !mark.names.empty() && std::ranges::all_of(mark.names, [&](const std::string &name) {
        const auto known = codes.find(name);
        return known != codes.end() &&
               std::ranges::all_of(mark.codes, [&](const std::string &code) {
                 return known->second.contains(code);
               });
      });
    };
    return isIn(neverOfOriginal_) || (changesGeometry(candidate) && isIn(ofOriginal_));
  }

  /// True if the original's text has the same condition with another constant.
  bool isOfOriginalsText(const CoveragePoint &mark) const {
    return std::ranges::any_of(mark.names, [&](const std::string &name) {
      return !ofOriginal_.contains(name) &&
             ofOriginalsText_.contains(mark.what + "\n" + withoutNumbers(name));
    });
  }

  static void addGaps(const std::vector<CoveragePoint> &missing, const std::string &slice,
                      Trial &trial) {
    for (std::size_t i = 0; i < missing.size() && i < kMostGaps; ++i)
      addGap(trial.assurance,
             {CheckId::Coverage,
              fmt::format("no launch reaches the case where {} at {}:{}; declare one that does",
                          missing[i].what, slice, missing[i].line)});
    if (missing.size() > kMostGaps)
      addGap(trial.assurance,
             {CheckId::Coverage, fmt::format("and {} other branches that no launch takes",
                                             missing.size() - kMostGaps)});
  }

  /// The version that records. Its variables live as long as the module, which is loaded anew now
  /// and then so that no variable counts all launches.
  struct Recorder {
    std::filesystem::path path;
    std::string symbol;
    ModuleId module = 0;
    std::size_t launches = 0;
  };

  struct Answer {
    std::string why; ///< why nothing is known of the kernel; else empty
    std::string
        fails; ///< how the version that records failed, in a launch that the kernel itself passed
    std::size_t marks = 0, inMacros = 0;
    std::vector<CoveragePoint> all, missing;
    std::vector<std::string> derived; ///< titles of the launches that reached a missing outcome
    std::optional<Failure> failure;   ///< in a launch made for an outcome
  };

  /// Finds the outcomes that no launch brings about, also none that is made for them. `seen` is
  /// null for the original: then outcomes that are not required count, too.
  Result<Answer> neverDone(CheckContext &context, const RenderedCandidate &candidate,
                           Examination *seen) {
    Answer answer;
    const std::string &expression = candidate.slice.expression;
    const std::string symbol = symbolOf(expression);
    const auto clone = services_.frontend.coverageClone(candidate.slice.text, expression,
                                                        context.subject().kernel);
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
    KOPT_TRY(const BuildOutcome built, build(*clone, expression, symbol));
    if (!built.ok) {
      answer.why = "it does not compile with its conditions recorded: " +
                   built.log.substr(0, built.log.find('\n'));
      return answer;
    }
    const auto loaded = context.runner().load(built.module, symbol);
    if (!loaded && loaded.error().code != ErrorCode::BaselineFailed)
      return tl::unexpected(loaded.error());
    if (!loaded) {
      answer.why = loaded.error().what;
      return answer;
    }
    answer.all = answer.missing = clone->marks;
    if (seen)
      std::erase_if(answer.missing, [](const CoveragePoint &mark) { return !mark.required; });
    Recorder recorder{built.module, symbol, loaded->id};
    Status ran = runAll(context, candidate, *clone, recorder, answer);
    if (!seen && ran && answer.fails.empty())
      ran = reachForAll(context, *clone, recorder, answer);
    if (seen && ran && answer.fails.empty()) {
      std::erase_if(answer.missing,
                    [&](const CoveragePoint &mark) { return isOfOriginal(mark, candidate); });
      ran = reach(context, *seen, *clone, recorder, answer);
      if (ran && !answer.failure)
        ran = climb(context, *seen, *clone, recorder, answer);
    }
    context.runner().unload(recorder.module);
    KOPT_CHECK(ran);
    return answer;
  }

  Result<BuildOutcome> build(const CoverageClone &clone, const std::string &expression,
                             const std::string &symbol) {
    BuildRequest request = services_.build;
    request.sliceText = clone.slice;
    request.expression = expression;
    request.symbol = symbol;
    request.output = services_.scratch / fmt::format("coverage-{}", builds_++) / "module";
    return services_.toolchain.build(request);
  }

  /// The symbol of the version named `expression`. Only the original's is known; empty for others,
  /// whose symbol is found in the module.
  std::string symbolOf(const std::string &expression) const {
    return expression == services_.build.expression ? services_.build.symbol : "";
  }

  Status runAll(CheckContext &context, const Candidate &candidate, const CoverageClone &clone,
                Recorder &recorder, Answer &answer) const {
    std::vector<CoveragePoint> &missing = answer.missing;
    const auto runOwn = [&](const Launch &launch) -> Result<RunOutcome> {
      const auto own = applyToDerived(context, candidate, launch);
      if (!own || missing.empty() || !whyTooManyThreads(context, launch, *own).empty())
        return RunOutcome();
      return run(context, *own, clone, recorder, missing);
    };
    for (const Replay &replay : replays_->replays()) // small launches first
      if (!replay.derived.isPart)
        KOPT_CHECK(runOwn(replay.derived.launch));
    for (const Launch &launch : context.baseline().launches) {
      KOPT_TRY(const RunOutcome outcome, runOwn(launch));
      if (outcome.status == RunStatus::Fault || outcome.status == RunStatus::Uninitialised ||
          outcome.status == RunStatus::UnsetShared)
        answer.fails = fmt::format("launch '{}': {}", launch.name, outcome.detail);
    }
    // Reach guards against empty problems. No other launch does, as it would have no threads. The
    // outputs of these launches are not compared.
    const Launch *small = missing.empty() ? nullptr : replays_->small();
    for (std::size_t i = 0; small && i < small->arguments.size() && !missing.empty(); ++i)
      KOPT_CHECK(runOwn(withZero(context.subject(), *small, i)));
    return {};
  }

  /// What has been spent on launches made for outcomes.
  struct Effort {
    OwnTime time;
    std::set<std::string> tried; ///< their titles
    double instructions = 0;     ///< expected, on the emulated device
    int refused = 0;             ///< by the original
  };

  /// The outcomes to make launches for, special cases first.
  static std::vector<CoveragePoint> soughtOf(std::vector<CoveragePoint> missing) {
    std::ranges::stable_sort(missing, {}, [](const CoveragePoint &mark) { return !mark.special; });
    missing.resize(std::min(missing.size(), kMostSought));
    return missing;
  }

  std::vector<DerivedLaunch> launchesFor(const CheckContext &context,
                                         const CoveragePoint &mark) const {
    return reachingLaunches(sourceOf(context.subject()), replays_->base(context),
                            {mark.numbers, mark.params, mark.blocks, mark.data}, kReachingCost,
                            kReaching);
  }

  /// True if there is time left for the launch, which was not tried before.
  bool mayTry(const CheckContext &context, const DerivedLaunch &made, Effort &effort) const {
    const Launch &from = replays_->base(context);
    const std::size_t heaviest = context.heaviest();
    const double own = heaviest < context.instructionLimits.size()
                           ? double(context.instructionLimits[heaviest]) / 20 // of a limit
                           : 0;
    const double expected = own * std::max(1.0, double(costOf(made.launch)) / double(costOf(from)));
    const bool isTooMuch = context.runner().device().modelled
                               ? expected > kReachingInstructions ||
                                     effort.instructions + expected > kAllReaching ||
                                     effort.time.seconds() > kModelledSeconds
                               : made.unbounded || effort.refused >= kMostRefused ||
                                     effort.time.seconds() > kReachingSeconds;
    if (isTooMuch || !effort.tried.insert(made.title).second)
      return false;
    effort.instructions += expected;
    return true;
  }

  /// Derives launches with the numbers that the conditions name, so that a fast path for a value or
  /// a range is judged where it is taken.
  Status reach(CheckContext &context, Examination &seen, const CoverageClone &clone,
               Recorder &recorder, Answer &answer) const {
    Effort effort{OwnTime(context), {}};
    for (const CoveragePoint &mark : soughtOf(answer.missing)) {
      int times = 0;
      for (DerivedLaunch &made : launchesFor(context, mark)) {
        if (!isMissing(mark, answer))
          break;
        if (!mayTry(context, made, effort))
          continue;
        KOPT_TRY(const bool isTaken,
                 tryLaunch(context, seen, clone, recorder, std::move(made), answer));
        if (answer.failure)
          return {};
        effort.refused += !isTaken;
        if (!isMissing(mark, answer) && ++times < kEach)
          answer.missing.push_back(mark); // so that the next launch is judged, too
      }
      if (times > 0)
        std::erase_if(answer.missing,
                      [&](const CoveragePoint &other) { return other.at == mark.at; });
    }
    return {};
  }

  /// Adds launches with outcomes that no launch brings about in the original, so that a candidate
  /// without the case is judged there, too.
  Status reachForAll(CheckContext &context, const CoverageClone &clone, Recorder &recorder,
                     Answer &answer) {
    Effort effort{OwnTime(context), {}};
    std::vector<CoveragePoint> missing;
    std::ranges::copy_if(answer.missing, std::back_inserter(missing), &CoveragePoint::required);
    for (const CoveragePoint &mark : soughtOf(std::move(missing))) {
      int times = 0;
      for (DerivedLaunch &made : launchesFor(context, mark)) {
        if (times == kEach || (times == 0 && !isMissing(mark, answer)))
          break;
        if (!mayTry(context, made, effort))
          continue;
        std::vector<CoveragePoint> left = answer.missing;
        left.push_back(mark);
        KOPT_TRY(const RunOutcome outcome, run(context, made.launch, clone, recorder, left));
        if (outcome.status != RunStatus::Ok ||
            std::ranges::find(left, mark.at, &CoveragePoint::at) != left.end())
          continue;
        KOPT_TRY(const auto unfit, replays_->take(context, std::move(made)));
        effort.refused += unfit.has_value();
        if (unfit)
          continue;
        answer.missing = std::move(left);
        ++times;
      }
    }
    return {};
  }

  static bool isMissing(const CoveragePoint &mark, const Answer &answer) {
    return std::ranges::find(answer.missing, mark.at, &CoveragePoint::at) != answer.missing.end();
  }

  /// Tries larger problems, the smallest first, until no outcome is missing, and judges the
  /// candidate on those where a new outcome occurs. The original has to run on them as well.
  Status climb(CheckContext &context, Examination &seen, const CoverageClone &clone,
               Recorder &recorder, Answer &answer) const {
    if (answer.missing.empty())
      return {};
    const bool isModelled = context.runner().device().modelled;
    const Launch &base = replays_->base(context);
    const OwnTime time(context);
    double instructions = 0;
    for (DerivedLaunch &larger : largerLaunches(sourceOf(context.subject()), base,
                                                isModelled ? kMostModelled : kMostOnGpu, kLarger)) {
      const auto own = applyToDerived(context, seen.candidate, larger.launch);
      if (answer.missing.empty() || !own)
        continue;
      const RunOptions options = derivedOptions(context, *own, 0, 0, "");
      instructions += double(options.instructionLimit) / (20 * kLeniency); // the expected number
      if (time.seconds() > (isModelled ? kModelledSeconds : kLargerSeconds) ||
          (isModelled && instructions > kInstructions))
        return {};
      KOPT_CHECK(tryLaunch(context, seen, clone, recorder, std::move(larger), answer));
      if (answer.failure)
        return {};
    }
    return {};
  }

  /// Runs the candidate on a launch, and judges it there if a new outcome occurs or it fails.
  /// Returns false if the original fails on the launch, because then there is nothing to compare
  /// with.
  Result<bool> tryLaunch(CheckContext &context, Examination &seen, const CoverageClone &clone,
                         Recorder &recorder, DerivedLaunch derived, Answer &answer) const {
    auto own = applyToDerived(context, seen.candidate, derived.launch);
    if (!own || !whyTooManyThreads(context, derived.launch, *own).empty())
      return true; // the candidate is not meant for this launch
    const RunOptions options =
        derivedOptions(context, *own, context.seed() + 6000, kOtherPoison, "derived");
    std::vector<CoveragePoint> left = answer.missing;
    KOPT_TRY(const RunOutcome outcome, run(context, *own, clone, recorder, left));
    if (outcome.status == RunStatus::Ok && left.size() == answer.missing.size())
      return true;
    const std::string title = derived.title;
    KOPT_TRY(const auto replay,
             replays_->prepare(context, std::move(derived), options.inputSeed, "coverage-derived"));
    if (!replay)
      return false;
    // The original may leave part of an output unwritten there.
    for (std::size_t b = 0; b < own->buffers.size(); ++b)
      own->buffers[b].output = replay->derived.launch.buffers[b].output;
    KOPT_TRY(answer.failure,
             compareDerived(context, replays_->weighing(), seen, *replay, *own, options, id()));
    if (answer.failure) {
      KOPT_TRY(answer.failure,
               replays_->weighing().weigh(context, seen, *replay, std::move(*answer.failure)));
    }
    for (const CoveragePoint &mark : answer.missing)
      if (!answer.failure && mark.assumed &&
          std::ranges::find(left, mark.at, &CoveragePoint::at) == left.end())
        answer.failure = Failure{id(), Verdict::Suspect,
                                 fmt::format("it promises its compiler something that does not "
                                             "hold: in launch '{}', on which the original runs, {}",
                                             own->name, mark.what)};
    if (!answer.failure && left.size() < answer.missing.size())
      answer.derived.push_back(title);
    answer.missing = std::move(left);
    return true;
  }

  static Launch withZero(const Subject &subject, Launch launch, std::size_t argument) {
    auto *value = std::get_if<ValueArg>(&launch.arguments[argument]);
    if (value && argument < subject.specialization.params.size() &&
        subject.specialization.params[argument].kind == ParamKind::Scalar)
      std::fill(value->bytes.begin(), value->bytes.end(), '\0');
    return launch;
  }

  /// Runs the version that records and removes from `missing` the outcomes that occur.
  static Result<RunOutcome> run(CheckContext &context, Launch launch, const CoverageClone &clone,
                                Recorder &recorder, std::vector<CoveragePoint> &missing) {
    for (Buffer &buffer : launch.buffers)
      buffer.output = false; // the runner need not look for unwritten elements
    Buffer record;
    record.name = record.symbol = clone.variable;
    record.bytes = clone.bytes;
    record.scalar = "u8";
    record.fill = {FillKind::Zero, 0, 0};
    launch.buffers.push_back(record);
    RunOptions options = context.forCandidate(
        derivedOptions(context, launch, context.seed() + 5000, kPoison, "coverage"), launch);
    options.instructionLimit *= kSlower;
    options.checkRaces = options.checkAcrossBlocks = false;
    if (++recorder.launches % kMostLaunches == 0) {
      KOPT_TRY(const auto loaded, context.runner().load(recorder.path, recorder.symbol));
      context.runner().unload(recorder.module);
      recorder.module = loaded.id;
    }
    KOPT_TRY(RunOutcome outcome, context.runner().run(recorder.module, launch, options));
    if (outcome.status != RunStatus::Ok || outcome.buffers.empty())
      return outcome; // outcomes of other launches still count
    KOPT_TRY(const MappedFile seen, MappedFile::open(outcome.buffers.back()));
    std::erase_if(missing, [&](const CoveragePoint &mark) {
      return mark.at < seen.bytes().size() && seen.bytes()[mark.at] != 0;
    });
    return outcome;
  }

  std::shared_ptr<DerivedReplays> replays_;
  const CheckServices services_;
  Codes ofOriginal_, neverOfOriginal_;    ///< all outcomes in the original; those that never occur
  std::set<std::string> ofOriginalsText_; ///< outcomes by text and name, without numbers
  std::atomic<std::size_t> builds_ = 0;
};

} // namespace

std::unique_ptr<Check> makeCoverageCheck(std::shared_ptr<DerivedReplays> replays,
                                         CheckServices services) {
  return std::make_unique<CoverageCheck>(std::move(replays), std::move(services));
}

} // namespace kopt
