// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/CapturedNumbers.h"

#include "driver/source/Expression.h"
#include "driver/support/ElementType.h"
#include "driver/workload/Requirements.h"
#include "driver/workload/ScalarArguments.h"
#include "driver/workload/SiteValues.h"
#include "driver/workload/WorkloadBuilder.h"
#include "driver/workload/derived/CapturedContents.h"
#include "driver/workload/derived/LaunchFamily.h"
#include "driver/workload/derived/OtherScalars.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <functional>

namespace kopt {
namespace {

using Values = CapturedNumbers::Values;

/// A buffer's size is taken to be a product of arguments if it has one of these multiples of it as
/// elements, or slightly more: a border, or one element at the end.
constexpr std::uint64_t kTimes[] = {1, 2, 3, 4, 6, 8, 9, 12, 16};
constexpr double kBorder = 1.1;
constexpr std::uint64_t kManyElements = 1u << 16;
constexpr std::size_t kMostFactors = 12; ///< most arguments that are tried as factors
constexpr std::int64_t kLargestFactor = std::int64_t(1) << 31; ///< products of two fit 64 bits

} // namespace

CapturedNumbers::CapturedNumbers(const DerivationSource &source, const Launch &launch)
    : source_(source), launch_(launch), all_(integersOf(source.specialization, launch)) {
  for (const auto &[name, value] : all_) {
    if (isGeometry(name, value))
      continue;
    const bool decides = decidesGrid(name, value);
    if (decides && value > 0)
      deciding_.insert(name);
    if (decides || value >= kSmallestSize)
      sizes_[name] = value;
    else
      others_[name] = value;
  }
  findFollowing();
}

void CapturedNumbers::findFollowing() {
  const Bindings known = bindingsWith(all_);
  for (const auto &[name, value] : all_) {
    for (const std::string &text : {declaredAs(name), computedAs(name)})
      if (!text.empty() && evaluateExpression(text, known) == value)
        following_.try_emplace(name, text);
    if (following_.contains(name))
      continue;
    for (const auto &[one, first] : sizes_)
      for (const auto &[other, second] : sizes_) {
        if (one >= other || one == name || other == name ||
            std::min(first, second) < kSmallestSize || std::max(first, second) > kLargestFactor)
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

/// The expression over other names that an `arg` clause gives the integer; empty if there is none.
std::string CapturedNumbers::declaredAs(const std::string &name) const {
  if (!source_.declaration || !source_.declaration->arguments.contains(name))
    return {};
  const std::string &text = source_.declaration->arguments.at(name);
  const auto names = namesIn(text);
  return names && !names->empty() ? text : std::string();
}

/// The expression over other integers that a launch site passes for it, as `(w + 63) / 64 * 64` for
/// the distance of rows; empty if there is none.
std::string CapturedNumbers::computedAs(const std::string &name) const {
  const std::vector<KernelParam> &params = source_.specialization.params;
  const auto param = std::ranges::find(params, name, &KernelParam::name);
  for (const LaunchSite &site : source_.kernel.launches) {
    if (site.symbol != source_.specialization.symbol)
      continue;
    const std::string text = overParameters(
        computedValue(&site, std::size_t(param - params.begin())), site, source_.specialization);
    const auto named = namesIn(text);
    if (named && !named->empty() && std::ranges::find(*named, name) == named->end())
      return text;
  }
  return {};
}

Launch CapturedNumbers::with(const Values &changed) const {
  Launch made = launch_;
  const std::vector<KernelParam> &params = source_.specialization.params;
  Values integers = all_;
  for (std::size_t i = 0; i < made.arguments.size() && i < params.size(); ++i) {
    const auto other = changed.find(params[i].name);
    auto *value = std::get_if<ValueArg>(&made.arguments[i]);
    if (other == changed.end() || !value || !all_.contains(params[i].name))
      continue;
    std::memcpy(value->bytes.data(), &other->second,
                std::min(value->bytes.size(), sizeof other->second)); // the device is little-endian
    integers[params[i].name] = other->second;
  }
  made.bindings = bindingsWith(integers);
  if (!isAtSite()) {
    followBlock(integers, made);
    return made;
  }
  if (const auto geometry = evaluateGeometry(made.geometry, made.bindings)) {
    made.grid = geometry->grid;
    made.block = geometry->block;
    made.sharedBytes = geometry->sharedBytes;
    return made;
  }
  made.grid = {0, 0, 0};
  return made;
}

/// The values at a launch site, and those of host variables that `arg` clauses compute from them.
Bindings CapturedNumbers::declaredAt(const LaunchSite &site, const Values &integers) const {
  Bindings values = bindingsAtSite(source_.kernel, source_.specialization, site, integers);
  if (source_.declaration)
    for (const auto &[name, text] : source_.declaration->arguments)
      if (const auto value = evaluateExpression(text, values))
        values.try_emplace(name, *value);
  return values;
}

/// Gives the launch the block and the shared memory that a launch site computes for the integers,
/// if it does so for the captured ones as well.
void CapturedNumbers::followBlock(const Values &integers, Launch &made) const {
  using Numbers = std::array<std::optional<std::int64_t>, 4>;
  const auto numbersOf = [&](const LaunchSite &site, const Values &of) {
    const Bindings values = declaredAt(site, of);
    const std::array texts{site.block[0], site.block[1], site.block[2], site.sharedBytes};
    Numbers numbers;
    std::ranges::transform(texts, numbers.begin(), [&](const std::string &text) {
      const auto value = evaluateExpression(text, values);
      return value ? std::optional(*value) : std::nullopt;
    });
    return numbers;
  };
  const Numbers captured{launch_.block.x, launch_.block.y, launch_.block.z, launch_.sharedBytes};
  for (const LaunchSite &site : source_.kernel.launches) {
    if (site.symbol != source_.specialization.symbol || numbersOf(site, all_) != captured)
      continue;
    std::array<std::uint32_t, 4> now{};
    std::ranges::transform(numbersOf(site, integers), now.begin(), [](const auto &one) {
      return std::uint32_t(std::max<std::int64_t>(0, one.value_or(0)));
    });
    made.block = {now[0], now[1], now[2]};
    made.sharedBytes = now[3];
    for (std::size_t axis = 0; axis < 3; ++axis)
      made.geometry.block[axis] = std::to_string(now[axis]);
    made.geometry.sharedBytes = std::to_string(now[3]);
    return;
  }
}

std::string CapturedNumbers::unknownInBlock() const {
  if (isAtSite())
    return {};
  std::string unknown;
  for (const LaunchSite &site : source_.kernel.launches) {
    if (site.symbol != source_.specialization.symbol)
      continue;
    Bindings values = declaredAt(site, all_);
    unknown.clear();
    std::vector<std::string> texts(site.block.begin(), site.block.end());
    texts.push_back(site.sharedBytes);
    for (const std::string &text : texts)
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

std::map<std::size_t, std::string> CapturedNumbers::freeAxes() const {
  if (isAtSite())
    return {};
  std::map<std::size_t, std::string> axes;
  const std::array grid{launch_.grid.x, launch_.grid.y, launch_.grid.z};
  for (std::size_t axis = 0; axis < grid.size(); ++axis) {
    std::set<std::string> names;
    for (const LaunchSite &site : source_.kernel.launches) {
      const std::string &text = site.grid[axis];
      const bool isUnknown =
          isName(text) &&
          !bindingsAtSite(source_.kernel, source_.specialization, site, all_).contains(text);
      names.insert(isUnknown ? text : "");
    }
    const bool isArgument = std::ranges::any_of(
        all_, [&](const auto &known) { return known.second == std::int64_t(grid[axis]); });
    if (grid[axis] > 1 && !isArgument && names.size() == 1 && !names.begin()->empty())
      axes[axis] = *names.begin();
  }
  return axes;
}

bool CapturedNumbers::areOther(const Values &values) const {
  return std::ranges::any_of(
      values, [&](const auto &value) { return all_.at(value.first) != value.second; });
}

Values CapturedNumbers::related(Values values) const {
  for (const KernelParam &param : source_.specialization.params)
    if (const auto truth = values.find(param.name); truth != values.end() && param.scalar == "bool")
      truth->second = truth->second != 0;
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

Values CapturedNumbers::allowed(const Values &values) const {
  return related(Requirements(source_.declaration, realsOf(source_, launch_))
                     .moved(related(values), all_, launch_.bindings));
}

bool CapturedNumbers::isAtSite() const {
  return launch_.site < source_.kernel.launches.size() &&
         launch_.geometry.grid == source_.kernel.launches[launch_.site].grid &&
         launch_.geometry.block == source_.kernel.launches[launch_.site].block;
}

Bindings CapturedNumbers::bindingsWith(const Values &integers) const {
  Bindings bindings = launch_.bindings;
  if (isAtSite()) {
    Bindings atSite = bindingsAtSite(source_.kernel, source_.specialization,
                                     source_.kernel.launches[launch_.site], integers);
    atSite.merge(bindings); // what the launch tells of the program's other variables
    return atSite;
  }
  for (const auto &[name, value] : integers)
    bindings[name] = value;
  return bindings;
}

bool CapturedNumbers::decidesGrid(const std::string &name, std::int64_t value) const {
  // A launch rounds up to whole blocks, so a small step may not change the grid.
  return value > 1 && with({{name, value / 2}}).grid != launch_.grid;
}

/// True if the launch follows its launch site, which passes something else than a constant for the
/// integer: its value is that of the block or of the grid by chance only.
bool CapturedNumbers::isOfItsOwn(const std::string &name) const {
  if (!isAtSite())
    return false;
  const LaunchSite &site = source_.kernel.launches[launch_.site];
  const std::vector<KernelParam> &params = source_.specialization.params;
  const auto param = std::ranges::find(params, name, &KernelParam::name);
  const std::size_t argument = std::size_t(param - params.begin());
  return argument < std::min(params.size(), site.args.size()) &&
         !evaluateExpression(site.args[argument],
                             bindingsAtSite(source_.kernel, source_.specialization, site, {}));
}

/// True if the value is the block's threads or the number of blocks, which are not a problem size.
bool CapturedNumbers::isGeometry(const std::string &name, std::int64_t value) const {
  const Launch half = with({{name, value / 2}});
  if (value > 1 && half.block != launch_.block && isAtSite())
    return true;
  if (value < kSmallestSize || half.grid != launch_.grid || isOfItsOwn(name))
    return false;
  for (const Dim3 &of : {launch_.grid, launch_.block})
    for (const std::uint64_t extent :
         {std::uint64_t(of.x), std::uint64_t(of.y), std::uint64_t(of.z), of.count()})
      if (std::uint64_t(value) == extent)
        return true;
  return false;
}

/// The elements of a buffer from the kernel's pointer on; nothing if no argument points into it.
std::optional<std::uint64_t> CapturedNumbers::elementsOf(std::size_t index) const {
  const Buffer &buffer = launch_.buffers[index];
  const std::uint64_t width = runtime::elementSize(buffer.scalar);
  for (const Argument &argument : launch_.arguments)
    if (const auto *pointer = std::get_if<BufferArg>(&argument);
        pointer && pointer->buffer == index && width > 0)
      return (buffer.bytes - std::min(buffer.bytes, pointer->offset)) / width;
  return std::nullopt;
}

std::set<std::string> CapturedNumbers::counts() const {
  std::set<std::int64_t> extents; // the values of arguments that a buffer's size is a product of
  for (std::size_t b = 0; b < launch_.buffers.size(); ++b) {
    const auto elements = elementsOf(b);
    if (!elements || *elements < std::uint64_t(kSmallestSize))
      continue;
    bool isKnown = false;
    const auto note = [&](std::uint64_t product, std::initializer_list<std::int64_t> values) {
      if (product != *elements)
        return;
      isKnown = true;
      extents.insert(values);
    };
    for (const auto &[first, one] : all_)
      for (const auto &[second, two] : all_)
        for (const auto &[third, three] : all_)
          if (one > 0 && two > 0 && three > 0 && std::max({one, two, three}) < 1 << 21) {
            note(std::uint64_t(one), {one});
            if (first < second)
              note(std::uint64_t(one) * std::uint64_t(two), {one, two});
            if (first < second && second < third)
              note(std::uint64_t(one) * std::uint64_t(two) * std::uint64_t(three),
                   {one, two, three});
          }
    if (!isKnown)
      return {};
  }
  std::set<std::string> names;
  for (const auto &[name, value] : sizes_)
    if (!deciding_.contains(name) && !extents.contains(value))
      names.insert(name);
  return names;
}

/// How many elements a buffer of `elements` needs with the changed integers.
std::uint64_t CapturedNumbers::elementsWith(std::uint64_t elements, const Values &changed) const {
  // The growth of the arguments of each value, the largest first.
  std::map<std::int64_t, std::vector<double>> growths;
  for (const auto &[name, value] : all_)
    if (value > 1 && (growths.contains(value) || growths.size() < kMostFactors)) {
      const auto now = changed.find(name);
      growths[value].push_back(now == changed.end() ? 1 : double(now->second) / double(value));
    }
  double least = 1; // if it is unknown which integers the size depends on, it depends on all
  for (auto &[value, alike] : growths) {
    std::ranges::sort(alike, std::greater());
    least *= std::max(1.0, alike.front());
  }
  // A product with a value several times is taken to be of as many arguments, if there are so many.
  const auto growthOf = [&](std::initializer_list<std::int64_t> product) {
    std::map<std::int64_t, std::size_t> taken;
    double growth = 1;
    for (const std::int64_t value : product) {
      const std::vector<double> &alike = growths.at(value);
      const std::size_t next = taken[value]++;
      growth *= next < alike.size() ? alike[next] : alike.front();
    }
    return growth;
  };
  double most = double(elements) * least;
  std::optional<double> exact; // of products, sums and differences that are just as many
  const auto note = [&](double now) { exact = std::max(exact.value_or(double(elements)), now); };
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
  const auto seen = [&](double product, std::initializer_list<std::int64_t> of) {
    for (const std::uint64_t times : kTimes) {
      const double had = product * double(times);
      if (double(elements) < had || double(elements) > had * kBorder)
        continue;
      const double growth = growthOf(of);
      isKnown = true;
      if (double(elements) == product)
        note(product * growth);
      most = std::max(most, had * growth + (double(elements) - had) * std::max(1.0, growth / 2));
    }
  };
  for (const auto &[one, ofOne] : growths) {
    seen(double(one), {one});
    for (const auto &[two, ofTwo] : growths) {
      if (two < one || double(one) * double(two) > double(elements))
        continue;
      seen(double(one) * double(two), {one, two});
      for (const auto &[three, ofThree] : growths)
        if (three >= two && double(one) * double(two) * double(three) <= double(elements))
          seen(double(one) * double(two) * double(three), {one, two, three});
    }
  }
  // A small buffer may have as many elements as a number that stays, such as the threads of a
  // block, by chance.
  if (exact && (*exact > double(elements) || elements > kManyElements))
    return std::uint64_t(std::ceil(*exact));
  for (const auto &[value, alike] : growths) // it may be a square with a wider border
    if (!isKnown && double(elements) >= double(value) * double(value))
      most = std::max(most, double(elements) * alike.front() * alike.front());
  return std::uint64_t(std::ceil(most));
}

/// The contents of a captured buffer that has grown to `bytes`.
Fill CapturedNumbers::filled(std::size_t index, std::uint64_t bytes) const {
  const Buffer &buffer = launch_.buffers[index];
  if (buffer.output)
    return {FillKind::Uniform, -100, 100};
  if (!isFloating(buffer.scalar)) {
    const auto [known, isNew] = drawn_.try_emplace(index);
    if (isNew)
      if (const auto summary = summarize(launch_, index);
          summary && (summary->isSorted || summary->isPermutation))
        known->second = drawnLike(buffer, *summary);
    if (known->second && known->second->kind == FillKind::Permutation)
      return {FillKind::Permutation, 0, double(bytes / elementBytes(buffer.scalar)) - 1};
    if (known->second)
      return *known->second;
  }
  Fill fill = buffer.fill;
  if (fill.kind == FillKind::Captured && fill.low > -2) // it does not repeat yet
    fill.low = -double(buffer.bytes);
  return fill;
}

std::optional<Launch> CapturedNumbers::larger(const Values &changed) const {
  if (!isAtSite())
    return std::nullopt;
  Launch made = with(changed);
  std::vector<std::optional<std::uint64_t>> offsets(launch_.buffers.size());
  for (const Argument &argument : launch_.arguments) {
    if (const auto *value = std::get_if<ValueArg>(&argument)) {
      if (!value->pointers.empty())
        return std::nullopt;
      continue;
    }
    const auto &pointer = std::get<BufferArg>(argument);
    if (offsets[pointer.buffer].value_or(pointer.offset) != pointer.offset)
      return std::nullopt;
    offsets[pointer.buffer] = pointer.offset;
  }
  for (std::size_t b = 0; b < made.buffers.size(); ++b) {
    Buffer &buffer = made.buffers[b];
    if (buffer.holdsPointers)
      return std::nullopt;
    if (!buffer.symbol.empty() || buffer.bytes == 0)
      continue;
    const std::uint64_t width = runtime::elementSize(buffer.scalar);
    const std::uint64_t offset = offsets[b].value_or(0);
    const std::uint64_t elements = (buffer.bytes - std::min(buffer.bytes, offset)) / width;
    const std::uint64_t bytes = offset + elementsWith(elements, changed) * width;
    if (bytes <= buffer.bytes)
      continue;
    const Fill fill = filled(b, bytes);
    buffer.bytes = bytes;
    buffer.fill = fill;
  }
  return made;
}

std::optional<CapturedNumbers::Values> CapturedNumbers::divided(std::uint64_t most) const {
  for (int shift = 1; shift < 32; ++shift) {
    Values small = sizes_;
    for (auto &[name, value] : small)
      value = std::max<std::int64_t>(std::min<std::int64_t>(value, 1), (value >> shift) - 1);
    const std::uint64_t threads = with(small).threads();
    if (threads <= most)
      return threads > 0 ? std::optional(small) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<CapturedNumbers::Values> CapturedNumbers::halved(std::uint64_t most) const {
  Values small = sizes_;
  for (Launch made = launch_; made.threads() > most; made = with(small)) {
    std::int64_t largest = 0;
    for (const std::string &name : deciding_)
      largest = std::max(largest, small.at(name));
    if (largest / 2 < kSmallestSize)
      return std::nullopt;
    for (auto &[name, value] : small) // equal sizes stay equal
      value = value == largest ? value / 2 : value;
  }
  return small;
}

} // namespace kopt
