// SPDX-License-Identifier: Apache-2.0
// Which values of a kernel may differ between threads of a block, and which branches those take
// differently: LLVM's uniformity analysis, with the sources of difference that blocks have. LLVM's
// own are those of a warp.
#pragma once

#include "clang_plugin/model/MemoryUses.h"

#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/PassManager.h>

namespace kopt::frontend::model {

class ThreadVariance {
public:
  ThreadVariance(llvm::Function &kernel, const MemoryUses &memory);

  /// Whether it may differ between threads whose coordinates differ along this axis alone.
  bool varies(const llvm::Value &value, unsigned axis) const;
  /// Whether threads of a block may go different ways at the end of the basic block.
  bool isSplit(const llvm::BasicBlock &block) const;

private:
  // Of x, y, z, and all three.
  std::array<llvm::FunctionAnalysisManager, 4> managers_;
  std::array<llvm::UniformityInfo *, 4> analyses_ = {};
};

} // namespace kopt::frontend::model
