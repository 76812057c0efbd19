// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/KernelModel.h"

#include <llvm/ADT/StringExtras.h>

namespace kopt::frontend::model {
namespace {

/// What every GPU allows, by axis.
constexpr std::array<std::int64_t, 3> kBlock = {1024, 1024, 64}, kGrid = {2147483647, 65535, 65535};

/// The value of "4096", "-3", "0x10u"; nothing for what is no integer.
std::optional<std::int64_t> integerIn(llvm::StringRef literal) {
  literal = literal.rtrim("uUlL");
  std::int64_t value = 0;
  if (literal == "true" || literal == "false")
    return literal == "true";
  return literal.getAsInteger(0, value) ? std::nullopt : std::optional(value);
}

std::optional<Range> multiplied(const Range &left, const Range &right) {
  std::vector<__int128> products;
  for (const __int128 one : {left.low, left.high})
    for (const __int128 other : {right.low, right.high})
      if (__builtin_mul_overflow(one, other, &products.emplace_back()))
        return std::nullopt;
  const auto [low, high] = std::minmax_element(products.begin(), products.end());
  return Range{*low, *high};
}

/// All values of an integer type.
Range rangeOfType(unsigned bits, bool isSigned) {
  if (isSigned)
    return {-(__int128(1) << (bits - 1)), (__int128(1) << (bits - 1)) - 1};
  return {0, (__int128(1) << bits) - 1};
}

class Ranger {
public:
  Ranger(const KernelModel &model, const LaunchShape *launch) : model_(model), launch_(launch) {}

  std::optional<Range> of(const Polynomial &polynomial, unsigned depth = 0) const {
    Range result;
    for (const auto &[symbols, factor] : polynomial.terms) {
      std::optional<Range> product = Range{factor, factor};
      for (const unsigned each : symbols) {
        const std::optional<Range> symbol = ofSymbol(model_.symbols[each], depth);
        product = product && symbol ? multiplied(*product, *symbol) : std::nullopt;
      }
      if (!product || __builtin_add_overflow(result.low, product->low, &result.low) ||
          __builtin_add_overflow(result.high, product->high, &result.high))
        return std::nullopt;
    }
    return result;
  }

private:
  std::optional<Range> ofSymbol(const Symbol &symbol, unsigned depth) const {
    const unsigned axis = symbol.index;
    switch (symbol.kind) {
    case SymbolKind::ThreadIdx:
      return Range{0, (launch_ ? launch_->block[axis] : kBlock[axis]) - 1};
    case SymbolKind::BlockIdx:
      return Range{0, (launch_ ? launch_->grid[axis] : kGrid[axis]) - 1};
    case SymbolKind::BlockDim:
      return launch_ ? Range{launch_->block[axis], launch_->block[axis]} : Range{1, kBlock[axis]};
    case SymbolKind::GridDim:
      return launch_ ? Range{launch_->grid[axis], launch_->grid[axis]} : Range{1, kGrid[axis]};
    case SymbolKind::Iteration:
      return ofIteration(model_.loops[symbol.index], depth);
    case SymbolKind::Scalar:
      if (launch_)
        for (const ScalarValue &scalar : launch_->scalars)
          if (const auto value = integerIn(scalar.literal); scalar.name == symbol.name && value)
            return Range{*value, *value};
      return rangeOfType(symbol.bits, symbol.isSigned);
    case SymbolKind::Unknown:
      return symbol.range ? *symbol.range : rangeOfType(symbol.bits, symbol.isSigned);
    }
    return std::nullopt;
  }

  std::optional<Range> ofIteration(const LoopFacts &loop, unsigned depth) const {
    const std::optional<Range> most =
        loop.mostTrips ? std::optional(Range{0, *loop.mostTrips}) : std::nullopt;
    // The bound holds until a value wraps for the first time. So, if every assumption follows from
    // bounds, none of them is ever broken.
    const bool isCertain = launch_ || loop.assumptions.empty();
    const auto step = loop.step ? of(*loop.step, depth + 1) : std::nullopt;
    if (depth > 8 || !isCertain || !step || !loop.bound)
      return most;
    const bool isUp = loop.relation == Relation::Less || loop.relation == Relation::LessEqual;
    const bool isDown =
        loop.relation == Relation::Greater || loop.relation == Relation::GreaterEqual;
    if (isUp ? step->low < 1 : !isDown || step->high > -1)
      return most;
    const auto span =
        isUp ? difference(*loop.bound, *loop.first) : difference(*loop.first, *loop.bound);
    const auto range = span ? of(*span, depth + 1) : std::nullopt;
    if (!range)
      return most;
    const __int128 trips = range->high / (isUp ? step->low : -step->high) + 1;
    return Range{0, std::max(__int128(0), most ? std::min(trips, most->high) : trips)};
  }

  const KernelModel &model_;
  const LaunchShape *launch_;
};

} // namespace

bool isUpperLimit(const Comparison &comparison, bool when, unsigned symbol) {
  const bool isLeft = comparison.left.symbols().contains(symbol);
  if (!isLeft && !comparison.right.symbols().contains(symbol))
    return false;
  switch (comparison.relation) {
  case Relation::Less:
  case Relation::LessEqual:
    return isLeft == when;
  case Relation::Greater:
  case Relation::GreaterEqual:
    return isLeft != when;
  default:
    return false;
  }
}

bool fits(const std::optional<Range> &values, unsigned bits, bool isSigned) {
  const Range type = rangeOfType(bits, isSigned);
  return values && values->low >= type.low && values->high <= type.high;
}

std::optional<Range> rangeOf(const Polynomial &polynomial, const KernelModel &model,
                             const LaunchShape *launch) {
  return Ranger(model, launch).of(polynomial);
}

std::optional<std::int64_t> valueOf(const Polynomial &polynomial, const KernelModel &model,
                                    const LaunchShape *launch) {
  const auto range = rangeOf(polynomial, model, launch);
  return range && range->low == range->high && range->low == std::int64_t(range->low)
             ? std::optional(std::int64_t(range->low))
             : std::nullopt;
}

bool hold(const std::set<unsigned> &assumptions, const KernelModel &model,
          const LaunchShape &launch) {
  // With those of the loops whose bounds they rest on.
  std::vector<unsigned> all(assumptions.begin(), assumptions.end());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Assumption &assumption = model.assumptions[all[i]];
    if (!fits(rangeOf(assumption.value, model, &launch), assumption.bits, assumption.isSigned))
      return false;
    for (const unsigned symbol : assumption.value.symbols())
      for (const unsigned loop : model.symbols[symbol].loops)
        for (const unsigned each : model.loops[loop].assumptions)
          if (!llvm::is_contained(all, each))
            all.push_back(each);
  }
  return true;
}

unsigned KernelModel::coordinate(SymbolKind kind, unsigned index) const {
  const auto found = llvm::find_if(
      symbols, [&](const Symbol &each) { return each.kind == kind && each.index == index; });
  return unsigned(found - symbols.begin());
}

} // namespace kopt::frontend::model
