// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/emulate/CountInstructions.h"

#include "clang_plugin/emulate/GpuArithmetic.h"
#include "clang_plugin/emulate/ModuleRules.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace kopt::frontend::emulate {
namespace {

using runtime::emulated::BlockInfo;
using runtime::emulated::InstructionClass;

class Counter {
public:
  explicit Counter(BlockInfo &info) : info_(info) {}

  void count(const llvm::Instruction &instruction) {
    if (llvm::isa<llvm::PHINode>(instruction) || instruction.isDebugOrPseudoInst() ||
        isPartOfGpuInstruction(instruction))
      return;
    if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      return countCall(*call);
    if (const auto *branch = llvm::dyn_cast<llvm::BranchInst>(&instruction)) {
      if (branch->isConditional())
        add(InstructionClass::Branch);
      return;
    }
    if (llvm::isa<llvm::SwitchInst>(instruction) || llvm::isa<llvm::ReturnInst>(instruction))
      return add(InstructionClass::Branch);
    if (const auto *address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
      // Constant offsets are part of the access; an index costs one multiply-add.
      if (!address->hasAllConstantIndices())
        add(InstructionClass::Integer);
      return;
    }
    if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction))
      return countAccess(instruction);
    if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction))
      return add(InstructionClass::Memory);
    if (llvm::isa<llvm::CastInst>(instruction))
      return countCast(instruction);
    countArithmetic(instruction);
  }

private:
  void add(InstructionClass kind, unsigned instructions = 1, unsigned operations = 1) {
    info_.instructions[static_cast<unsigned>(InstructionClass::All)] += instructions;
    info_.instructions[static_cast<unsigned>(kind)] += operations;
  }

  static unsigned lanes(const llvm::Type *type) {
    const auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return vector ? vector->getNumElements() : 1;
  }

  void countAccess(const llvm::Instruction &instruction) {
    const llvm::Value *object =
        llvm::getUnderlyingObject(llvm::getLoadStorePointerOperand(&instruction));
    // Scalars on the stack would be registers on a GPU, and the parts of an atomic are counted with
    // its announcement.
    if (llvm::isa<llvm::AllocaInst>(object) ||
        instruction.getMetadata(llvm::LLVMContext::MD_nontemporal))
      return;
    const auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(object);
    if (variable && variable->getName().starts_with("kopt_emulated_"))
      return add(InstructionClass::Integer);
    add(InstructionClass::Memory);
  }

  void countCast(const llvm::Instruction &instruction) {
    switch (instruction.getOpcode()) {
    case llvm::Instruction::FPTrunc:
    case llvm::Instruction::FPExt:
    case llvm::Instruction::FPToSI:
    case llvm::Instruction::FPToUI:
    case llvm::Instruction::SIToFP:
    case llvm::Instruction::UIToFP:
      return add(InstructionClass::Conversion, 1, lanes(instruction.getType()));
    case llvm::Instruction::SExt:
      return add(InstructionClass::Integer);
    default:
      return; // reinterprets a register
    }
  }

  /// True for a product whose only use is a sum that may be contracted with it. The fused
  /// instruction is counted at the sum.
  static bool isContracted(const llvm::Instruction &product) {
    if (!product.hasOneUse() || !product.hasAllowContract())
      return false;
    const auto *sum = llvm::dyn_cast<llvm::Instruction>(*product.user_begin());
    return sum && sum->hasAllowContract() && sum->getParent() == product.getParent() &&
           (sum->getOpcode() == llvm::Instruction::FAdd ||
            sum->getOpcode() == llvm::Instruction::FSub);
  }
  static bool isFusedSum(const llvm::Instruction &sum) {
    for (const llvm::Use &operand : sum.operands()) {
      const auto *product = llvm::dyn_cast<llvm::Instruction>(operand.get());
      if (product && product->getOpcode() == llvm::Instruction::FMul && isContracted(*product))
        return true;
    }
    return false;
  }

  /// Adds to the add, multiply or fused class of a floating-point type; these are consecutive in
  /// InstructionClass.
  void addFloat(const llvm::Type *type, unsigned kind) {
    const llvm::Type *scalar = type->getScalarType();
    InstructionClass first = scalar->isDoubleTy() ? InstructionClass::DoubleAdd
                             : scalar->isHalfTy() || scalar->isBFloatTy()
                                 ? InstructionClass::HalfAdd
                                 : InstructionClass::FloatAdd;
    add(static_cast<InstructionClass>(static_cast<unsigned>(first) + kind), 1, lanes(type));
  }

  void countArithmetic(const llvm::Instruction &instruction) {
    const llvm::Type *type = instruction.getType();
    const bool wide = type->getScalarSizeInBits() > 32;
    switch (instruction.getOpcode()) {
    case llvm::Instruction::FAdd:
    case llvm::Instruction::FSub:
      return addFloat(type, isFusedSum(instruction) ? 2 : 0);
    case llvm::Instruction::FMul:
      if (!isContracted(instruction))
        addFloat(type, 1);
      return;
    case llvm::Instruction::FDiv:
      return add(InstructionClass::Special, type->getScalarType()->isDoubleTy() ? 20 : 8);
    case llvm::Instruction::FRem:
      return add(InstructionClass::Special, 30);
    case llvm::Instruction::FNeg: // a modifier of the operand
    case llvm::Instruction::Freeze:
    case llvm::Instruction::Unreachable:
    case llvm::Instruction::Alloca:
    case llvm::Instruction::ExtractValue:
    case llvm::Instruction::InsertValue:
      return;
    case llvm::Instruction::SDiv:
    case llvm::Instruction::UDiv:
    case llvm::Instruction::SRem:
    case llvm::Instruction::URem:
      if (llvm::isa<llvm::Constant>(instruction.getOperand(1)))
        return add(InstructionClass::Integer, 4, 4);
      return add(InstructionClass::Integer, wide ? 70 : 20, wide ? 70 : 20);
    case llvm::Instruction::Mul:
      return add(InstructionClass::Integer, wide ? 4 : 1, wide ? 4 : 1);
    default:
      return add(InstructionClass::Integer, wide ? 2 : 1, wide ? 2 : 1);
    }
  }

  void countCall(const llvm::CallBase &call) {
    const llvm::Function *callee = call.getCalledFunction();
    if (!callee)
      return add(InstructionClass::Branch);
    if (const auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call))
      return countIntrinsic(*intrinsic);
    llvm::StringRef name = callee->getName();
    if (name == "kopt_emulated_barrier" || name == "kopt_emulated_warp_barrier")
      return add(InstructionClass::Barrier);
    if (name == "kopt_emulated_atomic" || name == "kopt_emulated_async_copy")
      return add(InstructionClass::Memory);
    if (name.starts_with("kopt_emulated_"))
      return add(InstructionClass::Integer);
    if (isMathFunction(name)) {
      const bool isDouble = call.getType()->isDoubleTy();
      unsigned length = name.starts_with("pow")                              ? 40
                        : name.starts_with("sin") || name.starts_with("cos") ? 20
                                                                             : 10;
      return add(InstructionClass::Special, isDouble ? length * 3 : length);
    }
    add(InstructionClass::Branch);
  }

  void countIntrinsic(const llvm::IntrinsicInst &call) {
    switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd:
      return addFloat(call.getType(), 2);
    case llvm::Intrinsic::memcpy:
    case llvm::Intrinsic::memmove:
    case llvm::Intrinsic::memcpy_inline: {
      const auto *length = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(2));
      unsigned parts = length ? unsigned((length->getZExtValue() + 15) / 16) : 1;
      return add(InstructionClass::Memory, 2 * parts, 2 * parts);
    }
    case llvm::Intrinsic::memset:
    case llvm::Intrinsic::memset_inline:
      return add(InstructionClass::Memory);
    case llvm::Intrinsic::sqrt:
      return add(InstructionClass::Special, call.getType()->isDoubleTy() ? 20 : 8);
    case llvm::Intrinsic::sin:
    case llvm::Intrinsic::cos:
      return add(InstructionClass::Special, call.getType()->isDoubleTy() ? 60 : 20);
    case llvm::Intrinsic::pow:
      return add(InstructionClass::Special, call.getType()->isDoubleTy() ? 120 : 40);
    case llvm::Intrinsic::exp:
    case llvm::Intrinsic::exp2:
    case llvm::Intrinsic::exp10:
    case llvm::Intrinsic::log:
    case llvm::Intrinsic::log2:
    case llvm::Intrinsic::log10:
      return add(InstructionClass::Special, call.getType()->isDoubleTy() ? 30 : 10);
    case llvm::Intrinsic::fptosi_sat:
    case llvm::Intrinsic::fptoui_sat:
      return add(InstructionClass::Conversion);
    case llvm::Intrinsic::fabs: // a modifier of the operand
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
      return;
    default:
      return add(call.getType()->isFPOrFPVectorTy() ? InstructionClass::FloatAdd
                                                    : InstructionClass::Integer);
    }
  }

  BlockInfo &info_;
};

} // namespace

BlockCount countInstructions(const llvm::BasicBlock &block, const ModulePlan &plan) {
  BlockCount count;
  BlockInfo &info = count.info;
  Counter counter(info);
  constexpr auto kAll = static_cast<std::uint32_t>(InstructionClass::All);
  for (const llvm::Instruction &instruction : block) {
    const std::uint32_t before = info.instructions[kAll];
    counter.count(instruction);
    if (const std::uint32_t added = info.instructions[kAll] - before)
      count.locations.emplace_back(userLocation(instruction, plan), added);
  }
  const auto *branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  info.endsInConditionalBranch =
      (branch && branch->isConditional()) || llvm::isa<llvm::SwitchInst>(block.getTerminator());
  return count;
}

} // namespace kopt::frontend::emulate
