// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/CapturedLaunches.h"

#include "driver/support/ElementType.h"
#include "driver/support/Hash.h"
#include "driver/workload/DeclaredFill.h"
#include "driver/workload/derived/CapturedContents.h"
#include "driver/workload/derived/CapturedNumbers.h"
#include "driver/workload/derived/DerivedContents.h"
#include "driver/workload/derived/Deriver.h"
#include "driver/workload/derived/LaunchFamily.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <set>

namespace kopt {
namespace {

using Values = CapturedNumbers::Values;

constexpr std::size_t kMostAlone = 6; ///< most buffers or integers that are changed one at a time
constexpr std::uint64_t kPartThreads = 8192;                 ///< threads of a part of a grid
constexpr std::uint64_t kMostGrown = std::uint64_t(2) << 30; ///< most bytes of a larger launch
constexpr std::uint64_t kMostFar = std::uint64_t(256) << 20; ///< and of one that is far larger
constexpr std::int64_t kFar = 16;                            ///< how much larger that is
constexpr double kScale = 1000, kNarrowScale = 16;

template <class Change> Values each(const Values &values, Change change) {
  Values changed = values;
  for (auto &[name, value] : changed)
    value = std::clamp<std::int64_t>(change(value), std::min<std::int64_t>(1, value), value);
  return changed;
}

class CapturedDeriver : DeriverBase {
public:
  CapturedDeriver(const DerivationSource &source, const Launch &launch, std::uint64_t most)
      : DeriverBase(source, launch), numbers_(source, launch), most_(most) {}

  DerivedLaunches run() {
    learnContents();
    addSizes();
    addScalars();
    addContents();
    addAlignment();
    addPart(launch_, std::max<std::uint64_t>(2, kPartThreads / launch_.block.count()));
    return std::move(out_);
  }

private:
  DerivedLaunch *addNumbers(Derivation kind, const Values &wanted) {
    const Values changed = numbers_.related(wanted), values = numbers_.allowed(changed);
    if (!numbers_.areOther(values) &&
        numbers_.areOther(changed)) // no other values are allowed: add() says why
      return add(kind, describe(changed), numbers_.with(changed));
    if (!numbers_.areOther(values) || !tried_.insert(values).second)
      return nullptr;
    auto made = numbers_.larger(values); // n - m + 1 elements are more for a smaller m
    if (!made)
      made = numbers_.with(values);
    if (made->threads() > 0)
      return add(kind, describe(values), std::move(*made));
    miss(kind, describe(values), "the program cannot launch it: it has no threads");
    return nullptr;
  }

  /// Adds launches with each of the values at the ends of what is required of it.
  void addEnds(Derivation kind, const Values &values) {
    const Requirements requirements(source_.declaration, realsOf(source_, launch_));
    for (const auto &[name, end] : requirements.ends(numbers_.all(), launch_.bindings))
      if (const auto value = values.find(name);
          value != values.end() && end >= 0 &&
          end <= kFar * std::max<std::int64_t>(1, value->second))
        addNumbers(kind, {{name, end}});
  }

  void addSizes() {
    addFewerBlocks();
    const Values &sizes = numbers_.sizes();
    if (sizes.empty())
      return miss(Derivation::Sizes, "no integer argument decides how much the launch computes");
    if (const std::string name = numbers_.unknownInBlock(); !name.empty())
      return miss(
          Derivation::Sizes,
          fmt::format("the program computes the block or its shared memory from '{0}', whose "
                      "value for other sizes is not known; 'arg {0} = ...' would tell",
                      name));
    addNumbers(Derivation::Sizes, each(sizes, [](std::int64_t v) { return v - 1; }));
    addEnds(Derivation::Sizes, sizes);
    addFarTogether();
    addLarger();
    for (const auto &small : {numbers_.halved(most_), numbers_.divided(most_)})
      if (DerivedLaunch *added = small ? addNumbers(Derivation::Sizes, *small) : nullptr)
        added->isSmall = added->launch.threads() <= most_;
    for (const std::int64_t one : valuesOfSizes())
      addFar([&](std::int64_t times) { return multiplied(one, times); });
    addNumbers(Derivation::Sizes, each(sizes, [](std::int64_t v) { return v * 3 / 4 + 1; }));
    addNumbers(Derivation::Sizes, each(sizes, [](std::int64_t v) { return v - 3; }));
    addNumbers(Derivation::Sizes, each(sizes, [](std::int64_t) { return 1; }));
    // One element beyond whole blocks, whatever their length is.
    addNumbers(Derivation::Sizes, each(sizes, [](std::int64_t v) {
                 return v > 2 ? std::int64_t(std::bit_floor(std::uint64_t(v - 2))) + 1 : v;
               }));
    // Multiples of as many as a vector, a warp or a block has, and not of twice as many.
    for (const std::int64_t step : {4, 8, 16, 32, 64})
      addNumbers(Derivation::Sizes, each(sizes, [step](std::int64_t v) {
                   return v > 4 * step && v % (2 * step) == 0 ? v - step : v;
                 }));
    Values half;
    for (const std::string &name : numbers_.deciding()) {
      half[name] = (sizes.at(name) + 1) / 2;
      if (sizes.size() > 1) // two that are equal by chance may be mixed up
        for (const std::int64_t other : {sizes.at(name) * 3 / 4 + 1, sizes.at(name) - 1})
          addNumbers(Derivation::Sizes, {{name, other}});
      addNumbers(Derivation::Sizes, {{name, 0}});
    }
    for (const auto &[name, value] : sizes) {
      Values alone = half; // the name may be that of the distance between rows
      if (!half.empty() && alone.emplace(name, value - 1).second)
        addNumbers(Derivation::Sizes, alone);
    }
  }

  /// Adds launches with one block fewer along each axis that has as many as the program likes.
  void addFewerBlocks() {
    for (const auto &[axis, name] : numbers_.freeAxes()) {
      Launch made = launch_;
      std::uint32_t *const extents[] = {&made.grid.x, &made.grid.y, &made.grid.z};
      made.geometry.grid[axis] = std::to_string(--*extents[axis]);
      add(Derivation::Sizes, fmt::format("{} = {}", name, *extents[axis]), std::move(made));
    }
  }

  /// Each value that sizes have, those that do not decide the grid first: a row that is longer than
  /// the block takes little more time.
  std::vector<std::int64_t> valuesOfSizes() const {
    std::set<std::int64_t> deciding;
    for (const std::string &name : numbers_.deciding())
      deciding.insert(numbers_.sizes().at(name));
    std::vector<std::int64_t> values;
    for (const auto &[name, value] : numbers_.sizes())
      if (!deciding.contains(value) && std::ranges::find(values, value) == values.end())
        values.push_back(value);
    values.insert(values.end(), deciding.begin(), deciding.end());
    return values;
  }

  /// The sizes of this value, or all if it is 0, so many times as large plus one.
  Values multiplied(std::int64_t one, std::int64_t times) const {
    Values wanted;
    for (const auto &[name, value] : numbers_.sizes())
      if (value > 1 && (one == 0 || value == one))
        wanted[name] = value * times + 1;
    wanted = numbers_.related(wanted);
    const Values allowed = numbers_.allowed(wanted);
    return numbers_.areOther(allowed) ? allowed : wanted; // add() says which requirement is broken
  }

  /// Adds launches with sizes twice as large plus one: all sizes, then each value alone, together
  /// with the sizes of the same value.
  void addLarger() {
    if (numbers_.deciding().empty())
      return;
    std::vector<std::int64_t> values = valuesOfSizes();
    values.insert(values.begin(), 0); // all
    for (const std::int64_t one : values) {
      const Values wanted = multiplied(one, 2);
      if (wanted.empty() || !tried_.insert(wanted).second)
        continue;
      const std::string title = describe(wanted);
      auto made = numbers_.larger(wanted);
      if (!made) {
        miss(Derivation::Sizes, title, "it is not known how the launch and its memory grow");
        if (one == 0)
          return;
        continue;
      }
      if (const std::uint64_t bytes = memoryOf(*made); bytes > kMostGrown)
        miss(Derivation::Sizes, title, fmt::format("it takes {} MiB", bytes >> 20));
      else
        add(Derivation::Sizes, title, std::move(*made));
    }
  }

  /// Adds launches with sizes many times as large, as far as memory goes: `larger` gives them. An
  /// array may be too short for them, and with the greatest integers in memory a counter may
  /// overflow.
  void addFar(const std::function<Values(std::int64_t times)> &larger) {
    for (std::int64_t times = kFar; times > 2; times /= 2) {
      const Values wanted = larger(times);
      auto made = numbers_.larger(wanted);
      if (wanted.empty() || !made)
        return;
      if (memoryOf(*made) > kMostFar)
        continue;
      if (!tried_.insert(wanted).second)
        return;
      if (auto great = withGreatestIntegers(*made))
        add(Derivation::Sizes, describe(wanted) + ", great integers", std::move(*great));
      if (made->grid == launch_.grid)
        add(Derivation::Sizes, describe(wanted), std::move(*made));
      return;
    }
  }

  /// Adds one with all that do not decide the grid exactly in proportion: one may be the sum of
  /// others.
  void addFarTogether() {
    addFar([this](std::int64_t times) {
      Values wanted;
      for (const auto &[name, value] : numbers_.sizes())
        if (!numbers_.deciding().contains(name))
          wanted[name] = value * times;
      return wanted.size() > 1 ? numbers_.allowed(wanted) : Values();
    });
  }

  /// Adds launches in which small integers are far greater. They may be indices, so only a device
  /// that checks bounds can tell whether the original runs on them.
  void addGreater() {
    constexpr std::int64_t kMostOther = 4096;
    Values greater;
    for (const auto &[name, value] : numbers_.others())
      if (value > 1 && value <= kMostOther)
        greater[name] = value * kFar + 1;
    DerivedLaunch *added = addNumbers(Derivation::Scalars, greater);
    if (!added)
      return;
    added->unbounded = true;
    auto made = withGreatestIntegers(added->launch); // a sum of more terms may overflow
    if (made && (added = add(Derivation::Scalars, added->title + ", great integers", *made)))
      added->unbounded = true;
  }

  /// The launch with each integer in memory as great as the greatest captured one of its buffer.
  /// Nothing if there are none but those that may be indices.
  std::optional<Launch> withGreatestIntegers(Launch launch) const {
    bool isChanged = false;
    for (std::size_t b = 0; b < launch.buffers.size(); ++b)
      if (known_[b] && !isFloating(launch.buffers[b].scalar) && !known_[b]->isSorted &&
          !known_[b]->isPermutation && known_[b]->high > known_[b]->low) {
        launch.buffers[b].fill = {FillKind::Constant, known_[b]->high, known_[b]->high};
        isChanged = true;
      }
    return isChanged ? std::optional(std::move(launch)) : std::nullopt;
  }

  void addScalars() {
    addGreater();
    for (const double factor : kScalarFactors)
      if (auto scaled = scaledScalars(source_, launch_, [&](std::size_t index) {
            return factor * (1 + double(index) / 8);
          }))
        add(Derivation::Scalars, scaled->title, std::move(scaled->launch));
    const Values &others = numbers_.others();
    addEnds(Derivation::Scalars, others);
    if (others.size() > 1 && others.size() <= kMostAlone) // they may not fit together
      for (const auto &[name, value] : others)
        addNumbers(Derivation::Scalars, {{name, value - 1}});
    addNumbers(Derivation::Scalars, each(others, [](std::int64_t v) { return v - 1; }));
    addNumbers(Derivation::Scalars, each(others, [](std::int64_t) { return 1; }));
    for (const std::string &name : numbers_.counts())
      for (const std::int64_t few : {1, 3}) // a loop that ends before it has converged
        addNumbers(Derivation::Scalars, {{name, few}});
    for (const auto &[name, value] : others)
      for (const std::int64_t mode : modesOf(source_, name))
        if (mode <= value) // a larger value may need more memory
          addNumbers(Derivation::Scalars, {{name, mode}});
    for (const KernelParam &param : source_.specialization.params)
      if (param.scalar == "bool" && others.contains(param.name))
        addNumbers(Derivation::Scalars, {{param.name, 1 - others.at(param.name)}});
    if (std::ranges::none_of(out_.launches, [](const DerivedLaunch &derived) {
          return derived.kind == Derivation::Scalars;
        }))
      miss(Derivation::Scalars, "the kernel has no scalar argument but those that are sizes");
  }

  /// Adds a launch in which the buffers that `change` returns a fill for get that fill.
  /// `isScaled`: also of structs, whose members have different ranges.
  void addContents(const std::string &title,
                   const std::function<std::optional<Fill>(const Buffer &, std::size_t)> &change,
                   const OtherContents *flags = nullptr, bool isScaled = false) {
    Launch made = launch_;
    std::vector<std::tuple<FillKind, double, double>> fills;
    for (std::size_t b = 0; b < made.buffers.size(); ++b) {
      Buffer &buffer = made.buffers[b];
      if (!buffer.output && (known_[b] || (isScaled && isOfStructs(b))))
        if (const auto fill = change(buffer, b)) {
          buffer.fill = *fill;
          if (fill->kind != FillKind::Captured)
            buffer.holdsPointers = false;
          else
            buffer.fill.path = launch_.buffers[b].fill.path;
        }
      fills.emplace_back(buffer.fill.kind, buffer.fill.low, buffer.fill.high);
    }
    if (!contents_.insert(std::move(fills)).second)
      return;
    DerivedLaunch *added = add(Derivation::Contents, "contents: " + title, std::move(made));
    if (!added || !flags)
      return;
    static_cast<ContentTraits &>(*added) = flags->traits;
  }

  /// True if the buffer holds captured structs with floating-point numbers, and no `fill` clause
  /// says what they are like.
  bool isOfStructs(std::size_t buffer) const {
    const Buffer &known = launch_.buffers[buffer];
    const bool isDeclared = source_.declaration && source_.declaration->fills.contains(known.name);
    return !isDeclared && known.fill.kind == FillKind::Captured && !known.output &&
           runtime::StructType::parse(known.scalar) && runtime::holdsFloatingPoint(known.scalar);
  }

  /// The summary with the range of the user's `fill` clause, which takes precedence over the
  /// captured one. Nothing if the clause gives no range; then the contents stay as they are.
  std::optional<ContentsSummary> asDeclared(const Buffer &buffer, ContentsSummary summary) const {
    if (!source_.declaration || !source_.declaration->fills.contains(buffer.name))
      return summary;
    const auto fill = declaredFill(*source_.declaration, buffer, launch_.bindings);
    if (!fill || !*fill || (*fill)->kind != FillKind::Uniform)
      return std::nullopt;
    summary.low = (*fill)->low;
    summary.high = (*fill)->high;
    return summary;
  }

  /// The median magnitude of buffers that are not constant.
  double typicalMagnitude() const {
    std::vector<double> magnitudes;
    for (std::size_t b = 0; b < known_.size(); ++b)
      if (known_[b] && isFloating(launch_.buffers[b].scalar) && !known_[b]->isConstant)
        magnitudes.push_back(std::max(std::abs(known_[b]->low), std::abs(known_[b]->high)));
    if (magnitudes.empty())
      return 0;
    std::sort(magnitudes.begin(), magnitudes.end());
    return magnitudes[magnitudes.size() / 2];
  }

  void learnContents() {
    for (std::size_t b = 0; b < launch_.buffers.size(); ++b) {
      const Buffer &buffer = launch_.buffers[b];
      known_.emplace_back();
      if (buffer.fill.kind != FillKind::Captured || buffer.output)
        continue;
      if (auto summary = summarize(launch_, b))
        known_.back() = asDeclared(buffer, *summary);
      else if (!isOfStructs(b))
        unknown_.push_back(std::move(summary.error()));
    }
  }

  void addContents() {
    std::vector<std::tuple<FillKind, double, double>> captured;
    for (const Buffer &buffer : launch_.buffers)
      captured.emplace_back(buffer.fill.kind, buffer.fill.low, buffer.fill.high);
    contents_.insert(std::move(captured));
    for (std::string &why : unknown_)
      out_.missing.push_back({Derivation::Contents, "contents", std::move(why)});
    const double typical = typicalMagnitude();
    const auto forConstant = [&](const Buffer &buffer, std::size_t b) {
      return drawnForConstant(buffer, *known_[b], typical);
    };
    const auto drawn = [&](const Buffer &buffer, std::size_t b) {
      auto fill = drawnLike(buffer, *known_[b]);
      if (fill && fill->kind == FillKind::Sorted && !isFloating(buffer.scalar))
        fill->kind = FillKind::Uneven; // they may be where rows begin
      return fill;
    };
    const auto scaled = [](double factor) {
      return [factor](const Buffer &buffer, std::size_t) -> std::optional<Fill> {
        const bool isNarrow = buffer.scalar == "f16" || buffer.scalar == "bf16";
        if (!runtime::holdsFloatingPoint(buffer.scalar))
          return std::nullopt;
        return Fill{FillKind::Captured, -1,
                    isNarrow ? std::pow(kNarrowScale, std::log10(factor) / 3) : factor};
      };
    };
    addContents("constant ones replaced", forConstant);
    addContents("floating-point numbers drawn anew", [&](const Buffer &buffer, std::size_t b) {
      return isFloating(buffer.scalar) ? drawn(buffer, b) : std::nullopt;
    });
    addContents("a thousand times larger", scaled(kScale), nullptr, true);
    addOther(nonFiniteContents()); // early, as a clamp that hides NaNs is a common mistake
    addContents("all drawn anew, constant ones replaced", [&](const Buffer &buffer, std::size_t b) {
      const auto fill = drawn(buffer, b);
      return fill ? fill : forConstant(buffer, b);
    });
    addContents("a thousand times smaller", scaled(1 / kScale), nullptr, true);
    const auto ofOtherSign = [&](double times) {
      return [this, times](const Buffer &buffer, std::size_t b) -> std::optional<Fill> {
        ContentsSummary other = *known_[b];
        std::tie(other.low, other.high) = std::pair(-times * other.high, -times * other.low);
        const bool hasOneSign = other.low >= 0 || other.high <= 0;
        return isFloating(buffer.scalar) && hasOneSign ? drawnLike(buffer, other) : std::nullopt;
      };
    };
    addContents("of the other sign", ofOtherSign(1));
    addContents("integers drawn anew", [&](const Buffer &buffer, std::size_t b) {
      return isFloating(buffer.scalar) ? std::nullopt : drawn(buffer, b);
    });
    addContents("of the other sign, a thousand times larger", ofOtherSign(kScale));
    for (const OtherContents &wanted : otherContents())
      addOther(wanted);
    addContents("other characters, too", [&](const Buffer &buffer, std::size_t b) {
      const bool isText = elementBytes(buffer.scalar) == 1 && known_[b]->low >= ' ';
      return isText
                 ? std::optional(Fill{FillKind::Uniform, known_[b]->low - 1, known_[b]->high + 1})
                 : std::nullopt;
    });
    addAlone("constant ones replaced in", forConstant);
    addAlone("drawn anew:", drawn);
  }

  /// Adds one of the kinds of contents for declared inputs, using the summary of each buffer as its
  /// range. Integers may be indices, so sorted and permuted ones are changed only for some kinds.
  void addOther(const OtherContents &wanted) {
    if (wanted.traits.unbounded)
      return;
    addContents(
        wanted.name,
        [&](const Buffer &buffer, std::size_t b) -> std::optional<Fill> {
          const ContentsSummary &known = *known_[b];
          Buffer described = buffer;
          described.fill = {FillKind::Uniform, known.low, known.high};
          if (known.isConstant)
            described.fill = {known.isAllZero() ? FillKind::Zero : FillKind::Constant, known.low,
                              known.low};
          const bool isFloat = isFloating(buffer.scalar);
          if (!isFloat && (known.isSorted || known.isPermutation) &&
              !wanted.traits.maybeConditional)
            return std::nullopt;
          return (isFloat ? wanted.floating : wanted.integer)(described);
        },
        &wanted);
  }

  /// Changes one buffer at a time if several can change: the kernel may fail if all change.
  template <class Change> void addAlone(const std::string &title, Change change) {
    std::vector<std::size_t> changed;
    for (std::size_t b = 0; b < launch_.buffers.size(); ++b)
      if (!launch_.buffers[b].output && known_[b] && change(launch_.buffers[b], b))
        changed.push_back(b);
    if (changed.size() < 2)
      return;
    changed.resize(std::min(changed.size(), kMostAlone));
    for (const std::size_t alone : changed)
      addContents(fmt::format("{} '{}'", title, launch_.buffers[alone].name),
                  [&](const Buffer &buffer, std::size_t b) {
                    return b == alone ? change(buffer, b) : std::nullopt;
                  });
  }

  /// Bytes of the elements that the kernel's pointers into each buffer point to. 0: the buffer may
  /// not be moved, because other pointers may refer to it.
  std::vector<std::uint64_t> elementsOf() const {
    const std::vector<KernelParam> &params = source_.specialization.params;
    std::vector<std::uint64_t> bytes(launch_.buffers.size(), 0);
    std::vector<bool> stays(launch_.buffers.size(), false);
    for (std::size_t i = 0; i < launch_.arguments.size() && i < params.size(); ++i) {
      if (const auto *pointer = std::get_if<BufferArg>(&launch_.arguments[i])) {
        const std::uint64_t element = std::max<std::uint64_t>(
            params[i].pointeeSize, params[i].scalar.empty() ? 0 : elementBytes(params[i].scalar));
        bytes[pointer->buffer] = std::max(bytes[pointer->buffer], element);
        if (element == 0)
          stays[pointer->buffer] = true;
      } else {
        for (const PointerWord &word : std::get<ValueArg>(launch_.arguments[i]).pointers)
          stays[word.buffer] = true;
      }
    }
    for (std::size_t b = 0; b < bytes.size(); ++b)
      if (stays[b] || launch_.buffers[b].fill.kind != FillKind::Captured ||
          !launch_.buffers[b].symbol.empty())
        bytes[b] = 0;
    return bytes;
  }

  void addAlignment() {
    const std::vector<std::uint64_t> elements = elementsOf();
    const auto stay = std::size_t(std::ranges::count(elements, 0u));
    if (stay == elements.size())
      return miss(Derivation::Alignment, "no pointer argument has a known type");
    std::vector<std::uint64_t> further = elements;
    for (std::uint64_t &bytes : further)
      bytes = bytes == 0 ? 0 : (255 / bytes + 1) * bytes;
    add(Derivation::Alignment, "pointers 256 bytes further", shifted(launch_, further));
    add(Derivation::Alignment, "pointers one element further", shifted(launch_, elements));
    if (elements.size() - stay > 1)
      addEachFurther(launch_, elements, kMostAlone);
    addInPlace(launch_);
  }

  const CapturedNumbers numbers_;
  std::uint64_t most_;
  std::vector<std::optional<ContentsSummary>> known_; ///< for each buffer; nothing: it stays
  std::vector<std::string> unknown_;                  ///< why nothing is known of some
  std::set<Values> tried_;
  std::set<std::vector<std::tuple<FillKind, double, double>>> contents_; ///< of added launches
};

} // namespace

DerivedLaunches deriveCaptured(const DerivationSource &source, const Launch &launch,
                               std::uint64_t most) {
  return CapturedDeriver(source, launch, most).run();
}

std::vector<Launch> withDrawnContents(const DerivationSource &source, const Launch &launch) {
  std::vector<Launch> launches;
  for (DerivedLaunch &derived : deriveCaptured(source, launch, 1).launches)
    if (derived.kind == Derivation::Contents && !derived.nonFinite && !derived.maybeConditional &&
        !derived.cancelling && !derived.isCoarse && !derived.isExtreme)
      launches.push_back(std::move(derived.launch));
  return launches;
}

std::optional<Launch> withCapturedInteger(const DerivationSource &source, const Launch &launch,
                                          const std::string &name, std::int64_t value) {
  const CapturedNumbers numbers(source, launch);
  const auto known = numbers.all().find(name);
  const Values changed = numbers.related({{name, value}});
  if (known == numbers.all().end() || value < 0 || value > known->second ||
      !changed.contains(name) ||
      (numbers.sizes().contains(name) && !numbers.unknownInBlock().empty()))
    return std::nullopt;
  Launch made = numbers.with(changed);
  return made.threads() > 0 ? std::optional(std::move(made)) : std::nullopt;
}

} // namespace kopt
