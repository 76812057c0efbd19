// SPDX-License-Identifier: Apache-2.0
// The pass after the optimiser. It inserts calls of the runtime and removes none. Arithmetic is
// unchanged, except divisions by zero, which do not trap on a GPU.
#include "clang_plugin/emulate/Instrument.h"

#include "clang_plugin/emulate/AccessGroups.h"
#include "clang_plugin/emulate/CountInstructions.h"
#include "clang_plugin/emulate/ModuleRules.h"
#include "clang_plugin/emulate/ModuleTables.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace kopt::frontend::emulate {
namespace {

using runtime::emulated::SiteKind;

/// True for calls after which other threads may have run; the following code is a separate block
/// for the runtime.
bool isParking(const llvm::CallBase &call) {
  const llvm::Function *callee = call.getCalledFunction();
  if (!callee || callee->isIntrinsic())
    return false;
  llvm::StringRef name = callee->getName();
  return !callee->isDeclaration() || name == "kopt_emulated_barrier" ||
         name == "kopt_emulated_warp_barrier" || name == "kopt_emulated_shuffle" ||
         name == "kopt_emulated_vote" || name == "kopt_emulated_reduce";
}

class Instrumenter {
public:
  Instrumenter(llvm::Module &module, ModulePlan &plan)
      : module_(module), plan_(plan), tables_(module, plan),
        void_(llvm::Type::getVoidTy(module.getContext())),
        pointer_(llvm::PointerType::getUnqual(module.getContext())),
        int32_(llvm::Type::getInt32Ty(module.getContext())),
        int64_(llvm::Type::getInt64Ty(module.getContext())) {}

  void run() {
    relocateVariables();
    for (llvm::Function &function : module_)
      if (!function.isDeclaration() && function.getName() != kTrampoline)
        instrument(function);
    dropNonTemporal();
    llvm::Function *kernel = module_.getFunction(plan_.kernel);
    llvm::Function *trampoline = module_.getFunction(kTrampoline);
    if (!kernel || !trampoline) {
      plan_.errors.push_back("the optimiser removed the kernel " + plan_.kernel);
      return;
    }
    tables_.emit(*kernel, *trampoline, staticSharedBytes_, dynamicSharedOffset_);
  }

private:
  /// Removes non-temporal marks, which marked the parts of atomic updates. For x86 they are
  /// requests that LLVM 19 cannot always fulfil: it narrows `*p ^= 4` to a byte, and has no
  /// non-temporal store of a byte.
  void dropNonTemporal() {
    for (llvm::Function &function : module_)
      for (llvm::Instruction &instruction : llvm::instructions(function))
        instruction.setMetadata(llvm::LLVMContext::MD_nontemporal, nullptr);
  }

  llvm::FunctionCallee hook(llvm::StringRef name, llvm::ArrayRef<llvm::Type *> parameters) {
    return module_.getOrInsertFunction(name, llvm::FunctionType::get(void_, parameters, false));
  }
  llvm::Value *number(unsigned value) { return llvm::ConstantInt::get(int32_, value); }
  llvm::Value *wide(std::uint64_t value) { return llvm::ConstantInt::get(int64_, value); }
  llvm::GlobalVariable *imported(llvm::StringRef name, llvm::Type *type) {
    return llvm::cast<llvm::GlobalVariable>(module_.getOrInsertGlobal(name, type));
  }

  // Variables

  /// Replaces shared variables by offsets from the block's shared memory, and device variables by
  /// what their slot points to, so that the runtime can check all memory of the emulated device.
  void relocateVariables() {
    std::vector<llvm::GlobalVariable *> shared, dynamic, device;
    for (llvm::GlobalVariable &variable : module_.globals()) {
      if (variable.hasAttribute("kopt-shared") && !variable.isDeclaration())
        shared.push_back(&variable);
      else if (variable.hasAttribute("kopt-shared") || variable.hasAttribute("kopt-dynamic-shared"))
        dynamic.push_back(&variable);
      else if (variable.hasAttribute("kopt-global"))
        device.push_back(&variable);
    }
    std::vector<llvm::Constant *> all(shared.begin(), shared.end());
    all.insert(all.end(), dynamic.begin(), dynamic.end());
    all.insert(all.end(), device.begin(), device.end());
    llvm::convertUsersOfConstantsToInstructions(all);

    const llvm::DataLayout &layout = module_.getDataLayout();
    for (llvm::GlobalVariable *variable : shared) {
      staticSharedBytes_ = llvm::alignTo(staticSharedBytes_, layout.getPreferredAlign(variable));
      replace(*variable, imported("kopt_emulated_shared", pointer_), staticSharedBytes_);
      staticSharedBytes_ += layout.getTypeAllocSize(variable->getValueType());
    }
    dynamicSharedOffset_ = staticSharedBytes_;
    for (llvm::GlobalVariable *variable : dynamic)
      dynamicSharedOffset_ = llvm::alignTo(
          dynamicSharedOffset_, std::max(llvm::Align(16), variable->getAlign().valueOrOne()));
    for (llvm::GlobalVariable *variable : dynamic)
      replace(*variable, imported("kopt_emulated_shared", pointer_), dynamicSharedOffset_);
    for (llvm::GlobalVariable *variable : device) {
      if (pointsToRelocated(variable->getInitializer()))
        plan_.errors.push_back(
            variable->getName().str() +
            ": a device variable initialised with the address of another is not emulated");
      else
        replace(*variable, tables_.addGlobal(*variable), 0);
    }
  }

  static bool pointsToRelocated(const llvm::Constant *initial) {
    for (const llvm::Use &operand : initial->operands()) {
      const auto *constant = llvm::dyn_cast<llvm::Constant>(operand.get());
      if (constant && (llvm::isa<llvm::GlobalVariable>(constant) || pointsToRelocated(constant)))
        return true;
    }
    return false;
  }

  void replace(llvm::GlobalVariable &variable, llvm::GlobalVariable *base, std::uint64_t offset) {
    llvm::DenseMap<llvm::Function *, llvm::Value *> addresses;
    while (!variable.use_empty()) {
      llvm::Use &use = *variable.use_begin();
      auto *user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      if (!user) {
        plan_.errors.push_back(variable.getName().str() +
                               ": its address is used in a constant, which is not emulated");
        return;
      }
      llvm::Value *&address = addresses[user->getFunction()];
      if (!address) {
        llvm::BasicBlock &entry = user->getFunction()->getEntryBlock();
        llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
        address = builder.CreateLoad(pointer_, base);
        runtimeLoads_.insert(address);
        if (offset)
          address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), address, offset);
      }
      use.set(address);
    }
    variable.eraseFromParent();
  }

  // Functions

  void instrument(llvm::Function &function) {
    splitAtParkingCalls(function);
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    keys_.clear();
    llvm::Value *base = callKey(function);
    for (llvm::Loop *loop : loops)
      nameIterations(*loop, base);
    for (llvm::BasicBlock &block : function) {
      const unsigned number = tables_.addBlock(countInstructions(block, plan_));
      llvm::Loop *loop = loops.getLoopFor(&block);
      instrumentBlock(block, number, loop ? keys_.lookup(loop) : base);
    }
    guardDivisions(function);
  }

  void splitAtParkingCalls(llvm::Function &function) {
    std::vector<llvm::Instruction *> calls;
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (isParking(*call) && !call->getNextNode()->isTerminator())
          calls.push_back(call);
    for (llvm::Instruction *call : calls)
      llvm::SplitBlock(call->getParent(), call->getNextNode());
  }

  /// The key of the current call. The caller sets it for a function that was not inlined.
  llvm::Value *callKey(llvm::Function &function) {
    if (function.getName() == plan_.kernel)
      return wide(0);
    llvm::BasicBlock &entry = function.getEntryBlock();
    llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    auto *key = builder.CreateLoad(int64_, imported("kopt_emulated_call_key", int64_));
    runtimeLoads_.insert(key);
    return key;
  }

  /// Gives each iteration of the loop nest its own number, which is the same in every thread:
  /// threads of a warp that execute the same block in the same iterations execute it together.
  void nameIterations(llvm::Loop &loop, llvm::Value *outer) {
    llvm::BasicBlock *header = loop.getHeader();
    llvm::IRBuilder<> builder(header, header->begin());
    llvm::PHINode *iteration = builder.CreatePHI(int64_, llvm::pred_size(header), "kopt.iteration");
    builder.SetInsertPoint(header, header->getFirstInsertionPt());
    llvm::Value *next = builder.CreateAdd(iteration, wide(1));
    llvm::Value *key =
        builder.CreateAdd(builder.CreateMul(outer, wide(0x9E3779B97F4A7C15ull)), next, "kopt.key");
    for (llvm::BasicBlock *from : llvm::predecessors(header))
      iteration->addIncoming(loop.contains(from) ? next : wide(0), from);
    keys_[&loop] = key;
    for (llvm::Loop *inner : loop)
      nameIterations(*inner, key);
  }

  void instrumentBlock(llvm::BasicBlock &block, unsigned number, llvm::Value *key) {
    std::vector<llvm::Instruction *> original;
    for (llvm::Instruction &instruction : block)
      original.push_back(&instruction);
    std::vector<AccessGroup> groups = groupAccesses(block, runtimeLoads_);

    llvm::Instruction *first = &*block.getFirstInsertionPt();
    // The key of a loop is computed at the beginning of its header.
    if (auto *defined = llvm::dyn_cast<llvm::Instruction>(key);
        defined && defined->getParent() == &block)
      first = defined->getNextNode();
    llvm::IRBuilder<> builder(first);
    if (block.isEntryBlock())
      builder.SetInsertPoint(afterAllocas(block, key));
    builder.SetCurrentDebugLocation({});
    builder.CreateCall(hook("kopt_emulated_block", {int32_, int64_}), {this->number(number), key});

    for (const AccessGroup &group : groups)
      report(group, number);
    for (llvm::Instruction *instruction : original)
      if (auto *call = llvm::dyn_cast<llvm::CallInst>(instruction))
        announce(*call, number, key);
    if (llvm::isa<llvm::UnreachableInst>(block.getTerminator())) {
      builder.SetInsertPoint(block.getTerminator());
      builder.CreateCall(module_.getOrInsertFunction("kopt_emulated_trap", void_), {});
    }
  }

  static llvm::Instruction *afterAllocas(llvm::BasicBlock &entry, llvm::Value *key) {
    llvm::Instruction *at = &*entry.getFirstNonPHIOrDbgOrAlloca();
    if (auto *defined = llvm::dyn_cast<llvm::Instruction>(key);
        defined && defined->getParent() == &entry)
      at = defined->getNextNode();
    return at;
  }

  /// Inserts a call of the runtime before the first access of the group.
  void report(const AccessGroup &group, unsigned block) {
    llvm::IRBuilder<> builder(group.first);
    builder.SetCurrentDebugLocation({});
    llvm::Value *address = group.address;
    if (group.local) {
      unsigned site =
          tables_.addSite(*group.first, SiteKind::Local, group.bytes, group.flags, block);
      builder.CreateCall(
          hook("kopt_emulated_local", {pointer_, pointer_, int64_, int64_, int32_}),
          {address, group.local, wide(group.localBytes), wide(group.bytes), number(site)});
      return;
    }
    unsigned site = tables_.addSite(*group.first, group.kind, group.bytes, group.flags, block);
    if (group.kind == SiteKind::Atomic) {
      builder.CreateCall(hook("kopt_emulated_atomic_access", {pointer_, int32_, int32_}),
                         {address, number(group.bytes), number(site)});
      return;
    }
    std::string name = group.kind == SiteKind::Load ? "kopt_emulated_load" : "kopt_emulated_store";
    // The alignment of an access is not checked if the code allows it to be misaligned (a packed
    // struct).
    if (group.bytes <= 16 && llvm::isPowerOf2_32(group.bytes) && group.alignment >= group.bytes)
      builder.CreateCall(hook(name + std::to_string(group.bytes), {pointer_, int32_}),
                         {address, number(site)});
    else
      builder.CreateCall(hook(name + "N", {pointer_, int32_, int64_}),
                         {address, number(site), wide(group.bytes)});
  }

  /// Sets the line of calls of the runtime in the user's code, and reports copies and fills.
  void announce(llvm::CallInst &call, unsigned block, llvm::Value *key) {
    llvm::IRBuilder<> builder(&call);
    builder.SetCurrentDebugLocation({});
    if (auto *copy = llvm::dyn_cast<llvm::MemTransferInst>(&call))
      return reportCopy(builder, call, copy->getRawDest(), copy->getRawSource(), copy->getLength(),
                        block, copy->getDestAlign().valueOrOne().value(),
                        copy->getSourceAlign().valueOrOne().value());
    if (auto *fill = llvm::dyn_cast<llvm::MemSetInst>(&call))
      return reportFill(builder, call, fill->getRawDest(), fill->getLength(), block,
                        fill->getDestAlign().valueOrOne().value());
    llvm::Function *callee = call.getCalledFunction();
    if (!callee)
      return;
    llvm::StringRef name = callee->getName();
    if (callee->isIntrinsic()) {
      if (call.getIntrinsicID() == llvm::Intrinsic::trap ||
          call.getIntrinsicID() == llvm::Intrinsic::debugtrap ||
          call.getIntrinsicID() == llvm::Intrinsic::ubsantrap) {
        setSite(builder, call, SiteKind::Trap, block);
        builder.CreateCall(module_.getOrInsertFunction("kopt_emulated_trap", void_), {});
      }
      return;
    }
    if (name == "memcpy" || name == "memmove")
      return reportCopy(builder, call, call.getArgOperand(0), call.getArgOperand(1),
                        call.getArgOperand(2), block, 1, 1);
    if (name == "memset")
      return reportFill(builder, call, call.getArgOperand(0), call.getArgOperand(2), block, 1);
    if (name == "kopt_emulated_atomic") {
      unsigned bytes =
          unsigned(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue());
      unsigned site = tables_.addSite(call, SiteKind::Atomic, bytes, 0, block);
      builder.CreateCall(hook("kopt_emulated_atomic_access", {pointer_, int32_, int32_}),
                         {call.getArgOperand(0), number(bytes), number(site)});
      call.eraseFromParent();
      return;
    }
    if (!callee->isDeclaration()) {
      llvm::Value *path = builder.CreateAdd(builder.CreateMul(key, wide(0x9E3779B97F4A7C15ull)),
                                            wide(0x100000000ull + ++calls_));
      builder.CreateStore(path, imported("kopt_emulated_call_key", int64_));
      return;
    }
    if (name == "kopt_emulated_barrier")
      setSite(builder, call, SiteKind::Barrier, block);
    else if (name == "kopt_emulated_async_copy")
      setSite(builder, call, SiteKind::Copy, block);
    else if (name == "kopt_emulated_fence")
      setSite(builder, call, SiteKind::Fence, block);
    else if (name == "kopt_emulated_trap" || name == "kopt_emulated_assert")
      setSite(builder, call, SiteKind::Trap, block);
    else if (name.starts_with("kopt_emulated_"))
      setSite(builder, call, SiteKind::WarpOperation, block);
  }

  void setSite(llvm::IRBuilder<> &builder, llvm::Instruction &at, SiteKind kind, unsigned block) {
    unsigned site = tables_.addSite(at, kind, 0, 0, block);
    builder.CreateStore(number(site), imported("kopt_emulated_site", int32_));
  }
  void reportCopy(llvm::IRBuilder<> &builder, llvm::Instruction &at, llvm::Value *to,
                  llvm::Value *from, llvm::Value *bytes, unsigned block, std::uint64_t toAlignment,
                  std::uint64_t fromAlignment) {
    unsigned site = tables_.addSite(at, SiteKind::Copy, 0, 0, block);
    builder.CreateCall(
        hook("kopt_emulated_copy", {pointer_, pointer_, int64_, int32_, int32_, int32_}),
        {to, from, builder.CreateZExtOrTrunc(bytes, int64_), number(site),
         number(unsigned(toAlignment)), number(unsigned(fromAlignment))});
  }
  void reportFill(llvm::IRBuilder<> &builder, llvm::Instruction &at, llvm::Value *to,
                  llvm::Value *bytes, unsigned block, std::uint64_t alignment) {
    unsigned site = tables_.addSite(at, SiteKind::Fill, 0, 0, block);
    builder.CreateCall(
        hook("kopt_emulated_fill", {pointer_, int64_, int32_, int32_}),
        {to, builder.CreateZExtOrTrunc(bytes, int64_), number(site), number(unsigned(alignment))});
  }

  /// x86 traps on division by zero and on the overflow of MIN / -1; a GPU returns all ones and MIN.
  void guardDivisions(llvm::Function &function) {
    std::vector<llvm::BinaryOperator *> divisions;
    for (llvm::Instruction &instruction : llvm::instructions(function))
      if (auto *operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
        if (operation->isIntDivRem() && operation->getType()->isIntegerTy() &&
            !llvm::isa<llvm::ConstantInt>(operation->getOperand(1)))
          divisions.push_back(operation);
    for (llvm::BinaryOperator *division : divisions) {
      llvm::IRBuilder<> builder(division);
      auto *type = llvm::cast<llvm::IntegerType>(division->getType());
      llvm::Value *divisor = builder.CreateFreeze(division->getOperand(1));
      llvm::Value *zero = builder.CreateICmpEQ(divisor, llvm::ConstantInt::get(type, 0));
      llvm::Value *safe = builder.CreateSelect(zero, llvm::ConstantInt::get(type, 1), divisor);
      const bool isSigned = division->getOpcode() == llvm::Instruction::SDiv ||
                            division->getOpcode() == llvm::Instruction::SRem;
      const bool isRemainder = division->getOpcode() == llvm::Instruction::SRem ||
                               division->getOpcode() == llvm::Instruction::URem;
      if (isSigned) {
        // MIN / -1 is MIN and MIN % -1 is 0, the same as dividing by one.
        llvm::Value *minimum =
            llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getBitWidth()));
        llvm::Value *overflow =
            builder.CreateAnd(builder.CreateICmpEQ(divisor, llvm::ConstantInt::getSigned(type, -1)),
                              builder.CreateICmpEQ(division->getOperand(0), minimum));
        safe = builder.CreateSelect(overflow, llvm::ConstantInt::get(type, 1), safe);
      }
      division->setOperand(1, safe);
      builder.SetInsertPoint(division->getNextNode());
      llvm::Value *byZero =
          isRemainder ? division->getOperand(0) : llvm::ConstantInt::getAllOnesValue(type);
      auto *result = llvm::cast<llvm::Instruction>(builder.CreateSelect(zero, byZero, division));
      division->replaceUsesWithIf(result,
                                  [result](llvm::Use &use) { return use.getUser() != result; });
    }
  }

  llvm::Module &module_;
  ModulePlan &plan_;
  ModuleTables tables_;
  llvm::Type *void_, *pointer_, *int32_, *int64_;
  unsigned staticSharedBytes_ = 0, dynamicSharedOffset_ = 0, calls_ = 0;
  llvm::DenseMap<llvm::Loop *, llvm::Value *> keys_;
  llvm::DenseSet<llvm::Value *> runtimeLoads_; ///< inserted here, not by the user's code
};

} // namespace

void instrumentModule(llvm::Module &module, ModulePlan &plan) {
  checkInstructions(module, plan);
  if (!plan.errors.empty())
    return;
  Instrumenter(module, plan).run();
}

} // namespace kopt::frontend::emulate
