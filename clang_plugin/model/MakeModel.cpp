// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/LoopReader.h"

#include <clang/Frontend/ASTUnit.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/IteratedDominanceFrontier.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IntrinsicInst.h>

namespace kopt::frontend::model {

using namespace llvm;

namespace {

/// The analyses of one kernel, in the order in which they rest on each other.
struct Analyses {
  explicit Analyses(Function &kernel)
      : dominators(kernel), postDominators(kernel), loops(dominators), assumptions(kernel),
        libraryNames(Triple("nvptx64")), library(libraryNames),
        evolution(kernel, library, assumptions, dominators, loops) {}

  DominatorTree dominators;
  PostDominatorTree postDominators;
  LoopInfo loops;
  AssumptionCache assumptions;
  TargetLibraryInfoImpl libraryNames;
  TargetLibraryInfo library;
  ScalarEvolution evolution;
};

class ModelMaker {
public:
  ModelMaker(const KernelView &view, const DeviceModule &device)
      : device_(device), sources_(view), analyses_(*device.kernel), memory_(device),
        variance_(*device.kernel, memory_),
        facts_{device,        sources_, memory_, variance_, analyses_.loops, analyses_.evolution,
               loopsInOrder()},
        algebra_(view, facts_, model_) {}

  KernelModel make() {
    readLoops();
    for (const BasicBlock &block : *device_.kernel)
      readCondition(block);
    for (const BasicBlock &block : *device_.kernel)
      for (const Instruction &instruction : block)
        readInstruction(instruction);
    joinParts();
    const auto byPlace = [](const auto &a, const auto &b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    };
    llvm::stable_sort(model_.accesses, byPlace);
    llvm::stable_sort(model_.barriers, byPlace);
    llvm::stable_sort(model_.blind, byPlace);
    return std::move(model_);
  }

private:
  std::vector<const Loop *> loopsInOrder() const {
    const auto all = analyses_.loops.getLoopsInPreorder();
    std::vector<const Loop *> loops(all.begin(), all.end());
    const auto order = [this](const Loop *loop) {
      const Place place = sources_.at(loop->getStartLoc(), Role::Loop).place;
      return std::tuple(loop->getLoopDepth(), place.line, place.column);
    };
    llvm::stable_sort(loops, [&](const Loop *a, const Loop *b) { return order(a) < order(b); });
    return loops;
  }

  void readLoops() {
    for (const Loop *loop : facts_.loops)
      model_.loops.emplace_back().place = sources_.at(loop->getStartLoc(), Role::Loop).place;
    LoopReader reader(facts_, algebra_, model_);
    for (unsigned i = 0; i < facts_.loops.size(); ++i)
      reader.read(i);
    reader.readGrid();
  }

  std::vector<unsigned> loopsAround(const BasicBlock &block) const {
    std::vector<unsigned> loops;
    for (const Loop *loop = analyses_.loops.getLoopFor(&block); loop; loop = loop->getParentLoop())
      loops.insert(loops.begin(), algebra_.numberOf(loop));
    return loops;
  }

  /// Whether the kernel ends from there on without doing anything more.
  bool isEnd(const BasicBlock *block) const {
    for (unsigned hops = 0; hops < 16; ++hops) {
      if (any_of(*block, [this](const Instruction &each) { return memory_.of(each).haveEffect(); }))
        return false;
      if (isa<ReturnInst>(block->getTerminator()))
        return true;
      block = block->getSingleSuccessor();
      if (!block)
        return false;
    }
    return false;
  }

  void readCondition(const BasicBlock &block) {
    const Instruction *end = block.getTerminator();
    const Loop *loop = analyses_.loops.getLoopFor(&block);
    const bool decidesLoop =
        loop && loop->getHeader() == &block && model_.loops[algebra_.numberOf(loop)].bound;
    if (end->getNumSuccessors() < 2 || decidesLoop)
      return;
    Condition condition;
    const auto *branch = dyn_cast<BranchInst>(end);
    const auto *compare = branch ? dyn_cast<CmpInst>(branch->getCondition()) : nullptr;
    const SourceMap::Found found =
        sources_.at(compare ? compare->getDebugLoc() : end->getDebugLoc(), Role::Comparison);
    condition.place = found.place;
    condition.text = found.text;
    condition.isUniform = !variance_.isSplit(block);
    if (branch) {
      const bool ends[] = {isEnd(branch->getSuccessor(0)), isEnd(branch->getSuccessor(1))};
      condition.endsKernel = ends[0] != ends[1];
      condition.endsWhen = ends[0];
      condition.compared = comparisonOf(*branch->getCondition(), algebra_);
      if (const auto &read = condition.compared)
        condition.isGuard = isGuard(read->left, read->right) || isGuard(read->right, read->left);
    }
    conditions_[&block] = unsigned(model_.conditions.size());
    model_.conditions.push_back(std::move(condition));
  }

  bool isGuard(const Polynomial &index, const Polynomial &bound) const {
    std::set<SymbolKind> kinds;
    for (unsigned each : index.symbols())
      kinds.insert(model_.symbols[each].kind);
    return kinds.contains(SymbolKind::ThreadIdx) && kinds.contains(SymbolKind::BlockIdx) &&
           all_of(bound.symbols(), [this](unsigned each) {
             return model_.symbols[each].kind == SymbolKind::Scalar;
           });
  }

  /// The branches that must have gone a certain way for the block to be reached.
  std::vector<Reached> reachedBy(const BasicBlock &block) const {
    std::vector<Reached> reached;
    for (const DomTreeNode *node = analyses_.dominators.getNode(&block); node;
         node = node->getIDom()) {
      const auto found = conditions_.find(node->getBlock());
      const auto *branch = dyn_cast<BranchInst>(node->getBlock()->getTerminator());
      for (unsigned edge = 0; found != conditions_.end() && branch && edge < 2; ++edge)
        if (analyses_.dominators.dominates(
                BasicBlockEdge(node->getBlock(), branch->getSuccessor(edge)), &block))
          reached.insert(reached.begin(), {found->second, edge == 0});
    }
    return reached;
  }

  void readInstruction(const Instruction &instruction) {
    const InstructionUses found = memory_.of(instruction);
    if (found.uses.empty() && found.blind.empty() && !found.barrier)
      return;
    const BasicBlock &block = *instruction.getParent();
    const SourceMap::Found source = sources_.of(instruction);
    if (!found.blind.empty())
      model_.blind.push_back({source.place, found.blind});
    if (found.barrier)
      model_.barriers.push_back(
          {source.place, *found.barrier, isReachedAlike(block), loopsAround(block)});
    for (const MemoryUse &use : found.uses)
      readUse(instruction, use);
  }

  /// Whether the branches that decide if the block is reached go the same way in all threads.
  bool isReachedAlike(const BasicBlock &block) {
    SmallPtrSet<BasicBlock *, 1> reached = {const_cast<BasicBlock *>(&block)};
    ReverseIDFCalculator deciding(analyses_.postDominators);
    deciding.setDefiningBlocks(reached);
    SmallVector<BasicBlock *> branches;
    deciding.calculate(branches);
    return none_of(branches, [this](BasicBlock *branch) { return variance_.isSplit(*branch); });
  }

  void readUse(const Instruction &instruction, const MemoryUse &use) {
    const Value *root = MemoryUses::rootOf(use.pointer);
    const auto *local = dyn_cast<AllocaInst>(root);
    if (MemoryUses::isParameterItself(root) || isa<UndefValue>(root) ||
        (local && !local->getAllocatedType()->isAggregateType())) // will be in a register
      return;
    const BasicBlock &block = *instruction.getParent();
    const Address address = algebra_.address(*use.pointer);
    Access access;
    const bool isCopy = isa<MemTransferInst>(instruction) && use.kind == AccessKind::Store;
    SourceMap::Found source =
        isCopy ? sources_.at(instruction.getDebugLoc(), Role::Store) : sources_.of(instruction);
    access.place = source.place;
    access.text = std::move(source.text);
    access.calls = std::move(source.calls);
    access.kind = use.kind;
    access.bytes = unsigned(use.bytes);
    access.isVolatile = instruction.isVolatile();
    access.loops = loopsAround(block);
    access.loopStrides.resize(access.loops.size());
    access.reached = reachedBy(block);
    access.whyUnknown = address.whyUnknown;
    nameRoot(*address.root, access);
    if (address.offset) {
      access.offset = address.offset->value;
      access.assumptions = address.offset->assumptions;
      readStrides(*address.root, access);
    }
    locations_.push_back(instruction.getDebugLoc().get());
    model_.accesses.push_back(std::move(access));
  }

  void nameRoot(const Value &root, Access &access) const {
    if (const auto *parameter = dyn_cast<Argument>(&root)) {
      access.space = MemorySpace::Global;
      access.root = parameter->getName();
      access.isParameter = true;
    } else if (const auto *variable = dyn_cast<GlobalVariable>(&root)) {
      const unsigned space = variable->getAddressSpace();
      access.space = space == 3   ? MemorySpace::Shared
                     : space == 4 ? MemorySpace::Constant
                                  : MemorySpace::Global;
      // "kernel(float*)::tile": a static variable of a function.
      const std::string name = demangle(variable->getName());
      const auto [outer, inner] = StringRef(name).rsplit("::");
      access.root = inner.empty() ? outer : inner;
    } else if (isa<AllocaInst>(root)) {
      access.space = MemorySpace::Local;
      access.root = root.getName().take_until([](char c) { return c == '.'; });
    } else if (const std::string member = algebra_.memberName(root); !member.empty()) {
      access.space = MemorySpace::Global;
      access.root = member;
      access.isParameter = true;
    } else if (const auto *instruction = dyn_cast<Instruction>(&root)) {
      access.root = sources_.of(*instruction).text;
    }
  }

  void readStrides(const Value &root, Access &access) const {
    const auto *made = dyn_cast<Instruction>(&root);
    const bool isFixed = !made || isa<AllocaInst>(root) || access.isParameter;
    const Polynomial &offset = *access.offset;
    const auto unknowns = [&](auto changes) {
      return any_of(offset.symbols(), [&](unsigned each) {
        const Symbol &symbol = model_.symbols[each];
        return symbol.kind == SymbolKind::Unknown && changes(symbol);
      });
    };
    for (unsigned axis = 0; axis < 3; ++axis)
      if ((isFixed || !variance_.varies(root, axis)) &&
          !unknowns([axis](const Symbol &symbol) { return symbol.varies[axis]; }))
        access.strides[axis] = offset.growth(model_.coordinate(SymbolKind::ThreadIdx, axis));
    for (std::size_t i = 0; i < access.loops.size(); ++i) {
      const unsigned loop = access.loops[i];
      if ((isFixed || !facts_.loops[loop]->contains(made)) &&
          !unknowns([loop](const Symbol &symbol) { return is_contained(symbol.loops, loop); }))
        access.loopStrides[i] = offset.growth(model_.coordinate(SymbolKind::Iteration, loop));
    }
  }

  /// Makes one access of those of the members of a struct that is read or written as a whole.
  void joinParts() {
    std::vector<std::pair<Access, const DILocation *>> joined;
    for (std::size_t i = 0; i < model_.accesses.size(); ++i) {
      Access &access = model_.accesses[i];
      const auto whole = find_if(reverse(joined), [&](const auto &each) {
        const auto &[before, location] = each;
        return location && location == locations_[i] && before.kind == access.kind &&
               before.root == access.root && before.offset && access.offset && before.bytes != 0 &&
               difference(*access.offset, *before.offset) == Polynomial::of(before.bytes);
      });
      if (whole == joined.rend())
        joined.emplace_back(std::move(access), locations_[i]);
      else
        whole->first.bytes += access.bytes;
    }
    model_.accesses.clear();
    for (auto &[access, location] : joined)
      model_.accesses.push_back(std::move(access));
  }

  const DeviceModule &device_;
  SourceMap sources_;
  Analyses analyses_;
  MemoryUses memory_;
  ThreadVariance variance_;
  KernelModel model_;
  IrFacts facts_;
  IndexAlgebra algebra_;
  DenseMap<const BasicBlock *, unsigned> conditions_;
  std::vector<const DILocation *> locations_; ///< of the accesses
};

} // namespace

Expected<KernelModel> makeModel(const KernelView &view) {
  Expected<DeviceModule> device = emitDevice(view);
  if (!device)
    return device.takeError();
  return ModelMaker(view, *device).make();
}

Expected<KernelModel> makeModel(const KernelSource &source) {
  Expected<OpenSlice> slice = openSlice(source);
  if (!slice)
    return slice.takeError();
  return makeModel(slice->view);
}

} // namespace kopt::frontend::model
