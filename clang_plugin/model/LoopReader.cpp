// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/LoopReader.h"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

namespace kopt::frontend::model {

using namespace llvm;

namespace {

/// The variable of the source that the phi merges; null if unknown. A copy of it, or a parameter
/// that it was given to, has the same value too, but later or further in.
const DILocalVariable *variableOf(const PHINode &phi) {
  SmallVector<DbgValueInst *, 2> calls;
  SmallVector<DbgVariableRecord *, 2> records;
  findDbgValues(calls, const_cast<PHINode *>(&phi), &records);
  const DILocalVariable *found = nullptr;
  for (const DbgVariableRecord *record : records)
    if (record->getParent() == phi.getParent() &&
        (!found || !record->getDebugLoc()->getInlinedAt()))
      found = record->getVariable();
  return found;
}

std::optional<Relation> relationOf(CmpInst::Predicate predicate) {
  // Of the signed predicate, in the order of Relation.
  constexpr CmpInst::Predicate kPredicates[] = {CmpInst::ICMP_SLT, CmpInst::ICMP_SLE,
                                                CmpInst::ICMP_SGT, CmpInst::ICMP_SGE,
                                                CmpInst::ICMP_EQ,  CmpInst::ICMP_NE};
  const auto *found = find(kPredicates, ICmpInst::getSignedPredicate(predicate));
  return found == std::end(kPredicates) ? std::nullopt
                                        : std::optional(Relation(found - kPredicates));
}

struct Operation {
  ReductionKind kind;
  SmallVector<unsigned, 2> operands; ///< that may be what is accumulated
};

std::optional<Operation> operationOf(const Instruction &instruction) {
  constexpr std::tuple<unsigned, ReductionKind, bool> kOperations[] = {
      {Instruction::Add, ReductionKind::Add, true},
      {Instruction::Sub, ReductionKind::Add, false},
      {Instruction::Mul, ReductionKind::Multiply, true},
      {Instruction::And, ReductionKind::And, true},
      {Instruction::Or, ReductionKind::Or, true},
      {Instruction::Xor, ReductionKind::Xor, true},
      {Instruction::FAdd, ReductionKind::FAdd, true},
      {Instruction::FSub, ReductionKind::FAdd, false},
      {Instruction::FMul, ReductionKind::FMultiply, true}};
  for (const auto &[opcode, kind, isSymmetric] : kOperations)
    if (instruction.getOpcode() == opcode)
      return isSymmetric ? Operation{kind, {0, 1}} : Operation{kind, {0}};
  const auto *call = dyn_cast<CallBase>(&instruction);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  StringRef name = callee ? callee->getName() : "";
  if (name.consume_front("llvm."))
    name = name.take_until([](char c) { return c == '.'; });
  else if (!name.consume_front("__nv_"))
    return std::nullopt;
  if (is_contained({"fma", "fmaf", "fmuladd"}, name))
    return Operation{ReductionKind::FAdd, {2}};
  const bool isFloat = instruction.getType()->isFloatingPointTy();
  if (is_contained({"minnum", "fminf", "fmin", "smin", "umin", "min", "llmin", "ullmin"}, name))
    return Operation{isFloat ? ReductionKind::FMin : ReductionKind::Min, {0, 1}};
  if (is_contained({"maxnum", "fmaxf", "fmax", "smax", "umax", "max", "llmax", "ullmax"}, name))
    return Operation{isFloat ? ReductionKind::FMax : ReductionKind::Max, {0, 1}};
  return std::nullopt;
}

/// Follows a variable from the end of an iteration back to its beginning. LLVM's own search for
/// reductions wants loops that test at their end.
class ReductionFinder {
public:
  ReductionFinder(const PHINode &start, const Loop &loop, const LoopInfo &loops)
      : start_(start), loop_(loop), loops_(loops) {
    SmallVector<const Value *> open = {&start};
    while (!open.empty())
      if (const Value *next = open.pop_back_val(); dependent_.insert(next).second)
        for (const User *user : next->users())
          if (loop.contains(cast<Instruction>(user)))
            open.push_back(user);
  }

  std::optional<Reduction> find() {
    if (!follow(start_.getIncomingValueForBlock(loop_.getLoopLatch())) || !kind_)
      return std::nullopt;
    chain_.insert(&start_);
    for (const Value *value : chain_) {
      if (any_of(value->users(), [&](const User *user) {
            return loop_.contains(cast<Instruction>(user)) && !chain_.contains(user);
          }))
        return std::nullopt;
      if (!isa<PHINode>(value) &&
          count_if(cast<Instruction>(value)->operands(),
                   [&](const Use &use) { return chain_.contains(use.get()); }) != 1)
        return std::nullopt;
    }
    Reduction found;
    found.kind = *kind_;
    found.isConditional = isConditional_;
    found.bits = unsigned(start_.getType()->getPrimitiveSizeInBits());
    if (const DILocalVariable *variable = variableOf(start_)) {
      found.name = variable->getName();
      found.line = variable->getLine();
    }
    return found;
  }

private:
  bool follow(const Value *value) {
    const auto *instruction = dyn_cast<Instruction>(value);
    if (value == &start_ || chain_.contains(value))
      return true;
    if (!instruction || !loop_.contains(instruction) || chain_.size() > 64)
      return false;
    chain_.insert(value);
    if (const auto *phi = dyn_cast<PHINode>(instruction)) {
      isConditional_ |= !loops_.isLoopHeader(phi->getParent()) && phi->getNumIncomingValues() > 1;
      return all_of(phi->incoming_values(), [this](const Use &use) { return follow(use.get()); });
    }
    const std::optional<Operation> operation = operationOf(*instruction);
    if (!operation || (kind_ && *kind_ != operation->kind))
      return false;
    kind_ = operation->kind;
    // The one that comes from the loop's variable.
    const Value *part = nullptr;
    for (unsigned operand : operation->operands)
      if (const Value *each = instruction->getOperand(operand); dependent_.contains(each)) {
        if (part)
          return false;
        part = each;
      }
    return part && follow(part);
  }

  const PHINode &start_;
  const Loop &loop_;
  const LoopInfo &loops_;
  DenseSet<const Value *> dependent_; ///< on the variable, in the loop
  SmallPtrSet<const Value *, 8> chain_;
  std::optional<ReductionKind> kind_;
  bool isConditional_ = false;
};

} // namespace

std::optional<Comparison> comparisonOf(const Value &condition, IndexAlgebra &algebra) {
  const auto *compare = dyn_cast<ICmpInst>(&condition);
  const auto relation = compare ? relationOf(compare->getPredicate()) : std::nullopt;
  if (!relation)
    return std::nullopt;
  const auto readAs = [&](bool isSigned) {
    return std::pair(algebra.integer(*compare->getOperand(0), isSigned),
                     algebra.integer(*compare->getOperand(1), isSigned));
  };
  auto [left, right] = readAs(!compare->isUnsigned());
  if (!left || !right)
    return std::nullopt;
  // Equal is equal whichever way it is read.
  if (compare->isEquality() && left->assumptions.size() + right->assumptions.size() > 0)
    if (auto [one, other] = readAs(false);
        one && other &&
        one->assumptions.size() + other->assumptions.size() <
            left->assumptions.size() + right->assumptions.size()) {
      left = one;
      right = other;
    }
  Comparison result{left->value, right->value, *relation, left->assumptions};
  result.assumptions.insert(right->assumptions.begin(), right->assumptions.end());
  return result;
}

void LoopReader::read(unsigned number) {
  const Loop &loop = *facts_.loops[number];
  LoopFacts &facts = model_.loops[number];
  SmallVector<BasicBlock *, 4> exiting;
  loop.getExitingBlocks(exiting);
  for (const BasicBlock *block : exiting)
    for (const BasicBlock *next : successors(block))
      if (exiting.size() != 1 && block != loop.getHeader() && !loop.contains(next))
        facts.otherExit = facts_.sources.of(*next->getTerminator()).place;
  facts.isUniform =
      none_of(exiting, [this](const BasicBlock *block) { return facts_.variance.isSplit(*block); });
  const bool endsInHeader = testsFirst(loop);
  if (exiting.size() == 1)
    if (const auto *count = dyn_cast<SCEVConstant>(facts_.evolution.getBackedgeTakenCount(&loop));
        count && count->getAPInt().ult(std::uint64_t(1) << 62))
      facts.trips = count->getAPInt().getZExtValue() + (endsInHeader ? 0 : 1);
  if (const unsigned most = facts_.evolution.getSmallConstantMaxTripCount(&loop))
    facts.mostTrips = most;
  readCounter(loop, facts);
  readContents(loop, facts);
  readReductions(loop, facts);
}

/// Whether nothing happens in an iteration before the test that may end the loop.
bool LoopReader::testsFirst(const Loop &loop) const {
  const BasicBlock *header = loop.getHeader();
  return loop.isLoopExiting(header) && header != loop.getLoopLatch() &&
         none_of(*header,
                 [this](const Instruction &each) { return facts_.memory.of(each).haveEffect(); });
}

void LoopReader::readCounter(const Loop &loop, LoopFacts &facts) {
  const auto *branch = dyn_cast<BranchInst>(loop.getHeader()->getTerminator());
  if (!branch || !branch->isConditional() || !testsFirst(loop))
    return;
  for (const PHINode &phi : loop.getHeader()->phis()) {
    if (!phi.getType()->isIntegerTy())
      continue;
    const auto *compare = dyn_cast<ICmpInst>(branch->getCondition());
    const bool isCompared = compare && any_of(compare->operands(), [&](const Use &use) {
                              const auto *cast = dyn_cast<CastInst>(use.get());
                              return use.get() == &phi || (cast && cast->getOperand(0) == &phi);
                            });
    const auto steps = isCompared ? algebra_.steps(phi) : std::nullopt;
    if (!steps)
      continue;
    const DILocalVariable *variable = variableOf(phi);
    counters_.insert(&phi);
    facts.carriesMore =
        std::next(loop.getHeader()->phis().begin()) != loop.getHeader()->phis().end();
    facts.counter = variable ? variable->getName().str() : "";
    facts.first = steps->first.value;
    facts.step = steps->second.value;
    facts.assumptions = steps->first.assumptions;
    const unsigned iteration = algebra_.iteration(loop);
    std::optional<Comparison> read = comparisonOf(*compare, algebra_);
    if (!read)
      return;
    CmpInst::Predicate predicate = compare->getPredicate();
    if (read->right.symbols().contains(iteration)) {
      std::swap(read->left, read->right);
      predicate = CmpInst::getSwappedPredicate(predicate);
    }
    const auto changes = [&](unsigned symbol) {
      return is_contained(model_.symbols[symbol].loops, algebra_.numberOf(&loop));
    };
    const auto growth = product(steps->second.value, Polynomial::ofSymbol(iteration));
    const auto counter = growth ? sum(steps->first.value, *growth) : std::nullopt;
    if (any_of(read->right.symbols(), changes) || counter != read->left)
      return;
    facts.bound = read->right;
    facts.relation = *relationOf(loop.contains(branch->getSuccessor(0))
                                     ? predicate
                                     : CmpInst::getInversePredicate(predicate));
    facts.assumptions.merge(read->assumptions);
    return;
  }
}

void LoopReader::readContents(const Loop &loop, LoopFacts &facts) {
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      const InstructionUses found = facts_.memory.of(instruction);
      facts.hasCalls |= !found.blind.empty();
      facts.hasBarriers |= found.barrier.has_value();
      for (const MemoryUse &use : found.uses) {
        facts.carriesMore |=
            use.kind != AccessKind::Load && isa<AllocaInst>(MemoryUses::rootOf(use.pointer));
        facts.hasStores |= use.kind == AccessKind::Store;
        facts.hasAtomics |= use.kind == AccessKind::Atomic;
      }
    }
}

void LoopReader::readGrid() {
  for (unsigned axis = 0; axis < 3; ++axis)
    findGridLoops(axis);
  for (const Instruction &instruction : instructions(*facts_.device.kernel)) {
    const auto read = registerRead(instruction);
    if (read && (read->first == SymbolKind::BlockIdx || read->first == SymbolKind::GridDim))
      followGrid(instruction, read->second,
                 kCoordinates[unsigned(read->first)].str() + "." + "xyz"[read->second]);
    // Cooperative groups, clusters, and what kopt's own headers have as variables.
    const auto *call = dyn_cast<CallBase>(&instruction);
    const auto *assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
    StringRef asked = assembly                            ? StringRef(assembly->getAsmString())
                      : call && call->getCalledFunction() ? call->getCalledFunction()->getName()
                                                          : "";
    for (const MemoryUse &use : facts_.memory.of(instruction).uses)
      if (const Value *root = MemoryUses::rootOf(use.pointer);
          root->getName() == "kopt_emulated_blockIdx" || root->getName() == "kopt_emulated_gridDim")
        asked = "ctaid";
    if (!read && (asked.contains("ctaid") || asked.contains("cluster")))
      for (std::vector<Blind> &uses : model_.gridUses)
        uses.push_back({facts_.sources.of(instruction).place, "the grid"});
  }
}

void LoopReader::findGridLoops(unsigned axis) {
  const unsigned block = model_.coordinate(SymbolKind::BlockIdx, axis),
                 grid = model_.coordinate(SymbolKind::GridDim, axis);
  for (LoopFacts &loop : model_.loops) {
    const auto width = loop.bound ? loop.first->growth(block) : std::nullopt;
    const auto isHidden = [this, axis](unsigned symbol) {
      return model_.symbols[symbol].kind == SymbolKind::Unknown &&
             model_.symbols[symbol].isOfGrid[axis];
    };
    if (!width || width->isZero() || any_of(loop.first->symbols(), isHidden) ||
        loop.first->symbols().contains(grid) ||
        product(*width, Polynomial::ofSymbol(grid)) != loop.step ||
        (loop.relation != Relation::Less && loop.relation != Relation::LessEqual))
      continue;
    loop.gridAxis = axis;
    loop.gridWidth = *width;
  }
}

bool LoopReader::isGridLoop(const PHINode &phi, unsigned axis) const {
  const Loop *loop = facts_.loopInfo.getLoopFor(phi.getParent());
  return counters_.contains(&phi) && model_.loops[algebra_.numberOf(loop)].gridAxis == axis &&
         all_of(phi.users(),
                [&](const User *user) { return loop->contains(cast<Instruction>(user)); });
}

/// Sums and products of it are in the polynomials of loops. All else is another use.
void LoopReader::followGrid(const Instruction &read, unsigned axis, const std::string &name) {
  SmallVector<const Instruction *> open = {&read};
  SmallPtrSet<const Instruction *, 16> seen;
  while (!open.empty())
    for (const User *each : open.pop_back_val()->users()) {
      const auto *user = cast<Instruction>(each);
      const auto *phi = dyn_cast<PHINode>(user);
      const auto *disjoint = dyn_cast<PossiblyDisjointInst>(user);
      if (!seen.insert(user).second || (phi && isGridLoop(*phi, axis)))
        continue;
      if (user->getType()->isIntegerTy() && user->getType()->getIntegerBitWidth() >= 32 &&
          (is_contained<unsigned>({Instruction::Add, Instruction::Sub, Instruction::Mul,
                                   Instruction::Shl, Instruction::SExt, Instruction::ZExt,
                                   Instruction::Trunc},
                                  user->getOpcode()) ||
           (disjoint && disjoint->isDisjoint())))
        open.push_back(user);
      else if (const Loop *loop = phi ? facts_.loopInfo.getLoopFor(phi->getParent()) : nullptr)
        model_.gridUses[axis].push_back({model_.loops[algebra_.numberOf(loop)].place, name});
      else
        model_.gridUses[axis].push_back({facts_.sources.of(*user).place, name});
    }
}

void LoopReader::readReductions(const Loop &loop, LoopFacts &facts) {
  if (!loop.getLoopLatch() || !loop.getLoopPreheader())
    return;
  for (const PHINode &phi : loop.getHeader()->phis())
    if (!algebra_.steps(phi))
      if (auto found = ReductionFinder(phi, loop, facts_.loopInfo).find())
        facts.reductions.push_back(std::move(*found));
  llvm::sort(facts.reductions, [](const Reduction &a, const Reduction &b) {
    return std::tie(a.line, a.name) < std::tie(b.line, b.name);
  });
}

} // namespace kopt::frontend::model
