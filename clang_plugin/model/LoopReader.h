// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clang_plugin/model/IndexAlgebra.h"
#include "clang_plugin/model/SourceMap.h"

namespace kopt::frontend::model {

/// The comparison that a conditional branch decides by, as read from IR.
struct Comparison {
  Polynomial left, right;
  Relation relation = Relation::Less;
  std::vector<unsigned> assumptions;
};
std::optional<Comparison> comparisonOf(const llvm::Value &condition, IndexAlgebra &algebra);

Relation opposite(Relation relation); ///< what holds where this one does not
Relation mirrored(Relation relation); ///< with the sides exchanged

/// Fills in model.loops; sizes and places are there already. Outer loops first.
class LoopReader {
public:
  LoopReader(const IrFacts &facts, IndexAlgebra &algebra, KernelModel &model)
      : facts_(facts), algebra_(algebra), model_(model) {}

  void read(unsigned number);

private:
  bool testsFirst(const llvm::Loop &loop) const;
  void readCounter(const llvm::Loop &loop, LoopFacts &facts);
  void readContents(const llvm::Loop &loop, LoopFacts &facts);
  void readReductions(const llvm::Loop &loop, LoopFacts &facts);

  const IrFacts &facts_;
  IndexAlgebra &algebra_;
  KernelModel &model_;
};

} // namespace kopt::frontend::model
