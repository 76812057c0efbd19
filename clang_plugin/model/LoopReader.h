// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clang_plugin/model/IndexAlgebra.h"

namespace kopt::frontend::model {

/// What a conditional branch decides by.
std::optional<Comparison> comparisonOf(const llvm::Value &condition, IndexAlgebra &algebra);

/// Fills in model.loops; their places are there already.
class LoopReader {
public:
  LoopReader(const IrFacts &facts, IndexAlgebra &algebra, KernelModel &model)
      : facts_(facts), algebra_(algebra), model_(model) {}

  /// Outer loops first.
  void read(unsigned number);
  /// Then, which loops stride over the grid.
  void readGrid();

private:
  void findGridLoops(unsigned axis);
  void followGrid(const llvm::Instruction &read, unsigned axis, const std::string &name);
  bool isGridLoop(const llvm::PHINode &phi, unsigned axis) const;
  bool testsFirst(const llvm::Loop &loop) const;
  void readCounter(const llvm::Loop &loop, LoopFacts &facts);
  void readContents(const llvm::Loop &loop, LoopFacts &facts);
  void readReductions(const llvm::Loop &loop, LoopFacts &facts);

  const IrFacts &facts_;
  IndexAlgebra &algebra_;
  KernelModel &model_;
  llvm::DenseSet<const llvm::PHINode *> counters_;
};

} // namespace kopt::frontend::model
