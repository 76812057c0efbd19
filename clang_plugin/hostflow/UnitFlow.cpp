// SPDX-License-Identifier: Apache-2.0
// What functions may change in each other's variables.
#include "clang_plugin/hostflow/HostFlow.h"

#include <clang/AST/ASTContext.h>

namespace kopt::frontend {

using clang::FunctionDecl;
using clang::Stmt;

const FunctionFlow *UnitFlow::of(const FunctionDecl *function) {
  const FunctionDecl *definition = nullptr;
  if (!function || !function->hasBody(definition) || definition->isDependentContext())
    return nullptr;
  std::unique_ptr<FunctionFlow> &flow = flows_[definition];
  if (!flow)
    flow = std::make_unique<FunctionFlow>(*definition);
  return flow.get();
}

bool UnitFlow::mayWrite(const FunctionDecl *function, const Place &place,
                        std::set<const FunctionDecl *> &visited) {
  if (!function)
    return true;
  const clang::SourceManager &sources = function->getASTContext().getSourceManager();
  if (function->getBuiltinID() || function->isConstexpr() ||
      sources.isInSystemHeader(function->getLocation()) ||
      !visited.insert(function->getCanonicalDecl()).second)
    return false;
  const FunctionFlow *flow = of(function);
  if (!flow)
    return true;
  if (flow->changesNothing())
    return false;
  bool named = false;
  if (!llvm::isa<clang::ParmVarDecl>(place.root)) {
    named = true;
    if (flow->writesGlobalOrField(place.root))
      return true;
  }
  for (const PlaceStep &step : place.steps)
    if (step.field) {
      named = true;
      if (flow->writesGlobalOrField(step.field))
        return true;
    }
  if (!named)
    return true; // reached through a pointer or reference that any code may hold
  for (const FunctionDecl *callee : flow->calls())
    if (mayWrite(callee, place, visited))
      return true;
  return false;
}

bool UnitFlow::isStable(const FunctionFlow &flow, const Place &place, const Stmt *from,
                        const Stmt *to) {
  if (from == to)
    return true;
  if (!flow.isUnwritten(place, from, to))
    return false;
  for (const PlaceStep &step : place.steps)
    if (step.index) {
      std::optional<Place> index = placeOf(step.index, flow.function().getASTContext());
      if (!index || !isStable(flow, *index, from, to))
        return false;
    }
  return place.isLocal() || callsKeep(flow, place, from, to);
}

bool UnitFlow::callsKeep(const FunctionFlow &flow, const Place &place, const Stmt *from,
                         const Stmt *to) {
  for (const FunctionDecl *callee : flow.callsBetween(from, to)) {
    std::set<const FunctionDecl *> visited;
    if (mayWrite(callee, place, visited))
      return false;
  }
  return true;
}

} // namespace kopt::frontend
