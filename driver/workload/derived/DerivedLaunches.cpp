// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/DerivedLaunches.h"

#include "driver/support/ElementType.h"
#include "driver/workload/SiteValues.h"
#include "driver/workload/WorkloadBuilder.h"
#include "driver/workload/derived/DerivedContents.h"
#include "driver/workload/derived/Deriver.h"
#include "driver/workload/derived/LaunchFamily.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kopt {
namespace {

using Values = LaunchFamily::Values;

constexpr std::uint64_t kSixteenBits = 65536;
constexpr std::int64_t kBeyond =
    4567; ///< enough that a sum of that many squares of bytes exceeds 32 bits
constexpr std::uint64_t kMostContents =
    1 << 20; ///< the most elements of a problem that is tried as a whole with other contents
constexpr std::int64_t kWidest = 16; ///< the most elements of one 16-byte load

std::int64_t nextPrime(std::int64_t value) {
  for (value = std::max<std::int64_t>(value, 2);; ++value) {
    bool prime = true;
    for (std::int64_t divisor = 2; prime && divisor * divisor <= value; ++divisor)
      prime = value % divisor != 0;
    if (prime)
      return value;
  }
}

class Deriver : DeriverBase {
public:
  Deriver(const DerivationSource &source, const Launch &launch, std::uint64_t most)
      : DeriverBase(source, launch), family_(source, launch),
        small_(family_.allowed(family_.smaller(most), family_.sizes())),
        base_(family_.with(small_).value_or(launch)), most_(std::max(most, costOf(base_))) {}

  DerivedLaunches run() {
    addSizes();
    addSites();
    addScalars();
    addContents();
    addAlignment();
    // Those of a kernel with a loop over its grid do several rounds.
    addPart(base_, std::max<std::uint64_t>(1, base_.grid.count() / 4));
    return std::move(out_);
  }

private:
  /// The sizes of the small launch, each of them changed.
  template <class Change> Values each(Change change) const {
    Values values = small_;
    for (auto &[name, value] : values)
      value = change(value);
    return values;
  }

  void addSizes() {
    if (family_.sizes().empty())
      return miss(Derivation::Sizes, "no argument decides the launch's size");
    std::vector<Values> variants = {
        small_, each([](std::int64_t v) { return v + 1; }),
        each([](std::int64_t v) { return v - 1; }),
        each([](std::int64_t v) { return nextPrime(v + v / 3); }),
        each([](std::int64_t) { return std::int64_t(1); }),
        each([](std::int64_t v) { return std::int64_t(std::bit_ceil(std::uint64_t(v))); }),
        // one element beyond whole blocks, whatever their length is
        each([](std::int64_t v) { return std::int64_t(std::bit_ceil(std::uint64_t(v))) + 1; })};
    if (small_.size() > 1) { // unequal sizes reveal mixed-up ones
      Values unequal = small_;
      unequal.begin()->second = unequal.begin()->second * 2;
      variants.push_back(unequal);
      for (const auto &[name, value] : small_) {
        Values one = small_;
        one[name] = value + 1;
        variants.push_back(one);
      }
    }
    // `rows == columns && columns == depth`: the last condition is evaluated only if the others
    // hold. With two sizes the variants with equal sizes cover that.
    for (auto one = small_.begin(); small_.size() > 2 && one != small_.end(); ++one)
      for (auto other = std::next(one); other != small_.end(); ++other)
        if (one->second != other->second) {
          variants.push_back(small_);
          variants.back()[one->first] = other->second;
        }
    // Long in one dimension at a time, so that a kernel that leaves out a small part of it leaves
    // out something.
    for (const auto &[name, value] : small_)
      for (const std::int64_t length : {263, 131})
        if (const auto tall = longIn(name, length, 4 * most_, kSmallestSize)) {
          variants.push_back(*tall);
          break;
        }
    for (const auto &[name, end] : ends())
      if (small_.contains(name) && end >= 0)
        if (auto longer = longIn(name, end, 4 * most_, 1); longer || end < small_.at(name)) {
          variants.push_back(longer.value_or(small_));
          variants.back()[name] = end;
        }
    for (const std::int64_t few : {1, 0})
      for (const auto &[name, value] : small_)
        if (few == 0 || (small_.size() > 1 && value > few)) {
          variants.push_back(small_);
          variants.back()[name] = few;
        }
    std::set<Values> tried{family_.sizes()};
    for (const Values &variant : variants) {
      const Values values = family_.allowed(variant, small_);
      // If no other values are allowed, add() says why these are not.
      const bool isNone = values == family_.sizes() && variant != family_.sizes();
      if (isNone || tried.insert(values).second)
        add(Derivation::Sizes, describe(isNone ? variant : values),
            family_.with(isNone ? variant : values));
    }
    // More elements than 16 bits can number, in total and in each size, to reveal integers that are
    // narrower than the original's.
    std::vector<Values> beyond;
    if (const auto large = family_.larger(kSixteenBits, 16 * most_))
      beyond.push_back(*large);
    for (const auto &[name, value] : family_.sizes())
      if (value <= std::int64_t(kSixteenBits))
        if (auto tall = longIn(name, kSixteenBits + kBeyond, 16 * most_, 1)) {
          beyond.push_back(*tall);
          for (auto &[other, length] : *tall) // the work may grow with each size
            if (other != name)
              length = std::min(length, kSmallestSize);
          beyond.push_back(std::move(*tall));
        }
    for (const Values &variant : beyond)
      if (const Values values = family_.allowed(variant, small_); tried.insert(values).second)
        if (DerivedLaunch *added = add(Derivation::Sizes, describe(values), family_.with(values)))
          added->large = true;
    addExtremes();
    addLongLengths();
  }

  /// Undeclared integers as large as a size beyond 16 bits, to reveal truncated lengths and
  /// indices. The original may fail on them.
  void addLongLengths() {
    const std::size_t count = out_.launches.size();
    for (std::size_t i = 0; i < count; ++i) {
      const DerivedLaunch &large = out_.launches[i];
      if (!large.large || large.kind != Derivation::Sizes)
        continue;
      std::int64_t longest = 0;
      for (const auto &[name, value] : family_.sizes())
        if (const auto bound = large.launch.bindings.find(name);
            bound != large.launch.bindings.end())
          longest = std::max(longest, bound->second);
      const auto upToIt = [&](const Buffer &buffer) -> std::optional<Fill> {
        if (!buffer.fill.isDefault || isFloating(buffer.scalar) || elementBytes(buffer.scalar) < 4)
          return std::nullopt;
        return Fill{FillKind::Uniform, 0, double(longest)};
      };
      addLarge(fmt::format("{}, contents: up to {}", large.title, longest),
               refilled(large.launch, upToIt), true);
    }
  }

  void addLarge(std::string title, std::optional<Launch> launch, bool isUnbounded) {
    if (!launch)
      return;
    if (DerivedLaunch *added = add(Derivation::Contents, std::move(title), std::move(*launch))) {
      added->large = true;
      added->unbounded = isUnbounded;
    }
  }

  /// Sums of many of the largest integers, which overflow a type narrower than the original's. Not
  /// for floating-point outputs: sums of many equal numbers are all rounded in one direction, also
  /// in the original, so they show nothing.
  void addExtremes() {
    const auto isFloatingOutput = [](const Buffer &buffer) {
      return !buffer.readOnly && isFloating(buffer.scalar);
    };
    if (std::ranges::any_of(base_.buffers, isFloatingOutput))
      return;
    const std::size_t count = out_.launches.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (!out_.launches[i].large)
        continue;
      const Launch &large = out_.launches[i].launch;
      const auto highest = [](const Buffer &buffer) -> std::optional<Fill> {
        if (buffer.fill.kind != FillKind::Uniform || isFloating(buffer.scalar))
          return std::nullopt;
        const double high = buffer.fill.isDefault ? 0x1p64 : buffer.fill.high;
        return Fill{FillKind::Constant, high, high};
      };
      const bool isUnbounded = std::ranges::any_of(large.buffers, [](const Buffer &buffer) {
        return buffer.fill.isDefault && !buffer.output;
      });
      addLarge(out_.launches[i].title + ", contents: all the highest", refilled(large, highest),
               isUnbounded);
    }
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
        return known && !differ(*known, other) && nullsOf(*known) == nullsOf(other);
      };
      if (other.symbol != source_.specialization.symbol || std::ranges::any_of(seen, isSame))
        continue;
      seen.push_back(&other);
      // With a small problem most threads might have no work, so the full size is tried first.
      auto made = family_.with(family_.sizes(), i);
      if (!made || costOf(*made) > 16 * most_)
        made = family_.with(small_, i);
      add(Derivation::Sizes, fmt::format("as launched at {}", placeOf(other)), std::move(made));
    }
  }

  /// Of sizes and other integers, the ends of what is required of them.
  std::vector<std::pair<std::string, std::int64_t>> ends() const {
    Values values = small_;
    values.insert(family_.others().begin(), family_.others().end());
    return Requirements(source_.declaration, realsOf(source_, base_)).ends(values, base_.bindings);
  }

  /// Sizes with `name` set to `length` and the others halved, but not below `smallest`, until the
  /// launch costs at most `most`. Nothing if the size is already as large, or this is impossible.
  std::optional<Values> longIn(const std::string &name, std::int64_t length, std::uint64_t most,
                               std::int64_t smallest) const {
    if (small_.at(name) >= length)
      return std::nullopt;
    Values values = small_;
    values[name] = length;
    while (true) {
      if (const auto made = family_.with(values); made && costOf(*made) <= most)
        return values;
      auto largest = values.end();
      for (auto it = values.begin(); it != values.end(); ++it)
        if (it->first != name && (largest == values.end() || it->second > largest->second))
          largest = it;
      if (largest == values.end() || largest->second / 2 < smallest)
        return std::nullopt;
      largest->second /= 2;
    }
  }

  void addScalars() {
    for (const std::int64_t step : {1, -1}) {
      Values moved = small_;
      for (const auto &[name, value] : family_.others())
        moved[name] = family_.inRange(name, value + step);
      if (family_.others().empty())
        break;
      Values known = small_;
      known.insert(family_.others().begin(), family_.others().end());
      moved = family_.allowed(std::move(moved), known);
      add(Derivation::Scalars, describe(moved), family_.with(moved));
    }
    if (family_.others().size() > 1) // all together they may be none that the original allows
      for (const auto &[name, value] : family_.others()) {
        Values moved = small_;
        moved[name] = family_.inRange(name, value + 2);
        add(Derivation::Scalars, describe({{name, moved[name]}}), family_.with(moved));
      }
    for (const auto &[name, end] : ends())
      if (family_.others().contains(name)) {
        Values moved = small_;
        moved[name] = family_.inRange(name, end);
        add(Derivation::Scalars, describe({{name, end}}), family_.with(moved));
      }
    addModes();
    addWide();
    for (const double factor : kScalarFactors)
      if (auto scaled = scaledScalars(
              source_, base_, [&](std::size_t index) { return factor * (1 + double(index) / 8); }))
        add(Derivation::Scalars, scaled->title, std::move(scaled->launch));
  }

  /// Integers that decide no size, set to each value that the kernel compares them with (a mode),
  /// also with other scalars and contents.
  void addModes() {
    for (const auto &[name, value] : family_.others())
      for (const std::int64_t mode : modesOf(source_, name)) {
        Values moved = small_;
        moved[name] = mode;
        Result<Launch> made = family_.with(moved);
        if (mode == value || !made)
          continue;
        for (const OtherContents &wanted : otherContents())
          if (wanted.inEachMode)
            addContents(*made, describe({{name, mode}}) + ", ", wanted);
        auto scaled = scaledScalars(
            source_, *made, [](std::size_t index) { return -1.375 * (1 + double(index) / 8); });
        add(Derivation::Scalars, describe({{name, mode}}), std::move(made));
        if (scaled)
          add(Derivation::Scalars, describe({{name, mode}}) + ", " + scaled->title,
              std::move(scaled->launch));
      }
  }

  /// Integers that decide no size, one at a time: negative, several times larger, beyond 8 and 16
  /// bits, and close to the limit of their type.
  void addWide() {
    for (const auto &[name, value] : family_.others()) {
      const std::string scalar = family_.scalarOf(name);
      if (scalar != "i32" && scalar != "u32" && scalar != "i64" && scalar != "u64")
        continue;
      std::vector<std::int64_t> others{9 * value + 4, value + std::int64_t(kSixteenBits) + kBeyond,
                                       value +
                                           (scalar.ends_with("64") ? 0x5'5555'5555 : 0x2aaa'aaaa)};
      if (scalar.starts_with("i"))
        others.push_back(-value - 37);
      constexpr std::int64_t kEightBits = 256; // a window of more bytes has a sum beyond 16 bits
      if (value < kEightBits)
        others.push_back(value + kEightBits + 44);
      for (const std::int64_t other : others) {
        Values moved = small_;
        moved[name] = other;
        moved = family_.around(name, std::move(moved));
        if (DerivedLaunch *added =
                add(Derivation::Scalars, describe({{name, other}}), family_.with(moved)))
          added->unbounded = true;
      }
    }
  }

  /// The launch with the fills that `change` returns for its inputs; nothing if it returns none.
  template <class Change> static std::optional<Launch> refilled(Launch launch, Change change) {
    bool any = false;
    for (Buffer &buffer : launch.buffers) {
      const bool isArgument = !buffer.symbol.empty() && buffer.fill.kind == FillKind::Constant &&
                              !isFloating(buffer.scalar);
      if (buffer.output || isArgument)
        continue;
      if (const std::optional<Fill> fill = change(buffer)) {
        buffer.fill = *fill;
        any = true;
      }
    }
    return any ? std::optional(launch) : std::nullopt;
  }

  void addContents() {
    bool any = false;
    for (const OtherContents &wanted : otherContents())
      any |= addContents(base_, "", wanted);
    // A candidate may have a way of its own for large problems.
    if (costOf(launch_) > costOf(base_) && costOf(launch_) <= kMostContents)
      for (const OtherContents &wanted : otherContents())
        if (wanted.inEachMode)
          addContents(launch_, "whole, ", wanted);
    if (!any)
      miss(Derivation::Contents, "no input of the launch is drawn from a range");
  }

  bool addContents(const Launch &of, const std::string &title, const OtherContents &wanted) {
    auto launch = refilled(of, [&](const Buffer &buffer) {
      return (isFloating(buffer.scalar) ? wanted.floating : wanted.integer)(buffer);
    });
    if (!launch)
      return false;
    DerivedLaunch *added =
        add(Derivation::Contents, title + "contents: " + wanted.name, std::move(*launch));
    if (!added)
      return true; // add() says why
    static_cast<ContentTraits &>(*added) = wanted.traits;
    added->isExtreme &= std::ranges::none_of(of.buffers, [&](const Buffer &buffer) {
      return isFloating(buffer.scalar) && !buffer.output &&
             !(source_.declaration && source_.declaration->fills.contains(buffer.name));
    });
    return true;
  }

  const LaunchSite *site() const {
    return base_.site < source_.kernel.launches.size() ? &source_.kernel.launches[base_.site]
                                                       : nullptr;
  }

  void addAlignment() {
    if (base_.buffers.empty())
      return miss(Derivation::Alignment, "the launch has no buffers");
    // The contents of a file begin at the start of the allocation, so such a buffer stays.
    const auto ofEach = [&](auto bytesOf) {
      std::vector<std::uint64_t> by;
      for (const Buffer &buffer : base_.buffers)
        by.push_back(buffer.fill.path.empty() && buffer.symbol.empty() ? bytesOf(buffer) : 0);
      return by;
    };
    for (const std::uint64_t bytes : {256, 768}) // allocations begin at multiples of 256 or 512
      add(Derivation::Alignment, fmt::format("pointers {} bytes further", bytes),
          shifted(base_, ofEach([&](const Buffer &) { return bytes; })));
    const auto elements = ofEach([&](const Buffer &buffer) { return alignmentOf(buffer); });
    // `n is a multiple of 4 && a is aligned && b is aligned`: a later condition is evaluated only
    // if the earlier ones hold.
    const auto withSizes = [&](const Values &values) {
      return values.empty() ? Result<Launch>(base_) : family_.with(family_.allowed(values, small_));
    };
    const auto even = withSizes(
        each([](std::int64_t value) { return (value + kWidest - 1) / kWidest * kWidest; }));
    add(Derivation::Alignment, "pointers one element further", shifted(base_, elements));
    if (elements.size() > 1)
      addEachFurther(even ? *even : base_, elements, elements.size());
    // Fewer elements than there are before the next aligned one.
    if (const auto one = withSizes(each([](std::int64_t) { return std::int64_t(1); }));
        one && !small_.empty())
      add(Derivation::Alignment, "one element, at pointers one element further",
          shifted(*one, elements));
    addAliases();
    addInPlace(base_);
  }

  /// Bytes of the pointed-to type: the alignment that the language requires of a pointer.
  std::uint64_t alignmentOf(const Buffer &buffer) const {
    for (const KernelParam &param : source_.specialization.params)
      if (param.kind == ParamKind::Pointer && param.name == buffer.name && param.pointeeSize != 0)
        return param.pointeeSize;
    return elementBytes(buffer.scalar);
  }

  /// Adds launches in which parameters share a buffer, if this launch's site or another one passes
  /// pointers into the same memory for them.
  void addAliases() {
    const LaunchSite *own = site();
    if (own)
      addAliases(*own, "the launch");
    for (const LaunchSite &other : source_.kernel.launches)
      if (&other != own && other.symbol == source_.specialization.symbol)
        addAliases(other, "the launch at " + placeOf(other));
  }

  static std::string placeOf(const LaunchSite &site) {
    return fmt::format("{}:{}", site.file.substr(site.file.rfind('/') + 1), site.line);
  }
  static std::vector<bool> nullsOf(const LaunchSite &site) {
    std::vector<bool> nulls;
    for (const std::string &argument : site.args)
      nulls.push_back(isNullArgument(argument));
    return nulls;
  }

  void addAliases(const LaunchSite &at, const std::string &launch) {
    SharedMemory shared = shareMemory(source_.specialization, at, base_, launch_);
    std::string title = fmt::format("pointers that {} passes {}", launch,
                                    shared.overlaps() ? "into each other's memory" : "twice");
    for (const std::string &why : shared.unknown)
      out_.missing.push_back({Derivation::Alignment, title, why, true});
    if (shared.joined.empty() || !aliased_.insert(std::move(shared.joined)).second)
      return;
    if (DerivedLaunch *added =
            add(Derivation::Alignment, std::move(title), std::move(shared.launch)))
      added->asLaunched = true;
  }

  const LaunchFamily family_;
  Values small_;
  Launch base_; ///< the small launch that most others are derived from
  std::uint64_t most_;
  std::set<decltype(SharedMemory::joined)> aliased_; ///< what was tried already
};

} // namespace

DerivedLaunches deriveLaunches(const DerivationSource &source, const Launch &launch,
                               std::uint64_t most) {
  if (isCaptured(launch))
    return deriveCaptured(source, launch, most);
  return Deriver(source, launch, most).run();
}

std::vector<DerivedLaunch> inTurn(std::vector<DerivedLaunch> launches) {
  std::map<Derivation, std::size_t> seen;
  std::vector<std::pair<std::size_t, std::size_t>> order; // turn, index
  for (std::size_t i = 0; i < launches.size(); ++i)
    order.emplace_back(launches[i].isPart ? launches.size() : seen[launches[i].kind]++, i);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<DerivedLaunch> sorted;
  for (const auto &[turn, index] : order)
    sorted.push_back(std::move(launches[index]));
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
