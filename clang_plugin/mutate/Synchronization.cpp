// SPDX-License-Identifier: Apache-2.0
// Operators on synchronization. The mutated kernel is wrong but may still compute the right values:
// only a race check or a perturbed schedule is sure to notice.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/mutate/Mutation.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// A barrier is gone.
void findRemovedBarrier(const KernelFacts &facts, MutantSink &sink) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      if (cudaFunction(statement) != CudaFunction::Barrier || !isStatement(body, statement))
        continue;
      const llvm::StringRef name = calleeName(cast<Expr>(statement));
      sink.add(statement->getBeginLoc(), "`" + facts.text(statement).str() + "` removed",
               facts.replace(statement->getSourceRange(), "(void)0"),
               name == "__syncwarp" ? "the same where the warp's threads never part" : "");
    }
}

std::string updateOf(llvm::StringRef name, const std::string &value) {
  name.consume_back("_block") || name.consume_back("_system");
  const std::string argument = "(" + value + ")";
  for (const auto &[atomic, symbol] :
       {std::pair{"atomicAdd", "+"}, std::pair{"atomicSub", "-"}, std::pair{"atomicAnd", "&"},
        std::pair{"atomicOr", "|"}, std::pair{"atomicXor", "^"}})
    if (name == atomic)
      return std::string("*koptAt = *koptAt ") + symbol + " " + argument + ";";
  if (name == "atomicExch")
    return "*koptAt = " + argument + ";";
  if (name == "atomicMin")
    return "if (" + argument + " < *koptAt) *koptAt = " + argument + ";";
  if (name == "atomicMax")
    return "if (" + argument + " > *koptAt) *koptAt = " + argument + ";";
  return "";
}

/// An atomic is a plain read and write.
void findPlainAtomic(const KernelFacts &facts, MutantSink &sink) {
  for (const BodyView &body : facts.bodies())
    for (const Stmt *statement : body.statements) {
      const auto *call = dyn_cast<CallExpr>(statement);
      if (!call || call->getNumArgs() != 2)
        continue;
      const std::string place = facts.text(call->getArg(0)).str(),
                        value = facts.text(call->getArg(1)).str();
      const std::string update = updateOf(calleeName(call), value);
      if (update.empty())
        continue;
      std::optional<std::vector<SliceEdit>> edits;
      if (!place.empty() && !value.empty())
        edits = facts.replace(call->getSourceRange(),
                              isStatement(body, call)
                                  ? "{ auto *koptAt = " + place + "; " + update + " }"
                                  : "[&] { auto *koptAt = " + place + "; auto koptOld = *koptAt; " +
                                        update + " return koptOld; }()");
      sink.add(call->getBeginLoc(), calleeName(call).str() + " without atomicity", std::move(edits),
               "the same where no two threads ever meet at one place");
    }
}

} // namespace

void addSynchronizationOperators(MutationOperators &catalogue) {
  catalogue.insert(catalogue.end(), {{"removed-barrier", findRemovedBarrier, MutantKind::Schedule},
                                     {"plain-atomic", findPlainAtomic, MutantKind::Schedule}});
}

} // namespace kopt::frontend
