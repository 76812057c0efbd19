// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/LaunchNumbers.h"
#include "driver/source/Expression.h"
#include "driver/support/ElementType.h"
#include "driver/workload/DeclaredFill.h"
#include "driver/workload/DeclaredReals.h"
#include "driver/workload/OtherScalars.h"
#include "driver/workload/WorkloadBuilder.h"

#include <algorithm>

namespace kopt {
namespace {

/// The independent integers of the declaration.
class DeclaredNumbers final : public LaunchNumbers {
public:
  DeclaredNumbers(const DerivationSource &source, const Launch &launch)
      : LaunchNumbers(source, launch) {
    if (!source.declaration)
      return;
    const Bindings none;
    const DeclaredReals reals(*source.declaration, none, none);
    for (const auto &[name, text] : source.declaration->arguments) {
      const auto value = evaluateExpression(text, {});
      const KernelParam *param = scalarNamed(source, name);
      if (value && !(param && isFloating(param->scalar)) && reals.evaluate(text) == double(*value))
        all_[name] = *value;
    }
    for (const DeclaredLaunch &declared : source.declaration->launches)
      if (declared.name == launch.name)
        for (const auto &[name, value] : declared.arguments)
          all_[name] = value;
    // A derived launch has its own name and values.
    for (auto &[name, value] : all_)
      if (const auto bound = launch.bindings.find(name); bound != launch.bindings.end())
        value = bound->second;
    for (const auto &[name, value] : all_)
      if (!isBlock(name, value))
        (isSize(name, value) ? sizes_ : others_)[name] = value;
    for (const auto &[name, value] : sizes_)
      deciding_.insert(name);
  }

  std::string whySizesStay() const override {
    return sizes_.empty() ? "no argument decides the launch's size" : "";
  }

  Result<Launch> with(const Values &changed, std::optional<std::size_t> site) const override {
    if (!source_.declaration)
      return makeError(ErrorCode::Usage, "the launch has no clauses to derive others from");
    DeclaredLaunch declared{launch_.name, all_, launch_.weight, DeviceKind::Auto, {}};
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

  Result<Launch> larger(const Values &changed) const override {
    return with(changed, std::nullopt);
  }
  bool mayBecome(const std::string &, std::int64_t) const override { return true; }

private:
  /// The fill of a buffer that is `known` in the original launch: the same fill, except for bounds
  /// that are declared by an expression.
  Fill moved(const Buffer &known, const Fill &declared) const {
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

  bool hasSameMemory(const Launch &made) const {
    return std::ranges::equal(made.buffers, launch_.buffers, {}, &Buffer::bytes, &Buffer::bytes);
  }

  /// True if it decides the block, and either nothing else or only how many blocks cover the same
  /// number of threads.
  bool isBlock(const std::string &name, std::int64_t value) const {
    const auto half = with({{name, value / 2}}, std::nullopt);
    if (value < 2 || !half || half->block == launch_.block)
      return false;
    const bool isCovering = half->grid != launch_.grid && half->threads() <= launch_.threads() &&
                            launch_.threads() - half->threads() < launch_.block.count();
    return hasSameMemory(*half) || isCovering;
  }

  /// True if it decides geometry or extents. An integer with which no other launch can be built
  /// counts as a size, too.
  bool isSize(const std::string &name, std::int64_t value) const {
    // A launch rounds up to whole blocks, so try two steps: one of them may not change the grid.
    return std::ranges::any_of(std::array{value + 1, value * 2}, [&](std::int64_t other) {
      const auto made = with({{name, other}}, std::nullopt);
      return !made || made->grid != launch_.grid || made->block != launch_.block ||
             made->sharedBytes != launch_.sharedBytes || !hasSameMemory(*made);
    });
  }
};

} // namespace

std::unique_ptr<LaunchNumbers> declaredNumbers(const DerivationSource &source,
                                               const Launch &launch) {
  return std::make_unique<DeclaredNumbers>(source, launch);
}

} // namespace kopt
