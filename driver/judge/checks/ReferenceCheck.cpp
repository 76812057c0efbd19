// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/checks/ReferenceCheck.h"
#include "driver/workload/ApplyCandidate.h"

#include "driver/judge/checks/DerivedOptions.h"
#include "driver/support/MappedFile.h"

#include <algorithm>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <set>

namespace kopt {
namespace {

/// A baseline further than this from its own clone, relative to the scale of the output, computes
/// something else: the clone took another branch, or rounding is what the kernel is about.
constexpr double kUnrelated = 0.02;

/// Of fewer elements the mean square is luck: the original's error may happen to be small.
constexpr std::uint64_t kFew = 128;

/// Elements of like magnitude whose errors are compared with each other, the room for them, and the
/// part of their magnitude that no one would call rounding: sums of terms that cancel have errors
/// of the terms' size, here and there.
constexpr std::uint64_t kFewAlike = 64;
constexpr double kRoomAlike = 16, kCoarse = 0x1p-10;
constexpr int kBinades = 4; ///< of a class of like magnitudes

/// Steps between subnormal numbers: there every operation rounds to a whole one, however small its
/// result.
constexpr double kSubnormalSteps = 16;

/// Standard deviations that the mean of independent errors may be away from 0, groups that say
/// anything, and how rarely independent errors shall be taken for grouped ones.
constexpr double kDeviations = 4, kRarely = 1e-3;
constexpr std::uint64_t kFewGroups = 5;

/// Launches that differ in size by no more are as large as each other.
constexpr double kAsLarge = 1.25;

/// Half the distance from 1 to the next number, of the type.
double unitRoundoff(const std::string &scalar) {
  return scalar == "f16"    ? 0x1p-11
         : scalar == "bf16" ? 0x1p-8
         : scalar == "f64"  ? 0x1p-53
                            : 0x1p-24;
}

/// Of types that are computed in themselves.
double subnormalSteps(const std::string &scalar) {
  return scalar == "f32"   ? kSubnormalSteps * 0x1p-149
         : scalar == "f64" ? kSubnormalSteps * 0x1p-1074
                           : 0;
}

/// The scalar that a widened element holds nothing but; empty where it holds several kinds, or
/// gaps.
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

/// The launch on buffers and values of the clone's types, drawn as the original's. Fails with Usage
/// where that cannot be.
Result<Launch> widened(const Launch &launch, const Specialization &specialization,
                       const ReferenceClone &clone) {
  Launch wide = launch;
  wide.sharedBytes *= clone.sharedFactor;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (i >= clone.params.size() || i >= specialization.params.size())
      return makeError(ErrorCode::Usage, "the clone has other parameters");
    const ElementLayout &element = clone.params[i].element;
    if (!element.widened())
      continue;
    const std::string scalar = onlyScalar(element);
    if (scalar.empty())
      return makeError(ErrorCode::Usage, fmt::format("'{}' holds more than one kind of number",
                                                     clone.params[i].name));
    if (const auto *pointer = std::get_if<BufferArg>(&launch.arguments[i])) {
      Buffer &buffer = wide.buffers[pointer->buffer];
      if (buffer.scalar == "f64")
        continue; // passed twice
      if (buffer.fill.kind == FillKind::Captured || buffer.scalar != scalar || pointer->offset != 0)
        return makeError(ErrorCode::Usage,
                         fmt::format("the contents of '{}' cannot be widened", buffer.name));
      buffer.drawnAs = scalar;
      buffer.scalar = "f64";
      buffer.bytes = buffer.bytes / elementBytes(scalar) * 8;
      continue;
    }
    auto &value = std::get<ValueArg>(wide.arguments[i]);
    if (scalar != "f32" || value.bytes.size() % 4 != 0)
      return makeError(ErrorCode::Usage,
                       fmt::format("the value of '{}' cannot be widened", clone.params[i].name));
    std::string bytes;
    for (std::size_t at = 0; at < value.bytes.size(); at += 4) {
      float narrow = 0;
      std::memcpy(&narrow, value.bytes.data() + at, sizeof narrow);
      const double number = double(narrow);
      bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
    }
    value.bytes = std::move(bytes);
  }
  return wide;
}

class PreciseGate final : public Check {
public:
  PreciseGate(std::shared_ptr<DerivedReplays> replays, Frontend &frontend, Toolchain &toolchain,
              ReferenceSettings settings)
      : replays_(std::move(replays)), frontend_(frontend), toolchain_(toolchain),
        settings_(std::move(settings)) {}
  std::string name() const override { return "reference"; }

  Status learn(CheckContext &bench, Trial &baseline) override {
    KOPT_CHECK(replays_->learn(bench, baseline));
    if (bench.subject().workload.tolerance.policy != TolerancePolicy::Default) {
      why_ =
          fmt::format("the tolerance is '{}'", toString(bench.subject().workload.tolerance.policy));
      return {};
    }
    const auto made = frontend_.referenceClone(bench.subject().sliceText,
                                               settings_.build.expression, bench.subject().kernel);
    if (!made && made.error().code == ErrorCode::Environment)
      return tl::unexpected(made.error());
    if (!made) {
      why_ = "there is no double-precision clone: " + made.error().what;
      return {};
    }
    const ReferenceClone &clone = *made;
    if (!clone.made()) {
      why_ = "there is no double-precision clone: " + clone.refusals.front().message;
      return {};
    }
    if (!clone.variables.empty()) {
      why_ =
          fmt::format("the variable '{}' would have to be widened", clone.variables.front().name);
      return {};
    }
    BuildRequest request = settings_.build;
    request.sliceText = clone.sliceText;
    request.expression = clone.expression;
    request.symbol.clear();
    request.output = settings_.scratch / "reference";
    KOPT_TRY(const BuildOutcome built, toolchain_.build(request));
    if (!built.ok) {
      why_ = "the double-precision clone does not compile";
      return {};
    }
    const auto loaded = bench.runner().load(built.module, "");
    if (!loaded) {
      why_ = loaded.error().what;
      return {};
    }
    const Status learned = learnReferences(bench, clone, loaded->id);
    bench.runner().unload(loaded->id);
    return learned;
  }

  Result<std::optional<Failure>> check(CheckContext &bench, Examination &seen,
                                       CheckRecord &record) override {
    if (references_.empty())
      return notRun(record, why_);
    double ratio = 0;
    for (const Reference &reference : references_) {
      auto launch = applyToLaunch(bench.subject().kernel, reference.launch, seen.candidate);
      if (!launch)
        continue; // refused where sizes are asked for
      KOPT_TRY(const RunOutcome outcome,
               bench.runner().run(seen.built.module, *launch,
                                  options(bench, reference, "reference-next")));
      if (outcome.status != RunStatus::Ok)
        return failureOf(outcome.status, name(),
                         fmt::format("launch '{}': {}", launch->name, outcome.detail));
      addStages(seen.trial, "verify", 0, outcome.stages);
      for (const Output &output : reference.outputs) {
        const Buffer &buffer = launch->buffers[output.buffer];
        KOPT_TRY(const ErrorStatistics own, errorStatistics(buffer, outcome.buffers[output.buffer],
                                                            output.file, reference.extents));
        if (const auto excess = excessError(buffer, own, output.original, settings_.factor))
          return Failure{name(), Verdict::WrongResult,
                         fmt::format("launch '{}': {}, against the original in double precision",
                                     launch->name, *excess)};
        if (output.original.worst > 0)
          ratio = std::max(ratio, own.worst / output.original.worst);
      }
    }
    record.detail = fmt::format("{} launches against a double-precision clone; the worst error is "
                                "{:.2g} times the original's",
                                references_.size(), ratio);
    return std::nullopt;
  }

private:
  struct Output {
    std::size_t buffer = 0;
    std::filesystem::path file; ///< what the clone left: doubles
    ErrorStatistics original;
  };
  struct Reference {
    Launch launch; ///< of the original
    std::uint64_t inputSeed = 0;
    std::vector<Output> outputs;
    std::vector<std::uint64_t>
        extents{}; ///< the launch's own numbers: one of them may be the length of a row
    bool cancelling = false, asDeclared = false; ///< its contents
  };

  RunOptions options(CheckContext &bench, const Reference &reference, std::string slot) const {
    return derivedOptions(bench, reference.launch, reference.inputSeed, kPoison, std::move(slot));
  }

  Status learnReferences(CheckContext &bench, const ReferenceClone &clone, ModuleId module) {
    for (const DerivedReplays::Replay &replay : replays_->replays()) {
      if (replay.derived.large)
        continue; // in double precision it would take as long as all others
      if ((replay.derived.kind != Derivation::Contents &&
           replay.derived.kind != Derivation::Sizes) ||
          replay.derived.nonFinite)
        continue;
      KOPT_CHECK(learnReference(bench, clone, module, replay.derived));
    }
    for (Reference &reference : references_)
      if (reference.cancelling)
        allowForLuck(reference);
    if (references_.empty() && why_.empty())
      why_ = "no launch is small enough";
    return {};
  }

  /// Terms that take each other back leave no error in one order and some in another. The
  /// original's errors where nothing cancels, with numbers of the same range and about as many, are
  /// its own there too.
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

  Status learnReference(CheckContext &bench, const ReferenceClone &clone, ModuleId module,
                        const DerivedLaunch &derived) {
    const Launch &launch = derived.launch;
    const auto wide = widened(launch, bench.subject().specialization, clone);
    if (!wide) {
      why_ = wide.error().what;
      return {};
    }
    Reference reference{launch, bench.seed() + 3000 + references_.size(), {}};
    reference.cancelling = derived.cancelling;
    reference.asDeclared = derived.kind == Derivation::Sizes;
    for (const auto &[name, value] : launch.bindings)
      if (value > 1)
        reference.extents.push_back(std::uint64_t(value));
    RunOptions wideOptions =
        options(bench, reference, fmt::format("reference-{}", references_.size()));
    wideOptions.instructionLimit *= 4; // double precision takes more
    KOPT_TRY(const RunOutcome exact, bench.runner().run(module, *wide, wideOptions));
    if (exact.status != RunStatus::Ok) {
      why_ = "the double-precision clone does not run: " + exact.detail;
      return {};
    }
    KOPT_TRY(const Expected original,
             bench.expect(launch, options(bench, reference, "reference-next")));
    for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
      if (launch.buffers[b].readOnly || wide->buffers[b].drawnAs.empty())
        continue;
      KOPT_TRY(const ErrorStatistics own,
               errorStatistics(launch.buffers[b], original.buffers[b], exact.buffers[b]));
      if (own.count == 0 || own.rms > kUnrelated * own.scale) {
        why_ = fmt::format("the double-precision clone gives another '{}' than the original",
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
  Frontend &frontend_;
  Toolchain &toolchain_;
  ReferenceSettings settings_;
  std::vector<Reference> references_;
  std::string why_ = "the kernel has no floating-point output"; ///< the check does not run
};

} // namespace

Result<ErrorStatistics> errorStatistics(const Buffer &buffer, const std::filesystem::path &values,
                                        const std::filesystem::path &reference,
                                        const std::vector<std::uint64_t> &extents) {
  KOPT_TRY(const MappedFile seen, MappedFile::open(values));
  KOPT_TRY(const MappedFile exact, MappedFile::open(reference));
  const std::uint64_t count = exact.bytes().size() / sizeof(double);
  if (seen.bytes().size() != count * elementBytes(buffer.scalar))
    return makeError(ErrorCode::Internal,
                     fmt::format("'{}' and its reference differ in length", buffer.name));
  ErrorStatistics result;
  std::vector<double> errors(count, 0); // of what is not finite: none
  double squares = 0, sum = 0, scale = 0, total = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    double want = 0;
    std::memcpy(&want, exact.bytes().data() + i * sizeof want, sizeof want);
    const double got =
        elementValue(buffer.scalar, seen.bytes().data() + i * elementBytes(buffer.scalar));
    if (!std::isfinite(want) || !std::isfinite(got))
      continue;
    const double error = errors[i] = got - want;
    result.worst = std::max(result.worst, std::abs(error));
    squares += error * error;
    sum += error;
    scale += want * want;
    total += want;
    ++result.count;
    if (want == 0)
      continue;
    ErrorStatistics::Class &alike =
        result.classes[int(std::floor(double(std::ilogb(want)) / kBinades))];
    alike.worst = std::max(alike.worst, std::abs(error));
    ++alike.count;
  }
  if (result.count > 0) {
    result.rms = std::sqrt(squares / double(result.count));
    result.bias = sum / double(result.count);
    result.mean = total / double(result.count);
    result.scale = std::sqrt(scale / double(result.count));
    result.groupedChance = groupedChance(errors, extents);
  }
  return result;
}

double groupedChance(const std::vector<double> &errors, const std::vector<std::uint64_t> &extents) {
  namespace math = boost::math;
  const std::size_t count = errors.size();
  if (count < 2)
    return 0;
  // Means of groups of like size, the finest grouping first.
  std::vector<std::vector<double>> groupings;
  std::set<std::uint64_t> lengths(extents.begin(), extents.end());
  for (std::uint64_t length = 2; length <= count / kFewGroups; length *= 2)
    lengths.insert(length);
  for (const std::uint64_t length : lengths) { // of neighbours
    if (length < 2 || count / length < kFewGroups)
      continue;
    std::vector<double> &means = groupings.emplace_back(count / length, 0);
    for (std::size_t i = 0; i < means.size() * length; ++i)
      means[i / length] += errors[i] / double(length);
  }
  for (const std::uint64_t extent :
       std::set<std::uint64_t>(extents.begin(), extents.end())) { // of every n-th one
    if (extent < kFewGroups || count / extent < 2)
      continue;
    std::vector<double> &means = groupings.emplace_back(extent, 0);
    for (std::size_t i = 0; i < count / extent * extent; ++i)
      means[i % extent] += errors[i] / double(count / extent);
  }
  std::ranges::stable_sort(groupings, std::greater(), &std::vector<double>::size);

  const auto varianceOfMean = [](const std::vector<double> &means) {
    double mean = 0, squares = 0;
    for (const double each : means)
      mean += each / double(means.size());
    for (const double each : means)
      squares += (each - mean) * (each - mean);
    return squares / double(means.size() - 1) / double(means.size());
  };
  double variance = varianceOfMean(errors), freedom = double(count - 1);
  bool isGrouped = false;
  for (const std::vector<double> &means : groupings) {
    const double coarser = varianceOfMean(means), itsFreedom = double(means.size() - 1);
    if (coarser <=
        variance * math::quantile(math::complement(math::fisher_f(itsFreedom, freedom), kRarely)))
      continue;
    variance = coarser;
    freedom = itsFreedom;
    isGrouped = true;
  }
  if (!isGrouped)
    return 0;
  const double tail = math::cdf(math::complement(math::normal(), kDeviations));
  return math::quantile(math::complement(math::students_t(freedom), tail)) * std::sqrt(variance);
}

ErrorStatistics withErrorsOf(ErrorStatistics own, const ErrorStatistics &typical) {
  own.worst = std::max(own.worst, typical.worst);
  own.rms = std::max(own.rms, typical.rms);
  for (auto &[magnitude, alike] : own.classes) // what little is left of large terms has their error
    alike.worst = std::max(alike.worst, typical.worst);
  return own;
}

std::optional<std::string> excessError(const Buffer &buffer, const ErrorStatistics &candidate,
                                       const ErrorStatistics &original, double factor) {
  const double place =
      std::max(2 * unitRoundoff(buffer.scalar) * original.scale, subnormalSteps(buffer.scalar));
  const bool isFew = original.count < kFew;
  const double worst = factor * original.worst + (isFew ? 16 : 4) * place,
               rms = factor * original.rms + place;
  const double chance =
      kDeviations * rms / std::sqrt(double(std::max<std::uint64_t>(original.count, 1)));
  // x * (1 / n) for x / n: one factor that is rounded once is wrong the same way in all elements.
  const double rounded = unitRoundoff(buffer.scalar) * std::abs(original.mean);
  const double bias =
      factor * std::abs(original.bias) + std::max(chance, candidate.groupedChance) + rounded;
  const auto words = [&](const char *what, double own, double allowed, double theirs) {
    return fmt::format("{} of '{}' is {:.3g} (allowed {:.3g}, the original's {:.3g})", what,
                       buffer.name, own, allowed, theirs);
  };
  if (candidate.count < original.count)
    return fmt::format("{} elements of '{}' are not finite, and the original's are",
                       original.count - candidate.count, buffer.name);
  if (!(candidate.worst <= worst))
    return words("the largest error", candidate.worst, worst, original.worst);
  for (const auto &[magnitude, theirs] : original.classes) {
    const auto own = candidate.classes.find(magnitude);
    if (theirs.count < kFewAlike || own == candidate.classes.end())
      continue;
    const double least = std::ldexp(1.0, magnitude * kBinades);
    const double coarse = std::max(kCoarse, 16 * unitRoundoff(buffer.scalar)) * least;
    const double allowed =
        kRoomAlike * theirs.worst + std::max(coarse, subnormalSteps(buffer.scalar));
    if (!(own->second.worst <= allowed))
      return words(
          fmt::format("among elements of magnitude {:.2g} the largest error", least).c_str(),
          own->second.worst, allowed, theirs.worst);
  }
  if (isFew)
    return std::nullopt;
  if (!(candidate.rms <= rms))
    return words("the mean square error", candidate.rms, rms, original.rms);
  if (!(std::abs(candidate.bias) <= bias))
    return words("the bias", candidate.bias, bias, original.bias);
  return std::nullopt;
}

std::unique_ptr<Check> makeReferenceCheck(std::shared_ptr<DerivedReplays> replays,
                                          Frontend &frontend, Toolchain &toolchain,
                                          ReferenceSettings settings) {
  return std::make_unique<PreciseGate>(std::move(replays), frontend, toolchain,
                                       std::move(settings));
}

} // namespace kopt
