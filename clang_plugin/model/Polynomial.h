// SPDX-License-Identifier: Apache-2.0
// Polynomials with integer coefficients over the symbols of a kernel: what subscripts, strides and
// bounds are written in.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt::frontend::model {

enum class SymbolKind {
  ThreadIdx, ///< `index` is the axis, as for the next three
  BlockIdx,
  BlockDim,
  GridDim,
  Scalar,    ///< a parameter, or a member of one that is passed by value
  Iteration, ///< how often the body of loop `index` ran before, in this run of the loop
  Unknown,   ///< any other value of the kernel
};

/// Inclusive.
struct Range {
  __int128 low = 0, high = 0;
};

struct Symbol {
  SymbolKind kind = SymbolKind::Unknown;
  unsigned index = 0;
  std::string name; ///< "threadIdx.x", "n", "size.x"; of Unknown, what is computed: "idx[i]"
  unsigned bits = 64;
  bool isSigned = true;
  /// Whether it may differ between threads of a block that differ in this coordinate alone.
  std::array<bool, 3> varies = {false, false, false};
  /// It rests on memory that others may write while the kernel runs. Then it varies as well.
  bool isOfMemory = false;
  /// Whether it may differ between blocks along an axis, or if there are more of them.
  std::array<bool, 3> isOfGrid = {false, false, false};
  std::vector<unsigned> loops = {}; ///< it may change with each iteration of these
  std::optional<Range> range = {};  ///< of Unknown, where it is narrower than its type's
};

/// A sum of products.
struct Polynomial {
  /// The factors, none of them 0, of the products: numbers in KernelModel::symbols, sorted;
  /// repeated for powers.
  std::map<std::vector<unsigned>, std::int64_t> terms = {};

  static Polynomial of(std::int64_t number);
  static Polynomial ofSymbol(unsigned symbol) { return {{{{symbol}, 1}}}; }

  auto operator<=>(const Polynomial &) const = default;
  bool operator==(const Polynomial &) const = default;
  bool isZero() const { return terms.empty(); }
  /// Its value if it has no symbols.
  std::optional<std::int64_t> constant() const;
  std::set<unsigned> symbols() const;
  /// What it grows by if the symbol grows by 1; nothing if that depends on the symbol itself.
  std::optional<Polynomial> growth(unsigned symbol) const;
  std::string text(const std::vector<Symbol> &symbols) const;
};

// Nothing where a factor does not fit into 64 bits, or there are too many terms to be of use.
std::optional<Polynomial> sum(const Polynomial &left, const Polynomial &right);
std::optional<Polynomial> difference(const Polynomial &left, const Polynomial &right);
std::optional<Polynomial> product(const Polynomial &left, const Polynomial &right);

} // namespace kopt::frontend::model
