// SPDX-License-Identifier: Apache-2.0
// vectorize: give each thread 2 or 4 neighbouring elements along x, which are loaded and stored at
// once where they are `p[i]` with i = blockIdx.x * b + threadIdx.x. Asks whether the pointers are
// aligned and all elements are within the kernel's guard; if not, they are computed one after the
// other by the former text. Matches kernels of independent threads that begin with declarations and
// a guard `i < bound`. Refuses other uses of the place along x, and accesses under conditions.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/transform/remap/Elements.h"

namespace kopt::frontend {

using namespace clang;

namespace {

/// "uint" of uint4; empty for types without vectors.
llvm::StringRef vectorOf(QualType element) {
  const auto *builtin = element->getAs<BuiltinType>();
  switch (builtin ? builtin->getKind() : BuiltinType::Void) {
  case BuiltinType::Float:
    return "float";
  case BuiltinType::Double:
    return "double";
  case BuiltinType::Int:
    return "int";
  case BuiltinType::UInt:
    return "uint";
  case BuiltinType::Short:
    return "short";
  case BuiltinType::UShort:
    return "ushort";
  case BuiltinType::SChar:
  case BuiltinType::Char_S:
    return "char";
  case BuiltinType::UChar:
    return "uchar";
  case BuiltinType::Long:
    return "long";
  case BuiltinType::ULong:
    return "ulong";
  case BuiltinType::LongLong:
    return "longlong";
  case BuiltinType::ULongLong:
    return "ulonglong";
  default:
    return "";
  }
}

class Vectorizer {
public:
  Vectorizer(const KernelView &view, Refusals &refusals)
      : view_(view), kernel_(view.work()), refusals_(refusals), body_(view, refusals) {}

  std::optional<Offer> run() {
    if (!body_.read())
      return std::nullopt;
    auto elements = readElements(view_, body_, 0b001, ElementOrder::Adjacent, refusals_);
    if (!elements)
      return std::nullopt;
    for (const GuardTest &test : elements->guard.tests)
      if (test.axis == 0)
        index_ = variableOf(test.index);
    if (index_ && !kernel_.changingVariables().contains(index_))
      findWide(elements->work);
    if (aligned_.empty()) {
      refusals_.add(elements->guard.statement->getBeginLoc(),
                    "no access is to neighbouring places");
      return std::nullopt;
    }
    numberGroups(*elements);
    std::string condition;
    for (const auto &[pointer, element] : aligned_)
      condition += (condition.empty() ? "" : " && ") + std::string("reinterpret_cast<size_t>(") +
                   pointer + ") % (${WIDTH} * sizeof(" + element + ")) == 0";
    ElementWriter writer(view_, body_, *elements, {"${WIDTH}", "", ""}, refusals_);
    const std::string text = writer.write(
        "Each thread has ${WIDTH} neighbouring elements, which are loaded and stored at once.",
        condition);
    if (text.empty())
      return std::nullopt;
    Offer offer{
        "",
        "load and store ${WIDTH} neighbouring elements at once",
        "the launch has to have a thread for each element",
        {{body_.begin, body_.end, text}},
        LaunchChange{{"(gridDim.x + ${WIDTH} - 1) / ${WIDTH}", "gridDim.y", "gridDim.z"}, {}, ""},
        {{"WIDTH", {}}}};
    for (const unsigned width : {4u, 2u})
      if (width * largest_ <= kWidest)
        offer.parameters.front().values.push_back(width);
    if (writer.writesUnroll())
      offer.parameters.push_back({"UNROLL", {2, 4}});
    return offer;
  }

private:
  static constexpr unsigned kWidest = 16; ///< bytes of an access

  void findWide(std::vector<Unit> &units) {
    for (Unit &unit : units) {
      findWide(unit.inside);
      if (unit.loop)
        continue;
      for (const Stmt *part : unit.parts)
        if (const auto *access = dyn_cast<ArraySubscriptExpr>(part))
          addWide(*access, unit);
      llvm::erase_if(unit.wide, [&](const WideAccess &each) { return !isPossible(each, unit); });
      // The stores of one statement have an order of their own.
      if (llvm::count_if(unit.wide, [](const WideAccess &each) {
            return each.isStore && !each.pointer->getType().isRestrictQualified();
          }) > 1)
        unit.wide.clear();
      for (const WideAccess &each : unit.wide) {
        aligned_.insert({each.pointer->getName().str(), each.element});
        valid_.insert(each.pointer);
        largest_ = std::max(largest_, bytesOf(each.pointer->getType()->getPointeeType()));
      }
    }
  }

  /// True if each element certainly has the place, and all of them store to it if one does.
  bool isPossible(const WideAccess &wide, const Unit &unit) const {
    if (wide.isStore)
      return storesAlways(unit.statement, wide.pointer) &&
             (!isa<IfStmt>(unit.statement) || wide.pointer->getType().isRestrictQualified());
    return valid_.contains(wide.pointer) || wide.isAlways;
  }

  bool storesAlways(const Stmt *statement, const VarDecl *pointer) const {
    if (const auto *test = dyn_cast_or_null<IfStmt>(statement))
      return test->getElse() && storesAlways(test->getThen(), pointer) &&
             storesAlways(test->getElse(), pointer);
    const auto *binary = dyn_cast_or_null<BinaryOperator>(statement);
    if (isa_and_nonnull<CompoundStmt>(statement) || (binary && binary->isAssignmentOp()))
      return (binary && targets(binary->getLHS(), pointer)) ||
             llvm::any_of(statement->children(),
                          [&](const Stmt *child) { return storesAlways(child, pointer); });
    const auto *unary = dyn_cast_or_null<UnaryOperator>(statement);
    if (unary && unary->isIncrementDecrementOp())
      return targets(unary->getSubExpr(), pointer);
    const auto *cast = dyn_cast_or_null<CastExpr>(statement);
    return cast && storesAlways(cast->getSubExpr(), pointer);
  }

  static bool targets(const Expr *lvalue, const VarDecl *pointer) {
    const auto *subscript = dyn_cast<ArraySubscriptExpr>(lvalue->IgnoreParens());
    return subscript && variableOf(subscript->getBase()) == pointer;
  }

  unsigned bytesOf(QualType type) const {
    return unsigned(view_.context().getTypeSizeInChars(type).getQuantity());
  }

  /// True if the statement comes there whatever values it meets.
  bool isAlways(const Stmt *access, const Unit &unit) const {
    for (const Stmt *up = access; up != unit.statement;) {
      const Stmt *parent = kernel_.parents.lookup(up);
      const auto *binary = dyn_cast<BinaryOperator>(parent);
      const auto *choice = dyn_cast<ConditionalOperator>(parent);
      const auto *test = dyn_cast<IfStmt>(parent);
      if (!isa<Expr, DeclStmt, IfStmt>(parent) || (choice && choice->getCond() != up) ||
          (binary && binary->isLogicalOp() && binary->getLHS() != up) ||
          (test && test->getCond() != up))
        return false;
      up = parent;
    }
    return isa<Expr, DeclStmt, IfStmt>(unit.statement);
  }

  void addWide(const ArraySubscriptExpr &access, Unit &unit) {
    const auto *base = dyn_cast<DeclRefExpr>(access.getBase()->IgnoreParenImpCasts());
    const auto *pointer = base ? dyn_cast<ParmVarDecl>(base->getDecl()) : nullptr;
    const auto begin = view_.offset(access.getBeginLoc()),
               end = view_.endOffset(access.getEndLoc());
    if (!pointer || pointer->getDeclContext() != kernel_.function || !begin || !end ||
        variableOf(access.getIdx()) != index_)
      return;
    const QualType element = access.getType().getUnqualifiedType();
    const llvm::StringRef vector = vectorOf(element.getCanonicalType());
    if (vector.empty() || bytesOf(element) > kWidest / 2)
      return;
    if (!isa<Expr, DeclStmt, IfStmt>(unit.statement))
      return;
    const Stmt *parent = kernel_.parentOf(&access);
    const auto *cast = dyn_cast_or_null<ImplicitCastExpr>(parent);
    const auto *set = dyn_cast_or_null<BinaryOperator>(parent);
    const auto *step = dyn_cast_or_null<UnaryOperator>(parent);
    const bool isRead = cast && cast->getCastKind() == CK_LValueToRValue,
               isSet = set && set->isAssignmentOp() && set->getLHS()->IgnoreParens() == &access,
               isStepped = step && step->isIncrementDecrementOp();
    if (!isRead && !isSet && !isStepped)
      return;
    auto wide =
        llvm::find_if(unit.wide, [&](const WideAccess &each) { return each.pointer == pointer; });
    if (wide == unit.wide.end()) {
      const PrintingPolicy &policy = view_.context().getPrintingPolicy();
      unit.wide.push_back({pointer, element.getCanonicalType().getAsString(policy), vector.str(),
                           freshName(view_, pointer->getName().str() + "Part")});
      wide = std::prev(unit.wide.end());
      if (const unsigned uses = uses_[pointer]++)
        wide->name += std::to_string(uses + 1);
    }
    wide->isAlways |= isAlways(&access, unit);
    wide->isLoad |= isRead || isStepped || (isSet && set->getOpcode() != BO_Assign);
    wide->isStore |= isSet || isStepped;
    wide->places.push_back({*begin, *end});
  }

  const KernelView &view_;
  const BodyView &kernel_;
  Refusals &refusals_;
  ThreadBody body_;
  const VarDecl *index_ = nullptr;             ///< that the guard tests
  std::map<std::string, std::string> aligned_; ///< pointers with their elements
  std::map<const VarDecl *, unsigned> uses_;
  llvm::DenseSet<const VarDecl *> valid_; ///< pointers whose places were accessed before
  unsigned largest_ = 1;
};

} // namespace

std::vector<Offer> vectorizeOffers(const KernelView &view, Refusals &refusals) {
  const bool isLarge = llvm::any_of(view.launches, [](const LaunchShape &launch) {
    return allThreadsOf(launch) >= 2 * kFewThreads && launch.grid[0] > 3;
  });
  std::vector<Offer> offers;
  if (isLarge)
    if (auto offer = Vectorizer(view, refusals).run())
      offers.push_back(std::move(*offer));
  return offers;
}

} // namespace kopt::frontend
