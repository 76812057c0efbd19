// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/emulate/GpuArithmetic.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Metadata.h>

namespace kopt::frontend::emulate {
namespace {

/// The mark of inserted instructions. Passes keep annotations when they rewrite or move
/// instructions.
constexpr llvm::StringLiteral kPart = "kopt.part";

llvm::Value *part(llvm::Value *value) {
  if (auto *instruction = llvm::dyn_cast<llvm::Instruction>(value))
    instruction->addAnnotationMetadata(kPart);
  return value;
}

/// Defines shifts by the width or more: the result is 0, or copies of the sign bit.
void defineShift(llvm::BinaryOperator &shift) {
  auto *type = llvm::dyn_cast<llvm::IntegerType>(shift.getType());
  llvm::Value *count = shift.getOperand(1);
  const auto *constant = llvm::dyn_cast<llvm::ConstantInt>(count);
  if (!type || (constant && constant->getValue().ult(type->getBitWidth())))
    return;
  llvm::IRBuilder<> builder(&shift);
  if (shift.getOpcode() == llvm::Instruction::AShr) {
    llvm::Value *most = llvm::ConstantInt::get(type, type->getBitWidth() - 1);
    shift.setOperand(1, part(builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, count, most)));
    return;
  }
  llvm::Value *fits =
      part(builder.CreateICmpULT(count, llvm::ConstantInt::get(type, type->getBitWidth())));
  builder.SetInsertPoint(shift.getNextNode());
  llvm::Value *result = builder.CreateSelect(fits, &shift, llvm::ConstantInt::get(type, 0));
  part(result);
  shift.replaceUsesWithIf(result, [result](llvm::Use &use) { return use.getUser() != result; });
}

/// Defines conversions like PTX's cvt.rzi: values are clamped to the range of a type of 32 or 64
/// bits (nvcc converts to smaller types through 32 bits). NaN becomes 0 from float to 32 bits, and
/// otherwise the value with only the highest bit set.
void defineConversion(llvm::CastInst &conversion) {
  auto *type = llvm::dyn_cast<llvm::IntegerType>(conversion.getType());
  if (!type || type->getBitWidth() > 64)
    return;
  llvm::Value *from = conversion.getOperand(0);
  llvm::IRBuilder<> builder(&conversion);
  llvm::Type *const wide = builder.getIntNTy(type->getBitWidth() <= 32 ? 32 : 64);
  const bool isSigned = conversion.getOpcode() == llvm::Instruction::FPToSI;
  llvm::Value *result =
      builder.CreateIntrinsic(isSigned ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
                              {wide, from->getType()}, {from});
  if (from->getType()->isDoubleTy() || wide->getIntegerBitWidth() == 64) {
    llvm::Value *highest =
        llvm::ConstantInt::get(wide, llvm::APInt::getSignMask(wide->getIntegerBitWidth()));
    result = part(builder.CreateSelect(part(builder.CreateFCmpUNO(from, from)), highest, result));
  }
  conversion.replaceAllUsesWith(builder.CreateTrunc(result, type));
  conversion.eraseFromParent();
}

} // namespace

void defineArithmetic(llvm::Function &function) {
  llvm::SmallVector<llvm::BinaryOperator *> shifts;
  llvm::SmallVector<llvm::CastInst *> conversions;
  for (llvm::Instruction &instruction : llvm::instructions(function)) {
    if (instruction.isShift())
      shifts.push_back(llvm::cast<llvm::BinaryOperator>(&instruction));
    else if (llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction))
      conversions.push_back(llvm::cast<llvm::CastInst>(&instruction));
  }
  for (llvm::BinaryOperator *shift : shifts)
    defineShift(*shift);
  for (llvm::CastInst *conversion : conversions)
    defineConversion(*conversion);
}

bool hasAnnotation(const llvm::Instruction &instruction, const char *text) {
  const llvm::MDNode *annotations = instruction.getMetadata(llvm::LLVMContext::MD_annotation);
  if (!annotations)
    return false;
  for (const llvm::MDOperand &annotation : annotations->operands())
    if (const auto *known = llvm::dyn_cast<llvm::MDString>(annotation.get());
        known && known->getString() == text)
      return true;
  return false;
}

bool isPartOfGpuInstruction(const llvm::Instruction &instruction) {
  const auto *minimum = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return (llvm::isa<llvm::CmpInst, llvm::SelectInst>(instruction) ||
          (minimum && minimum->getIntrinsicID() == llvm::Intrinsic::umin)) &&
         hasAnnotation(instruction, kPart.data());
}

} // namespace kopt::frontend::emulate
