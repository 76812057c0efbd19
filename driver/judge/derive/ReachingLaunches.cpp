// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/ReachingLaunches.h"

#include "driver/judge/derive/DeriveLimits.h"
#include "driver/judge/derive/LaunchNumbers.h"
#include "driver/support/ElementType.h"
#include "driver/support/Hash.h"
#include "driver/workload/DeclaredFill.h"
#include "driver/workload/OtherScalars.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

using Values = LaunchNumbers::Values;

bool isInteger(const std::string &scalar) {
  return scalar == "bool" || scalar.starts_with("i") || scalar.starts_with("u");
}

/// The number as an element of a buffer; empty for types that cannot hold it.
std::string elementOf(double value, const std::string &scalar) {
  if (!isInteger(scalar) || std::abs(value) > 0x1p62)
    return realBytes(scalar, value);
  return bytesOf(std::int64_t(value)).substr(0, elementBytes(scalar)); // little-endian
}

/// True for captured bytes. What larger integers might be is not known: they may be indices.
bool isCapturedByte(const Buffer &buffer) {
  return buffer.fill.kind == FillKind::Captured && isInteger(buffer.scalar) &&
         elementBytes(buffer.scalar) == 1;
}

/// Contents with `number` in a third of the elements, and somewhat less (`side` -1) or more (`side`
/// 1) in the others. Of large buffers all are drawn from there.
Fill spelled(const Buffer &buffer, double number, int side) {
  const std::uint64_t width = elementBytes(buffer.scalar), count = buffer.bytes / width;
  const bool isReal = isFloating(buffer.scalar), isDrawn = buffer.fill.kind == FillKind::Uniform;
  const double reach = std::max({isDrawn ? buffer.fill.high - buffer.fill.low : 0,
                                 std::abs(number) / 8, isReal && isDrawn ? 0.0 : 1.0});
  if ((isReal && elementOf(number, buffer.scalar).empty()) ||
      (buffer.bytes > kMostContents && (isReal || isCapturedByte(buffer))))
    return {FillKind::Uniform, std::min(number, number + side * reach),
            std::max(number, number + side * reach)};
  if (buffer.bytes > kMostContents || elementOf(number, buffer.scalar).size() != width)
    return {FillKind::Constant, number, number};
  Fill fill{FillKind::Values, number, number};
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t random = mixed(0x5eed, i);
    const double share = double(random >> 11) * 0x1p-53;
    double value = random % 3 == 0 ? number : number + side * share * reach;
    if (!isReal)
      value = std::round(value);
    if (!isReal && !isCapturedByte(buffer))
      value = std::clamp(value, buffer.fill.low, buffer.fill.high);
    fill.bytes += elementOf(value, buffer.scalar);
  }
  return fill;
}

/// Contents around a number: on either side of it, equal to it, or in a range narrower or wider
/// than it.
struct Around {
  const char *words;
  Fill (*make)(const Buffer &, double);
};
constexpr Around kAround[] = {
    {"no more than", [](const Buffer &buffer, double n) { return spelled(buffer, n, -1); }},
    {"no less than", [](const Buffer &buffer, double n) { return spelled(buffer, n, 1); }},
    {"all", [](const Buffer &, double n) { return Fill{FillKind::Constant, n, n}; }},
    {"in a range narrower than",
     [](const Buffer &buffer, double n) {
       return Fill{FillKind::Uniform, buffer.fill.low, buffer.fill.low + std::abs(n) / 2};
     }},
    {"in a range wider than", [](const Buffer &buffer, double n) {
       return Fill{FillKind::Uniform, buffer.fill.low - 2 * std::abs(n),
                   buffer.fill.low + 2 * std::abs(n)};
     }}};

class Reaching {
public:
  Reaching(const DerivationSource &source, const Launch &launch, const Deciding &outcome,
           std::uint64_t most, std::size_t count)
      : source_(source), launch_(launch), outcome_(outcome), isCaptured_(isCaptured(launch)),
        base_(smallOf(source, launch)), numbers_(numbersOf(source, base_)), most_(most),
        count_(count) {
    limits_ = outcome.numbers;
    limits_.resize(std::min(limits_.size(), kMostNumbers));
  }

  std::vector<DerivedLaunch> run() {
    if (outcome_.data)
      addContents();
    addReals();
    addIntegers();
    return std::move(launches_);
  }

private:
  static Launch smallOf(const DerivationSource &source, const Launch &launch) {
    const auto numbers = numbersOf(source, launch);
    const Values small = numbers->shrunk(numbers->sizes(), "", kSmall, kSmallestSize);
    return isCaptured(launch) ? launch : numbers->with(small).value_or(launch);
  }

  void add(Derivation kind, std::string title, Launch launch, bool isUnbounded = false) {
    if (launches_.size() == count_ || !titles_.insert(title).second ||
        brokenRequirement(source_, launch, launch.bindings))
      return;
    launches_.push_back(derivedFrom(launch_, kind, std::move(title), std::move(launch)));
    launches_.back().unbounded = isUnbounded;
  }

  const KernelParam *param(std::size_t index) const {
    const auto &params = source_.specialization.params;
    return index < params.size() ? &params[index] : nullptr;
  }
  bool names(const std::string &name) const {
    return std::ranges::any_of(outcome_.params, [&](std::uint32_t index) {
      return param(index) && param(index)->name == name;
    });
  }

  /// The values that an integer might need, the likeliest first.
  std::vector<std::int64_t> targets() const {
    std::vector<std::int64_t> found;
    const auto take = [&](double value) {
      if (value != std::floor(value) || std::abs(value) > double(INT32_MAX))
        return;
      if (std::ranges::find(found, std::int64_t(value)) == found.end())
        found.push_back(std::int64_t(value));
    };
    for (const double number : limits_) {
      if (number >= kLimit) // far beyond a limit more can go wrong than just beyond it
        take(2 * std::ceil(number) + 1);
      for (const double near : {std::ceil(number), number + 1, number - 1})
        take(near);
    }
    for (std::size_t i = 0; i < limits_.size(); ++i)
      for (std::size_t j = i + 1; j < limits_.size(); ++j)
        for (const double both :
             {limits_[i] + limits_[j], limits_[i] - limits_[j], limits_[i] * limits_[j]})
          take(both);
    for (const double number : limits_) {
      if (number >= 8 && number <= 24) // shift counts: values whose bits are shifted out
        for (const double power : {std::exp2(number), std::exp2(32 - number)})
          take(power);
      if (outcome_.blocks) // enough threads for more blocks than that
        take(number * double(launch_.block.x) + 1);
    }
    return found;
  }

  void addIntegers() {
    std::set<std::string> deciding;
    for (const auto &[name, value] : numbers_->all())
      if (names(name) && (isCaptured_ || !isBlock(name)))
        deciding.insert(name);
    if (!isCaptured_ && (deciding.empty() || outcome_.blocks)) // blocks follow from the sizes
      deciding.insert(numbers_->deciding().begin(), numbers_->deciding().end());
    for (const std::int64_t target : targets())
      for (const std::string &name : deciding) {
        if (launches_.size() == count_)
          return;
        const bool isSize = !isCaptured_ && numbers_->sizes().contains(name);
        if (auto made = with(name, target))
          add(isSize ? Derivation::Sizes : Derivation::Scalars, describe({{name, target}}),
              std::move(*made));
      }
  }
  bool isBlock(const std::string &name) const {
    return !numbers_->sizes().contains(name) && !numbers_->others().contains(name);
  }

  /// Of a captured launch no integer becomes larger.
  std::optional<Launch> with(const std::string &name, std::int64_t value) const {
    if (!numbers_->mayBecome(name, value))
      return std::nullopt;
    auto made = numbers_->with(numbers_->related({{name, value}}));
    if (made && (isCaptured_ || costOf(*made) <= most_))
      return std::move(*made);
    Values values = numbers_->sizes();
    values[name] = value;
    return isCaptured_ ? std::nullopt : numbers_->within(name, std::move(values), most_);
  }

  /// Adds launches with other floating-point arguments.
  void addReals() {
    for (const std::uint32_t index : outcome_.params) {
      const KernelParam *known = param(index);
      if (!known || known->kind != ParamKind::Scalar || index >= base_.arguments.size() ||
          (known->scalar != "f32" && known->scalar != "f64"))
        continue;
      for (const double number : limits_)
        for (const double step : {0.0, 1.0, -1.0}) {
          Launch made = base_;
          const double value = number + step * std::max(std::abs(number) / 64, 1e-6);
          auto *argument = std::get_if<ValueArg>(&made.arguments[index]);
          if (!argument)
            continue;
          argument->bytes = elementOf(value, known->scalar);
          add(Derivation::Scalars, fmt::format("{} = {:.9g}", known->name, value), std::move(made));
        }
    }
  }

  void addContents() {
    if (!isCaptured_ && costOf(base_) > most_)
      return;
    for (const double number : limits_)
      for (const Around &around : kAround)
        addContents(base_, number, around);
  }

  /// Adds a launch with contents around `number`. Integers may be indices, so they stay within
  /// their declared fill.
  void addContents(Launch launch, double number, const Around &around) {
    std::string title;
    bool isUnbounded = false;
    const bool isTold = std::ranges::any_of(launch.buffers, [&](const Buffer &buffer) {
      return isInput(buffer) && names(buffer.name);
    });
    for (Buffer &buffer : launch.buffers) {
      const bool isReal = isFloating(buffer.scalar), isDeclared = !buffer.fill.isDefault;
      const bool isFit =
          isReal || isCapturedByte(buffer) ||
          (isInteger(buffer.scalar) && number == std::floor(number) &&
           buffer.fill.kind == FillKind::Uniform &&
           (!isDeclared || (number >= buffer.fill.low && number <= buffer.fill.high)));
      if (!isInput(buffer) || (isTold && !names(buffer.name)) || !isFit)
        continue;
      Fill fill = around.make(buffer, number);
      if (!isReal && isDeclared && !isCapturedByte(buffer)) {
        fill.low = std::clamp(fill.low, buffer.fill.low, buffer.fill.high);
        fill.high = std::clamp(fill.high, buffer.fill.low, buffer.fill.high);
      }
      isUnbounded |= !isReal && !isDeclared;
      title += (title.empty() ? "contents of " : ", ") + buffer.name;
      buffer.fill = std::move(fill);
    }
    if (!title.empty())
      add(Derivation::Contents, fmt::format("{}: {} {:.9g}", title, around.words, number),
          std::move(launch), isUnbounded);
  }

  static bool isInput(const Buffer &buffer) {
    const bool isArgument = !buffer.symbol.empty() && buffer.fill.kind == FillKind::Constant;
    return !buffer.output && !isArgument && !buffer.holdsPointers &&
           buffer.fill.kind != FillKind::Values;
  }

  const DerivationSource &source_;
  const Launch &launch_;
  const Deciding &outcome_;
  const bool isCaptured_;
  const Launch base_; ///< small, if it was declared
  const std::unique_ptr<LaunchNumbers> numbers_;
  std::uint64_t most_;
  std::size_t count_;
  std::vector<double> limits_; ///< that the condition names
  std::set<std::string> titles_;
  std::vector<DerivedLaunch> launches_;
};

} // namespace

std::vector<DerivedLaunch> reachingLaunches(const DerivationSource &source, const Launch &launch,
                                            const Deciding &outcome, std::uint64_t most,
                                            std::size_t count) {
  return Reaching(source, launch, outcome, most, count).run();
}

} // namespace kopt
