// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/remap/IndexForm.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// How far locals that are defined by other locals are followed, and how large a form may become.
constexpr unsigned kMostDepth = 16;
constexpr std::size_t kMostTerms = 64;

IndexForm atom(const std::string &name) { return {{{{name}, 1}}, {}}; }

void add(IndexForm &sum, const IndexForm &other, long long factor) {
  for (const auto &[names, count] : other.terms)
    if ((sum.terms[names] += factor * count) == 0)
      sum.terms.erase(names);
  sum.opaque.insert(other.opaque.begin(), other.opaque.end());
}

IndexForm product(const IndexForm &one, const IndexForm &other) {
  IndexForm result{{}, one.opaque};
  result.opaque.insert(other.opaque.begin(), other.opaque.end());
  for (const auto &[left, leftCount] : one.terms)
    for (const auto &[right, rightCount] : other.terms) {
      std::vector<std::string> names = left;
      names.insert(names.end(), right.begin(), right.end());
      llvm::sort(names);
      add(result, {{{names, 1}}, {}}, leftCount * rightCount);
    }
  return result;
}

bool isLargeInteger(const KernelView &view, QualType type) {
  return type->isIntegralOrEnumerationType() && !type->isDependentType() &&
         view.context().getTypeSize(type) >= 32;
}

} // namespace

std::string nameOf(const Coordinate &coordinate) {
  return coordinate.variable + "." + "xyz"[coordinate.dimension];
}

bool IndexForm::has(const std::string &atom) const {
  return llvm::any_of(terms,
                      [&](const auto &term) { return llvm::is_contained(term.first, atom); });
}

std::optional<IndexForm> IndexForm::factorOf(const std::string &atom) const {
  IndexForm factor{{}, opaque};
  for (const auto &[names, count] : terms) {
    if (llvm::count(names, atom) > 1)
      return std::nullopt;
    if (!llvm::is_contained(names, atom))
      continue;
    std::vector<std::string> rest = names;
    rest.erase(llvm::find(rest, atom));
    factor.terms[rest] = count;
  }
  return factor;
}

std::optional<long long> valueOf(const IndexForm &form, const LaunchShape &launch) {
  long long sum = 0;
  for (const auto &[names, factor] : form.terms) {
    long long product = factor;
    for (const std::string &name : names) {
      const auto scalar =
          llvm::find_if(launch.scalars, [&](const ScalarValue &one) { return one.name == name; });
      long long value = 0;
      if (name.starts_with("blockDim."))
        value = launch.block[static_cast<std::size_t>(name.back() - 'x')];
      else if (scalar == launch.scalars.end() ||
               llvm::StringRef(scalar->literal).rtrim("uUlL").getAsInteger(10, value))
        return std::nullopt;
      product *= value;
    }
    sum += product;
  }
  return sum;
}

IndexForms::IndexForms(const KernelView &view, const BodyView &body)
    : view_(view), changed_(body.changingVariables()) {}

const Expr *IndexForms::definition(const VarDecl *variable) const {
  return variable && variable->isLocalVarDecl() && !variable->isStaticLocal() &&
                 !variable->getType()->isReferenceType() && !changed_.contains(variable)
             ? variable->getInit()
             : nullptr;
}

bool IndexForms::mentions(const Stmt *expression,
                          llvm::function_ref<bool(const Expr *)> isWanted) const {
  llvm::SmallVector<const Stmt *> open{expression};
  llvm::DenseSet<const Stmt *> seen;
  while (!open.empty()) {
    const Stmt *next = open.pop_back_val();
    if (!next || !seen.insert(next).second)
      continue;
    if (const auto *part = dyn_cast<Expr>(next); part && isWanted(part))
      return true;
    if (const auto *reference = dyn_cast<DeclRefExpr>(next))
      open.push_back(definition(dyn_cast<VarDecl>(reference->getDecl())));
    if (const auto *pseudo = dyn_cast<PseudoObjectExpr>(next))
      open.push_back(pseudo->getSyntacticForm());
    else if (const auto *opaque = dyn_cast<OpaqueValueExpr>(next))
      open.push_back(opaque->getSourceExpr());
    else
      open.append(next->child_begin(), next->child_end());
  }
  return false;
}

bool IndexForms::isFixed(const Expr *expression) const {
  return !mentions(expression, [&](const Expr *part) {
    const auto *unary = dyn_cast<UnaryOperator>(part);
    const auto *member = dyn_cast<MemberExpr>(part);
    const VarDecl *variable = variableOf(part);
    return isa<CallExpr>(part) || isa<ArraySubscriptExpr>(part) ||
           (unary && unary->getOpcode() == UO_Deref) || (member && member->isArrow()) ||
           (variable && isChanged(variable));
  });
}

IndexForm IndexForms::of(const Expr *expression) const { return of(expression, 0); }

IndexForm IndexForms::of(const Expr *expression, unsigned depth) const {
  const auto unknown = [&] {
    IndexForm form = atom("?" + std::to_string(expression->getID(view_.context())));
    form.opaque[form.terms.begin()->first.front()] = expression;
    return form;
  };
  if (const auto value = view_.constant(expression))
    return *value == 0 ? IndexForm() : IndexForm{{{{}, *value}}, {}};
  if (depth > kMostDepth)
    return unknown();
  if (const auto found = coordinate(expression))
    return atom(nameOf(*found));
  expression = expression->IgnoreParens();
  if (const auto *cast = dyn_cast<CastExpr>(expression)) {
    const bool isKept = isLargeInteger(view_, cast->getType()) &&
                        isLargeInteger(view_, cast->getSubExpr()->getType());
    return isKept ? of(cast->getSubExpr(), depth + 1) : unknown();
  }
  if (!isLargeInteger(view_, expression->getType()))
    return unknown();
  if (const auto *reference = dyn_cast<DeclRefExpr>(expression)) {
    const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
    if (const Expr *meaning = definition(variable))
      return of(meaning, depth + 1);
    const bool isParameter = variable && isa<ParmVarDecl>(variable) &&
                             !variable->getType()->isReferenceType() && !isChanged(variable);
    return isParameter ? atom(variable->getName().str()) : unknown();
  }
  const auto *binary = dyn_cast<BinaryOperator>(expression);
  if (!binary)
    return unknown();
  const IndexForm left = of(binary->getLHS(), depth + 1), right = of(binary->getRHS(), depth + 1);
  if (left.terms.size() * right.terms.size() > kMostTerms)
    return unknown();
  IndexForm sum = left;
  switch (binary->getOpcode()) {
  case BO_Add:
  case BO_Sub:
    add(sum, right, binary->getOpcode() == BO_Add ? 1 : -1);
    return sum;
  case BO_Mul:
    return product(left, right);
  case BO_Shl:
    if (const auto bits = view_.constant(binary->getRHS()); bits && *bits >= 0 && *bits < 31)
      return product(left, {{{{}, 1LL << *bits}}, {}});
    return unknown();
  default:
    return unknown();
  }
}

} // namespace kopt::frontend
