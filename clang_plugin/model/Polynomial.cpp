// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/Polynomial.h"

#include <algorithm>
#include <iterator>

namespace kopt::frontend::model {
namespace {

/// Beyond this, no stride can be read off it.
constexpr std::size_t kMostTerms = 48, kHighestDegree = 6;

/// False if the sum has no use any more.
bool addTo(Polynomial &sum, const std::vector<unsigned> &symbols, std::int64_t factor,
           std::int64_t times) {
  std::int64_t scaled = 0, &total = sum.terms[symbols];
  if (__builtin_mul_overflow(factor, times, &scaled) ||
      __builtin_add_overflow(total, scaled, &total))
    return false;
  if (total == 0)
    sum.terms.erase(symbols);
  return sum.terms.size() <= kMostTerms && symbols.size() <= kHighestDegree;
}

std::optional<Polynomial> addMultiple(Polynomial sum, const Polynomial &other, std::int64_t times) {
  for (const auto &[symbols, factor] : other.terms)
    if (!addTo(sum, symbols, factor, times))
      return std::nullopt;
  return sum;
}

} // namespace

Polynomial Polynomial::of(std::int64_t number) {
  return number ? Polynomial{{{{}, number}}} : Polynomial{};
}

std::optional<std::int64_t> Polynomial::constant() const {
  if (terms.empty())
    return 0;
  return terms.size() == 1 && terms.contains({}) ? std::optional(terms.at({})) : std::nullopt;
}

std::set<unsigned> Polynomial::symbols() const {
  std::set<unsigned> result;
  for (const auto &[product, factor] : terms)
    result.insert(product.begin(), product.end());
  return result;
}

std::optional<Polynomial> Polynomial::growth(unsigned symbol) const {
  Polynomial result;
  for (const auto &[product, factor] : terms) {
    std::vector<unsigned> symbols = product;
    const auto [from, to] = std::equal_range(symbols.begin(), symbols.end(), symbol);
    if (to - from > 1)
      return std::nullopt;
    if (from == to)
      continue;
    symbols.erase(from);
    result.terms[symbols] = factor;
  }
  return result;
}

std::string Polynomial::text(const std::vector<Symbol> &symbols) const {
  // By name, whatever the numbers of the symbols are. Constants come last, as people write them.
  std::map<std::pair<bool, std::string>, std::int64_t> products;
  for (const auto &[symbolsOfTerm, factor] : terms) {
    std::vector<std::string> names;
    for (unsigned symbol : symbolsOfTerm)
      names.push_back(symbols[symbol].name);
    std::sort(names.begin(), names.end());
    std::string product;
    for (const std::string &name : names)
      product += (product.empty() ? "" : " * ") + name;
    products[{names.empty(), product}] += factor;
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
  Polynomial result;
  for (const auto &[one, factor] : left.terms)
    for (const auto &[other, times] : right.terms) {
      std::vector<unsigned> symbols;
      std::merge(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(symbols));
      if (!addTo(result, symbols, factor, times))
        return std::nullopt;
    }
  return result;
}

} // namespace kopt::frontend::model
