// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/ThreadVariance.h"

#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace kopt::frontend::model {
namespace {

using namespace llvm;

class Sources : public TargetTransformInfoImplCRTPBase<Sources> {
public:
  Sources(const DataLayout &layout, const MemoryUses &memory, unsigned axes)
      : TargetTransformInfoImplCRTPBase(layout), memory_(memory), axes_(axes) {}

  bool hasBranchDivergence(const Function * = nullptr) const { return true; }

  bool isSourceOfDivergence(const Value *value) const {
    const auto *instruction = dyn_cast<Instruction>(value);
    if (!instruction)
      return false;
    if (isa<AllocaInst>(instruction))
      return true;
    if (isa<LoadInst>(instruction))
      return !memory_.isStable(*instruction);
    const auto *call = dyn_cast<CallBase>(instruction);
    if (!call)
      return instruction->isAtomic() || isa<FreezeInst>(instruction);
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(call))
      return isSource(*intrinsic);
    if (call->isInlineAsm() || call->isConvergent())
      return true;
    return !call->doesNotAccessMemory() && !memory_.isStable(*call);
  }

private:
  bool isSource(const IntrinsicInst &call) const {
    if (const auto read = registerRead(call))
      return read->first == SymbolKind::ThreadIdx && axes_ & (1u << read->second);
    if (call.getCalledFunction()->getName().starts_with("llvm.nvvm.read.ptx.sreg."))
      return call.getIntrinsicID() != Intrinsic::nvvm_read_ptx_sreg_warpsize;
    if (call.isConvergent())
      return true;
    return !call.doesNotAccessMemory() && !call.isAssumeLikeIntrinsic() && !memory_.isStable(call);
  }

  const MemoryUses &memory_;
  unsigned axes_;
};

} // namespace

ThreadVariance::ThreadVariance(Function &kernel, const MemoryUses &memory) {
  constexpr unsigned kAxes[] = {1, 2, 4, 7};
  for (std::size_t i = 0; i < analyses_.size(); ++i) {
    FunctionAnalysisManager &manager = managers_[i];
    manager.registerPass([] { return PassInstrumentationAnalysis(); });
    manager.registerPass([] { return DominatorTreeAnalysis(); });
    manager.registerPass([] { return CycleAnalysis(); });
    manager.registerPass([] { return UniformityInfoAnalysis(); });
    manager.registerPass([&memory, axes = kAxes[i]] {
      return TargetIRAnalysis([&memory, axes](const Function &function) {
        return TargetTransformInfo(Sources(function.getParent()->getDataLayout(), memory, axes));
      });
    });
    analyses_[i] = &manager.getResult<UniformityInfoAnalysis>(kernel);
  }
}

bool ThreadVariance::varies(const Value &value, unsigned axis) const {
  return analyses_[axis]->isDivergent(&value);
}

bool ThreadVariance::isSplit(const BasicBlock &block) const {
  return analyses_[3]->hasDivergentTerminator(block);
}

} // namespace kopt::frontend::model
