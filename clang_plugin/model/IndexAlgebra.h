// SPDX-License-Identifier: Apache-2.0
// Writes integers and addresses of a kernel's IR as polynomials. A polynomial is congruent to the
// value modulo 2^width. Where a value is widened, it also has to be equal: that follows from signed
// overflow being undefined, from ranges of the coordinates, or it becomes an assumption.
#pragma once

#include "clang_plugin/model/MemoryUses.h"
#include "clang_plugin/model/SourceMap.h"
#include "clang_plugin/model/ThreadVariance.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>

#include <map>

namespace kopt::frontend::model {

/// A polynomial, and the assumptions on which it rests.
struct Known {
  Polynomial value;
  std::set<unsigned> assumptions = {};
};

struct Address {
  const llvm::Value *root = nullptr;
  std::optional<Known> offset; ///< bytes
  std::string whyUnknown;
};

struct IrFacts {
  const DeviceModule &device;
  const SourceMap &sources;
  const MemoryUses &memory;
  const ThreadVariance &variance;
  const llvm::LoopInfo &loopInfo;
  llvm::ScalarEvolution &evolution;
  std::vector<const llvm::Loop *> loops; ///< by their number in the model
};

class IndexAlgebra {
public:
  IndexAlgebra(const KernelView &view, const IrFacts &facts, KernelModel &model);

  /// The integer that is the operand, read as signed or unsigned.
  std::optional<Known> integer(const llvm::Value &value, bool isSigned);
  Address address(const llvm::Value &pointer);
  /// The number of a loop's Iteration symbol.
  unsigned iteration(const llvm::Loop &loop);
  /// The first value and the step of a variable that a loop steps; nothing if it does not.
  std::optional<std::pair<Known, Known>> steps(const llvm::PHINode &variable);
  /// "p.rows" for a pointer that comes from a parameter passed by value; empty for others.
  std::string memberName(const llvm::Value &loaded) const;
  unsigned numberOf(const llvm::Loop *loop) const { return numbers_.lookup(loop); }

private:
  /// What a symbol is computed by, and of what.
  using SymbolKey = std::pair<std::string, std::vector<Polynomial>>;

  Known valueOf(const llvm::Value &value);
  std::optional<Known> computed(const llvm::Instruction &instruction);
  std::optional<Known> sumLike(const llvm::BinaryOperator &operation);
  std::optional<Known> opaqueOperation(const llvm::BinaryOperator &operation);
  std::optional<Known> coordinate(const llvm::Instruction &instruction);
  std::optional<Known> stableLoad(const llvm::Instruction &load);
  std::optional<Known> merged(const llvm::PHINode &phi);
  /// How far a variable that a loop steps has come.
  std::optional<Known> growth(const llvm::PHINode &variable);
  std::optional<Known> ofScev(const llvm::SCEV &expression, const llvm::Loop &loop);
  void demand(const llvm::Value &value, const Polynomial &known, bool isSigned,
              std::set<unsigned> &assumptions, unsigned depth = 0);
  void assume(const Assumption &assumption, std::set<unsigned> &assumptions);
  bool endsWithin(const Polynomial &value, const llvm::BasicBlock &where) const;
  Known unknown(const llvm::Value &value, bool isSigned);
  Known symbolOf(const SymbolKey &key, const Symbol &symbol);
  void inherit(Symbol &symbol, const Polynomial &from) const;
  std::optional<Known> scalar(llvm::StringRef name, clang::QualType type);
  const clang::ParmVarDecl *parameterOf(const llvm::Value &argument) const;
  std::optional<std::pair<std::string, clang::QualType>> memberOf(const llvm::LoadInst &load) const;

  const KernelView &view_;
  const IrFacts &facts_;
  KernelModel &model_;
  llvm::DenseMap<const llvm::Loop *, unsigned> numbers_;
  llvm::DenseMap<const llvm::Value *, Known> values_;
  std::map<SymbolKey, unsigned> symbols_;
};

} // namespace kopt::frontend::model
