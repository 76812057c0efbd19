// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/DerivedLaunches.h"

#include "driver/judge/derive/AliasedBuffers.h"
#include "driver/judge/derive/DeriveLimits.h"
#include "driver/judge/derive/DerivedContents.h"
#include "driver/judge/derive/LaunchNumbers.h"
#include "driver/model/Json.h"
#include "driver/support/ElementType.h"
#include "driver/support/Hash.h"
#include "driver/workload/OtherScalars.h"
#include "driver/workload/SiteValues.h"
#include "driver/workload/WorkloadBuilder.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <set>
#include <variant>

namespace kopt {
namespace {

using Values = LaunchNumbers::Values;

std::int64_t nextPrime(std::int64_t value) {
  for (value = std::max<std::int64_t>(value, 2);; ++value) {
    bool prime = true;
    for (std::int64_t divisor = 2; prime && divisor * divisor <= value; ++divisor)
      prime = value % divisor != 0;
    if (prime)
      return value;
  }
}

std::int64_t rounded(std::int64_t value) {
  return std::int64_t(std::bit_ceil(std::uint64_t(value)));
}

/// Most launches are derived from base_, which is the captured launch, or a smaller declared one.
class Deriver {
public:
  Deriver(const DerivationSource &source, const Launch &launch, std::uint64_t most)
      : source_(source), launch_(launch), isCaptured_(isCaptured(launch)),
        whole_(numbersOf(source, launch)), base_(baseOf(most)), numbers_(numbersOf(source, base_)),
        inputs_(source, base_), most_(isCaptured_ ? most : std::max(most, costOf(base_))) {
    isNew(launch);
  }

  DerivedLaunches run() {
    const std::string stay = numbers_->whySizesStay();
    if (!stay.empty())
      miss(Derivation::Sizes, stay);
    for (const auto &[of, needs, how] : kSteps)
      if (of == (isCaptured_ ? kDeclared : kCaptured) || (needs == kSizes && !stay.empty()))
        continue;
      else if (const auto *add = std::get_if<Add>(&how))
        (this->**add)();
      else
        addNumbers(needs == kSizes ? Derivation::Sizes : Derivation::Scalars,
                   each(needs, std::get<Change>(how)));
    return std::move(out_);
  }

private:
  using Change = std::int64_t (*)(std::int64_t);
  using Add = void (Deriver::*)();
  enum Of { kBoth, kDeclared, kCaptured };
  enum Needs { kSizes, kOthers }; ///< kSizes: only if the launch can have other sizes

  /// One way to derive launches: a change of all sizes, or of all other integers, or a function.
  struct Step {
    Of of; ///< which launches it is for
    Needs needs;
    std::variant<Change, Add> how;
  };
  static const std::vector<Step> kSteps;

  /// Of a declared launch a small one.
  Launch baseOf(std::uint64_t most) const {
    if (isCaptured_)
      return launch_;
    const Values small = whole_->shrunk(whole_->sizes(), "", most, kSmallestSize);
    return whole_->with(whole_->allowed(small)).value_or(launch_);
  }

  bool isNew(Launch launch) {
    launch.name.clear();
    return known_.insert(hashHex(canonicalJson(launch))).second;
  }

  /// Adds a launch and returns it. Null if it is there already, or cannot be made, with a note why.
  DerivedLaunch *add(Derivation kind, std::string title, Result<Launch> launch) {
    const auto broken = launch ? brokenRequirement(source_, *launch, launch->bindings)
                               : std::optional<std::string>();
    if (!launch || broken) {
      out_.missing.push_back({kind, std::move(title),
                              broken ? fmt::format("'require {}' does not hold there", *broken)
                                     : launch.error().what});
      return nullptr;
    }
    if (!isNew(*launch))
      return nullptr;
    return &out_.launches.emplace_back(
        derivedFrom(launch_, kind, std::move(title), std::move(*launch)));
  }

  static void mark(DerivedLaunch *added, bool DerivedLaunch::*flag) {
    if (added)
      added->*flag = true;
  }

  void miss(Derivation kind, std::string why) {
    out_.missing.push_back({kind, toString(kind), std::move(why)});
  }

  /// Adds the launch with these integers, moved so that the requirements hold, in larger memory if
  /// need be: n - m + 1 elements are more for a smaller m.
  DerivedLaunch *addNumbers(Derivation kind, const Values &wanted) {
    const Values changed = numbers_->related(wanted);
    Values values = numbers_->allowed(changed);
    if (!whole_->areOther(values)) // no others are allowed: add() says why these are not
      values = changed;
    if (!whole_->areOther(values) || !numbers_->areOther(values) || !tried_.insert(values).second)
      return nullptr;
    auto made = numbers_->larger(values);
    return add(kind, describe(values), made ? std::move(made) : numbers_->with(values));
  }

  Values each(Needs of, Change change) const {
    Values values = of == kSizes ? numbers_->sizes() : numbers_->others();
    for (auto &[name, value] : values)
      value = isCaptured_ ? std::clamp(change(value), std::min<std::int64_t>(1, value), value)
                          : std::max<std::int64_t>(0, change(value));
    if (!isCaptured_ && !values.empty()) // sizes may have to follow
      values.insert(numbers_->sizes().begin(), numbers_->sizes().end());
    return values;
  }

  /// One integer changed; of a declared launch with its sizes as they are.
  Values alone(const std::string &name, std::int64_t value) const {
    Values values = isCaptured_ ? Values() : numbers_->sizes();
    values[name] = value;
    return values;
  }

  // Sizes.

  void addBase() {
    if (whole_->areOther(numbers_->sizes()))
      add(Derivation::Sizes, describe(numbers_->sizes()), base_);
  }

  /// Unequal sizes reveal mixed-up ones.
  void addUnequal() {
    const Values &sizes = numbers_->sizes();
    if (sizes.size() < 2)
      return;
    addNumbers(Derivation::Sizes, alone(sizes.begin()->first, sizes.begin()->second * 2));
    for (const auto &[name, value] : sizes)
      addNumbers(Derivation::Sizes, alone(name, value + 1));
    // `rows == columns && columns == depth`: the last condition is evaluated only if the others
    // hold. With two sizes the variants with equal sizes cover that.
    for (auto one = sizes.begin(); sizes.size() > 2 && one != sizes.end(); ++one)
      for (auto other = std::next(one); other != sizes.end(); ++other)
        addNumbers(Derivation::Sizes, alone(one->first, other->second));
  }

  /// Sizes with `name` set to `length` and the others halved, but not below `smallest`, until the
  /// launch costs at most `most`. Nothing if the size is already as large, or this is impossible.
  std::optional<Values> longIn(const std::string &name, std::int64_t length, std::uint64_t most,
                               std::int64_t smallest) const {
    if (numbers_->sizes().at(name) >= length)
      return std::nullopt;
    const Values values = numbers_->shrunk(alone(name, length), name, most, smallest);
    const auto made = numbers_->with(values);
    return made && costOf(*made) <= most ? std::optional(values) : std::nullopt;
  }

  /// Long in one dimension at a time, so that a kernel that leaves out a small part of it leaves
  /// out something.
  void addLong() {
    for (const auto &[name, value] : numbers_->sizes())
      for (const std::int64_t length : {263, 131})
        if (const auto tall = longIn(name, length, 4 * most_, kSmallestSize)) {
          addNumbers(Derivation::Sizes, *tall);
          break;
        }
  }

  /// Of the sizes, or the other integers, the ends of what is required of them.
  void addEnds(Derivation kind) {
    const Values &of = kind == Derivation::Sizes ? numbers_->sizes() : numbers_->others();
    for (const auto &[name, end] : numbers_->requirements().ends(numbers_->all(), base_.bindings)) {
      const auto known = of.find(name);
      if (known == of.end() || end < 0)
        continue;
      const auto longer =
          isCaptured_ || kind != Derivation::Sizes ? std::nullopt : longIn(name, end, 4 * most_, 1);
      const bool isInReach = isCaptured_ ? end <= kFar * std::max<std::int64_t>(1, known->second)
                                         : kind != Derivation::Sizes || end < known->second;
      if (longer || isInReach)
        addNumbers(kind, longer                      ? *longer
                         : kind == Derivation::Sizes ? alone(name, end)
                                                     : Values{{name, end}});
    }
  }
  void addEndsOfSizes() { addEnds(Derivation::Sizes); }
  void addEndsOfOthers() { addEnds(Derivation::Scalars); }

  void addFew() {
    for (const std::int64_t few : {1, 0})
      for (const auto &[name, value] : numbers_->sizes())
        if (few == 0 || (numbers_->sizes().size() > 1 && value > few))
          addNumbers(Derivation::Sizes, alone(name, few));
  }

  /// More elements than 16 bits can number, in total and in each size, to reveal integers that are
  /// narrower than the original's.
  void addBeyond16Bits() {
    const auto addLarge = [this](const Values &values) {
      if (DerivedLaunch *added = addNumbers(Derivation::Sizes, values)) {
        added->large = true;
        addExtremes(DerivedLaunch(*added));
      }
    };
    if (const auto large = doubled())
      addLarge(*large);
    for (const auto &[name, value] : whole_->sizes())
      if (auto tall = value <= kSixteenBits ? longIn(name, kSixteenBits + kBeyond, 16 * most_, 1)
                                            : std::nullopt) {
        addLarge(*tall);
        for (auto &[other, length] : *tall) // the work may grow with each size
          length = other == name ? length : std::min(length, kSmallestSize);
        addLarge(*tall);
      }
  }

  /// The launch's own sizes doubled, the smallest first, until a buffer has more elements than 16
  /// bits can number; nothing if that costs too much, or if the launch itself has as many.
  std::optional<Values> doubled() const {
    for (Values large = whole_->sizes(); !large.empty();) {
      const auto made = whole_->with(large);
      if (!made || costOf(*made) > 16 * most_)
        return std::nullopt;
      if (std::ranges::any_of(made->buffers, [](const Buffer &buffer) {
            return buffer.bytes / elementBytes(buffer.scalar) > std::uint64_t(kSixteenBits);
          }))
        return whole_->areOther(large) ? std::optional(large) : std::nullopt;
      const auto smallest = std::ranges::min_element(large, {}, &Values::value_type::second);
      if (smallest->second <= 0)
        return std::nullopt;
      smallest->second *= 2;
    }
    return std::nullopt;
  }

  /// The largest integers in a launch beyond 16 bits, whose sum overflows a type narrower than the
  /// original's. Not for floating-point outputs: sums of many equal numbers are all rounded in one
  /// direction, also in the original, so they show nothing. And undeclared integers as large as a
  /// size, to reveal truncated lengths and indices. The original may fail on them.
  void addExtremes(const DerivedLaunch &large) {
    const auto addLarge = [&](const std::string &name, bool isUnbounded,
                              OtherContents::Change change) {
      const OtherContents wanted{
          name.c_str(), asItIs, std::move(change), {.unbounded = isUnbounded}};
      mark(addContents(large.launch, large.title + ", ", wanted), &DerivedLaunch::large);
    };
    const bool isFloatingResult = std::ranges::any_of(base_.buffers, [](const Buffer &buffer) {
      return !buffer.readOnly && isFloating(buffer.scalar);
    });
    const bool isUnbounded = std::ranges::any_of(large.launch.buffers, [](const Buffer &buffer) {
      return buffer.fill.isDefault && !buffer.output;
    });
    if (!isFloatingResult)
      addLarge("all the highest", isUnbounded, greatIntegers().integer);
    std::int64_t longest = 0;
    for (const auto &[name, value] : numbers_->sizes())
      if (const auto bound = large.launch.bindings.find(name); bound != large.launch.bindings.end())
        longest = std::max(longest, bound->second);
    addLarge(fmt::format("up to {}", longest), true,
             [longest](const Buffer &buffer) -> std::optional<Fill> {
               return buffer.fill.isDefault && elementBytes(buffer.scalar) >= 4
                          ? std::optional(Fill{FillKind::Uniform, 0, double(longest)})
                          : std::nullopt;
             });
  }

  /// Launches of the specialization's other launch sites: other block sizes, more blocks, null
  /// pointers.
  void addSites() {
    if (!source_.declaration || !source_.declaration->grid.empty() ||
        !source_.declaration->block.empty())
      return;
    std::vector<const LaunchSite *> seen{site()};
    for (std::size_t i = 0; i < source_.kernel.launches.size(); ++i) {
      const LaunchSite &other = source_.kernel.launches[i];
      const auto isSame = [&](const LaunchSite *known) {
        return known && !differ(*known, other) &&
               std::ranges::equal(known->args, other.args, {}, isNullArgument, isNullArgument);
      };
      if (other.symbol != source_.specialization.symbol || std::ranges::any_of(seen, isSame))
        continue;
      seen.push_back(&other);
      // With a small problem most threads might have no work, so the full size is tried first.
      auto made = whole_->with({}, i);
      if (!made || costOf(*made) > 16 * most_)
        made = numbers_->with({}, i);
      add(Derivation::Sizes, "as launched at " + placeOf(other), std::move(made));
    }
  }

  /// Launches with one block fewer along each axis that has as many as the program likes.
  void addFewerBlocks() {
    for (const auto &[axis, name] : numbers_->freeAxes()) {
      Launch made = base_;
      std::uint32_t *const extents[] = {&made.grid.x, &made.grid.y, &made.grid.z};
      made.geometry.grid[axis] = std::to_string(--*extents[axis]);
      add(Derivation::Sizes, fmt::format("{} = {}", name, *extents[axis]), std::move(made));
    }
  }

  /// Each value that sizes have, those that do not decide the grid first: a row that is longer than
  /// the block takes little more time.
  std::vector<std::int64_t> valuesOfSizes() const {
    std::set<std::int64_t> deciding, others;
    for (const auto &[name, value] : numbers_->sizes())
      (numbers_->deciding().contains(name) ? deciding : others).insert(value);
    std::vector<std::int64_t> values;
    std::ranges::set_difference(others, deciding, std::back_inserter(values));
    values.insert(values.end(), deciding.begin(), deciding.end());
    return values;
  }

  /// The sizes of this value, or all if it is 0, so many times as large plus one.
  Values multiplied(std::int64_t one, std::int64_t times) const {
    Values wanted;
    for (const auto &[name, value] : numbers_->sizes())
      if (value > 1 && (one == 0 || value == one))
        wanted[name] = value * times + 1;
    wanted = numbers_->related(wanted);
    const Values allowed = numbers_->allowed(wanted);
    return numbers_->areOther(allowed) ? allowed : wanted; // add() says which requirement is broken
  }

  /// Sizes twice as large plus one: all sizes, then each value alone, together with the sizes of
  /// the same value.
  void addTwice() {
    if (numbers_->deciding().empty())
      return;
    std::vector<std::int64_t> values = valuesOfSizes();
    values.insert(values.begin(), 0); // all
    for (const std::int64_t one : values) {
      const Values wanted = multiplied(one, 2);
      if (wanted.empty() || !tried_.insert(wanted).second)
        continue;
      auto made = numbers_->larger(wanted);
      const bool isKnown = made.has_value();
      if (isKnown && memoryOf(*made) > kMostGrown)
        made = makeError(ErrorCode::Usage, fmt::format("it takes {} MiB", memoryOf(*made) >> 20));
      add(Derivation::Sizes, describe(wanted), std::move(made));
      if (one == 0 && !isKnown)
        return;
    }
  }

  /// Sizes many times as large, as far as memory goes: `larger` gives them. An array may be too
  /// short for them, and with the greatest integers in memory a counter may overflow.
  template <class Larger> void addFar(const Larger &larger) {
    for (std::int64_t times = kFar; times > 2; times /= 2) {
      const Values wanted = larger(times);
      auto made = numbers_->larger(wanted);
      if (wanted.empty() || !made)
        return;
      if (memoryOf(*made) > kMostFar)
        continue;
      if (auto great = inputs_.with(*made, greatIntegers()))
        add(Derivation::Sizes, describe(wanted) + ", great integers", std::move(*great));
      if (made->grid == launch_.grid)
        add(Derivation::Sizes, describe(wanted), std::move(*made));
      return;
    }
  }
  void addFarAlone() {
    for (const std::int64_t one : valuesOfSizes())
      addFar([&](std::int64_t times) { return multiplied(one, times); });
  }
  /// All that do not decide the grid exactly in proportion: one may be the sum of others.
  void addFarTogether() {
    addFar([this](std::int64_t times) {
      Values wanted;
      for (const auto &[name, value] : numbers_->sizes())
        if (!numbers_->deciding().contains(name))
          wanted[name] = value * times;
      return wanted.size() > 1 ? numbers_->allowed(wanted) : Values();
    });
  }

  void addSmall(const Values &values) {
    if (DerivedLaunch *added = addNumbers(Derivation::Sizes, values))
      added->isSmall = added->launch.threads() <= most_;
  }
  std::uint64_t threadsWith(const Values &values) const {
    const auto made = numbers_->with(values);
    return made ? made->threads() : 0;
  }

  /// All sizes halved, the largest first, until the launch has few threads, unless one that decides
  /// the grid becomes too small.
  void addHalved() {
    Values small = numbers_->sizes();
    while (threadsWith(small) > most_) {
      std::int64_t largest = 0;
      for (const std::string &name : numbers_->deciding())
        largest = std::max(largest, small.at(name));
      if (largest / 2 < kSmallestSize)
        return;
      for (auto &[name, value] : small) // equal sizes stay equal
        value = value == largest ? value / 2 : value;
    }
    addSmall(small);
  }

  /// All sizes divided by the same power of two, so that their proportions remain, minus one, so
  /// that blocks and vectors have tails. The smallest power of two for which there are few threads.
  void addDivided() {
    for (int shift = 1; shift < 32; ++shift) {
      Values small = numbers_->sizes();
      for (auto &[name, value] : small)
        value = std::max(std::min<std::int64_t>(value, 1), (value >> shift) - 1);
      if (threadsWith(small) <= most_)
        return addSmall(small);
    }
  }

  /// Multiples of as many as a vector, a warp or a block has, and not of twice as many.
  void addMultiples() {
    for (const std::int64_t step : {4, 8, 16, 32, 64}) {
      Values values = numbers_->sizes();
      for (auto &[name, value] : values)
        value -= value > 4 * step && value % (2 * step) == 0 ? step : 0;
      addNumbers(Derivation::Sizes, values);
    }
  }

  void addEachSmaller() {
    const Values &sizes = numbers_->sizes();
    Values half;
    for (const std::string &name : numbers_->deciding()) {
      const std::int64_t value = sizes.at(name);
      half[name] = (value + 1) / 2;
      if (sizes.size() > 1) // two that are equal by chance may be mixed up
        for (const std::int64_t other : {value * 3 / 4 + 1, value - 1})
          addNumbers(Derivation::Sizes, {{name, other}});
      addNumbers(Derivation::Sizes, {{name, 0}});
    }
    for (const auto &[name, value] : sizes) {
      Values alone = half; // the name may be that of the distance between rows
      if (!half.empty() && alone.emplace(name, value - 1).second)
        addNumbers(Derivation::Sizes, alone);
    }
  }

  // Scalars.

  /// All together they may be none that the original allows.
  void addOthersAlone() {
    const Values &others = numbers_->others();
    if (others.size() > 1 && (!isCaptured_ || others.size() <= kMostAlone))
      for (const auto &[name, value] : others)
        addNumbers(Derivation::Scalars, {{name, isCaptured_ ? value - 1 : value + 2}});
  }

  /// Integers that decide no size, set to each value that the kernel compares them with (a mode),
  /// of a declared launch also with other scalars and contents.
  void addModes() {
    for (const auto &[name, value] : numbers_->others())
      for (const std::int64_t mode : modesOf(source_, name)) {
        const Values moded{{name, mode}};
        if (mode == value || (isCaptured_ && mode > value)) // which may need more memory
          continue;
        addNumbers(Derivation::Scalars, moded);
        Result<Launch> made = numbers_->with(moded);
        if (isCaptured_ || !made)
          continue;
        addEachContents(*made, describe(moded) + ", ");
        addScaled(std::move(*made), describe(moded) + ", ", kScalarFactors[0]);
      }
  }

  void addScaled(Launch launch, const std::string &title, double factor) {
    const std::string scaled = scaleScalars(
        source_, launch, [&](std::size_t index) { return factor * (1 + double(index) / 8); });
    if (!scaled.empty())
      add(Derivation::Scalars, title + scaled, std::move(launch));
  }
  void addFactors() {
    for (const double factor : kScalarFactors)
      addScaled(base_, "", factor);
  }

  /// Integers that decide no size, one at a time: negative, several times larger, beyond 8 and 16
  /// bits, and close to the limit of their type.
  void addWide() {
    for (const auto &[name, value] : numbers_->others()) {
      const KernelParam *param = scalarNamed(source_, name);
      const std::string scalar = param ? param->scalar : "";
      if (scalar != "i32" && scalar != "u32" && scalar != "i64" && scalar != "u64")
        continue;
      std::vector<std::int64_t> others{9 * value + 4, value + kSixteenBits + kBeyond,
                                       value +
                                           (scalar.ends_with("64") ? 0x5'5555'5555 : 0x2aaa'aaaa)};
      if (scalar.starts_with("i"))
        others.push_back(-value - 37);
      constexpr std::int64_t kEightBits = 256; // a window of more bytes has a sum beyond 16 bits
      if (value < kEightBits)
        others.push_back(value + kEightBits + 44);
      for (const std::int64_t other : others) {
        Bindings known = base_.bindings; // the sizes follow
        known[name] = other;
        Values values = numbers_->requirements().moved(numbers_->sizes(), numbers_->sizes(), known);
        values[name] = other;
        mark(add(Derivation::Scalars, describe({{name, other}}), numbers_->with(values)),
             &DerivedLaunch::unbounded);
      }
    }
  }

  /// Small integers that are far greater. They may be indices, so only a device that checks bounds
  /// can tell whether the original runs on them.
  void addGreater() {
    Values greater;
    for (const auto &[name, value] : numbers_->others())
      if (value > 1 && value <= kMostCounted)
        greater[name] = value * kFar + 1;
    DerivedLaunch *added = addNumbers(Derivation::Scalars, greater);
    mark(added, &DerivedLaunch::unbounded);
    if (auto made = added ? inputs_.with(added->launch, greatIntegers()) : std::nullopt)
      mark(add(Derivation::Scalars, added->title + ", great integers", std::move(*made)),
           &DerivedLaunch::unbounded); // a sum of more terms may overflow
  }

  /// A loop that ends before it has converged.
  void addCounts() {
    for (const std::string &name : numbers_->counts())
      for (const std::int64_t few : {1, 3})
        addNumbers(Derivation::Scalars, {{name, few}});
  }

  void addFlipped() {
    for (const KernelParam &param : source_.specialization.params)
      if (param.scalar == "bool" && numbers_->others().contains(param.name))
        addNumbers(Derivation::Scalars, {{param.name, 1 - numbers_->others().at(param.name)}});
    if (!std::ranges::count(out_.launches, Derivation::Scalars, &DerivedLaunch::kind))
      miss(Derivation::Scalars, "the kernel has no scalar argument but those that are sizes");
  }

  // Contents.

  void addAllContents() {
    const std::size_t before = out_.launches.size();
    for (const std::string &why : inputs_.unknown())
      miss(Derivation::Contents, why);
    for (const OtherContents &wanted : inputs_.kinds())
      addContents(base_, "", wanted);
    // A candidate may have a way of its own for large problems.
    if (costOf(launch_) > costOf(base_) && costOf(launch_) <= kMostContents)
      addEachContents(launch_, "whole, ");
    for (const OtherContents &wanted : inputs_.kinds())
      if (wanted.alone)
        addContentsAlone(wanted);
    if (!isCaptured_ && out_.launches.size() == before)
      miss(Derivation::Contents, "no input of the launch is drawn from a range");
  }

  void addEachContents(const Launch &of, const std::string &title) {
    for (const OtherContents &wanted : inputs_.kinds())
      if (wanted.inEachMode)
        addContents(of, title, wanted);
  }

  /// Adds the launch with other contents of its inputs, unless they stay.
  DerivedLaunch *addContents(const Launch &of, const std::string &title,
                             const OtherContents &wanted) {
    auto made = inputs_.with(of, wanted);
    DerivedLaunch *added =
        made ? add(Derivation::Contents, title + "contents: " + wanted.name, std::move(*made))
             : nullptr;
    if (!added)
      return nullptr;
    static_cast<ContentTraits &>(*added) = wanted.traits;
    added->isExtreme &=
        isCaptured_ || std::ranges::none_of(of.buffers, [&](const Buffer &buffer) {
          return isFloating(buffer.scalar) && !buffer.output &&
                 !(source_.declaration && source_.declaration->fills.contains(buffer.name));
        });
    return added;
  }

  /// Changes one buffer at a time if several can change: the kernel may fail if all change.
  void addContentsAlone(const OtherContents &wanted) {
    std::vector<std::pair<std::string, Launch>> made;
    for (std::size_t b = 0; b < base_.buffers.size() && made.size() < kMostAlone; ++b)
      if (auto one = inputs_.with(base_, wanted, b))
        made.emplace_back(base_.buffers[b].name, std::move(*one));
    if (made.size() > 1)
      for (auto &[name, launch] : made)
        add(Derivation::Contents, fmt::format("contents: {} '{}'", wanted.alone, name),
            std::move(launch));
  }

  // Addresses.

  void addAlignment() {
    const std::vector<std::uint64_t> elements = alignments(source_.specialization, base_);
    const auto moving = elements.size() - std::size_t(std::ranges::count(elements, 0u));
    if (moving == 0)
      return miss(Derivation::Alignment, "no pointer argument has a known type");
    for (const std::uint64_t distance : {kOfAllocations, 3 * kOfAllocations}) {
      std::vector<std::uint64_t> further = elements;
      for (std::uint64_t &bytes : further)
        bytes = bytes == 0 ? 0 : (distance + bytes - 1) / bytes * bytes;
      if (!isCaptured_ || distance == kOfAllocations)
        add(Derivation::Alignment, fmt::format("pointers {} bytes further", distance),
            shifted(base_, further));
    }
    add(Derivation::Alignment, "pointers one element further", shifted(base_, elements));
    // `n is a multiple of 4 && a is aligned && b is aligned`: a later condition is evaluated only
    // if the earlier ones hold.
    const Launch even = withEachSize([](std::int64_t value) {
                          const auto width = std::int64_t(kWidestAccess);
                          return (value + width - 1) / width * width;
                        }).value_or(base_);
    for (std::size_t b = 0, shown = 0; moving > 1 && b < elements.size(); ++b) {
      if (elements[b] == 0 || (isCaptured_ && ++shown > kMostAlone))
        continue;
      std::vector<std::uint64_t> alone(elements.size(), 0);
      alone[b] = elements[b];
      add(Derivation::Alignment,
          fmt::format("'{}' alone one element further", base_.buffers[b].name),
          shifted(even, alone));
    }
    // Fewer elements than there are before the next aligned one.
    if (const auto one = withEachSize([](std::int64_t) { return std::int64_t(1); }))
      add(Derivation::Alignment, "one element, at pointers one element further",
          shifted(*one, elements));
    if (auto made = usedInPlace(source_.specialization, base_, source_.readAcross))
      if (DerivedLaunch *added = add(made->kind, made->title, std::move(made->launch)))
        added->inPlace = std::move(made->inPlace);
  }

  /// The declared launch with other sizes; nothing if it has none, or was captured.
  std::optional<Launch> withEachSize(Change change) const {
    const Values values = each(kSizes, change);
    auto made = numbers_->with(numbers_->allowed(values));
    return made && !isCaptured_ && !values.empty() ? std::optional(std::move(*made)) : std::nullopt;
  }

  const LaunchSite *site() const {
    return base_.site < source_.kernel.launches.size() ? &source_.kernel.launches[base_.site]
                                                       : nullptr;
  }
  static std::string placeOf(const LaunchSite &site) {
    return fmt::format("{}:{}", site.file.substr(site.file.rfind('/') + 1), site.line);
  }

  /// Adds launches in which parameters share a buffer, if this launch's site or another one passes
  /// pointers into the same memory for them.
  void addAliases() {
    const LaunchSite *own = site();
    if (own)
      addAliasesOf(*own, "the launch");
    for (const LaunchSite &other : source_.kernel.launches)
      if (&other != own && other.symbol == source_.specialization.symbol)
        addAliasesOf(other, "the launch at " + placeOf(other));
  }

  void addAliasesOf(const LaunchSite &at, const std::string &launch) {
    SharedMemory shared = shareMemory(source_.specialization, at, base_, launch_);
    std::string title = fmt::format("pointers that {} passes {}", launch,
                                    shared.overlaps() ? "into each other's memory" : "twice");
    for (const std::string &why : shared.unknown)
      out_.missing.push_back({Derivation::Alignment, title, why, true});
    if (!shared.joined.empty())
      mark(add(Derivation::Alignment, std::move(title), std::move(shared.launch)),
           &DerivedLaunch::asLaunched);
  }

  /// Only the first blocks of the grid, as a rectangle. Those of a kernel with a loop over its grid
  /// do several rounds.
  void addPart() {
    const std::uint64_t blocks =
        isCaptured_ ? std::max<std::uint64_t>(2, kPartThreads / base_.block.count())
                    : std::max<std::uint64_t>(1, base_.grid.count() / 4);
    if (const auto made = withFirstBlocks(base_, blocks))
      mark(add(Derivation::Sizes,
               fmt::format("the first {} of {} blocks of the grid", made->grid.count(),
                           base_.grid.count()),
               *made),
           &DerivedLaunch::isPart);
  }

  const DerivationSource &source_;
  const Launch &launch_;
  const bool isCaptured_;
  const std::unique_ptr<LaunchNumbers> whole_; ///< of the launch
  const Launch base_;
  const std::unique_ptr<LaunchNumbers> numbers_; ///< of base_
  const Inputs inputs_;                          ///< of base_
  const std::uint64_t most_; ///< threads of a small captured launch; the cost of a declared one
  std::set<Values> tried_;
  std::set<std::string> known_; ///< hashes of the launches
  DerivedLaunches out_;
};

/// All derivations, of each kind the most telling first.
const std::vector<Deriver::Step> Deriver::kSteps = {
    {kCaptured, kOthers, &Deriver::addFewerBlocks},
    {kDeclared, kSizes, &Deriver::addBase},
    {kDeclared, kSizes, [](std::int64_t v) { return v + 1; }},
    {kBoth, kSizes, [](std::int64_t v) { return v - 1; }},
    {kDeclared, kSizes, [](std::int64_t v) { return nextPrime(v + v / 3); }},
    {kDeclared, kSizes, [](std::int64_t) { return std::int64_t(1); }},
    {kDeclared, kSizes, rounded},
    // one element beyond whole blocks, whatever their length is
    {kDeclared, kSizes, [](std::int64_t v) { return rounded(v) + 1; }},
    {kDeclared, kSizes, &Deriver::addUnequal},
    {kDeclared, kSizes, &Deriver::addLong},
    {kBoth, kSizes, &Deriver::addEndsOfSizes},
    {kDeclared, kSizes, &Deriver::addFew},
    {kDeclared, kSizes, &Deriver::addBeyond16Bits},
    {kDeclared, kOthers, &Deriver::addSites},
    {kCaptured, kSizes, &Deriver::addFarTogether},
    {kCaptured, kSizes, &Deriver::addTwice},
    {kCaptured, kSizes, &Deriver::addHalved},
    {kCaptured, kSizes, &Deriver::addDivided},
    {kCaptured, kSizes, &Deriver::addFarAlone},
    {kCaptured, kSizes, [](std::int64_t v) { return v * 3 / 4 + 1; }},
    {kCaptured, kSizes, [](std::int64_t v) { return v - 3; }},
    {kCaptured, kSizes, [](std::int64_t) { return std::int64_t(1); }},
    {kCaptured, kSizes, [](std::int64_t v) { return v > 2 ? rounded(v - 1) / 2 + 1 : v; }},
    {kCaptured, kSizes, &Deriver::addMultiples},
    {kCaptured, kSizes, &Deriver::addEachSmaller},

    {kCaptured, kOthers, &Deriver::addGreater},
    {kDeclared, kOthers, [](std::int64_t v) { return v + 1; }},
    {kDeclared, kOthers, [](std::int64_t v) { return v - 1; }},
    {kBoth, kOthers, &Deriver::addFactors},
    {kBoth, kOthers, &Deriver::addEndsOfOthers},
    {kBoth, kOthers, &Deriver::addOthersAlone},
    {kCaptured, kOthers, [](std::int64_t v) { return v - 1; }},
    {kCaptured, kOthers, [](std::int64_t) { return std::int64_t(1); }},
    {kCaptured, kOthers, &Deriver::addCounts},
    {kBoth, kOthers, &Deriver::addModes},
    {kCaptured, kOthers, &Deriver::addFlipped},
    {kDeclared, kOthers, &Deriver::addWide},

    {kBoth, kOthers, &Deriver::addAllContents},
    {kBoth, kOthers, &Deriver::addAlignment},
    {kDeclared, kOthers, &Deriver::addAliases},
    {kBoth, kOthers, &Deriver::addPart},
};

} // namespace

DerivedLaunches deriveLaunches(const DerivationSource &source, const Launch &launch,
                               std::uint64_t most) {
  return Deriver(source, launch, most).run();
}

std::vector<Launch> withDrawnContents(const DerivationSource &source, const Launch &launch) {
  std::vector<Launch> launches;
  for (DerivedLaunch &derived : deriveLaunches(source, launch, 1).launches)
    if (derived.kind == Derivation::Contents && !derived.nonFinite && !derived.maybeConditional &&
        !derived.cancelling && !derived.isCoarse && !derived.isExtreme)
      launches.push_back(std::move(derived.launch));
  return launches;
}

std::vector<DerivedLaunch> inTurn(std::vector<DerivedLaunch> launches) {
  std::map<Derivation, std::size_t> seen;
  std::multimap<std::size_t, DerivedLaunch> turns;
  for (DerivedLaunch &one : launches)
    turns.emplace(one.isPart ? launches.size() : seen[one.kind]++, std::move(one));
  std::vector<DerivedLaunch> sorted;
  for (auto &[turn, one] : turns)
    sorted.push_back(std::move(one));
  return sorted;
}

std::vector<DerivedLaunch> firstOfEach(std::vector<DerivedLaunch> launches) {
  std::set<Derivation> seen;
  std::erase_if(launches, [&](const DerivedLaunch &one) {
    return one.isPart || one.unbounded || !seen.insert(one.kind).second;
  });
  return launches;
}

} // namespace kopt
