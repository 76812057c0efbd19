// SPDX-License-Identifier: Apache-2.0
// The constant tables of an emulated module (runtime/emulated/module/ModuleFormat.h) as LLVM
// constants.
#pragma once

#include "clang_plugin/emulate/CountInstructions.h"
#include "runtime/emulated/module/ModuleFormat.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace kopt::frontend::emulate {

class ModuleTables {
public:
  ModuleTables(llvm::Module &module, const ModulePlan &plan) : module_(module), plan_(plan) {}

  /// Registers a site at the line of `at`. Returns its number.
  unsigned addSite(const llvm::Instruction &at, runtime::emulated::SiteKind kind, unsigned bytes,
                   unsigned flags, unsigned block);
  unsigned addBlock(const BlockCount &count);
  /// Registers a device variable and returns the pointer-sized global in which the runtime stores
  /// its address.
  llvm::GlobalVariable *addGlobal(llvm::GlobalVariable &variable);
  /// Writes kopt_emulated_module.
  void emit(llvm::Function &kernel, llvm::Function &trampoline, unsigned staticSharedBytes,
            unsigned dynamicSharedOffset);

private:
  llvm::Constant *text(llvm::StringRef text);
  llvm::Constant *array(llvm::ArrayRef<llvm::Constant *> elements);
  llvm::Constant *number(std::uint32_t value);
  llvm::Constant *wide(std::uint64_t value);

  llvm::Module &module_;
  const ModulePlan &plan_;
  std::vector<llvm::Constant *> sites_, blocks_, lines_, globals_;
  llvm::StringMap<llvm::Constant *> texts_;
};

} // namespace kopt::frontend::emulate
