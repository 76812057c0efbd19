// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/Checks.h"

#include "driver/judge/context/ErrorStatistics.h"
#include "driver/judge/replays/DerivedOptions.h"
#include "driver/judge/replays/OwnLaunches.h"
#include "driver/support/ElementType.h"
#include "driver/support/Text.h"
#include "driver/workload/DeclaredFill.h"
#include "driver/workload/observed/TraceWorkload.h"

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <set>
#include <utility>

namespace kopt {
namespace {

/// If a baseline is further than this from its own clone, relative to the scale of the output, the
/// two compute different things: the clone took another branch, or the kernel's purpose is
/// rounding.
constexpr double kUnrelated = 0.02;

/// A candidate's error may be this many times the original's.
constexpr double kMostError = 2;

/// Launches whose sizes differ by at most this factor count as equally large.
constexpr double kAsLarge = 1.25;

/// Bytes of references for captured launches that are kept, and the share of a device's memory that
/// one may take.
constexpr std::uint64_t kMostKept = std::uint64_t(128) << 20;
constexpr double kMemoryShare = 0.8;

/// The only scalar type in a widened element; empty if it has several, or gaps.
std::string onlyScalar(const ElementLayout &element) {
  if (element.fields.empty())
    return {};
  const std::string &scalar = element.fields.front().scalar;
  const std::uint32_t size = std::uint32_t(elementBytes(scalar));
  for (std::size_t i = 0; i < element.fields.size(); ++i) {
    const ElementField &field = element.fields[i];
    if (field.scalar != scalar || field.newScalar != "f64" || field.offset != i * size ||
        field.newOffset != i * 8)
      return {};
  }
  return element.size == element.fields.size() * size &&
                 element.newSize == element.fields.size() * 8
             ? scalar
             : "";
}

bool isOk(const std::optional<RunOutcome> &outcome) {
  return outcome && outcome->status == RunStatus::Ok;
}

bool isNarrow(const std::string &scalar) {
  return scalar == "f32" || scalar == "f16" || scalar == "bf16";
}

/// The value with each float widened to a double. Fails with Usage if it holds other types.
Result<ValueArg> widenedValue(const ValueArg &narrow, const std::string &scalar,
                              const std::string &name) {
  if (scalar != "f32" || narrow.bytes.size() % 4 != 0)
    return makeError(ErrorCode::Usage, fmt::format("the value of '{}' cannot be widened", name));
  ValueArg value;
  for (std::size_t at = 0; at < narrow.bytes.size(); at += 4)
    value.bytes += bytesOf(double(loadAs<float>(narrow.bytes.data() + at)));
  return value;
}

/// The launch with buffers and values of the clone's types, with the contents of the original's
/// launch. All pointers into a buffer have to be widened in the same way. Fails with Usage if that
/// is impossible.
Result<Launch> widened(const Launch &launch, const Specialization &specialization,
                       const ReferenceClone &clone) {
  Launch wide = launch;
  wide.sharedBytes *= clone.sharedFactor;
  const auto unable = [&](const std::string &name) {
    return makeError(ErrorCode::Usage, fmt::format("the contents of '{}' cannot be widened", name));
  };
  const auto widen = [&](std::size_t b, std::uint64_t &offset, const std::string &scalar) {
    Buffer &buffer = wide.buffers[b];
    const std::uint64_t width = elementBytes(scalar);
    if (launch.buffers[b].scalar != scalar || offset % width != 0)
      return false;
    offset = offset / width * 8;
    if (buffer.drawnAs.empty()) { // otherwise it is passed twice
      buffer.drawnAs = scalar;
      buffer.scalar = "f64";
      buffer.bytes = buffer.bytes / width * 8;
    }
    return true;
  };
  std::set<std::size_t> asTheyAre; // buffers
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (i >= clone.params.size() || i >= specialization.params.size())
      return makeError(ErrorCode::Usage, "the clone has other parameters");
    const ElementLayout &element = clone.params[i].element;
    const auto *pointer = std::get_if<BufferArg>(&launch.arguments[i]);
    if (!element.widened() && pointer) {
      // The kernel treats a pointer to void as one to floats, and the clone as one to doubles.
      if (isNarrow(specialization.params[i].scalar))
        return unable(wide.buffers[pointer->buffer].name);
      asTheyAre.insert(pointer->buffer);
      continue;
    }
    if (!element.widened()) { // a struct may hold pointers to widened elements
      for (PointerWord &word : std::get<ValueArg>(wide.arguments[i]).pointers) {
        const std::string scalar = pointeeOf(specialization.params[i], word.at);
        if (scalar.empty())
          return makeError(ErrorCode::Usage, fmt::format("the type that '{}' points to is unknown",
                                                         clone.params[i].name));
        if (!isNarrow(scalar))
          asTheyAre.insert(word.buffer);
        else if (!widen(word.buffer, word.offset, scalar))
          return unable(wide.buffers[word.buffer].name);
      }
      continue;
    }
    const std::string scalar = onlyScalar(element);
    if (scalar.empty())
      return makeError(ErrorCode::Usage, fmt::format("'{}' holds more than one kind of number",
                                                     clone.params[i].name));
    if (!pointer) {
      const ValueArg &value = std::get<ValueArg>(launch.arguments[i]);
      if (specialization.params[i].kind == ParamKind::Pointer) // null
        continue;
      KOPT_TRY(wide.arguments[i], widenedValue(value, scalar, clone.params[i].name));
      continue;
    }
    if (!widen(pointer->buffer, std::get<BufferArg>(wide.arguments[i]).offset, scalar))
      return unable(wide.buffers[pointer->buffer].name);
  }
  for (const ReferenceVariable &variable : clone.variables)
    for (Buffer &buffer : wide.buffers) {
      if (buffer.symbol.empty() || buffer.name != variable.name)
        continue;
      const std::string scalar = onlyScalar(variable.element);
      if (scalar.empty() || buffer.bytes != variable.count * variable.element.size)
        return unable(variable.name);
      buffer.drawnAs = scalar;
      buffer.scalar = "f64";
      buffer.bytes = buffer.bytes / elementBytes(scalar) * 8;
    }
  for (const std::size_t b : asTheyAre)
    if (!wide.buffers[b].drawnAs.empty())
      return makeError(ErrorCode::Usage, fmt::format("'{}' holds more than one kind of number",
                                                     wide.buffers[b].name));
  return wide;
}

class ReferenceCheck final : public Check {
public:
  ReferenceCheck(std::shared_ptr<DerivedReplays> replays, CheckServices services)
      : replays_(std::move(replays)), services_(std::move(services)) {
    replays_->weighing().setOwnErrors(
        [this](CheckContext &context, const Launch &launch,
               const Expected &expected) -> Result<std::vector<double>> {
          KOPT_CHECK(makeClone(context));
          return ownErrors(context, launch, expected);
        });
  }
  ~ReferenceCheck() override {
    replays_->weighing().setOwnErrors({});
  } // a judge drops checks that are off
  ReferenceCheck(const ReferenceCheck &) = delete;
  ReferenceCheck &operator=(const ReferenceCheck &) = delete;
  CheckId id() const override { return CheckId::Reference; }

  void compileAhead(const CompileAhead &ahead) override {
    if (!ahead.isOriginal || !isAsked(*ahead.subject) ||
        !hasNarrowOutput(ahead.subject->workload.launches))
      return;
    ahead.jobs.add([this, subject = ahead.subject] {
      const auto clone = services_.frontend.referenceClone(
          subject->sliceText, services_.build.expression, subject->kernel);
      if (clone && clone->made())
        static_cast<void>(build(*clone, "reference-ahead"));
    });
  }

  Status learn(CheckContext &context, Trial &trial) override {
    KOPT_CHECK(replays_->learnAll(context, trial));
    KOPT_CHECK(makeClone(context));
    applies_ =
        isAsked(context.subject()) && hasNarrowOutput(context.baseline().launches) && !isWide_;
    if (clonePath_.empty())
      return {};
    const auto loaded = context.runner().load(clonePath_, "");
    if (!loaded) {
      why_ = loaded.error().what;
      return {};
    }
    const Status learned = learnReferences(context, clone_, loaded->id);
    context.runner().unload(loaded->id);
    return learned;
  }

  Result<std::optional<Failure>> ask(CheckContext &context, Examination &seen,
                                     CheckRecord &record) override {
    if (references_.empty())
      return applies_ ? notRun(record, why_) : notApplicable(record, why_);
    double ratio = 0;
    std::size_t ran = 0;
    std::string refused;
    for (const Reference &reference : references_) {
      auto launch = applyToDerived(context, seen.candidate, reference.launch);
      if (!launch) {
        refused = launch.error().what;
        continue;
      }
      ++ran;
      KOPT_TRY(const RunOutcome outcome,
               context.runner().run(
                   seen.built.module, *launch,
                   context.forCandidate(options(context, reference, "reference-next"), *launch)));
      if (outcome.status != RunStatus::Ok)
        return failureOf(outcome.status, id(),
                         fmt::format("launch '{}': {}", launch->name, outcome.detail));
      addStages(seen.trial, "verify", 0, outcome.stages);
      const StageTimer timer(seen.trial, "verify/judge");
      for (const Output &output : reference.outputs) {
        const Buffer &buffer = launch->buffers[output.buffer];
        KOPT_TRY(const ErrorStatistics own, errorStatistics(buffer, outcome.buffers[output.buffer],
                                                            output.file, reference.extents));
        auto excess = excessError(buffer, own, output.original, kMostError);
        if (excess) {
          KOPT_TRY(const ErrorStatistics usual, withSpread(context, reference, output));
          excess = excessError(buffer, own, usual, kMostError);
        }
        if (excess)
          return Failure{id(), Verdict::WrongResult,
                         fmt::format("launch '{}': {}, against the original in double precision",
                                     launch->name, *excess)};
        if (output.original.worst > 0)
          ratio = std::max(ratio, own.worst / output.original.worst);
      }
    }
    if (ran == 0)
      return notRun(record, refused);
    record.detail = fmt::format("{} launches against a double-precision clone; the worst error is "
                                "{:.2g} times the original's",
                                ran, ratio);
    return std::nullopt;
  }

private:
  static bool isAsked(const Subject &subject) {
    return subject.workload.tolerance.policy == TolerancePolicy::Default;
  }

  /// Makes the clone on the first call. If there can be none, `why_` says so and `clonePath_` stays
  /// empty.
  Status makeClone(CheckContext &context) {
    if (std::exchange(hasAskedForClone_, true))
      return {};
    if (!isAsked(context.subject())) {
      why_ = fmt::format("the tolerance is '{}'",
                         toString(context.subject().workload.tolerance.policy));
      return {};
    }
    auto made = services_.frontend.referenceClone(
        context.subject().sliceText, services_.build.expression, context.subject().kernel);
    if (!made && made.error().code == ErrorCode::Environment)
      return tl::unexpected(made.error());
    if (!made) {
      why_ = "there is no double-precision clone: " + made.error().what;
      return {};
    }
    clone_ = std::move(*made);
    if (!clone_.made()) {
      why_ = "there is no double-precision clone: " + clone_.refusals.front().message;
      const std::string &id = clone_.refusals.front().id;
      isWide_ = id == "double" || id == "integers";
      return {};
    }
    KOPT_TRY(const BuildOutcome built, build(clone_, "reference"));
    if (built.ok)
      clonePath_ = built.module;
    else
      why_ = "the double-precision clone does not compile";
    return {};
  }

  Result<BuildOutcome> build(const ReferenceClone &clone, const std::string &name) const {
    BuildRequest request = services_.build;
    request.sliceText = clone.slice;
    request.expression = clone.expression;
    request.symbol.clear();
    request.output = services_.scratch / name;
    return services_.toolchain.build(request);
  }

  static bool hasNarrowOutput(const std::vector<Launch> &launches) {
    for (const Launch &launch : launches)
      for (const Buffer &buffer : launch.buffers)
        if (!buffer.readOnly && isNarrow(buffer.scalar))
          return true;
    return false;
  }

  struct Output {
    std::size_t buffer = 0;
    std::filesystem::path file; ///< the clone's result: doubles
    ErrorStatistics original;
  };
  struct Reference {
    Launch launch; ///< the original's launch
    std::uint64_t inputSeed = 0;
    std::vector<Output> outputs;
    std::vector<std::uint64_t>
        extents{}; ///< the launch's numbers, one of which may be the length of a row
    bool cancelling = false, asDeclared = false; ///< kinds of contents
  };

  /// For each buffer, about the largest error of the original on the same inputs; 0 if unknown. It
  /// is the distance to the clone's result, or, of a kernel that computes in double precision
  /// already, to what it gives when it rounds differently.
  Result<std::vector<double>> ownErrors(CheckContext &context, const Launch &launch,
                                        const Expected &expected) {
    if (!clonePath_.empty())
      return errorsAgainstClone(context, launch, expected);
    if (isWide_ && !context.runner().device().modelled &&
        context.subject().specialization.route != Route::InPlace)
      return errorsOfRounding(context, launch, expected);
    return std::vector<double>(launch.buffers.size(), 0.0);
  }

  Result<std::vector<double>> errorsAgainstClone(CheckContext &context, const Launch &launch,
                                                 const Expected &expected) const {
    std::vector<double> errors(launch.buffers.size(), 0.0);
    const auto wide = widened(launch, context.subject().specialization, clone_);
    if (!wide)
      return errors;
    RunOptions own = ownOptions(context, launch, expected);
    own.instructionLimit *= 4; // double precision takes more
    KOPT_TRY(const auto exact, runOnce(context, clonePath_, "", *wide, own));
    for (std::size_t b = 0; isOk(exact) && b < launch.buffers.size(); ++b) {
      if (launch.buffers[b].readOnly || wide->buffers[b].drawnAs.empty())
        continue;
      KOPT_TRY(const ErrorStatistics error,
               errorStatistics(launch.buffers[b], expected.buffers[b], exact->buffers[b]));
      if (error.count > 0 && error.rms <= kUnrelated * error.scale)
        errors[b] = error.worst;
    }
    return errors;
  }

  /// The original built to round otherwise: without fused multiply-adds, and then also up and down.
  Status buildOtherRoundings(const std::string &sliceText) {
    std::vector<std::future<Result<BuildOutcome>>> builds;
    for (const auto &[rounding, name] : {std::pair(Rounding::Nearest, "unfused"),
                                         {Rounding::Up, "rounded-up"},
                                         {Rounding::Down, "rounded-down"}}) {
      BuildRequest request = services_.build;
      request.sliceText = sliceText;
      request.flags.emplace_back("-fmad=false");
      request.rounding = rounding;
      request.output = services_.scratch / name;
      builds.push_back(std::async(std::launch::async,
                                  [this, request] { return services_.toolchain.build(request); }));
    }
    for (auto &build : builds) {
      KOPT_TRY(BuildOutcome built, build.get());
      if (built.ok)
        otherRoundings_.push_back(std::move(built.module));
    }
    return {};
  }

  Result<std::vector<double>> errorsOfRounding(CheckContext &context, const Launch &launch,
                                               const Expected &expected) {
    std::vector<double> errors(launch.buffers.size(), 0.0);
    if (!std::exchange(hasBuiltRoundings_, true))
      KOPT_CHECK(buildOtherRoundings(context.subject().sliceText));
    for (const std::filesystem::path &module : otherRoundings_) {
      KOPT_TRY(const auto other, runOnce(context, module, services_.build.symbol, launch,
                                         ownOptions(context, launch, expected)));
      for (std::size_t b = 0; isOk(other) && b < launch.buffers.size(); ++b) {
        if (launch.buffers[b].readOnly || !isFloating(launch.buffers[b].scalar))
          continue;
        KOPT_TRY(const auto largest, largestDifference(launch.buffers[b], expected.buffers[b],
                                                       other->buffers[b], nullptr));
        KOPT_TRY(const double typical, rootMeanSquare(launch.buffers[b], expected.buffers[b]));
        if (largest && *largest <= mostRounding("f64") * typical) // else something else decides it
          errors[b] = std::max(errors[b], *largest);
      }
    }
    return errors;
  }

  static RunOptions ownOptions(CheckContext &context, const Launch &launch,
                               const Expected &expected) {
    RunOptions own = derivedOptions(context, launch, expected.inputSeed, kPoison, "reference-own");
    own.jitter = expected.jitter;
    return own;
  }

  RunOptions options(CheckContext &context, const Reference &reference, std::string slot) const {
    return derivedOptions(context, reference.launch, reference.inputSeed, kPoison, std::move(slot));
  }

  Status learnReferences(CheckContext &context, const ReferenceClone &clone, ModuleId module) {
    std::vector<DerivedLaunch> launches;
    // A captured launch is used as it is, at its full size, unless others are derived from a
    // smaller problem because that one is too large.
    const Launch &heaviest = context.baseline().launches[context.heaviest()];
    const bool isOfCaptured = isCaptured(heaviest);
    if (isOfCaptured && !replays_->isLight())
      launches.push_back({{}, Derivation::Sizes, "as captured", heaviest});
    for (const Replay &replay : replays_->replays()) {
      if (replay.derived.large || replay.derived.isPart)
        continue; // in double precision it would take as long as all the others
      if ((replay.derived.kind != Derivation::Contents &&
           replay.derived.kind != Derivation::Sizes) ||
          replay.derived.nonFinite || replay.derived.isCoarse || replay.derived.isExtreme)
        continue;
      launches.push_back(replay.derived);
    }
    std::uint64_t kept = 0;
    for (const DerivedLaunch &derived : launches) {
      if (isOfCaptured && !references_.empty() &&
          (kept > kMostKept || references_.size() >= mostCaptured(context)))
        break;
      KOPT_CHECK(learnReference(context, clone, module, derived));
      if (!references_.empty())
        for (const Output &output : references_.back().outputs)
          kept += references_.back().launch.buffers[output.buffer].bytes;
    }
    for (Reference &reference : references_) {
      if (reference.cancelling)
        allowForLuck(reference);
      if (reference.asDeclared)
        allowForFew(reference);
    }
    if (references_.empty() && why_.empty())
      why_ = launches.empty() ? "no launch is small enough"
                              : "the kernel has no floating-point output narrower than double";
    return {};
  }

  /// How many launches of a captured launch's size every candidate runs on.
  std::size_t mostCaptured(const CheckContext &context) const {
    constexpr double kSeconds = 1, kMost = 6;
    const double seconds = replays_->baseSeconds(context);
    return std::size_t(std::clamp(kSeconds / std::max(seconds, 1e-3), 1.0, kMost));
  }

  /// The original's errors, and on top of the largest what its own results are apart when it is
  /// asked again: in another order of summation it would not have been as lucky.
  Result<ErrorStatistics> withSpread(CheckContext &context, const Reference &reference,
                                     const Output &output) {
    KOPT_TRY(const auto expected,
             context.tryExpect(reference.launch, options(context, reference, "reference-asked")));
    if (!expected)
      return output.original;
    KOPT_TRY(const AskedAgain *again,
             replays_->weighing().askAgain(context, reference.launch, *expected, {}));
    ErrorStatistics unlucky = output.original;
    unlucky.worst += again->spread[output.buffer] / kMostError;
    return unlucky;
  }

  /// Terms that cancel leave no error in one order of summation and some in another. Raises the
  /// original's errors on such contents to its errors on contents where nothing cancels, of the
  /// same range and about the same number.
  void allowForLuck(Reference &lucky) const {
    for (const Reference &other : references_) {
      const double size = double(costOf(other.launch)) / double(costOf(lucky.launch));
      if (!other.asDeclared || size > kAsLarge || size < 1 / kAsLarge)
        continue;
      for (Output &output : lucky.outputs)
        for (const Output &typical : other.outputs)
          if (typical.buffer == output.buffer)
            output.original = withErrorsOf(output.original, typical.original);
    }
  }

  /// One sum of many terms may have hardly any error by luck. Raises the original's errors on few
  /// elements to those of the smallest launch with more of them and contents of the same kind.
  void allowForFew(Reference &lucky) const {
    for (Output &output : lucky.outputs) {
      if (!isFew(output.original))
        continue;
      const ErrorStatistics *typical = nullptr;
      std::uint64_t least = 0;
      for (const Reference &other : references_)
        for (const Output &theirs : other.outputs)
          if (other.asDeclared && theirs.buffer == output.buffer && !isFew(theirs.original) &&
              (!typical || costOf(other.launch) < least)) {
            typical = &theirs.original;
            least = costOf(other.launch);
          }
      if (typical)
        output.original = withErrorsOf(output.original, *typical);
    }
  }

  Status learnReference(CheckContext &context, const ReferenceClone &clone, ModuleId module,
                        const DerivedLaunch &derived) {
    const Launch &launch = derived.launch;
    const auto wide = widened(launch, context.subject().specialization, clone);
    if (!wide) {
      why_ = wide.error().what;
      return {};
    }
    std::uint64_t bytes = 0;
    for (const Buffer &buffer : wide->buffers)
      bytes += buffer.bytes;
    const std::uint64_t memory = context.runner().device().memoryBytes;
    if (memory != 0 && double(bytes) > kMemoryShare * double(memory)) {
      why_ = fmt::format("in double precision it takes {} of memory, but the device has {}",
                         formatBytes(double(bytes)), formatBytes(double(memory)));
      return {};
    }
    Reference reference{launch, context.seed() + 3000 + references_.size(), {}};
    reference.cancelling = derived.cancelling;
    reference.asDeclared = derived.kind == Derivation::Sizes;
    for (const auto &[name, value] : launch.bindings)
      if (value > 1)
        reference.extents.push_back(std::uint64_t(value));
    RunOptions wideOptions =
        options(context, reference, fmt::format("reference-{}", references_.size()));
    wideOptions.instructionLimit *= 4; // double precision takes more
    KOPT_TRY(const RunOutcome exact, context.runner().run(module, *wide, wideOptions));
    if (exact.status != RunStatus::Ok) {
      why_ = "the double-precision clone does not run: " + exact.detail;
      return {};
    }
    KOPT_TRY(const auto stood,
             context.tryExpect(launch, options(context, reference, "reference-next")));
    if (!stood) {
      why_ = "the original does not run on these inputs: " + stood.error().what;
      return {};
    }
    const Expected &original = *stood;
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      if (launch.buffers[b].readOnly || wide->buffers[b].drawnAs.empty())
        continue;
      KOPT_TRY(const ErrorStatistics own,
               errorStatistics(launch.buffers[b], original.buffers[b], exact.buffers[b]));
      if (own.count == 0 || own.rms > kUnrelated * own.scale) {
        why_ = fmt::format("the double-precision clone's '{}' is too far from the original's",
                           launch.buffers[b].name);
        continue;
      }
      reference.outputs.push_back({b, exact.buffers[b], own});
    }
    if (!reference.outputs.empty())
      references_.push_back(std::move(reference));
    return {};
  }

  std::shared_ptr<DerivedReplays> replays_;
  const CheckServices services_;
  ReferenceClone clone_;
  std::filesystem::path clonePath_;                   ///< empty: there is no clone
  std::vector<std::filesystem::path> otherRoundings_; ///< modules of the original, once needed
  bool hasBuiltRoundings_ = false;
  bool hasAskedForClone_ = false, isWide_ = false; ///< wide: there is nothing to widen
  std::vector<Reference> references_;
  std::string why_; ///< why the check does not run
  bool applies_ =
      false; ///< rounding errors may show in an output, and the tolerance is the default
};

} // namespace

std::unique_ptr<Check> makeReferenceCheck(std::shared_ptr<DerivedReplays> replays,
                                          CheckServices services) {
  return std::make_unique<ReferenceCheck>(std::move(replays), std::move(services));
}

} // namespace kopt
