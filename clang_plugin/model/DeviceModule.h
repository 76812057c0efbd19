// SPDX-License-Identifier: Apache-2.0
// The LLVM IR of a kernel for the GPU, from the AST of an open slice, in the form that analyses
// need: calls inlined, variables in registers, loops simplified; loads and stores as in the source.
#pragma once

#include "clang_plugin/analysis/CudaFunctions.h"
#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/model/Polynomial.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>

namespace kopt::frontend::model {

struct DeviceModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  llvm::Function *kernel = nullptr;
  /// Functions of CUDA's headers that do more than compute, by symbol. Calls of them stay calls.
  llvm::StringMap<CudaFunction> library;
};

/// The coordinates of a thread by SymbolKind, and the registers that hold them.
inline constexpr llvm::StringRef kCoordinates[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"},
                                 kRegisters[] = {"tid", "ctaid", "ntid", "nctaid"};
/// Which coordinate an instruction reads, along which axis.
std::optional<std::pair<SymbolKind, unsigned>> registerRead(const llvm::Value &value);

/// True of memory that instructions only load from, through this pointer.
bool isOnlyRead(const llvm::Value &pointer);

/// Before the names of files that are relative, in debug locations.
inline constexpr const char *kRelativeTo = "/kopt-virtual/relative";

llvm::Expected<DeviceModule> emitDevice(const KernelView &view);

} // namespace kopt::frontend::model
