// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/coverage/Coverage.h"

#include "clang_plugin/analysis/Ranges.h"
#include "clang_plugin/coverage/CodeBehind.h"
#include "clang_plugin/coverage/Conditions.h"
#include "clang_plugin/coverage/SpecialCases.h"

#include <clang/Frontend/ASTUnit.h>
#include <clang/Lex/Lexer.h>

#include <cmath>
#include <map>
#include <set>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr const char *kVariable = "koptReached";
constexpr unsigned kLongestText = 60;
/// Limit of constants, and of parameters, for one outcome.
constexpr std::size_t kMostDeciding = 12;
/// No block has more threads, so a comparison of threadIdx with a larger number is never true.
constexpr long long kLarge = 1024;

/// Which outcomes of a condition matter, and the code that runs then.
struct Outcomes {
  bool whenTrue = false, whenFalse = false;
  const Stmt *ifTrue = nullptr, *ifFalse = nullptr;
  bool isAssumed = false; ///< the condition is assumed to be true
};

class Marker {
public:
  explicit Marker(const KernelFacts &facts)
      : facts_(facts), view_(facts.view()), values_(facts), ranges_(view_, values_),
        cases_(view_, values_), code_(facts) {}

  void run() {
    for (const BodyView &body : facts_.bodies())
      for (const Stmt *statement : body.statements)
        if (const auto *call = dyn_cast<CallExpr>(statement);
            call && !view_.constant(call) && call->getDirectCallee())
          called_.insert(call->getDirectCallee()->getCanonicalDecl());
    // Called at run time, not only by the compiler.
    for (const BodyView &body : facts_.bodies())
      if (!body.function->isConstexpr() || isa<CXXMethodDecl>(body.function) ||
          called_.contains(body.function->getCanonicalDecl())) {
        isConstexpr_ |= body.function->isConstexpr();
        for (const Stmt *statement : body.statements)
          look(body, statement);
      }
  }

  CoverageClone finish(const std::string &slice) const {
    CoverageClone clone;
    clone.slice = slice;
    clone.variable = kVariable;
    clone.inMacros = inMacros_;
    clone.marks = marks_;
    llvm::stable_sort(clone.marks, [](const CoveragePoint &a, const CoveragePoint &b) {
      return a.line < b.line;
    });
    if (places_.empty())
      return clone;
    clone.bytes = 2 * places_.size();
    const std::string qualifiers = std::string("static __device__ __forceinline__ ") +
                                   (isConstexpr_ ? "constexpr " : ""),
                      set = std::string(isConstexpr_ ? "if (!__builtin_is_constant_evaluated()) "
                                                     : "") +
                            kVariable;
    std::string text = "extern \"C\" { __device__ unsigned char " + std::string(kVariable) + "[" +
                       std::to_string(clone.bytes) + "]; }\n" + qualifiers +
                       "bool koptSeen(bool outcome, unsigned place) { " + set +
                       "[2 * place + outcome] = 1; return outcome; }\n";
    if (hasParts_)
      text += "template <class Part> " + qualifiers +
              "Part koptPart(Part part, unsigned place) { " + set +
              "[2 * place + (part != 0)] = 1; return part; }\n"
              "template <class Part, class Whole> " +
              qualifiers +
              "Part koptRest(Part part, Whole whole, unsigned place) { if (part != whole) " + set +
              "[2 * place] = 1; if (part != 0) " + set +
              "[2 * place + 1] = 1; return part; }\n"
              "template <class Operand, class Part, class Whole> " +
              qualifiers +
              "Operand koptOperand(Operand operand, Part part, Whole whole, unsigned place) { "
              "koptRest(part, whole, place); return operand; }\n";
    std::vector<SliceEdit> edits = {{0, 0, text}};
    // For nested conditions, the outer one opens first and closes last.
    edits.insert(edits.end(), after_.rbegin(), after_.rend());
    edits.insert(edits.end(), before_.begin(), before_.end());
    llvm::stable_sort(edits,
                      [](const SliceEdit &a, const SliceEdit &b) { return a.begin < b.begin; });
    clone.slice = applyEdits(slice, edits);
    return clone;
  }

private:
  void look(const BodyView &body, const Stmt *statement) {
    if (const auto *binary = dyn_cast<BinaryOperator>(statement)) {
      if (binary->isComparisonOp() && binary->getLHS()->getType()->isScalarType() &&
          !isCondition(body, binary)) {
        const bool isAssumed =
            calleeName(dyn_cast_or_null<CallExpr>(body.parentOf(binary))) == "__builtin_assume";
        // For an assumption only the outcome false matters, which the compiler relies on not to
        // occur. Hints about a sign are not marked.
        if (!isAssumed || !isOfOneSign(binary))
          mark(binary, {!isAssumed, true, nullptr, nullptr, isAssumed}); // it decides the result
      } else
        markPart(*binary);
    } else if (const auto *call = dyn_cast<CallExpr>(statement)) {
      markSmaller(*call);
      markHigh(*call);
    } else if (const auto *choice = dyn_cast<BinaryConditionalOperator>(statement)) {
      markZero(choice->getCommon(), true);
    }
    if (const auto *branch = dyn_cast<IfStmt>(statement)) {
      const bool isHint = isUnreachable(branch->getThen()) && isOfOneSign(branch->getCond());
      if (!branch->isConstexpr() && !branch->hasVarStorage() && !isHint)
        mark(branch->getCond(), {true,
                                 branch->getElse() || leaves(branch->getThen()) ||
                                     isTelling(branch->getCond()) || isUnbounded(branch->getCond()),
                                 branch->getThen(), branch->getElse()});
    } else if (isa<ForStmt, WhileStmt, DoStmt>(statement)) {
      const Expr *condition = conditionOf(statement);
      const auto *loop = dyn_cast<WhileStmt>(statement);
      if (condition && !(loop && loop->getConditionVariable()))
        mark(condition, {!isa<DoStmt>(statement), false, statement});
    } else if (const auto *choice = dyn_cast<ConditionalOperator>(statement)) {
      mark(choice->getCond(), {true, true, choice->getTrueExpr(), choice->getFalseExpr()});
    } else if (const auto *binary = dyn_cast<BinaryOperator>(statement);
               binary && binary->isLogicalOp()) {
      for (const Expr *operand : {binary->getLHS(), binary->getRHS()})
        if (isGuardOfValues(body, binary))
          mark(operand, {});
        else if (isTelling(operand) || isUnbounded(operand))
          mark(operand, {true, true});
        else if (const auto *equal = dyn_cast<BinaryOperator>(operand->IgnoreParenImpCasts());
                 equal && equal->isEqualityOp()) // singles out one thread or element
          mark(operand, {equal->getOpcode() == BO_EQ, equal->getOpcode() == BO_NE});
        else if (equal && equal->isComparisonOp() &&
                 (isLarge(equal->getLHS()) || isLarge(equal->getRHS())))
          mark(operand, {true, true});
        else if (equal && equal->isComparisonOp() && binary->getOpcode() == BO_LOr &&
                 tellsData(*equal))
          mark(operand, {true, false}); // a separate way into the branch
        else if (equal && equal->isComparisonOp())
          mark(operand, {});
    } else if (const auto *label = dyn_cast<SwitchCase>(statement)) {
      markCase(body, *label);
    }
  }

  /// True if data are compared with a constant.
  bool tellsData(const BinaryOperator &comparison) const {
    const Ingredients left = values_.of(comparison.getLHS()),
                      right = values_.of(comparison.getRHS());
    return (left.data && right.isConstant()) || (right.data && left.isConstant());
  }

  /// True for a part of `n == 4096 && p == 2` in a branch with an else, whose outcomes are both
  /// required: the same code runs whichever of the arguments has another value.
  bool isGuardOfValues(const BodyView &body, const BinaryOperator *part) const {
    const Stmt *outer = body.parentOf(part);
    for (; isAnd(outer); outer = body.parentOf(outer))
      part = cast<BinaryOperator>(outer);
    const auto *branch = dyn_cast_or_null<IfStmt>(outer);
    return isAnd(part) && branch && branch->getElse() &&
           branch->getCond()->IgnoreParens() == part && asksForValues(part);
  }

  static bool isAnd(const Stmt *statement) {
    const auto *binary = dyn_cast_or_null<BinaryOperator>(statement);
    return binary && binary->getOpcode() == BO_LAnd;
  }

  /// True if each part of a conjunction compares an argument with a constant, or is a flag.
  bool asksForValues(const Expr *part) const {
    const auto *binary = dyn_cast<BinaryOperator>(part->IgnoreParenImpCasts());
    if (isAnd(binary))
      return asksForValues(binary->getLHS()) && asksForValues(binary->getRHS());
    return isOfArguments(part) &&
           (binary ? binary->getOpcode() == BO_EQ && isTelling(binary)
                   : part->IgnoreParenImpCasts()->getType()->isBooleanType());
  }

  /// True for a condition on arguments alone, or one that singles out a value.
  bool isTelling(const Expr *condition) const {
    condition = condition->IgnoreParenImpCasts();
    if (const auto *binary = dyn_cast<BinaryOperator>(condition)) {
      if (binary->isLogicalOp())
        return false; // its operands are examined separately
      if (binary->isEqualityOp() &&
          (view_.constant(binary->getLHS()) || view_.constant(binary->getRHS()) ||
           isa<FloatingLiteral>(binary->getLHS()->IgnoreParenImpCasts()) ||
           isa<FloatingLiteral>(binary->getRHS()->IgnoreParenImpCasts())))
        return !facts_.dependsOnThread(condition) || reads(condition);
    }
    return !facts_.dependsOnThread(condition) && !reads(condition);
  }

  /// True if it compares blocks, indices or sizes with a constant, not with an argument or the
  /// block's size: another launch may exceed the constant although no launch did so far. Thread
  /// coordinates that are compared with at most the largest block size do not count.
  bool isUnbounded(const Expr *condition) const {
    condition = condition->IgnoreParenImpCasts();
    const auto *unary = dyn_cast<UnaryOperator>(condition);
    if (unary && unary->getOpcode() == UO_LNot)
      return isUnbounded(unary->getSubExpr());
    const auto *binary = dyn_cast<BinaryOperator>(condition);
    if (reads(condition) || (binary && binary->isLogicalOp()))
      return false;
    if (!binary || !binary->isComparisonOp()) {
      const Ingredients made = values_.of(condition);
      return !condition->getType()->isBooleanType() && !made.data && !made.isConstant() &&
             !made.isThreadAlone();
    }
    const Expr *left = binary->getLHS(), *right = binary->getRHS();
    const Ingredients ofLeft = values_.of(left), ofRight = values_.of(right);
    if (ofLeft.isConstant() == ofRight.isConstant() || ofLeft.data || ofRight.data)
      return false;
    if ((ofLeft.isConstant() ? ofRight : ofLeft).isThreadAlone())
      return isLarge(left) || isLarge(right);
    return !isTrue(*binary);
  }

  /// True for `x >= 0` and similar comparisons of a coordinate, which are redundant but common.
  bool isTrue(const BinaryOperator &comparison) const {
    const bool isSwapped =
        comparison.getOpcode() == BO_LE || comparison.getOpcode() == BO_GT; // 0 <= x, 0 > x
    const Expr *value = isSwapped ? comparison.getRHS() : comparison.getLHS(),
               *zero = isSwapped ? comparison.getLHS() : comparison.getRHS();
    return comparison.isRelationalOp() && view_.constant(zero) == 0 &&
           values_.isNeverNegative(value);
  }

  /// True for a hint that a size or coordinate is not below 0 or 1, which compilers cannot know.
  bool isOfOneSign(const Expr *condition) const {
    const auto *comparison = dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts());
    if (!comparison || !comparison->isComparisonOp())
      return false;
    const auto isLow = [&](const Expr *value) {
      return view_.constant(value) == 0 || view_.constant(value) == 1;
    };
    return (isLow(comparison->getRHS()) && values_.isNeverNegative(comparison->getLHS())) ||
           (isLow(comparison->getLHS()) && values_.isNeverNegative(comparison->getRHS()));
  }

  bool isLarge(const Expr *expression) const {
    const auto value = view_.constant(expression);
    return value && (*value > kLarge || *value < -kLarge);
  }

  /// True if the value depends on arguments, and not on threads or data, nor only on constants of
  /// the specialization.
  bool isOfArguments(const Expr *value) const {
    return !isFixed(value) && !facts_.dependsOnThread(value) && !reads(value);
  }

  /// True if the value depends on blocks, indices or sizes, and not on data, nor only on constants
  /// or thread coordinates.
  bool isMeasure(const Expr *value) const {
    const Ingredients made = values_.of(value);
    return !isFixed(value) && !made.data && !made.isConstant() && !made.isThreadAlone();
  }

  /// Marks `n >> 20`, `n / 4096`, `n & 0xfffff` and `n % 4096`: a value that is 0 for every size
  /// that was run may be nonzero for others, and an operation that left each size unchanged may
  /// change others, as in `(n << 12) >> 12`.
  void markPart(const BinaryOperator &part) {
    const bool isCompound = part.isCompoundAssignmentOp();
    const BinaryOperatorKind kind =
        isCompound ? BinaryOperator::getOpForCompoundAssignment(part.getOpcode())
                   : part.getOpcode();
    if (!part.getType()->isIntegerType() ||
        (kind != BO_Shr && kind != BO_Div && kind != BO_And && kind != BO_Rem))
      return;
    const Expr *whole = part.getLHS(), *constant = part.getRHS();
    if (kind == BO_And && !isCompound && values_.of(whole).isConstant())
      std::swap(whole, constant);
    if (!whole->getType()->isIntegerType() || !isMeasure(whole) || !isPure(whole) ||
        !values_.of(constant).isConstant() || !constant->getType()->isIntegerType())
      return;
    bool mayBeWhole = kind == BO_And || kind == BO_Rem;
    const auto *raised = dyn_cast<BinaryOperator>(whole->IgnoreParenCasts());
    if (!mayBeWhole && raised && (raised->getOpcode() == BO_Shl || raised->getOpcode() == BO_Mul) &&
        values_.of(raised->getRHS()).isConstant()) {
      whole = raised->getLHS();
      mayBeWhole = true;
    }
    const auto place =
                   facts_.placeOf(isCompound ? constant->getSourceRange() : part.getSourceRange()),
               wholePlace = facts_.placeOf(whole->getSourceRange());
    if (!place || !wholePlace)
      return void(++inMacros_);
    const std::string wholeText = textOf(*wholePlace),
                      left = isCompound ? textOf(*facts_.placeOf(part.getLHS()->getSourceRange()))
                                        : "";
    const unsigned number = enclose(*place, [&](const std::string &own) {
      hasParts_ = true;
      if (!isCompound)
        return std::pair<std::string, std::string>("koptRest(",
                                                   ", " + wholeText + ", " + own + ")");
      const std::string sign = BinaryOperator::getOpcodeStr(kind).str();
      return std::pair<std::string, std::string>("koptOperand(", ", " + left + " " + sign + " (" +
                                                                     textOf(*place) + "), " +
                                                                     wholeText + ", " + own + ")");
    });
    const auto shown =
        isCompound
            ? std::pair(facts_.placeOf(part.getLHS()->getSourceRange())->first, place->second)
            : *place;
    const std::string name = values_.name(whole) + " " + BinaryOperator::getOpcodeStr(kind).str() +
                             " " + values_.name(constant);
    add(2 * number + 1, &part, shown, " is not 0",
        isCompound ? name + " is not 0" : values_.condition(&part).when(true), true, {},
        !cases_.isRest(kind, constant));
    if (mayBeWhole)
      add(2 * number, &part, shown, " is not `" + wholeText + "`", name + " is another", true, {},
          true);
  }

  /// Marks whether the value is ever 0 (if `zeroMatters`) and ever nonzero.
  void markZero(const Expr *value, bool zeroMatters) {
    if (!isMeasure(value))
      return;
    const auto place = facts_.placeOf(value->getSourceRange());
    if (!place)
      return void(++inMacros_);
    const unsigned number = enclose(*place, [&](const std::string &own) {
      hasParts_ = true;
      return std::pair("koptPart(", ", " + own + ")");
    });
    const NamedCondition named = values_.condition(value);
    const bool isSpecial = cases_.is(value) || !zeroMatters;
    add(2 * number + 1, value, *place, " is not 0", named.when(true), true, {}, isSpecial);
    if (zeroMatters)
      add(2 * number, value, *place, " is 0", named.when(false), true, {}, isSpecial);
  }

  /// Marks `__umulhi(n, 4096)`, which acts as a shift.
  void markHigh(const CallExpr &call) {
    static const std::set<llvm::StringRef> kNames = {"__umulhi", "__mulhi", "__umul64hi",
                                                     "__mul64hi"};
    if (kNames.contains(calleeName(&call)))
      markZero(&call, false);
  }

  /// Marks which argument `min(n, 4096)` and similar calls return.
  void markSmaller(const CallExpr &call) {
    if (cudaFunction(&call) != CudaFunction::Smaller || call.getNumArgs() != 2 ||
        !call.getType()->isArithmeticType())
      return;
    const Expr *first = call.getArg(0), *second = call.getArg(1);
    if (!isPure(first) || !isPure(second))
      return; // they are spelled twice
    const auto isKnown = [&](const Expr *value) {
      return isOfArguments(value) || values_.of(value).isConstant();
    };
    const bool isTold = isKnown(first) && isKnown(second) &&
                        !(values_.of(first).isConstant() && values_.of(second).isConstant());
    if (isFixed(&call) || !(isTold || isLarge(first) || isLarge(second)))
      return;
    const auto place = facts_.placeOf(call.getSourceRange()),
               a = facts_.placeOf(first->getSourceRange()),
               b = facts_.placeOf(second->getSourceRange());
    if (!place || !a || !b)
      return void(++inMacros_);
    const unsigned number = enclose(*place, [&](const std::string &own) {
      return std::pair("(koptSeen((" + textOf(*a) + ") < (" + textOf(*b) + "), " + own + "), ",
                       ")");
    });
    const std::string names = values_.name(first) + ", " + values_.name(second);
    const bool isSpecial =
        SpecialCases::isLarge(values_.of(first)) || SpecialCases::isLarge(values_.of(second));
    add(2 * number + 1, &call, *place, " has the smaller first", names + " smaller first", true, {},
        isSpecial);
    add(2 * number, &call, *place, " has the smaller second, or equal ones",
        names + " smaller second", true, {}, isSpecial);
  }

  /// True if it depends only on the specialization and the launch's block, not on arguments or
  /// data.
  bool isFixed(const Expr *condition) const {
    return view_.constant(condition) || isOfBlock(condition);
  }
  void mark(const Expr *condition, Outcomes outcomes) {
    if (isFixed(condition))
      return;
    const auto place = placeOf(condition->getSourceRange());
    if (!place) {
      ++inMacros_;
      return;
    }
    const unsigned number = enclose(*place, [](const std::string &own) {
      return std::pair("koptSeen(static_cast<bool>(", "), " + own + ")");
    });
    const NamedCondition named = values_.condition(condition);
    const auto decided = ranges_.decided(condition); // the other outcome is then impossible
    const bool isSpecial = cases_.is(condition);
    add(2 * number + 1, condition, *place, " is true", named.when(true),
        outcomes.whenTrue && decided.value_or(true), code_.of(outcomes.ifTrue), isSpecial);
    add(2 * number, condition, *place, " is false", named.when(false),
        outcomes.whenFalse && !decided.value_or(false), code_.of(outcomes.ifFalse), isSpecial)
        .assumed |= outcomes.isAssumed;
  }

  std::string textOf(std::pair<unsigned, unsigned> place) const {
    return view_.text().slice(place.first, place.second).str();
  }

  /// The number of the place. For a new place, inserts the texts that `around(number)` returns
  /// before and after it.
  template <class Around> unsigned enclose(std::pair<unsigned, unsigned> place, Around around) {
    const auto [known, isNew] = places_.try_emplace(place, unsigned(places_.size()));
    if (isNew) {
      auto [before, after] = around(std::to_string(known->second));
      before_.push_back({place.first, place.first, before});
      after_.push_back({place.second, place.second, after});
    }
    return known->second;
  }

  /// Where the condition is spelled: in the text, or in the definition of one macro, where an
  /// argument counts at its parameter.
  std::optional<std::pair<unsigned, unsigned>> placeOf(SourceRange range) const {
    if (auto place = facts_.placeOf(range))
      return place;
    const SourceManager &sources = view_.context().getSourceManager();
    SourceLocation from = range.getBegin(), to = range.getEnd();
    const auto areInOneBody = [&] {
      return sources.isMacroBodyExpansion(from) && sources.isMacroBodyExpansion(to) &&
             sources.getFileID(from) == sources.getFileID(to);
    };
    while (!areInOneBody() &&
           (sources.isMacroArgExpansion(from) || sources.isMacroArgExpansion(to))) {
      if (sources.isMacroArgExpansion(from))
        from = sources.getImmediateExpansionRange(from).getBegin();
      if (sources.isMacroArgExpansion(to))
        to = sources.getImmediateExpansionRange(to).getEnd();
    }
    if (!areInOneBody())
      return std::nullopt;
    const auto begin = view_.offset(sources.getSpellingLoc(from)),
               end = view_.offset(Lexer::getLocForEndOfToken(sources.getSpellingLoc(to), 0, sources,
                                                             view_.context().getLangOpts()));
    return begin && end && *begin < *end ? std::optional(std::pair(*begin, *end)) : std::nullopt;
  }

  /// A name for the case: the values of all labels of the statement, and the condition of the
  /// switch.
  std::string nameOf(const BodyView &body, const SwitchCase &label) const {
    std::string text;
    const Stmt *outer = &label;
    for (; outer && !isa<SwitchStmt>(outer); outer = body.parentOf(outer))
      if (const auto *one = dyn_cast<CaseStmt>(outer))
        text += " " + values_.name(one->getLHS()) +
                (one->getRHS() ? " to " + values_.name(one->getRHS()) : "");
      else if (isa<DefaultStmt>(outer))
        text += " default";
    const auto *asking = dyn_cast_or_null<SwitchStmt>(outer);
    return "case" + text + " of " + (asking ? values_.name(asking->getCond()) : "nothing");
  }

  void markCase(const BodyView &body, const SwitchCase &label) {
    const auto place = facts_.placeOf(label.getSubStmt()->getSourceRange());
    if (!place || isa<SwitchCase>(label.getSubStmt()))
      return; // the last of several labels represents all
    // The empty range distinguishes it from a condition that begins and ends where the statement
    // does.
    const auto key = std::pair(place->first, place->first);
    const auto [known, isNew] = places_.try_emplace(key, unsigned(places_.size()));
    if (isNew)
      before_.push_back(
          {place->first, place->first, "koptSeen(true, " + std::to_string(known->second) + "); "});
    const auto *one = dyn_cast<CaseStmt>(&label);
    const Stmt *asking = &label;
    while (asking && !isa<SwitchStmt>(asking))
      asking = body.parentOf(asking);
    const Expr *asked = asking ? cast<SwitchStmt>(asking)->getCond() : nullptr;
    CoveragePoint &mark =
        addNamed(2 * known->second + 1, lineOf(label.getKeywordLoc()),
                 one ? "the case is taken" : "`default` is taken", nameOf(body, label), true,
                 code_.of(body, label), one && asked && cases_.isCase(asked, one->getLHS()));
    decide(mark, asked);
    for (const SwitchCase *other = &label; other;
         other = dyn_cast_or_null<SwitchCase>(body.parentOf(other)))
      if (const auto *labelled = dyn_cast<CaseStmt>(other))
        decide(mark, labelled->getLHS());
  }

  unsigned lineOf(SourceLocation location) const {
    return view_.context().getSourceManager().getExpansionLineNumber(location);
  }

  CoveragePoint &add(unsigned at, const Expr *condition, std::pair<unsigned, unsigned> place,
                     const std::string &outcome, std::string name, bool required = true,
                     const std::string &code = {}, bool special = false) {
    std::string text;
    for (char c : view_.text().slice(place.first, place.second))
      if (!isspace(static_cast<unsigned char>(c)) || (!text.empty() && text.back() != ' '))
        text += isspace(static_cast<unsigned char>(c)) ? ' ' : c;
    if (text.size() > kLongestText) {
      std::size_t end = kLongestText;
      // Do not cut within a character.
      while ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
        --end;
      text = text.substr(0, end) + "…";
    }
    return decide(addNamed(at, lineOf(condition->getBeginLoc()), "`" + text + "`" + outcome,
                           std::move(name), required, code, special),
                  condition);
  }

  /// Adds the ingredients of the value to those that decide the outcome, beginning with the numbers
  /// in its own text.
  CoveragePoint &decide(CoveragePoint &mark, const Expr *value) const {
    const auto add = [](const auto &from, auto &to) {
      for (const auto one : from)
        if (to.size() < kMostDeciding && std::isfinite(double(one)) && !llvm::is_contained(to, one))
          to.push_back(one);
    };
    if (!value)
      return mark;
    const Ingredients made = values_.of(value);
    std::vector<double> own, others(made.numbers.begin(), made.numbers.end());
    addNumbers(value, own);
    llvm::sort(others, [](double a, double b) { return std::abs(a) > std::abs(b); });
    add(own, mark.numbers);
    add(others, mark.numbers);
    add(made.parameters, mark.params);
    mark.blocks |= made.block;
    mark.data |= made.data;
    return mark;
  }

  /// Collects the numbers in an expression; for a flag, those in the expression from which it is
  /// computed.
  void addNumbers(const Stmt *part, std::vector<double> &numbers, unsigned depth = 0) const {
    const auto *value = dyn_cast<Expr>(part);
    if (const auto number = value ? view_.constant(value) : std::nullopt)
      return numbers.push_back(static_cast<double>(*number));
    if (const auto *number = dyn_cast<FloatingLiteral>(part))
      return numbers.push_back(number->getValueAsApproximateDouble());
    const auto *reference = dyn_cast<DeclRefExpr>(part);
    const auto *flag = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    if (flag && flag->getType()->isBooleanType() && depth < 4)
      if (const Expr *source = values_.onlySource(flag))
        addNumbers(source, numbers, depth + 1);
    for (const Stmt *child : part->children())
      if (child)
        addNumbers(child, numbers, depth);
  }

  CoveragePoint &addNamed(unsigned at, unsigned line, std::string what, std::string name,
                          bool required = true, const std::string &code = {},
                          bool special = false) {
    auto known = llvm::find_if(marks_, [&](const CoveragePoint &mark) { return mark.at == at; });
    if (known == marks_.end())
      known = marks_.insert(known, {at, line, std::move(what), {}, {}, false, false});
    known->required |= required;
    known->special |= special;
    if (!llvm::is_contained(known->names, name)) // another instantiation of the same text
      known->names.push_back(std::move(name));
    if (!code.empty() && !llvm::is_contained(known->codes, code))
      known->codes.push_back(code);
    return *known;
  }

  const KernelFacts &facts_;
  const KernelView &view_;
  const Values values_;
  const Ranges ranges_;
  const SpecialCases cases_;
  const CodeBehind code_;
  /// Numbers of conditions, by their range of bytes.
  std::map<std::pair<unsigned, unsigned>, unsigned> places_;
  std::vector<SliceEdit> before_, after_;
  std::vector<CoveragePoint> marks_;
  llvm::DenseSet<const FunctionDecl *> called_; ///< called while the kernel runs
  bool isConstexpr_ = false, hasParts_ = false;
  unsigned inMacros_ = 0;
};

} // namespace

llvm::Expected<CoverageClone> markCoverage(const KernelSource &request) {
  auto slice = openSlice(request);
  if (!slice)
    return slice.takeError();
  const KernelFacts facts(slice->view);
  Marker marker(facts);
  marker.run();
  return marker.finish(request.slice);
}

} // namespace kopt::frontend
