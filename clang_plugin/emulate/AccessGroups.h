// SPDX-License-Identifier: Apache-2.0
// The memory accesses of one basic block as a GPU would issue them: neighbouring loads of an
// aligned struct (float4) are one access, as in nvcc's output.
#pragma once

#include "runtime/emulated/module/ModuleFormat.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Instructions.h>

#include <vector>

namespace kopt::frontend::emulate {

struct AccessGroup {
  llvm::Instruction *first = nullptr; ///< the report is inserted before it
  llvm::Value *address = nullptr;
  unsigned bytes = 0;
  unsigned flags = 0;
  std::uint64_t alignment = 1; ///< alignment that the code relies on
  runtime::emulated::SiteKind kind = runtime::emulated::SiteKind::Load;
  /// The variable on the thread's own stack (or constant table) that is accessed at an index, and
  /// its size; null for device memory. Accesses that are provably in bounds are not reported.
  llvm::Value *local = nullptr;
  std::uint64_t localBytes = 0;
};

/// The accesses in program order. `ignored`: loads that the instrumentation itself inserted.
std::vector<AccessGroup> groupAccesses(llvm::BasicBlock &block,
                                       const llvm::DenseSet<llvm::Value *> &ignored);

} // namespace kopt::frontend::emulate
