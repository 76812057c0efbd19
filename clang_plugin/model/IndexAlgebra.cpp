// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/IndexAlgebra.h"

#include "clang_plugin/analysis/ScalarLeaves.h"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

namespace kopt::frontend::model {

using namespace llvm;

namespace {

constexpr std::size_t kLongestName = 80, kMostMembers = 512;

unsigned widthOf(const Value &value) {
  return value.getType()->isIntegerTy() ? value.getType()->getIntegerBitWidth() : 64;
}

/// As `left` and `right` combined by sum(), product(), …
std::optional<Known> combined(const std::optional<Known> &left, const std::optional<Known> &right,
                              decltype(sum) &combine) {
  std::optional<Polynomial> value =
      left && right ? combine(left->value, right->value) : std::nullopt;
  if (!value)
    return std::nullopt;
  Known result{std::move(*value), left->assumptions};
  result.assumptions.insert(right->assumptions.begin(), right->assumptions.end());
  return result;
}

StringRef signOf(const BinaryOperator &operation) {
  return StringSwitch<StringRef>(operation.getOpcodeName())
      .Cases("udiv", "sdiv", "/")
      .Cases("urem", "srem", "%")
      .Cases("lshr", "ashr", ">>")
      .Case("shl", "<<")
      .Case("and", "&")
      .Case("or", "|")
      .Case("xor", "^")
      .Default("");
}

/// The results of an operation, whose operands are known modulo its type.
std::optional<Range> rangeAfter(const BinaryOperator &operation, bool isSigned,
                                const std::optional<Range> &left,
                                const std::optional<Range> &right) {
  const unsigned bits = widthOf(operation);
  const auto constants = [&](const std::optional<Range> &range) {
    return fits(range, bits, isSigned)
               ? ConstantRange::getNonEmpty(APInt(bits, std::uint64_t(range->low)),
                                            APInt(bits, std::uint64_t(range->high)) + 1)
               : ConstantRange::getFull(bits);
  };
  const ConstantRange result = constants(left).binaryOp(operation.getOpcode(), constants(right));
  if (result.isEmptySet())
    return std::nullopt;
  return isSigned
             ? Range{result.getSignedMin().getSExtValue(), result.getSignedMax().getSExtValue()}
             : Range{result.getUnsignedMin().getZExtValue(),
                     result.getUnsignedMax().getZExtValue()};
}

} // namespace

IndexAlgebra::IndexAlgebra(const KernelView &view, const IrFacts &facts, KernelModel &model)
    : view_(view), facts_(facts), model_(model) {
  for (unsigned i = 0; i < facts.loops.size(); ++i)
    numbers_[facts.loops[i]] = i;
}

Known IndexAlgebra::symbolOf(const SymbolKey &key, const Symbol &symbol) {
  const auto [place, added] = symbols_.try_emplace(key, unsigned(model_.symbols.size()));
  if (added)
    model_.symbols.push_back(symbol);
  return {Polynomial::ofSymbol(place->second)};
}

unsigned IndexAlgebra::iteration(const Loop &loop) {
  const unsigned number = numbers_.lookup(&loop);
  const LoopFacts &facts = model_.loops[number];
  const bool isCounter = !facts.counter.empty() && facts.first && facts.first->isZero() &&
                         facts.step == Polynomial::of(1);
  Symbol symbol{SymbolKind::Iteration, number,
                isCounter               ? facts.counter
                : facts.counter.empty() ? "iteration@" + std::to_string(facts.place.line)
                                        : "iteration(" + facts.counter + ")"};
  symbol.loops = {number};
  return *symbolOf({"iteration" + std::to_string(number), {}}, symbol).value.symbols().begin();
}

bool IndexAlgebra::endsWithin(const Polynomial &value, const BasicBlock &where) const {
  return all_of(value.symbols(), [&](unsigned symbol) {
    return all_of(model_.symbols[symbol].loops,
                  [&](unsigned loop) { return facts_.loops[loop]->contains(&where); });
  });
}

void IndexAlgebra::inherit(Symbol &symbol, const Polynomial &from) const {
  for (unsigned number : from.symbols()) {
    const Symbol &part = model_.symbols[number];
    for (unsigned axis = 0; axis < 3; ++axis) {
      symbol.varies[axis] |= part.varies[axis];
      symbol.isOfGrid[axis] |= part.isOfGrid[axis];
    }
    symbol.isOfMemory |= part.isOfMemory;
    for (unsigned loop : part.loops)
      if (!is_contained(symbol.loops, loop))
        symbol.loops.push_back(loop);
  }
}

Known IndexAlgebra::unknown(const Value &value, bool isSigned) {
  Symbol symbol;
  symbol.bits = std::min(64u, widthOf(value));
  symbol.isSigned = isSigned;
  if (const auto *instruction = dyn_cast<Instruction>(&value)) {
    if (instruction->mayReadFromMemory() || isa<CallBase>(instruction))
      symbol.name = facts_.sources.of(*instruction).text;
    symbol.isOfMemory = instruction->mayReadFromMemory() && !facts_.memory.isStable(*instruction);
    symbol.isOfGrid.fill(!symbol.isOfMemory);
    for (const Loop *loop = facts_.loopInfo.getLoopFor(instruction->getParent()); loop;
         loop = loop->getParentLoop())
      symbol.loops.push_back(numbers_.lookup(loop));
  }
  if (symbol.name.empty())
    symbol.name =
        value.hasName() ? value.getName().take_until([](char c) { return c == '.'; }).str() : "?";
  for (unsigned axis = 0; axis < 3; ++axis)
    symbol.varies[axis] = facts_.variance.varies(value, axis);
  return symbolOf(
      {"value" + std::to_string(reinterpret_cast<std::uintptr_t>(&value)) + (isSigned ? "s" : "u"),
       {}},
      symbol);
}

Known IndexAlgebra::valueOf(const Value &value) {
  if (const auto *constant = dyn_cast<ConstantInt>(&value);
      constant && constant->getBitWidth() <= 64)
    return {Polynomial::of(constant->getSExtValue())};
  if (const auto found = values_.find(&value); found != values_.end())
    return found->second;
  std::optional<Known> known;
  if (isa<Argument>(value) && value.getType()->isIntegerTy()) {
    if (const clang::ParmVarDecl *parameter = parameterOf(value))
      known = scalar(parameter->getName(), parameter->getType());
  } else if (const auto *instruction = dyn_cast<Instruction>(&value);
             instruction && value.getType()->isIntegerTy() && widthOf(value) <= 64) {
    values_[&value] = unknown(value, true); // for a value that rests on itself
    known = computed(*instruction);
  }
  return values_[&value] = known ? *known : unknown(value, true);
}

const clang::ParmVarDecl *IndexAlgebra::parameterOf(const Value &argument) const {
  for (const clang::ParmVarDecl *parameter : view_.kernel().parameters())
    if (parameter->getIdentifier() && parameter->getName() == argument.getName())
      return parameter;
  return nullptr;
}

std::optional<Known> IndexAlgebra::scalar(StringRef name, clang::QualType type) {
  if (!type->isIntegralOrEnumerationType())
    return std::nullopt;
  Symbol symbol{SymbolKind::Scalar, 0, name.str()};
  symbol.bits = unsigned(view_.context().getIntWidth(type));
  symbol.isSigned = type->isSignedIntegerOrEnumerationType();
  return symbolOf({"scalar" + name.str(), {}}, symbol);
}

std::optional<std::pair<std::string, clang::QualType>>
IndexAlgebra::memberOf(const LoadInst &load) const {
  const DataLayout &layout = facts_.device.module->getDataLayout();
  APInt offset(layout.getIndexTypeSizeInBits(load.getPointerOperandType()), 0);
  const auto *argument =
      dyn_cast<Argument>(load.getPointerOperand()->stripAndAccumulateConstantOffsets(
          layout, offset, /*AllowNonInbounds=*/true));
  const clang::ParmVarDecl *parameter =
      argument && argument->hasByValAttr() ? parameterOf(*argument) : nullptr;
  if (!parameter || offset.isNegative() || !facts_.memory.isStable(load))
    return std::nullopt;
  std::vector<clang::QualType> types;
  std::vector<ScalarLeaf> leaves;
  std::string ignored;
  const auto nameOf = [&types](clang::QualType part) -> std::string {
    if (!part->isScalarType())
      return "";
    types.push_back(part);
    return "scalar";
  };
  addScalarLeaves(view_.context(), parameter->getType(), 0, kMostMembers, nameOf, leaves, ignored,
                  parameter->getNameAsString());
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (leaves[i].offset == offset.getZExtValue() &&
        leaves[i].bytes == layout.getTypeStoreSize(load.getType()))
      return std::pair(leaves[i].name, types[i]);
  return std::nullopt;
}

std::string IndexAlgebra::memberName(const Value &loaded) const {
  const auto *load = dyn_cast<LoadInst>(&loaded);
  const auto member = load ? memberOf(*load) : std::nullopt;
  return member && member->second->isPointerType() ? member->first : "";
}

std::optional<Known> IndexAlgebra::computed(const Instruction &instruction) {
  if (const auto *operation = dyn_cast<BinaryOperator>(&instruction)) {
    const auto known = sumLike(*operation);
    return known ? known : opaqueOperation(*operation);
  }
  if (isa<TruncInst>(instruction))
    return valueOf(*instruction.getOperand(0));
  if (isa<SExtInst, ZExtInst>(instruction))
    return integer(*instruction.getOperand(0), isa<SExtInst>(instruction));
  if (const auto *phi = dyn_cast<PHINode>(&instruction))
    return merged(*phi);
  if (const auto *load = dyn_cast<LoadInst>(&instruction))
    if (const auto member = memberOf(*load))
      return scalar(member->first, member->second);
  if (instruction.mayReadFromMemory())
    if (auto known = stableLoad(instruction))
      return known;
  return coordinate(instruction);
}

std::optional<Known> IndexAlgebra::coordinate(const Instruction &instruction) {
  const auto read = registerRead(instruction);
  if (!read)
    return std::nullopt;
  const auto [kind, axis] = *read;
  Symbol symbol{kind, axis, kCoordinates[unsigned(kind)].str() + "." + "xyz"[axis]};
  symbol.bits = 32;
  symbol.isSigned = false;
  symbol.varies[axis] = kind == SymbolKind::ThreadIdx;
  symbol.isOfGrid[axis] = kind == SymbolKind::BlockIdx || kind == SymbolKind::GridDim;
  return symbolOf({symbol.name, {}}, symbol);
}

std::optional<Known> IndexAlgebra::sumLike(const BinaryOperator &operation) {
  const Known left = valueOf(*operation.getOperand(0)), right = valueOf(*operation.getOperand(1));
  const auto count = right.value.constant();
  switch (operation.getOpcode()) {
  case Instruction::Add:
    return combined(left, right, sum);
  case Instruction::Sub:
    return combined(left, right, difference);
  case Instruction::Mul:
    return combined(left, right, product);
  case Instruction::Or:
    return cast<PossiblyDisjointInst>(operation).isDisjoint() ? combined(left, right, sum)
                                                              : std::nullopt;
  case Instruction::Shl:
    return count && *count >= 0 && *count < std::min(62u, widthOf(operation))
               ? combined(left, Known{Polynomial::of(std::int64_t(1) << *count)}, product)
               : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// Values that are no polynomials, but the same wherever their operands are: one symbol each.
std::optional<Known> IndexAlgebra::opaqueOperation(const BinaryOperator &operation) {
  const unsigned opcode = operation.getOpcode();
  const std::string sign = signOf(operation).str();
  if (sign.empty())
    return std::nullopt;
  const bool isSigned =
      opcode == Instruction::SDiv || opcode == Instruction::SRem || opcode == Instruction::AShr;
  const bool isBitwise =
      opcode == Instruction::And || opcode == Instruction::Or || opcode == Instruction::Xor;
  const auto read = [&](const Value &operand) {
    return isBitwise ? valueOf(operand) : integer(operand, isSigned);
  };
  const std::optional<Known> left = read(*operation.getOperand(0)),
                             right = read(*operation.getOperand(1));
  if (!left || !right)
    return std::nullopt;
  Symbol symbol;
  const auto operandText = [this](const Polynomial &operand) {
    const std::string text = operand.text(model_.symbols);
    return operand.terms.size() > 1 || text.find('*') != text.npos ? "(" + text + ")" : text;
  };
  symbol.name = "(" + operandText(left->value) + " " + sign + " " + operandText(right->value) + ")";
  if (symbol.name.size() > kLongestName)
    symbol.name = sign + "@" +
                  std::to_string(operation.getDebugLoc() ? operation.getDebugLoc().getLine() : 0);
  symbol.bits = widthOf(operation);
  symbol.isSigned = isSigned || isBitwise;
  symbol.range = rangeAfter(operation, symbol.isSigned, rangeOf(left->value, model_),
                            rangeOf(right->value, model_));
  inherit(symbol, left->value);
  inherit(symbol, right->value);
  Known result = symbolOf(
      {operation.getOpcodeName() + std::to_string(symbol.bits), {left->value, right->value}},
      symbol);
  result.assumptions = left->assumptions;
  result.assumptions.insert(right->assumptions.begin(), right->assumptions.end());
  return result;
}

std::optional<Known> IndexAlgebra::integer(const Value &value, bool isSigned) {
  if (!value.getType()->isIntegerTy() || widthOf(value) > 64)
    return std::nullopt;
  const unsigned bits = widthOf(value);
  if (const auto *constant = dyn_cast<ConstantInt>(&value); constant && bits < 64)
    return Known{Polynomial::of(isSigned ? constant->getSExtValue()
                                         : std::int64_t(constant->getZExtValue()))};
  Known known = valueOf(value);
  const std::set<unsigned> symbols = known.value.symbols();
  if (symbols.size() == 1 && known.value == Polynomial::ofSymbol(*symbols.begin())) {
    const unsigned number = *symbols.begin();
    Symbol symbol = model_.symbols[number];
    if (symbol.kind == SymbolKind::Unknown && symbol.bits == bits && symbol.isSigned != isSigned &&
        !symbol.range) {
      symbol.isSigned = isSigned;
      return Known{symbolOf({"read again", {known.value}}, symbol).value, known.assumptions};
    }
  }
  demand(value, known.value, isSigned, known.assumptions);
  return known;
}

/// Adds what has to be assumed for the value, read as signed or unsigned, to be the polynomial.
void IndexAlgebra::demand(const Value &value, const Polynomial &known, bool isSigned,
                          std::set<unsigned> &assumptions, unsigned depth) {
  const unsigned bits = widthOf(value);
  const std::optional<Range> range = rangeOf(known, model_);
  if (fits(range, bits, isSigned))
    return;
  // A value that wraps is poison, and an access through poison, or a branch on it, is undefined.
  const auto *operation = dyn_cast<OverflowingBinaryOperator>(&value);
  if (operation && depth < 24 && operation->getOpcode() != Instruction::Shl) {
    const bool isNatural = range && range->low >= 0;
    const bool isKept =
        isSigned ? operation->hasNoSignedWrap()
                 : operation->hasNoUnsignedWrap() || (operation->hasNoSignedWrap() && isNatural);
    if (isKept) {
      for (const Value *operand : operation->operand_values())
        demand(*operand, valueOf(*operand).value, isSigned || !operation->hasNoUnsignedWrap(),
               assumptions, depth + 1);
      return;
    }
  }
  if (isa<ZExtInst>(value) || (isa<SExtInst>(value) && isSigned)) // its operand was read as it is
    return;
  const auto *phi = dyn_cast<PHINode>(&value);
  const Loop *loop = phi ? facts_.loopInfo.getLoopFor(phi->getParent()) : nullptr;
  if (loop && loop->getHeader() == phi->getParent() && steps(*phi)) {
    const auto *next =
        dyn_cast<OverflowingBinaryOperator>(phi->getIncomingValueForBlock(loop->getLoopLatch()));
    if (next && is_contained(next->operands(), phi) &&
        (isSigned ? next->hasNoSignedWrap() : next->hasNoUnsignedWrap())) {
      const Value *first = phi->getIncomingValueForBlock(loop->getLoopPreheader());
      demand(*first, valueOf(*first).value, isSigned, assumptions, depth + 1);
      for (const Value *operand : next->operand_values())
        if (operand != phi)
          demand(*operand, valueOf(*operand).value, isSigned, assumptions, depth + 1);
      return;
    }
  }
  assume({known, bits, isSigned}, assumptions);
}

void IndexAlgebra::assume(const Assumption &assumption, std::set<unsigned> &assumptions) {
  if (fits(rangeOf(assumption.value, model_), assumption.bits, assumption.isSigned))
    return;
  const auto found = find(model_.assumptions, assumption);
  assumptions.insert(unsigned(found - model_.assumptions.begin()));
  if (found == model_.assumptions.end())
    model_.assumptions.push_back(assumption);
}

std::optional<std::pair<Known, Known>> IndexAlgebra::steps(const PHINode &variable) {
  const Loop *loop = facts_.loopInfo.getLoopFor(variable.getParent());
  if (!loop || loop->getHeader() != variable.getParent() || !loop->getLoopPreheader() ||
      !loop->getLoopLatch() || !facts_.evolution.isSCEVable(variable.getType()))
    return std::nullopt;
  const auto *recurrence =
      dyn_cast<SCEVAddRecExpr>(facts_.evolution.getSCEV(const_cast<PHINode *>(&variable)));
  if (!recurrence || !recurrence->isAffine() || recurrence->getLoop() != loop)
    return std::nullopt;
  std::optional<Known> step = ofScev(*recurrence->getStepRecurrence(facts_.evolution), *loop);
  if (!step)
    return std::nullopt;
  Known first;
  if (variable.getType()->isIntegerTy())
    first = valueOf(*variable.getIncomingValueForBlock(loop->getLoopPreheader()));
  return std::pair(first, *step);
}

std::optional<Known> IndexAlgebra::ofScev(const SCEV &expression, const Loop &loop) {
  if (const auto *constant = dyn_cast<SCEVConstant>(&expression))
    return Known{Polynomial::of(constant->getAPInt().sextOrTrunc(64).getSExtValue())};
  if (const auto *value = dyn_cast<SCEVUnknown>(&expression)) {
    Known known = valueOf(*value->getValue());
    if (!endsWithin(known.value, *loop.getLoopPreheader()))
      return std::nullopt;
    return known;
  }
  if (const auto *cast = dyn_cast<SCEVIntegralCastExpr>(&expression)) {
    std::optional<Known> known = ofScev(*cast->getOperand(), loop);
    const bool isSigned = isa<SCEVSignExtendExpr>(cast);
    if (!known || isa<SCEVTruncateExpr>(cast))
      return known;
    if (const auto *value = dyn_cast<SCEVUnknown>(cast->getOperand()))
      demand(*value->getValue(), known->value, isSigned, known->assumptions);
    else
      assume({known->value,
              unsigned(facts_.evolution.getTypeSizeInBits(cast->getOperand()->getType())),
              isSigned},
             known->assumptions);
    return known;
  }
  const auto *list = dyn_cast<SCEVCommutativeExpr>(&expression);
  if (!list || (!isa<SCEVAddExpr>(list) && !isa<SCEVMulExpr>(list)))
    return std::nullopt;
  const bool isSum = isa<SCEVAddExpr>(list);
  std::optional<Known> result = Known{Polynomial::of(isSum ? 0 : 1)};
  for (const SCEV *operand : list->operands())
    result = combined(result, ofScev(*operand, loop), isSum ? sum : product);
  return result;
}

std::optional<Known> IndexAlgebra::growth(const PHINode &variable) {
  const auto stepped = steps(variable);
  if (!stepped)
    return std::nullopt;
  const unsigned number = iteration(*facts_.loopInfo.getLoopFor(variable.getParent()));
  return combined(stepped->second, Known{Polynomial::ofSymbol(number)}, product);
}

std::optional<Known> IndexAlgebra::merged(const PHINode &phi) {
  if (const Loop *loop = facts_.loopInfo.getLoopFor(phi.getParent());
      loop && loop->getHeader() == phi.getParent()) {
    const auto stepped = steps(phi);
    return stepped ? combined(stepped->first, growth(phi), sum) : std::nullopt;
  }
  std::optional<Known> result;
  for (const Value *incoming : phi.incoming_values()) {
    const Known known = valueOf(*incoming);
    if (result && known.value != result->value)
      return std::nullopt;
    if (!result)
      result = known;
    result->assumptions.insert(known.assumptions.begin(), known.assumptions.end());
  }
  return result && endsWithin(result->value, *phi.getParent()) ? result : std::nullopt;
}

std::optional<Known> IndexAlgebra::stableLoad(const Instruction &load) {
  if (!facts_.memory.isStable(load))
    return std::nullopt;
  const InstructionUses found = facts_.memory.of(load);
  const Address at = address(*found.uses.front().pointer);
  if (!at.offset || (!isa<Argument>(at.root) && !isa<GlobalVariable>(at.root)))
    return std::nullopt;
  Symbol symbol;
  symbol.name = facts_.sources.of(load).text;
  if (symbol.name.empty())
    symbol.name = at.root->getName().str() + "[?]";
  symbol.bits = widthOf(load);
  inherit(symbol, at.offset->value);
  Known known = symbolOf(
      {"load" + std::to_string(symbol.bits) + at.root->getName().str(), {at.offset->value}},
      symbol);
  known.assumptions = at.offset->assumptions;
  return known;
}

Address IndexAlgebra::address(const Value &pointer) {
  Address result{&pointer, Known{}, ""};
  const DataLayout &layout = facts_.device.module->getDataLayout();
  const auto give = [&](std::string why) {
    result.root = MemoryUses::rootOf(result.root);
    result.offset.reset();
    result.whyUnknown = std::move(why);
    return result;
  };
  for (unsigned hops = 0; hops < 100; ++hops) {
    if (const auto *step = dyn_cast<GEPOperator>(result.root)) {
      MapVector<Value *, APInt> variable;
      APInt constant(layout.getIndexTypeSizeInBits(step->getType()), 0);
      if (!step->collectOffset(layout, constant.getBitWidth(), variable, constant))
        return give("the address is computed in a way that is not understood");
      result.offset = combined(result.offset, Known{Polynomial::of(constant.getSExtValue())}, sum);
      for (const auto &[index, scale] : variable) {
        // Addresses are congruent modulo 2^64 too.
        const auto value =
            widthOf(*index) == 64 ? valueOf(*index) : integer(*index, /*isSigned=*/true);
        const Known factor{Polynomial::of(scale.getSExtValue())};
        result.offset = combined(result.offset, combined(value, factor, product), sum);
      }
      result.root = step->getPointerOperand();
    } else if (const auto *cast = dyn_cast<AddrSpaceCastOperator>(result.root)) {
      result.root = cast->getPointerOperand();
    } else if (const auto *phi = dyn_cast<PHINode>(result.root)) {
      if (!steps(*phi))
        return give("the pointer depends on the path to it");
      result.offset = combined(result.offset, growth(*phi), sum);
      result.root = phi->getIncomingValueForBlock(
          facts_.loopInfo.getLoopFor(phi->getParent())->getLoopPreheader());
    } else {
      break;
    }
    if (!result.offset)
      return give("the subscript has too many terms");
  }
  if (isa<SelectInst>(result.root))
    return give("the pointer depends on a condition");
  return result;
}

} // namespace kopt::frontend::model
