// SPDX-License-Identifier: Apache-2.0
// Integer expressions as sums of products, so that two spellings of one index are equal and the
// factor of threadIdx.x in it can be read off.
#pragma once

#include "clang_plugin/analysis/KernelFacts.h"

#include <map>

namespace kopt::frontend {

/// A sum of products of atoms: "threadIdx.x" and the like, variables that never change, and parts
/// that are not understood. The integers are taken as unlimited ones.
struct IndexForm {
  /// Sorted names of atoms, and the factor in front of them.
  std::map<std::vector<std::string>, long long> terms;
  /// Its atoms that are not understood, by name.
  std::map<std::string, const clang::Expr *> opaque;

  /// The sum of the terms with this atom, without it; nothing if one of them has it twice.
  std::optional<IndexForm> factorOf(const std::string &atom) const;
  bool has(const std::string &atom) const;
  bool operator==(const IndexForm &other) const { return terms == other.terms; }
};

/// "threadIdx.x"
std::string nameOf(const Coordinate &coordinate);

/// The sum, where all that is in it is known of a launch.
std::optional<long long> valueOf(const IndexForm &form, const LaunchShape &launch);

/// The forms of the expressions of one body, with locals replaced by their values where those are
/// given once and never change.
class IndexForms {
public:
  IndexForms(const KernelView &view, const BodyView &body);

  /// Each expression has a form: what is not understood is an atom.
  IndexForm of(const clang::Expr *expression) const;
  /// What a local is given once and for all; null for others.
  const clang::Expr *definition(const clang::VarDecl *variable) const;
  bool isChanged(const clang::VarDecl *variable) const { return changed_.contains(variable); }
  /// True if it has one value while the kernel runs: it reads no memory and nothing that changes.
  bool isFixed(const clang::Expr *expression) const;

  /// True if a part of the expression, or of a definition in it, is one that is looked for.
  bool mentions(const clang::Stmt *expression,
                llvm::function_ref<bool(const clang::Expr *)> isWanted) const;

private:
  IndexForm of(const clang::Expr *expression, unsigned depth) const;

  const KernelView &view_;
  /// Variables that more happens to than being read.
  llvm::DenseSet<const clang::VarDecl *> changed_;
};

} // namespace kopt::frontend
