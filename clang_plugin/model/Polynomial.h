// SPDX-License-Identifier: Apache-2.0
// Polynomials with integer coefficients over the symbols of a kernel: what subscripts, strides and
// bounds are written in.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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
  std::string name;  ///< "threadIdx.x", "n", "size.x"; of Unknown, what is computed: "idx[i]"
  unsigned line = 0; ///< of Unknown
  unsigned bits = 64;
  bool isSigned = true;
  /// Whether it may differ between threads of a block that differ in this coordinate alone.
  std::array<bool, 3> varies = {false, false, false};
  /// It rests on memory that others may write while the kernel runs. Then it varies as well.
  bool isOfMemory = false;
  std::vector<unsigned> loops = {}; ///< it may change with each iteration of these
  std::optional<Range> range = {};  ///< of Unknown, where it is narrower than its type's
};

struct Term {
  std::int64_t factor = 0;
  std::vector<unsigned> symbols = {}; ///< numbers in KernelModel::symbols, sorted; repeated: powers
  bool operator==(const Term &) const = default;
};

/// A sum of terms, sorted by their symbols, none of them 0.
struct Polynomial {
  std::vector<Term> terms = {};

  static Polynomial of(std::int64_t number);
  static Polynomial ofSymbol(unsigned symbol);

  bool operator==(const Polynomial &) const = default;
  bool isZero() const { return terms.empty(); }
  /// Its value if it has no symbols.
  std::optional<std::int64_t> constant() const;
  bool has(unsigned symbol) const;
  /// What it grows by if the symbol grows by 1; nothing if that depends on the symbol itself.
  std::optional<Polynomial> growth(unsigned symbol) const;
  /// Divided by a number; nothing if a factor is no multiple of it.
  std::optional<Polynomial> dividedBy(std::int64_t number) const;
  std::string text(const std::vector<Symbol> &symbols) const;
};

// Nothing where a factor does not fit into 64 bits, or there are too many terms to be of use.
std::optional<Polynomial> sum(const Polynomial &left, const Polynomial &right);
std::optional<Polynomial> difference(const Polynomial &left, const Polynomial &right);
std::optional<Polynomial> product(const Polynomial &left, const Polynomial &right);

} // namespace kopt::frontend::model
