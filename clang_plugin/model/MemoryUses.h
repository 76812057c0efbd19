// SPDX-License-Identifier: Apache-2.0
// Which memory each instruction of a device module touches.
#pragma once

#include "clang_plugin/model/DeviceModule.h"
#include "clang_plugin/model/KernelModel.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Instructions.h>

namespace kopt::frontend::model {

struct MemoryUse {
  const llvm::Value *pointer = nullptr;
  AccessKind kind = AccessKind::Load;
  std::uint64_t bytes = 0; ///< 0: not a constant
  bool isReadOnly = false; ///< the source promises that nothing writes there
};

struct InstructionUses {
  llvm::SmallVector<MemoryUse, 2> uses;
  std::string blind; ///< if not empty: it may touch any memory, and why
  std::optional<BarrierKind> barrier;

  /// Whether it does more than read.
  bool haveEffect() const;
};

class MemoryUses {
public:
  explicit MemoryUses(const DeviceModule &device);

  InstructionUses of(const llvm::Instruction &instruction) const;
  /// The object that a pointer points into: a parameter, variable, array, or the instruction that
  /// gives the pointer.
  static const llvm::Value *rootOf(const llvm::Value *pointer);
  /// Parameters passed by value are no memory to a kernel.
  static bool isParameterItself(const llvm::Value *root);
  /// True if nothing writes, while the kernel runs, what this loads.
  bool isStable(const llvm::Instruction &load) const;

private:
  void addCall(const llvm::CallBase &call, InstructionUses &result) const;
  void addIntrinsic(const llvm::IntrinsicInst &call, InstructionUses &result) const;
  void addLibraryCall(const llvm::CallBase &call, CudaFunction kind, InstructionUses &result) const;

  std::uint64_t bytesOf(llvm::Type *type) const { return layout_.getTypeStoreSize(type); }

  const DeviceModule &device_;
  const llvm::DataLayout &layout_;
  llvm::SmallVector<const llvm::Value *, 8> written_; ///< roots
  bool writesAnything_ = false;
};

} // namespace kopt::frontend::model
