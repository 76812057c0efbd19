// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/MemoryUses.h"

#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace kopt::frontend::model {

using namespace llvm;

namespace {

constexpr unsigned kGlobal = 1, kShared = 3, kConstant = 4;

std::uint64_t lengthOf(const MemIntrinsic &copy) {
  const auto *length = dyn_cast<ConstantInt>(copy.getLength());
  return length ? length->getZExtValue() : 0;
}

/// Local, shared and global memory do not overlap; a parameter points to global memory.
unsigned spaceOf(const Value *root) {
  if (const auto *variable = dyn_cast<GlobalVariable>(root))
    return variable->getAddressSpace() == kShared ? kShared : kGlobal;
  return isa<Argument>(root) ? kGlobal : isa<AllocaInst>(root) ? 5 : 0;
}

bool mayOverlap(const Value *left, const Value *right) {
  if (left == right)
    return true;
  const unsigned leftSpace = spaceOf(left), rightSpace = spaceOf(right);
  if (leftSpace && rightSpace &&
      (leftSpace != rightSpace || (leftSpace != kGlobal && rightSpace != kGlobal)))
    return false;
  if (isa<GlobalVariable>(left) && isa<GlobalVariable>(right))
    return false;
  const auto isRestrict = [](const Value *root) {
    const auto *parameter = dyn_cast<Argument>(root);
    return parameter && parameter->hasNoAliasAttr();
  };
  // What a pointer that was loaded points to may be what a restricted parameter points to only if
  // it was made from that.
  return !((isRestrict(left) || isRestrict(right)) && leftSpace && rightSpace);
}

} // namespace

bool InstructionUses::haveEffect() const {
  return !blind.empty() || barrier ||
         any_of(uses, [](const MemoryUse &use) { return use.kind != AccessKind::Load; });
}

MemoryUses::MemoryUses(const DeviceModule &device)
    : device_(device), layout_(device.module->getDataLayout()) {
  for (const Instruction &instruction : instructions(*device.kernel)) {
    const InstructionUses found = of(instruction);
    writesAnything_ |= !found.blind.empty();
    for (const MemoryUse &use : found.uses)
      if (use.kind != AccessKind::Load)
        written_.push_back(rootOf(use.pointer));
  }
}

const Value *MemoryUses::rootOf(const Value *pointer) {
  return getUnderlyingObject(pointer, /*MaxLookup=*/0);
}

bool MemoryUses::isParameterItself(const Value *root) {
  const auto *parameter = dyn_cast<Argument>(root);
  return parameter && parameter->hasByValAttr();
}

bool MemoryUses::isStable(const Instruction &load) const {
  const InstructionUses found = of(load);
  if (found.uses.size() != 1 || !found.blind.empty() || load.isVolatile())
    return false;
  if (found.uses.front().isReadOnly)
    return true;
  const Value *root = rootOf(found.uses.front().pointer);
  const auto *variable = dyn_cast<GlobalVariable>(root);
  if (variable && (variable->isConstant() || variable->getAddressSpace() == kConstant))
    return true;
  if (isParameterItself(root))
    return isOnlyRead(*root);
  // Each thread has its own array, so what one reads there another cannot.
  return !writesAnything_ && !isa<AllocaInst>(root) &&
         none_of(written_, [root](const Value *each) { return mayOverlap(root, each); });
}

InstructionUses MemoryUses::of(const Instruction &instruction) const {
  InstructionUses result;
  if (const auto *call = dyn_cast<CallBase>(&instruction))
    addCall(*call, result);
  else if (const auto place = MemoryLocation::getOrNone(&instruction))
    result.uses.push_back({place->Ptr,
                           isa<LoadInst>(instruction)    ? AccessKind::Load
                           : isa<StoreInst>(instruction) ? AccessKind::Store
                                                         : AccessKind::Atomic,
                           place->Size.getValue(),
                           instruction.hasMetadata(LLVMContext::MD_invariant_load)});
  return result;
}

void MemoryUses::addCall(const CallBase &call, InstructionUses &result) const {
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
    return addIntrinsic(*intrinsic, result);
  if (call.isInlineAsm()) {
    const auto *text = cast<InlineAsm>(call.getCalledOperand());
    if (text->hasSideEffects() || call.mayReadOrWriteMemory())
      result.blind = "inline assembly";
    return;
  }
  const Function *callee = call.getCalledFunction();
  if (!callee) {
    result.blind = "a call through a pointer";
    return;
  }
  const auto known = device_.library.find(callee->getName());
  if (known != device_.library.end())
    return addLibraryCall(call, known->second, result);
  if (callee->getName() == "vprintf" || callee->getName().starts_with("__assert"))
    return;
  if (callee->getName().starts_with("__nv_") && callee->isDeclaration()) {
    for (const Value *argument : call.args())
      if (argument->getType()->isPointerTy()) // sincos() and its like write there
        result.uses.push_back({argument, AccessKind::Store, 0});
    return;
  }
  if (!call.doesNotAccessMemory())
    result.blind = "a call of " + demangle(callee->getName());
}

void MemoryUses::addIntrinsic(const IntrinsicInst &call, InstructionUses &result) const {
  if (const auto *transfer = dyn_cast<MemTransferInst>(&call))
    result.uses.push_back({transfer->getRawSource(), AccessKind::Load, lengthOf(*transfer)});
  if (const auto *copy = dyn_cast<MemIntrinsic>(&call)) {
    result.uses.push_back({copy->getRawDest(), AccessKind::Store, lengthOf(*copy)});
    return;
  }
  StringRef name = call.getCalledFunction()->getName();
  const bool isOfGpu = name.consume_front("llvm.nvvm.");
  const auto isOneOf = [&](std::initializer_list<StringRef> starts) {
    return isOfGpu && any_of(starts, [&](StringRef each) { return name.starts_with(each); });
  };
  if (isOneOf({"bar"}))
    result.barrier = name.starts_with("barrier0")        ? BarrierKind::Block
                     : name.starts_with("bar.warp.sync") ? BarrierKind::Warp
                                                         : BarrierKind::Other;
  else if (!isOneOf({"membar", "fence", "shfl", "vote", "match", "redux", "read.ptx.sreg",
                     "activemask"}) &&
           !call.isAssumeLikeIntrinsic() && !call.doesNotAccessMemory() &&
           !call.onlyAccessesInaccessibleMemory() &&
           !is_contained({Intrinsic::trap, Intrinsic::debugtrap}, call.getIntrinsicID()))
    result.blind = "a call of " + call.getCalledFunction()->getName().str();
}

void MemoryUses::addLibraryCall(const CallBase &call, CudaFunction kind,
                                InstructionUses &result) const {
  const std::string name = demangle(call.getCalledFunction()->getName());
  const StringRef base = StringRef(name).take_until([](char c) { return c == '(' || c == '<'; });
  // A result in memory comes first.
  const unsigned first = call.hasStructRetAttr() ? 1 : 0;
  const Value *pointer = call.arg_size() > first ? call.getArgOperand(first) : nullptr;
  if (pointer && !pointer->getType()->isPointerTy())
    pointer = nullptr;
  switch (kind) {
  case CudaFunction::Atomic:
  case CudaFunction::CacheStore:
    if (!pointer || base.contains("::") || call.arg_size() < first + 2)
      break;
    result.uses.push_back(
        {pointer, kind == CudaFunction::Atomic ? AccessKind::Atomic : AccessKind::Store,
         call.getParamByValType(first + 1) ? bytesOf(call.getParamByValType(first + 1))
                                           : bytesOf(call.getArgOperand(first + 1)->getType())});
    return;
  case CudaFunction::CacheLoad:
    if (!pointer)
      break;
    result.uses.push_back({pointer, AccessKind::Load,
                           bytesOf(first ? call.getParamStructRetType(0) : call.getType()),
                           base == "__ldg"});
    if (first)
      result.uses.push_back({call.getArgOperand(0), AccessKind::Store, 0});
    return;
  case CudaFunction::Barrier:
    result.barrier = base.starts_with("__syncthreads") ? BarrierKind::Block
                     : base == "__syncwarp"            ? BarrierKind::Warp
                                                       : BarrierKind::Other;
    if (*result.barrier == BarrierKind::Other)
      break;
    return;
  case CudaFunction::Lanes:
  case CudaFunction::Fence:
  case CudaFunction::Clock:
  case CudaFunction::Sleep:
  case CudaFunction::Print:
  case CudaFunction::Assert:
  case CudaFunction::Prefetch:
    return;
  default:
    break;
  }
  result.blind = "a call of " + name;
}

} // namespace kopt::frontend::model
