// SPDX-License-Identifier: Apache-2.0
// The interface of a mutation operator: it reads one kernel and finds the places where one kind of
// mistake can be made in it, each as text edits of the slice. A workload that cannot tell the
// mutated kernel from the original one proves nothing about a candidate.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <clang/Basic/SourceLocation.h>
#include <string_view>

namespace clang {
class Expr;
}

namespace kopt::frontend {

class KernelFacts;

/// Collects what one operator finds. A place that comes from a macro, so that the text cannot be
/// edited, is counted and left out.
class MutantSink {
public:
  MutantSink(const KernelFacts &facts, std::string op, MutantKind kind, std::string file)
      : facts_(facts), op_(std::move(op)), kind_(kind), file_(std::move(file)) {}

  /// Adds the mistake `what` at `where`. `edits` is nothing if the text cannot be edited; `note`
  /// says when the mutant may equal the original.
  void add(clang::SourceLocation where, const std::string &what,
           std::optional<std::vector<SliceEdit>> edits, std::string note = "");

  std::vector<Mutation> mutations;
  std::size_t inMacros = 0;

private:
  const KernelFacts &facts_;
  std::string op_;
  MutantKind kind_;
  std::string file_;
};

struct MutationOperator {
  std::string_view id;
  void (*find)(const KernelFacts &facts, MutantSink &sink);
  MutantKind kind = MutantKind::Value;
};

using MutationOperators = std::vector<MutationOperator>;

// One function per file of operators; each adds its operators to the catalogue.
void addWorkOperators(MutationOperators &catalogue);            ///< empty-body, skipped-block, …
void addScalarOperators(MutationOperators &catalogue);          ///< scalar-literal, literal, …
void addStoreOperators(MutationOperators &catalogue);           ///< constant-store, …
void addLoadOperators(MutationOperators &catalogue);            ///< load-index, other-input, …
void addBoundOperators(MutationOperators &catalogue);           ///< comparison, loop-bound, …
void addArithmeticOperators(MutationOperators &catalogue);      ///< arithmetic, dropped-term, …
void addSynchronizationOperators(MutationOperators &catalogue); ///< removed-barrier, plain-atomic

} // namespace kopt::frontend
