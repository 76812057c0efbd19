// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clang_plugin/emulate/ModulePlan.h"
#include "runtime/emulated/module/ModuleFormat.h"

#include <utility>
#include <vector>

namespace llvm {
class BasicBlock;
class DILocation;
} // namespace llvm

namespace kopt::frontend::emulate {

/// The instructions of a block, and its instructions that come from each location: equal locations
/// follow each other only by chance. A null location is not known.
struct BlockCount {
  runtime::emulated::BlockInfo info{};
  std::vector<std::pair<const llvm::DILocation *, std::uint32_t>> locations;
};

/// The instructions that a GPU would issue for one execution of the block. For arithmetic, LLVM's
/// optimised instructions are close to SASS; operations that SASS expands (divisions, square roots,
/// transcendental functions) count with the length of the expansion.
BlockCount countInstructions(const llvm::BasicBlock &block, const ModulePlan &plan);

} // namespace kopt::frontend::emulate
