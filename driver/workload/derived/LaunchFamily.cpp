// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/LaunchFamily.h"

#include "driver/source/Expression.h"
#include "driver/support/ElementType.h"
#include "driver/workload/DeclaredFill.h"
#include "driver/workload/DeclaredReals.h"
#include "driver/workload/Requirements.h"
#include "driver/workload/WorkloadBuilder.h"
#include "driver/workload/derived/OtherScalars.h"

#include <algorithm>

namespace kopt {
namespace {

bool isLess(const std::pair<const std::string, std::int64_t> &a,
            const std::pair<const std::string, std::int64_t> &b) {
  return a.second < b.second;
}

} // namespace

LaunchFamily::LaunchFamily(const DerivationSource &source, const Launch &launch)
    : source_(source), launch_(launch) {
  if (!source.declaration || isCaptured(launch))
    return;
  const Bindings none;
  const DeclaredReals reals(*source.declaration, none, none);
  for (const auto &[name, text] : source.declaration->arguments)
    if (const auto value = evaluateExpression(text, {});
        value && !isFloating(scalarOf(name)) && reals.evaluate(text) == double(*value))
      values_[name] = *value;
  for (const DeclaredLaunch &declared : source.declaration->launches)
    if (declared.name == launch.name)
      for (const auto &[name, value] : declared.arguments)
        values_[name] = value;
  // A derived launch has its own name and values.
  for (auto &[name, value] : values_)
    if (const auto bound = launch.bindings.find(name); bound != launch.bindings.end())
      value = bound->second;
  for (const auto &[name, value] : values_)
    if (!isBlock(name, value))
      (isSize(name, value) ? sizes_ : others_)[name] = value;
}

LaunchFamily::Values LaunchFamily::allowed(Values values, const Values &base) const {
  return Requirements(source_.declaration, realsOf(source_, launch_))
      .moved(std::move(values), base, launch_.bindings);
}

LaunchFamily::Values LaunchFamily::around(const std::string &name, Values values) const {
  const std::int64_t kept = values.at(name);
  Bindings known = launch_.bindings;
  known[name] = kept;
  values.erase(name);
  const Values base = values;
  values = Requirements(source_.declaration, realsOf(source_, launch_))
               .moved(std::move(values), base, known);
  values[name] = kept;
  return values;
}

/// The fill of a buffer that is `known` in the original launch: the same fill, except for bounds
/// that are declared by an expression.
Fill LaunchFamily::moved(const Buffer &known, const Fill &declared) const {
  Fill fill = known.fill;
  if (!known.symbol.empty() && launch_.bindings.contains(known.name))
    return declared; // a variable whose value an argument gives
  if (fill.kind == FillKind::Values && declared.kind == FillKind::Values)
    return declared; // with as many values as there are elements now
  const auto bounds = source_.declaration->fillBounds.find(known.name);
  if (bounds == source_.declaration->fillBounds.end())
    return fill;
  const auto before = declaredFill(*source_.declaration, known, launch_.bindings);
  if (!before || !*before)
    return fill;
  if (!bounds->second[0].empty() && fill.low == (*before)->low)
    fill.low = declared.low;
  if (!bounds->second[1].empty() && fill.high == (*before)->high)
    fill.high = declared.high;
  return fill;
}

Result<Launch> LaunchFamily::with(const Values &changed, std::optional<std::size_t> site) const {
  if (!source_.declaration || isCaptured(launch_))
    return makeError(ErrorCode::Usage,
                     "a captured launch has no expressions to derive others from");
  DeclaredLaunch declared{launch_.name, values_, launch_.weight, DeviceKind::Auto, {}};
  for (const auto &[name, value] : changed)
    declared.arguments[name] = value;
  KOPT_TRY(Launch made, buildLaunch(source_.kernel, source_.specialization, *source_.declaration,
                                    declared, site));
  made.readsUnsetShared = launch_.readsUnsetShared;
  for (Buffer &buffer :
       made.buffers) // not by index: a pointer that the site passes as null has no buffer
    for (const Buffer &known : launch_.buffers)
      if (known.name == buffer.name) {
        buffer.fill = moved(known, buffer.fill);
        buffer.readOnly = known.readOnly;
        buffer.output = known.output;
        buffer.varies = known.varies;
        buffer.spread = known.spread;
      }
  return made;
}

LaunchFamily::Values LaunchFamily::smaller(std::uint64_t most) const {
  Values small = sizes_, least = sizes_;
  for (std::uint64_t cost = costOf(launch_); cost > most;) {
    const auto largest = std::max_element(small.begin(), small.end(), isLess);
    if (largest == small.end() || largest->second / 2 < kSmallestSize)
      break;
    largest->second /= 2;
    if (const auto made = with(small); made && costOf(*made) < cost) {
      cost = costOf(*made);
      least = small;
    }
  }
  return least;
}

std::optional<LaunchFamily::Values> LaunchFamily::larger(std::uint64_t least,
                                                         std::uint64_t most) const {
  Values large = sizes_;
  while (!large.empty()) {
    const auto made = with(large);
    if (!made || costOf(*made) > most)
      return std::nullopt;
    if (std::ranges::any_of(made->buffers, [&](const Buffer &buffer) {
          return buffer.bytes / elementBytes(buffer.scalar) > least;
        }))
      return large == sizes_ ? std::nullopt : std::optional(large);
    const auto smallest = std::min_element(large.begin(), large.end(), isLess);
    if (smallest->second <= 0)
      return std::nullopt;
    smallest->second *= 2;
  }
  return std::nullopt;
}

std::optional<Launch> LaunchFamily::within(const std::string &name, Values values,
                                           std::uint64_t most) const {
  for (std::int64_t least = kSmallestSize; least > 0; least /= 2) {
    for (auto &[other, value] : values)
      while (other != name && value / 2 >= least)
        value /= 2;
    if (auto made = with(values); made && costOf(*made) <= most)
      return std::move(*made);
  }
  return std::nullopt;
}

std::int64_t LaunchFamily::inRange(const std::string &name, std::int64_t value) const {
  return scalarOf(name) == "bool" ? value & 1 : std::max<std::int64_t>(0, value);
}

std::string LaunchFamily::scalarOf(const std::string &name) const {
  const KernelParam *param = scalarNamed(source_, name);
  return param ? param->scalar : std::string();
}

/// True if it decides the block, and either nothing else or only how many blocks cover the same
/// number of threads.
bool LaunchFamily::isBlock(const std::string &name, std::int64_t value) const {
  const auto half = with({{name, value / 2}});
  if (value < 2 || !half || half->block == launch_.block)
    return false;
  const bool isSameMemory =
      std::ranges::equal(half->buffers, launch_.buffers, {}, &Buffer::bytes, &Buffer::bytes);
  const std::uint64_t threads = half->grid.count() * half->block.count(),
                      known = launch_.grid.count() * launch_.block.count();
  const bool isCovering =
      half->grid != launch_.grid && threads <= known && known - threads < launch_.block.count();
  return isSameMemory || isCovering;
}

/// True if it decides geometry or extents. An integer with which no other launch can be built
/// counts as a size, too.
bool LaunchFamily::isSize(const std::string &name, std::int64_t value) const {
  // A launch rounds up to whole blocks, so try two steps: one of them may not change the grid.
  for (const std::int64_t other : {value + 1, value * 2}) {
    const auto made = with({{name, other}});
    if (!made || made->grid != launch_.grid || made->block != launch_.block ||
        made->sharedBytes != launch_.sharedBytes ||
        !std::ranges::equal(made->buffers, launch_.buffers, {}, &Buffer::bytes, &Buffer::bytes))
      return true;
  }
  return false;
}

} // namespace kopt
