// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/CapturedContents.h"
#include "driver/judge/derive/DeriveLimits.h"
#include "driver/judge/derive/LaunchNumbers.h"
#include "driver/source/Expression.h"
#include "driver/support/ElementType.h"
#include "driver/workload/ScalarArguments.h"
#include "driver/workload/SiteValues.h"
#include "driver/workload/WorkloadBuilder.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <tuple>

namespace kopt {
namespace {

/// Calls `use` with each number, and each product of two or three, that is at most `most`.
template <class Numbers, class Use>
void forProducts(const Numbers &numbers, double most, const Use &use) {
  for (auto one = numbers.begin(); one != numbers.end(); ++one) {
    use(double(*one), {*one});
    for (auto two = one; two != numbers.end() && double(*one) * double(*two) <= most; ++two) {
      use(double(*one) * double(*two), {*one, *two});
      for (auto three = two; three != numbers.end(); ++three)
        if (const double product = double(*one) * double(*two) * double(*three); product <= most)
          use(product, {*one, *two, *three});
    }
  }
}

/// The integers among the arguments. Its grid and block follow the launch site's expressions if
/// those gave the captured ones; otherwise they stay.
class CapturedNumbers final : public LaunchNumbers {
  using Factors = std::initializer_list<std::int64_t>;

public:
  CapturedNumbers(const DerivationSource &source, const Launch &launch)
      : LaunchNumbers(source, launch) {
    for (const LaunchSite &site : source.kernel.launches)
      if (site.symbol == source.specialization.symbol)
        sites_.push_back(&site);
    if (launch.site < source.kernel.launches.size())
      if (const LaunchSite &site = source.kernel.launches[launch.site];
          launch.geometry.grid == site.grid && launch.geometry.block == site.block)
        site_ = &site;
    all_ = integersOf(source.specialization, launch);
    for (const auto &[name, value] : all_) {
      if (isGeometry(name, value))
        continue;
      // A launch rounds up to whole blocks, so a small step may not change the grid.
      const bool decides = value > 1 && madeWith({{name, value / 2}}).grid != launch.grid;
      if (decides)
        deciding_.insert(name);
      (decides || value >= kSmallestSize ? sizes_ : others_)[name] = value;
    }
    findFollowing();
  }

  Result<Launch> with(const Values &changed, std::optional<std::size_t>) const override {
    Launch made = madeWith(changed);
    if (made.threads() == 0)
      return makeError(ErrorCode::Usage, "the program cannot launch it: it has no threads");
    return made;
  }

  bool mayBecome(const std::string &name, std::int64_t value) const override {
    const auto known = all_.find(name);
    return known != all_.end() && value >= 0 && value <= known->second &&
           related({{name, value}}).contains(name) &&
           !(sizes_.contains(name) && !unknownInBlock().empty());
  }

  std::string whySizesStay() const override {
    if (sizes_.empty())
      return "no integer argument decides how much the launch computes";
    const std::string name = unknownInBlock();
    return name.empty()
               ? ""
               : fmt::format("the program computes the block or its shared memory from '{0}', "
                             "whose value for other sizes is not known; 'arg {0} = ...' would tell",
                             name);
  }

  std::map<std::size_t, std::string> freeAxes() const override {
    std::map<std::size_t, std::string> axes;
    const std::array grid{launch_.grid.x, launch_.grid.y, launch_.grid.z};
    for (std::size_t axis = 0; axis < grid.size() && !site_; ++axis) {
      std::set<std::string> names;
      for (const LaunchSite *site : sites_) {
        const std::string &text = site->grid[axis];
        names.insert(isName(text) && !valuesAt(*site, all_).contains(text) ? text : "");
      }
      const bool isArgument = std::ranges::any_of(
          all_, [&](const auto &known) { return known.second == std::int64_t(grid[axis]); });
      if (grid[axis] > 1 && !isArgument && names.size() == 1 && !names.begin()->empty())
        axes[axis] = *names.begin();
    }
    return axes;
  }

  /// None if the size of a buffer is no product of arguments.
  std::set<std::string> counts() const override {
    std::set<std::int64_t> numbers, extents;
    for (const auto &[name, value] : all_)
      if (value > 1)
        numbers.insert(value);
    for (std::size_t b = 0; b < launch_.buffers.size(); ++b) {
      const std::uint64_t elements = elementsOf(b);
      bool isKnown = elements < std::uint64_t(kSmallestSize);
      forProducts(numbers, double(elements), [&](double product, Factors factors) {
        if (product != double(elements))
          return;
        isKnown = true;
        extents.insert(factors);
      });
      if (!isKnown)
        return {};
    }
    std::set<std::string> names;
    for (const auto &[name, value] : sizes_)
      if (!deciding_.contains(name) && !extents.contains(value))
        names.insert(name);
    return names;
  }

  /// A buffer that had as many elements as a product of arguments gets as many as their new
  /// product. Captured contents are repeated in it; sorted integers stay sorted, and permutations
  /// stay permutations. Outputs are filled with random numbers. Fails if the grid does not follow
  /// the integers, or if parts of a buffer, or addresses in memory, would have to move.
  Result<Launch> larger(const Values &changed) const override {
    const auto unknown = [] {
      return makeError(ErrorCode::Usage, "it is not known how the launch and its memory grow");
    };
    if (!site_)
      return unknown();
    KOPT_TRY(Launch made, with(changed, std::nullopt));
    std::vector<std::optional<std::uint64_t>> offsets(launch_.buffers.size());
    for (const Argument &argument : launch_.arguments) {
      if (const auto *value = std::get_if<ValueArg>(&argument)) {
        if (!value->pointers.empty())
          return unknown();
        continue;
      }
      const auto &pointer = std::get<BufferArg>(argument);
      if (offsets[pointer.buffer].value_or(pointer.offset) != pointer.offset)
        return unknown();
      offsets[pointer.buffer] = pointer.offset;
    }
    for (std::size_t b = 0; b < made.buffers.size(); ++b) {
      Buffer &buffer = made.buffers[b];
      if (buffer.holdsPointers)
        return unknown();
      if (!buffer.symbol.empty() || buffer.bytes == 0)
        continue;
      const std::uint64_t width = runtime::elementSize(buffer.scalar);
      const std::uint64_t offset = offsets[b].value_or(0);
      const std::uint64_t elements = (buffer.bytes - std::min(buffer.bytes, offset)) / width;
      const std::uint64_t bytes = offset + elementsWith(elements, changed) * width;
      if (bytes <= buffer.bytes)
        continue;
      buffer.fill = filled(b, bytes);
      buffer.bytes = bytes;
    }
    return made;
  }

  /// Integers that were a product of two others are so again, or half or twice as much; and those
  /// that the user's `arg` clauses or the launch site compute from others are computed.
  Values related(Values values) const override {
    values = LaunchNumbers::related(std::move(values));
    for (const auto &[name, text] : following_) {
      Values integers = all_;
      for (const auto &[other, value] : values)
        if (other != name)
          integers[other] = value;
      const auto result = evaluateExpression(text, bindingsWith(integers));
      if (result && *result != all_.at(name))
        values[name] = *result;
      else
        values.erase(name);
    }
    return values;
  }

private:
  void findFollowing() {
    const Bindings known = bindingsWith(all_);
    for (const auto &[name, value] : all_) {
      for (const std::string &text : computedAs(name))
        if (evaluateExpression(text, known) == value)
          following_.try_emplace(name, text);
      if (following_.contains(name))
        continue;
      for (const auto &[one, first] : sizes_)
        for (const auto &[other, second] : sizes_) {
          if (one >= other || one == name || other == name ||
              std::min(first, second) < kSmallestSize || std::max(first, second) > kLargestSize)
            continue;
          const std::int64_t product = first * second;
          if (value == product)
            following_[name] = fmt::format("{} * {}", one, other);
          else if (product % 2 == 0 && value == product / 2)
            following_.try_emplace(name, fmt::format("{} * {} / 2", one, other));
          else if (value % 2 == 0 && value / 2 == product)
            following_.try_emplace(name, fmt::format("2 * {} * {}", one, other));
        }
    }
  }

  std::size_t parameterOf(const std::string &name) const {
    const std::vector<KernelParam> &params = source_.specialization.params;
    return std::size_t(std::ranges::find(params, name, &KernelParam::name) - params.begin());
  }

  /// The expressions over other names that an `arg` clause gives the integer, and launch sites pass
  /// for it, as `(w + 63) / 64 * 64` for the distance of rows.
  std::vector<std::string> computedAs(const std::string &name) const {
    std::vector<std::string> texts;
    if (source_.declaration && source_.declaration->arguments.contains(name))
      texts.push_back(source_.declaration->arguments.at(name));
    for (const LaunchSite *site : sites_)
      texts.push_back(
          overParameters(computedValue(site, parameterOf(name)), *site, source_.specialization));
    std::erase_if(texts, [&](const std::string &text) {
      const auto names = namesIn(text);
      return !names || names->empty() || std::ranges::find(*names, name) != names->end();
    });
    return texts;
  }

  /// As with(); without threads, or a grid, where the program cannot launch it.
  Launch madeWith(const Values &changed) const {
    Launch made = launch_;
    const std::vector<KernelParam> &params = source_.specialization.params;
    Values integers = all_;
    for (std::size_t i = 0; i < made.arguments.size() && i < params.size(); ++i) {
      const auto other = changed.find(params[i].name);
      auto *value = std::get_if<ValueArg>(&made.arguments[i]);
      if (other == changed.end() || !value || !all_.contains(params[i].name))
        continue;
      std::memcpy(value->bytes.data(), &other->second,
                  std::min(value->bytes.size(), sizeof other->second)); // little-endian
      integers[params[i].name] = other->second;
    }
    made.bindings = bindingsWith(integers);
    if (!site_)
      followBlock(integers, made);
    else if (const auto geometry = evaluateGeometry(made.geometry, made.bindings))
      std::tie(made.grid, made.block, made.sharedBytes) =
          std::tie(geometry->grid, geometry->block, geometry->sharedBytes);
    else
      made.grid = {0, 0, 0};
    return made;
  }

  Bindings valuesAt(const LaunchSite &site, const Values &integers) const {
    return bindingsAtSite(source_.kernel, source_.specialization, site, integers);
  }

  /// The values at a launch site, and those of host variables that `arg` clauses compute from them.
  Bindings declaredAt(const LaunchSite &site, const Values &integers) const {
    Bindings values = valuesAt(site, integers);
    if (source_.declaration)
      for (const auto &[name, text] : source_.declaration->arguments)
        if (const auto value = evaluateExpression(text, values))
          values.try_emplace(name, *value);
    return values;
  }

  Bindings bindingsWith(const Values &integers) const {
    Bindings bindings = site_ ? valuesAt(*site_, integers) : Bindings(integers);
    for (const auto &[name, value] : launch_.bindings) // of the program's other variables
      bindings.try_emplace(name, value);
    return bindings;
  }

  /// Gives the launch the block and the shared memory that a launch site computes for the integers,
  /// if it does so for the captured ones as well.
  void followBlock(const Values &integers, Launch &made) const {
    for (const LaunchSite *site : sites_) {
      const GeometryExpressions texts{{"1", "1", "1"}, site->block, site->sharedBytes};
      const auto captured = evaluateGeometry(texts, declaredAt(*site, all_));
      if (!captured || captured->block != launch_.block ||
          captured->sharedBytes != launch_.sharedBytes)
        continue;
      const auto now = evaluateGeometry(texts, declaredAt(*site, integers));
      made.block = now ? now->block : Dim3{0, 0, 0};
      made.sharedBytes = now ? now->sharedBytes : 0;
      made.geometry.block = {std::to_string(made.block.x), std::to_string(made.block.y),
                             std::to_string(made.block.z)};
      made.geometry.sharedBytes = std::to_string(made.sharedBytes);
      return;
    }
  }

  /// A host variable of unknown value that every launch site computes the block or its shared
  /// memory from, as `n` in `n / 4`: with other integers the block would have to be another. Empty
  /// if there is none, if the launch follows its launch site's expressions, or if the user's `arg`
  /// clauses compute the variable.
  std::string unknownInBlock() const {
    std::string unknown;
    for (const LaunchSite *site : site_ ? std::vector<const LaunchSite *>() : sites_) {
      Bindings values = declaredAt(*site, all_);
      unknown.clear();
      for (const std::string &text :
           {site->block[0], site->block[1], site->block[2], site->sharedBytes})
        for (const std::string &name : namesIn(text).value_or(std::vector<std::string>()))
          if (text == name)
            values.emplace(name, 0); // a block size that the program chooses
          else if (!values.contains(name))
            unknown = name;
      if (unknown.empty())
        return {};
    }
    return unknown;
  }

  /// True if the launch follows its launch site, which passes something else than a constant for
  /// the integer: its value is that of the block or of the grid by chance only.
  bool isOfItsOwn(const std::string &name) const {
    const std::size_t argument = parameterOf(name);
    return site_ && argument < site_->args.size() &&
           !evaluateExpression(site_->args[argument], valuesAt(*site_, {}));
  }

  /// True if the value is the block's threads or the number of blocks, which are not a problem
  /// size.
  bool isGeometry(const std::string &name, std::int64_t value) const {
    const Launch half = madeWith({{name, value / 2}});
    if (value > 1 && half.block != launch_.block && site_)
      return true;
    if (value < kSmallestSize || half.grid != launch_.grid || isOfItsOwn(name))
      return false;
    return std::ranges::any_of(std::array{launch_.grid, launch_.block}, [&](const Dim3 &of) {
      return value == of.x || value == of.y || value == of.z || std::uint64_t(value) == of.count();
    });
  }

  /// The elements of a buffer from the kernel's pointer on; 0 if no argument points into it.
  std::uint64_t elementsOf(std::size_t index) const {
    const Buffer &buffer = launch_.buffers[index];
    for (const Argument &argument : launch_.arguments)
      if (const auto *pointer = std::get_if<BufferArg>(&argument);
          pointer && pointer->buffer == index)
        return (buffer.bytes - std::min(buffer.bytes, pointer->offset)) /
               runtime::elementSize(buffer.scalar);
    return 0;
  }

  /// How many elements a buffer of `elements` needs with the changed integers.
  std::uint64_t elementsWith(std::uint64_t elements, const Values &changed) const {
    // The growth of the arguments of each value, the largest first.
    std::map<std::int64_t, std::vector<double>> growths;
    for (const auto &[name, value] : all_)
      if (value > 1 && (growths.contains(value) || growths.size() < kMostFactors)) {
        const auto now = changed.find(name);
        growths[value].push_back(now == changed.end() ? 1 : double(now->second) / double(value));
      }
    std::set<std::int64_t> numbers;
    double least = 1; // if it is unknown which integers the size depends on, it depends on all
    for (auto &[value, alike] : growths) {
      numbers.insert(value);
      std::ranges::sort(alike, std::greater());
      least *= std::max(1.0, alike.front());
    }
    // A product with a value several times is taken to be of as many arguments, if there are so
    // many.
    const auto growthOf = [&](Factors product) {
      std::map<std::int64_t, std::size_t> taken;
      double growth = 1;
      for (const std::int64_t value : product) {
        const std::vector<double> &alike = growths.at(value);
        const std::size_t next = taken[value]++;
        growth *= next < alike.size() ? alike[next] : alike.front();
      }
      return growth;
    };
    const auto had = double(elements);
    double most = had * least;
    std::optional<double> exact; // of products, sums and differences that are just as many
    const auto note = [&](double now) { exact = std::max(exact.value_or(had), now); };
    for (const auto &[one, ofOne] : growths)
      for (const auto &[two, ofTwo] : growths)
        for (const int sign : {1, -1})
          for (const std::int64_t more : {-1, 0, 1}) {
            if (one == two || std::int64_t(elements) != one + sign * two + more)
              continue;
            for (const double growth : ofOne)
              for (const double other : ofTwo)
                note(double(one) * growth + sign * double(two) * other + double(more));
          }
    bool isKnown = false;
    forProducts(numbers, had, [&](double product, Factors factors) {
      for (const std::uint64_t times : kTimes) {
        const double inner = product * double(times);
        if (had < inner || had > inner * kBorder)
          continue;
        const double growth = growthOf(factors);
        isKnown = true;
        if (had == product)
          note(product * growth);
        most = std::max(most, inner * growth + (had - inner) * std::max(1.0, growth / 2));
      }
    });
    // A small buffer may have as many elements as a number that stays, such as the threads of a
    // block, by chance.
    if (exact && (*exact > had || had > kSixteenBits))
      return std::uint64_t(std::ceil(*exact));
    for (const auto &[value, alike] : growths) // it may be a square with a wider border
      if (!isKnown && had >= double(value) * double(value))
        most = std::max(most, had * alike.front() * alike.front());
    return std::uint64_t(std::ceil(most));
  }

  /// The contents of a captured buffer that has grown to `bytes`.
  Fill filled(std::size_t index, std::uint64_t bytes) const {
    const Buffer &buffer = launch_.buffers[index];
    if (buffer.output)
      return {FillKind::Uniform, -100, 100};
    if (!isFloating(buffer.scalar)) {
      const auto [known, isNew] = like_.try_emplace(index, buffer.fill);
      if (isNew)
        known->second = likeContents(launch_, index).value_or(buffer.fill);
      if (known->second.kind == FillKind::Permutation)
        return {FillKind::Permutation, 0, double(bytes / elementBytes(buffer.scalar)) - 1};
      if (known->second.kind == FillKind::Sorted)
        return known->second;
    }
    Fill fill = buffer.fill;
    if (fill.kind == FillKind::Captured && fill.low > -2) // it does not repeat yet
      fill.low = -double(buffer.bytes);
    return fill;
  }

  std::vector<const LaunchSite *> sites_; ///< of the specialization
  const LaunchSite *site_ =
      nullptr; ///< whose expressions gave the captured geometry; null: none did
  std::map<std::string, std::string> following_; ///< integers, and what of others they are
  mutable std::map<std::size_t, Fill> like_;     ///< the contents of integers, by buffer
};

} // namespace

std::unique_ptr<LaunchNumbers> capturedNumbers(const DerivationSource &source,
                                               const Launch &launch) {
  return std::make_unique<CapturedNumbers>(source, launch);
}

} // namespace kopt
