// SPDX-License-Identifier: Apache-2.0
// vectorize: give each thread 2 or 4 neighbouring elements along x, which are loaded and stored at
// once where they are `p[i]` with i = blockIdx.x * b + threadIdx.x. Asks whether the pointers are
// aligned and all elements are within the kernel's guard; if not, they are computed one after the
// other by the former text. Matches kernels of independent threads that begin with declarations and
// a guard `i < bound`. Refuses other uses of the place along x, and accesses under conditions.
#include "clang_plugin/analysis/Writes.h"
#include "clang_plugin/transform/remap/Elements.h"

#include <set>

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
    if (!isForOneType(view_, refusals_) || !body_.read())
      return std::nullopt;
    auto elements = readElements(view_, body_, 0b001, ElementOrder::Adjacent, refusals_);
    if (!elements)
      return std::nullopt;
    for (const GuardTest &test : elements->guard.tests)
      if (test.axis == 0)
        index_ = variableOf(test.index);
    if (index_ && !kernel_.changingVariables().contains(index_))
      findWide(elements->work, /*isInLoop=*/false);
    if (aligned_.empty()) {
      refusals_.add(elements->guard.statement->getBeginLoc(),
                    "no access is to neighbouring places");
      return std::nullopt;
    }
    std::string condition;
    for (const auto &[pointer, element] : aligned_)
      condition += (condition.empty() ? "" : " && ") + std::string("reinterpret_cast<size_t>(") +
                   pointer + ") % (${WIDTH} * sizeof(" + element + ")) == 0";
    ElementWriter writer(view_, body_, std::move(*elements), {"${WIDTH}", "", ""}, refusals_);
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

  void findWide(std::vector<Unit> &units, bool isInLoop) {
    for (Unit &unit : units) {
      findWide(unit.inside, /*isInLoop=*/true);
      if (unit.loop)
        continue;
      for (const Stmt *part : unit.parts)
        if (const auto *access = dyn_cast<ArraySubscriptExpr>(part))
          addWide(*access, unit);
      llvm::erase_if(unit.wide, [&](const WideAccess &each) { return !isPossible(each, unit); });
      if (!isOrdered(unit))
        llvm::erase_if(unit.wide, [&](const WideAccess &each) { return !isFirst(each, unit); });
      for (const WideAccess &each : unit.wide) {
        aligned_.insert({each.pointer->getName().str(), each.element});
        if (!isInLoop)
          valid_.insert(each.pointer);
        largest_ = std::max(largest_, bytesOf(each.pointer->getType()->getPointeeType()));
      }
    }
  }

  /// True if each element certainly has the place, and all of them store to it if one does.
  bool isPossible(const WideAccess &wide, const Unit &unit) const {
    if (wide.isStore)
      return storesAlways(unit.statement, wide.pointer);
    return valid_.contains(wide.pointer) || wide.isAlways;
  }

  /// True if it does not matter that all loads come first and all stores last: there is one store,
  /// behind which the statement has nothing, or nothing else may name what they store to.
  bool isOrdered(const Unit &unit) const {
    for (const Stmt *part : unit.parts) {
      const auto written = writesOf(part);
      if (!written)
        return false;
      for (const Lvalue &each : *written) {
        if (each.isLocal() || (part == unit.statement && writtenBy(part)))
          continue;
        const auto wide = llvm::find_if(unit.wide, [&](const WideAccess &access) {
          return access.isStore && access.pointer == each.variable;
        });
        if (wide == unit.wide.end() || !wide->pointer->getType().isRestrictQualified() ||
            !isOnlyThere(*wide, unit))
          return false;
      }
    }
    return true;
  }

  /// True for loads of a condition, which comes before what the branches do.
  bool isFirst(const WideAccess &wide, const Unit &unit) const {
    const auto *test = dyn_cast<IfStmt>(unit.statement);
    const auto condition = test ? spanOf(view_, test->getCond()->getSourceRange()) : std::nullopt;
    return condition && !wide.isStore &&
           llvm::all_of(wide.places,
                        [&](const TextRange &place) {
                          return condition->begin <= place.begin && place.end <= condition->end;
                        }) &&
           llvm::all_of(unit.parts, [&](const Stmt *part) {
             return !kernel_.isWithin(part, test->getCond()) ||
                    (writesOf(part) && writesOf(part)->empty());
           });
  }

  /// True if the pointer is not copied, and the statement has no other of its elements.
  bool isOnlyThere(const WideAccess &wide, const Unit &unit) const {
    return llvm::none_of(kernel_.statements, [&](const Stmt *part) {
      const auto *reference = dyn_cast<DeclRefExpr>(part);
      if (!reference || reference->getDecl() != wide.pointer)
        return false;
      const Stmt *up = kernel_.parentOf(reference);
      while (isa_and_nonnull<ImplicitCastExpr>(up))
        up = kernel_.parentOf(up);
      const auto begin = view_.offset(reference->getBeginLoc());
      return !isa_and_nonnull<ArraySubscriptExpr>(up) ||
             (kernel_.isWithin(reference, unit.statement) &&
              llvm::none_of(wide.places,
                            [&](const TextRange &place) { return begin == place.begin; }));
    });
  }

  bool storesAlways(const Stmt *statement, const VarDecl *pointer) const {
    if (const auto *test = dyn_cast_or_null<IfStmt>(statement))
      return test->getElse() && storesAlways(test->getThen(), pointer) &&
             storesAlways(test->getElse(), pointer);
    const Expr *target = statement ? writtenBy(statement) : nullptr;
    if (target && targets(target, pointer))
      return true;
    const auto *set = dyn_cast_or_null<BinaryOperator>(statement);
    return (isa_and_nonnull<CompoundStmt, CastExpr, ParenExpr>(statement) ||
            (set && set->isAssignmentOp())) &&
           llvm::any_of(statement->children(),
                        [&](const Stmt *child) { return storesAlways(child, pointer); });
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
      const auto *choice = dyn_cast<AbstractConditionalOperator>(parent);
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
      std::string name;
      for (unsigned i = 0; name.empty() || !names_.insert(name).second; ++i)
        name =
            freshName(view_, pointer->getName().str() + "Part" + (i ? std::to_string(i + 1) : ""));
      unit.wide.push_back(
          {pointer, element.getCanonicalType().getAsString(view_.context().getPrintingPolicy()),
           vector.str(), name});
      wide = std::prev(unit.wide.end());
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
  std::set<std::string> names_;
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
