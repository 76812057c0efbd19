// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/Polynomial.h"

#include <algorithm>
#include <map>

namespace kopt::frontend::model {
namespace {

/// Beyond this, no stride can be read off it.
constexpr std::size_t kMostTerms = 48, kHighestDegree = 6;

using Factors = std::map<std::vector<unsigned>, std::int64_t>;

std::optional<Polynomial> collected(const Factors &factors) {
  Polynomial result;
  for (const auto &[symbols, factor] : factors)
    if (factor != 0)
      result.terms.push_back({factor, symbols});
  if (result.terms.size() > kMostTerms)
    return std::nullopt;
  return result;
}

std::optional<Polynomial> addMultiple(const Polynomial &left, const Polynomial &right,
                                      std::int64_t times) {
  Factors factors;
  for (const Term &term : left.terms)
    factors[term.symbols] = term.factor;
  for (const Term &term : right.terms) {
    std::int64_t scaled = 0, &factor = factors[term.symbols];
    if (__builtin_mul_overflow(term.factor, times, &scaled) ||
        __builtin_add_overflow(factor, scaled, &factor))
      return std::nullopt;
  }
  return collected(factors);
}

} // namespace

Polynomial Polynomial::of(std::int64_t number) {
  return number ? Polynomial{{{number, {}}}} : Polynomial{};
}

Polynomial Polynomial::ofSymbol(unsigned symbol) { return {{{1, {symbol}}}}; }

std::optional<std::int64_t> Polynomial::constant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.front().symbols.empty())
    return terms.front().factor;
  return std::nullopt;
}

bool Polynomial::has(unsigned symbol) const {
  return std::any_of(terms.begin(), terms.end(), [symbol](const Term &term) {
    return std::binary_search(term.symbols.begin(), term.symbols.end(), symbol);
  });
}

std::optional<Polynomial> Polynomial::growth(unsigned symbol) const {
  Polynomial result;
  for (Term term : terms) {
    const auto [from, to] = std::equal_range(term.symbols.begin(), term.symbols.end(), symbol);
    if (to - from > 1)
      return std::nullopt;
    if (from == to)
      continue;
    term.symbols.erase(from);
    result.terms.push_back(term);
  }
  std::sort(result.terms.begin(), result.terms.end(),
            [](const Term &a, const Term &b) { return a.symbols < b.symbols; });
  return result;
}

std::optional<Polynomial> Polynomial::dividedBy(std::int64_t number) const {
  Polynomial result = *this;
  for (Term &term : result.terms) {
    if (number == 0 || term.factor % number != 0)
      return std::nullopt;
    term.factor /= number;
  }
  return result;
}

std::string Polynomial::text(const std::vector<Symbol> &symbols) const {
  // By name, whatever the numbers of the symbols are. Constants come last, as people write them.
  std::map<std::pair<bool, std::string>, std::int64_t> products;
  for (const Term &term : terms) {
    std::vector<std::string> names;
    for (unsigned symbol : term.symbols)
      names.push_back(symbols[symbol].name);
    std::sort(names.begin(), names.end());
    std::string product;
    for (const std::string &name : names)
      product += (product.empty() ? "" : " * ") + name;
    products[{names.empty(), product}] += term.factor;
  }
  std::string result;
  for (const auto &[key, factor] : products) {
    const std::string digits =
        std::to_string(factor < 0 ? 0 - std::uint64_t(factor) : std::uint64_t(factor));
    const std::string &name = key.second;
    if (result.empty())
      result = factor < 0 ? "-" : "";
    else
      result += factor < 0 ? " - " : " + ";
    result += name.empty() ? digits : digits == "1" ? name : digits + " * " + name;
  }
  return result.empty() ? "0" : result;
}

std::optional<Polynomial> sum(const Polynomial &left, const Polynomial &right) {
  return addMultiple(left, right, 1);
}

std::optional<Polynomial> difference(const Polynomial &left, const Polynomial &right) {
  return addMultiple(left, right, -1);
}

std::optional<Polynomial> product(const Polynomial &left, const Polynomial &right) {
  Factors factors;
  for (const Term &one : left.terms)
    for (const Term &other : right.terms) {
      std::vector<unsigned> symbols;
      std::merge(one.symbols.begin(), one.symbols.end(), other.symbols.begin(), other.symbols.end(),
                 std::back_inserter(symbols));
      std::int64_t scaled = 0, &factor = factors[symbols];
      if (symbols.size() > kHighestDegree ||
          __builtin_mul_overflow(one.factor, other.factor, &scaled) ||
          __builtin_add_overflow(factor, scaled, &factor))
        return std::nullopt;
    }
  return collected(factors);
}

} // namespace kopt::frontend::model
