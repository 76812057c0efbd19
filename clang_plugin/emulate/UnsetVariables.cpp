// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/emulate/UnsetVariables.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace kopt::frontend::emulate {
namespace {

struct Choice {
  llvm::Constant *first, *second;
};

/// True for stores that Clang has added for a variable without an initialiser.
bool isAutoInit(const llvm::Instruction &instruction) {
  const llvm::MDNode *notes = instruction.getMetadata(llvm::LLVMContext::MD_annotation);
  if (!notes)
    return false;
  for (const llvm::MDOperand &note : notes->operands())
    if (const auto *text = llvm::dyn_cast<llvm::MDString>(note.get());
        text && text->getString() == "auto-init")
      return true;
  return false;
}

/// The other values for a type; null members if it has none (pointers, structs).
Choice choiceOf(llvm::Type *type) {
  llvm::Type *const scalar = type->getScalarType();
  if (scalar->isFloatingPointTy()) {
    const llvm::fltSemantics &semantics = scalar->getFltSemantics();
    return {llvm::ConstantFP::get(type, llvm::APFloat::getLargest(semantics)),
            llvm::ConstantFP::get(type, llvm::APFloat::getLargest(semantics, /*Negative=*/true))};
  }
  if (scalar->isIntegerTy())
    return {
        llvm::ConstantInt::get(type, 0),
        llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(scalar->getIntegerBitWidth()))};
  return {};
}

/// The other values for the bytes of an array. Clang's pattern is all ones for floating-point
/// numbers. 0x7f7f7f7f is 3.4e38, 0xfefefefe -1.7e38.
Choice choiceOfBytes(const llvm::ConstantInt &pattern) {
  llvm::Type *const byte = pattern.getType();
  const bool isFloatingPoint = pattern.isMinusOne();
  return {llvm::ConstantInt::get(byte, isFloatingPoint ? 0x7f : 0),
          llvm::ConstantInt::get(byte, isFloatingPoint ? 0xfe : 0x7f)};
}

} // namespace

void chooseUnset(llvm::Function &function) {
  std::vector<llvm::Instruction *> stores;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (isAutoInit(instruction))
      stores.push_back(&instruction);
  llvm::Value *unset = nullptr;
  for (llvm::Instruction *instruction : stores) {
    auto *const fill = llvm::dyn_cast<llvm::MemSetInst>(instruction);
    auto *const store = llvm::dyn_cast<llvm::StoreInst>(instruction);
    if (!fill && !store)
      continue;
    llvm::Value *const pattern = fill ? fill->getValue() : store->getValueOperand();
    const auto *const byte = fill ? llvm::dyn_cast<llvm::ConstantInt>(pattern) : nullptr;
    const Choice choice = byte   ? choiceOfBytes(*byte)
                          : fill ? Choice()
                                 : choiceOf(pattern->getType());
    if (!choice.first)
      continue;
    if (!unset) {
      llvm::IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
      auto *const variable = llvm::cast<llvm::GlobalVariable>(
          function.getParent()->getOrInsertGlobal("kopt_emulated_unset", entry.getInt32Ty()));
      variable->setConstant(true); // constant while a kernel runs
      unset = entry.CreateLoad(entry.getInt32Ty(), variable);
    }
    llvm::IRBuilder<> builder(instruction);
    llvm::Value *const value =
        builder.CreateSelect(builder.CreateICmpEQ(unset, builder.getInt32(1)), choice.first,
                             builder.CreateSelect(builder.CreateICmpEQ(unset, builder.getInt32(2)),
                                                  choice.second, pattern));
    if (fill)
      fill->setValue(value);
    else
      store->setOperand(0, value);
  }
}

} // namespace kopt::frontend::emulate
