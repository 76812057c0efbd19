// SPDX-License-Identifier: Apache-2.0
// jam: give each thread the elements of 2 to 8 neighbouring blocks along x, along y or along both,
// computed in step: a loop that all of them run becomes one loop, whose loads they share and whose
// sums become arrays in registers. Where a thread's last element fails the kernel's guard, its
// elements are computed one after the other by the former text. Matches kernels of independent
// threads that begin with declarations and a guard `index < bound` for each axis, with a loop whose
// loads do not all differ. Refuses returns beyond the guard, and variables that cannot be arrays.
#include "clang_plugin/transform/ReductionLoop.h"
#include "clang_plugin/transform/remap/IndexForm.h"
#include "clang_plugin/transform/remap/ThreadBody.h"

namespace kopt::frontend {

using namespace clang;

namespace {

using Axes = unsigned; ///< bit d: it differs between the elements of a thread along axis d

/// One statement: what every element does by itself, or a loop that they run together.
struct Unit {
  const Stmt *statement = nullptr;
  const ForStmt *loop = nullptr; ///< run together; null otherwise
  std::vector<Unit> inside;      ///< of the loop
  std::vector<const Stmt *> parts;
  Axes axes = 0;
  unsigned group = 0; ///< neighbours with the same axes have the same
  unsigned begin = 0, end = 0;
  std::string lead; ///< comments and directives before it
};

class Jammer {
public:
  Jammer(const KernelView &view, Axes merged, Refusals &refusals)
      : view_(view), kernel_(view.bodies().front()), merged_(merged), refusals_(refusals),
        forms_(view, kernel_), body_(view, refusals) {
    for (unsigned axis = 0; axis < 3; ++axis)
      names_[axis] = freshName(view, std::string(1, "jik"[axis]));
  }

  std::optional<Offer> run() {
    if (!body_.read() || !readGuard() || !readUnits() || !findAxes())
      return std::nullopt;
    numberGroups(units_);
    if (!hasSharedLoad(inside_, false)) {
      refuse(guard_, "no loop has loads that several elements of a thread share");
      return std::nullopt;
    }
    if (!findArrays() || !findEdits())
      return std::nullopt;
    Offer offer;
    const bool isPlane = llvm::popcount(merged_) > 1;
    offer.title = "compute " + std::string(isPlane ? "${ROWS} x ${COLUMNS}" : factor(0b111)) +
                  " elements a thread, a block apart" +
                  (isPlane ? "" : std::string(" along ") + "xyz"[llvm::countr_zero(merged_)]) +
                  ", in step";
    offer.note = "the launch has to have a thread for each element";
    offer.edits = {{body_.begin, body_.end, write()}};
    offer.launch = LaunchChange{{"gridDim.x", "gridDim.y", "gridDim.z"}, {}, ""};
    for (unsigned axis = 0; axis < 3; ++axis)
      if (merged_ >> axis & 1)
        offer.launch->grid[axis] = "(gridDim." + std::string(1, "xyz"[axis]) + " + " +
                                   factor(1u << axis) + " - 1) / " + factor(1u << axis);
    if (isPlane)
      offer.parameters = {{"ROWS", {8, 4}}, {"COLUMNS", {8, 4}}};
    else
      offer.parameters = {{"FACTOR", {4, 2, 8}}};
    if (writesUnroll_)
      offer.parameters.push_back({"UNROLL", {2, 4}});
    return offer;
  }

private:
  bool refuse(const Stmt *at, const llvm::Twine &why) {
    refusals_.add(at->getBeginLoc(), why);
    return false;
  }

  /// The number of elements along the first of these axes.
  std::string factor(Axes axes) const {
    return llvm::popcount(merged_) == 1 ? "${FACTOR}" : axes & 1 ? "${COLUMNS}" : "${ROWS}";
  }

  /// `blockIdx.x * b + threadIdx.x` with the width of a block.
  bool isGlobalIndex(const Expr *expression, unsigned axis) const {
    const IndexForm form = forms_.of(expression);
    const auto width = form.factorOf(nameOf({"blockIdx", axis}));
    const auto thread = form.terms.find({nameOf({"threadIdx", axis})});
    return width && form.terms.size() == 2 && thread != form.terms.end() && thread->second == 1 &&
           width->opaque.empty() && llvm::all_of(view_.launches, [&](const LaunchShape &launch) {
             return valueOf(*width, launch) == launch.block[axis];
           });
  }

  /// The guard, its place among the kernel's statements, and that it is one test for each axis.
  bool readGuard() {
    const auto *block = cast<CompoundStmt>(kernel_.function->getBody());
    const auto found =
        llvm::find_if(block->body(), [](const Stmt *each) { return isa<IfStmt>(each); });
    guard_ = found == block->body_end() ? nullptr : cast<IfStmt>(*found);
    if (!guard_ || guard_->getElse() || guard_->getInit() || guard_->getConditionVariable()) {
      refusals_.add("it does not begin with a test of its index");
      return false;
    }
    const Stmt *then = guard_->getThen();
    if (const auto *only = dyn_cast<CompoundStmt>(then); only && only->size() == 1)
      then = only->body_front();
    leaves_ = isa<ReturnStmt>(then);
    if (!leaves_ && block->body_back() != guard_)
      return refuse(guard_, "the test of its index is not around the whole work");
    Axes guarded = 0;
    if (!readTest(guard_->getCond(), guarded))
      return false;
    return (guarded & merged_) == merged_ ||
           refuse(guard_, "it does not test each index against a bound");
  }

  bool readTest(const Expr *test, Axes &guarded) {
    const auto *binary = dyn_cast<BinaryOperator>(test->IgnoreParenImpCasts());
    if (binary && binary->getOpcode() == (leaves_ ? BO_LOr : BO_LAnd))
      return readTest(binary->getLHS(), guarded) && readTest(binary->getRHS(), guarded);
    const bool ofBlock = forms_.mentions(test, [&](const Expr *part) {
      const auto found = coordinate(part);
      return found && found->variable == "blockIdx" && (merged_ >> found->dimension & 1);
    });
    if (!ofBlock)
      return true;
    if (!binary || binary->getOpcode() != (leaves_ ? BO_GE : BO_LT) ||
        !forms_.isFixed(binary->getRHS()))
      return refuse(guard_, "it does not compare a fixed index with a fixed bound");
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (!isGlobalIndex(binary->getLHS(), axis))
        continue;
      guarded |= 1u << axis;
      const IndexForm bound = forms_.of(binary->getRHS());
      for (const LaunchShape &launch : view_.launches)
        if (const auto elements = valueOf(bound, launch);
            elements && *elements > std::int64_t{launch.grid[axis]} * launch.block[axis])
          return refuse(guard_, "a launch has fewer threads than elements");
      return true;
    }
    return refuse(guard_, "the index is not blockIdx * blockDim + threadIdx");
  }

  bool readUnits() {
    const auto *block = cast<CompoundStmt>(kernel_.function->getBody());
    std::vector<const Stmt *> before, behind;
    bool isBefore = true;
    for (const Stmt *each : block->body()) {
      if (each == guard_) {
        isBefore = false;
        if (!leaves_)
          behind.push_back(guard_->getThen());
        continue;
      }
      (isBefore ? before : behind).push_back(each);
    }
    for (const Stmt *each : kernel_.statements)
      if (isa<ReturnStmt>(each) && !(leaves_ && kernel_.isWithin(each, guard_)))
        return refuse(each, "it returns beyond its guard");
    unsigned place = body_.begin;
    if (!addUnits(before, place, units_))
      return false;
    place = *view_.endOffset(guard_->getRParenLoc());
    if (leaves_) {
      const auto end = endOf(guard_);
      if (!end)
        return refuse(guard_, "a macro spells the guard");
      place = *end;
    }
    return addUnits(behind, place, inside_);
  }

  /// Behind the semicolon or the brace.
  std::optional<unsigned> endOf(const Stmt *statement) const {
    const auto end = view_.endOffset(statement->getEndLoc());
    if (!end)
      return std::nullopt;
    const char last = view_.text()[*end - 1];
    if (last == ';' || (last == '}' && !isa<Expr>(statement)))
      return end;
    const llvm::StringRef rest = view_.text().drop_front(*end);
    const std::size_t blanks = rest.size() - rest.ltrim().size();
    return rest.substr(blanks).starts_with(";") ? std::optional(unsigned(*end + blanks + 1))
                                                : std::nullopt;
  }

  /// `place`: the end of what stands before.
  bool addUnits(llvm::ArrayRef<const Stmt *> statements, unsigned &place,
                std::vector<Unit> &units) {
    for (const Stmt *each : statements) {
      if (const auto *block = dyn_cast<CompoundStmt>(each)) {
        if (const auto open = view_.endOffset(block->getLBracLoc()))
          place = *open;
        if (!addUnits({block->body_begin(), block->body_end()}, place, units))
          return false;
        place = view_.endOffset(block->getRBracLoc()).value_or(place);
        continue;
      }
      const auto *labelled = dyn_cast<AttributedStmt>(each);
      const Stmt *bare = labelled ? labelled->getSubStmt() : each;
      const auto begin = view_.offset(bare->getBeginLoc()), end = endOf(bare);
      if (!begin || !end || *begin < place)
        return refuse(each, "a macro spells a statement");
      Unit unit{each, nullptr, {}, {}, 0, 0, *begin, *end, ""};
      unit.lead = view_.text().slice(place, *begin).trim().str();
      const auto *loop = dyn_cast<ForStmt>(bare);
      if (loop && !apart_.contains(loop) && isShared(*loop)) {
        unit.loop = loop;
        unsigned inner = *view_.endOffset(loop->getRParenLoc());
        if (!addUnits({loop->getBody()}, inner, unit.inside))
          return false;
      }
      for (const Stmt *part : kernel_.statements)
        if (kernel_.isWithin(part, bare) && !(unit.loop && kernel_.isWithin(part, loop->getBody())))
          unit.parts.push_back(part);
      place = *end;
      units.push_back(std::move(unit));
    }
    return true;
  }

  /// False for a loop that is left, or whose head is of a macro.
  bool isShared(const ForStmt &loop) const {
    return view_.endOffset(loop.getRParenLoc()) && view_.offset(loop.getBody()->getBeginLoc()) &&
           llvm::none_of(kernel_.statements, [&](const Stmt *each) {
             if (!isa<BreakStmt, ContinueStmt>(each) || !kernel_.isWithin(each, &loop))
               return false;
             const Stmt *up = kernel_.parents.lookup(each);
             while (!isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(up) &&
                    !(isa<SwitchStmt>(up) && isa<BreakStmt>(each)))
               up = kernel_.parents.lookup(up);
             return up == &loop;
           });
  }

  /// Until nothing changes: what depends on the element, through variables. A loop whose head does
  /// is not run together.
  bool findAxes() {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (std::vector<Unit> *units : {&units_, &inside_})
        if (!spread(*units, isChanged))
          return false;
      if (headOfElement_) {
        apart_.insert(headOfElement_);
        headOfElement_ = nullptr;
        axes_.clear();
        units_.clear();
        inside_.clear();
        if (!readUnits())
          return false;
        isChanged = true;
      }
    }
    for (const Unit &unit : units_)
      if (!isa<DeclStmt>(unit.statement) || hasEffect(unit))
        return refuse(unit.statement, "it does more than declare before its guard");
    return true;
  }

  bool spread(std::vector<Unit> &units, bool &isChanged) {
    for (Unit &unit : units) {
      Axes axes = hasEffect(unit) ? merged_ : axesOf(unit.parts);
      if (unit.loop) {
        if (axes != 0)
          headOfElement_ = unit.loop;
        if (!spread(unit.inside, isChanged))
          return false;
        continue;
      }
      isChanged |= axes != unit.axes;
      unit.axes = axes;
      for (const Stmt *part : unit.parts) {
        if (isa<LambdaExpr>(part))
          return refuse(part, "the kernel has a lambda");
        const auto *reference = dyn_cast<DeclRefExpr>(part);
        if (const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
            variable && variable->hasLocalStorage() && body_.mayChange(reference))
          join(variable, axes, isChanged);
        if (const auto *declared = dyn_cast<DeclStmt>(part))
          for (const Decl *each : declared->decls())
            if (const auto *variable = dyn_cast<VarDecl>(each))
              join(variable, axes, isChanged);
      }
    }
    return true;
  }

  void join(const VarDecl *variable, Axes axes, bool &isChanged) {
    Axes &known = axes_[variable];
    isChanged |= (known | axes) != known;
    known |= axes;
  }

  Axes axesOf(llvm::ArrayRef<const Stmt *> parts) const {
    Axes axes = 0;
    for (const Stmt *part : parts) {
      if (const auto found = coordinate(dyn_cast<Expr>(part));
          found && found->variable == "blockIdx")
        axes |= 1u << found->dimension & merged_;
      if (const auto *reference = dyn_cast<DeclRefExpr>(part))
        axes |= axes_.lookup(dyn_cast<VarDecl>(reference->getDecl()));
      if (const auto *declared = dyn_cast<DeclStmt>(part))
        for (const Decl *each : declared->decls())
          axes |= axes_.lookup(dyn_cast<VarDecl>(each));
    }
    return axes;
  }

  /// True if it may change more than local variables: each element has to do it.
  bool hasEffect(const Unit &unit) const {
    return llvm::any_of(unit.parts, [&](const Stmt *part) {
      const auto *binary = dyn_cast<BinaryOperator>(part);
      const auto *unary = dyn_cast<UnaryOperator>(part);
      const Expr *target = binary && binary->isAssignmentOp()         ? binary->getLHS()
                           : unary && unary->isIncrementDecrementOp() ? unary->getSubExpr()
                                                                      : nullptr;
      if (target)
        return !isLocal(target);
      if (const auto *construct = dyn_cast<CXXConstructExpr>(part))
        return !construct->getConstructor()->isTrivial();
      const auto *call = dyn_cast<CallExpr>(part);
      if (!call || coordinate(call))
        return false;
      const FunctionDecl *callee = call->getDirectCallee();
      return !callee || !writesOnlyThroughParameters(*callee) ||
             llvm::any_of(callee->parameters(), [](const ParmVarDecl *parameter) {
               const QualType pointee = parameter->getType()->getPointeeType();
               return !pointee.isNull() && !pointee.isConstQualified();
             });
    });
  }

  /// A local variable, or a part of one.
  static bool isLocal(const Expr *lvalue) {
    lvalue = lvalue->IgnoreParenImpCasts();
    if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(lvalue))
      return subscript->getBase()->IgnoreParenImpCasts()->getType()->isArrayType() &&
             isLocal(subscript->getBase());
    if (const auto *member = dyn_cast<MemberExpr>(lvalue))
      return !member->isArrow() && isLocal(member->getBase());
    const auto *reference = dyn_cast<DeclRefExpr>(lvalue);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    return variable && variable->hasLocalStorage() && !variable->getType()->isReferenceType();
  }

  void numberGroups(std::vector<Unit> &units) {
    const Unit *last = nullptr;
    for (Unit &unit : units) {
      const bool isNext = last && !last->loop && !unit.loop && last->axes == unit.axes;
      unit.group = isNext ? last->group : ++groups_;
      numberGroups(unit.inside);
      last = &unit;
    }
    if (&units == &units_)
      numberGroups(inside_);
  }

  /// True if a load in a loop that is run together is the same for several elements.
  bool hasSharedLoad(const std::vector<Unit> &units, bool isInLoop) const {
    return llvm::any_of(units, [&](const Unit &unit) {
      if (unit.loop)
        return hasSharedLoad(unit.inside, true);
      return isInLoop && llvm::any_of(unit.parts, [&](const Stmt *part) {
               const auto *load = dyn_cast<ImplicitCastExpr>(part);
               if (!load || load->getCastKind() != CK_LValueToRValue ||
                   isLocal(load->getSubExpr()) || coordinate(load))
                 return false;
               std::vector<const Stmt *> inner;
               for (const Stmt *each : unit.parts)
                 if (kernel_.isWithin(each, load))
                   inner.push_back(each);
               return axesOf(inner) != merged_;
             });
    });
  }

  /// The variables that outlive the turns of one loop over elements.
  bool findArrays() {
    llvm::DenseMap<const VarDecl *, const Unit *> declaring;
    bool isGood = true;
    const auto visit = [&](const auto &self, const std::vector<Unit> &units) -> void {
      for (const Unit &unit : units) {
        if (const auto *declared = dyn_cast<DeclStmt>(unit.statement))
          for (const Decl *each : declared->decls())
            if (const auto *variable = dyn_cast<VarDecl>(each))
              declaring[variable] = &unit;
        for (const Stmt *part : unit.parts)
          if (const auto *reference = dyn_cast<DeclRefExpr>(part)) {
            const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
            const Unit *home = declaring.lookup(variable);
            if (home && axes_.lookup(variable) != 0 && home->group != unit.group)
              isGood = isGood && addArrays(*cast<DeclStmt>(home->statement));
          }
        self(self, unit.inside);
      }
    };
    visit(visit, units_);
    for (const Stmt *part : kernel_.statements)
      if (const auto *reference = dyn_cast<DeclRefExpr>(part);
          reference && kernel_.isWithin(part, guard_->getCond()))
        if (const Unit *home = declaring.lookup(dyn_cast<VarDecl>(reference->getDecl()));
            home && home->axes != 0)
          isGood = isGood && addArrays(*cast<DeclStmt>(home->statement));
    visit(visit, inside_);
    return isGood;
  }

  bool addArrays(const DeclStmt &declaration) {
    const auto *first = dyn_cast<VarDecl>(*declaration.decl_begin());
    if (!first || arrays_.contains(first))
      return first != nullptr;
    const auto begin = view_.offset(declaration.getBeginLoc()),
               name = view_.offset(first->getLocation());
    std::string type = begin && name ? view_.text().slice(*begin, *name).str() : "";
    for (const Decl *each : declaration.decls()) {
      const auto *variable = cast<VarDecl>(each);
      const QualType kind = variable->getType();
      const auto *record = kind->getAsCXXRecordDecl();
      const bool isPlain = kind->isArithmeticType() || kind->isPointerType() ||
                           kind->isEnumeralType() || (record && record->isTrivial()) ||
                           (kind->isConstantArrayType() && !variable->hasInit());
      const bool isAlone =
          declaration.isSingleDecl() || (!kind->isPointerType() && !kind->isConstantArrayType());
      if (type.empty() || !isPlain || !isAlone || type.find("auto") != std::string::npos ||
          variable->isStaticLocal() ||
          (variable->hasInit() && (variable->getInitStyle() != VarDecl::CInit ||
                                   isa<InitListExpr>(variable->getInit()))) ||
          (kind->isPointerType() && kind.isConstQualified()))
        return refuse(&declaration, "'" + variable->getName() + "' cannot be an array");
      if (kind.isConstQualified())
        if (const std::size_t at = type.find("const "); at != std::string::npos)
          type.erase(at, 6);
      arrays_.insert({variable, type});
    }
    return true;
  }

  bool findEdits() {
    for (const CoordinateUse &use : body_.uses()) {
      const bool isMerged = merged_ >> use.coordinate.dimension & 1;
      if (!isMerged || use.coordinate.variable == "threadIdx" ||
          use.coordinate.variable == "blockDim")
        continue;
      if (use.body != &kernel_ || use.coordinate.variable == "gridDim")
        return refuse(use.expression, "the number of blocks, or which one it is, has another use");
      const Axes axis = 1u << use.coordinate.dimension;
      const std::string element =
          "(" + view_.text().slice(use.begin, use.end).str() + " * " + factor(axis) + " + ";
      coordinates_.push_back(
          {use.begin, use.end, element + names_[use.coordinate.dimension] + ")"});
      last_.push_back({use.begin, use.end, element + factor(axis) + " - 1)"});
    }
    edits_ = coordinates_;
    llvm::DenseSet<unsigned> seen;
    for (const Stmt *part : kernel_.statements) {
      const auto *reference = dyn_cast<DeclRefExpr>(part);
      const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
      if (!variable || !arrays_.contains(variable))
        continue;
      const auto end = view_.endOffset(reference->getLocation());
      if (!end)
        return refuse(part, "a macro spells '" + variable->getName() + "'");
      if (!seen.insert(*end).second)
        continue;
      std::string element, last;
      for (unsigned axis : {2u, 1u, 0u})
        if (axes_.lookup(variable) >> axis & 1) {
          element += "[" + names_[axis] + "]";
          last += "[" + factor(1u << axis) + " - 1]";
        }
      edits_.push_back({*end, *end, element});
      last_.push_back({*end, *end, last});
    }
    return true;
  }

  // ---- text

  std::string write() {
    const std::string &in = body_.inner, deeper = in + body_.step;
    std::string text = "\n" + in + "// Each thread has the elements of " +
                       (llvm::popcount(merged_) > 1 ? "${ROWS} x ${COLUMNS}" : "${FACTOR}") +
                       " blocks, and computes them in step.\n";
    write(units_, in, text);
    const unsigned begin = *view_.offset(guard_->getCond()->getBeginLoc()),
                   end = *view_.endOffset(guard_->getCond()->getEndLoc());
    const std::string test = body_.edited(begin, end, last_);
    text += in + "if (" + (leaves_ ? "!(" + test + ")" : test) + ") {\n";
    write(inside_, deeper, text);
    text += deeper + "return;\n" + in + "}\n";
    // One after the other.
    std::string margin = in;
    for (unsigned axis : {2u, 1u, 0u})
      if (merged_ >> axis & 1) {
        text += "#pragma unroll 1\n" + margin + head(axis) + "\n";
        margin += body_.step;
      }
    text.insert(text.size() - 1, " {");
    std::vector<SliceEdit> edits = coordinates_;
    edits.insert(edits.end(), body_.returns().begin(), body_.returns().end());
    const std::string former =
        body_.indented(body_.edited(body_.begin, body_.end, std::move(edits)));
    margin.resize(margin.size() - body_.step.size());
    return text + moved(llvm::StringRef(former).rtrim(), in, margin) + margin + "}\n" + body_.outer;
  }

  std::string head(unsigned axis) const {
    return "for (int " + names_[axis] + " = 0; " + names_[axis] + " < " + factor(1u << axis) +
           "; ++" + names_[axis] + ")";
  }

  /// The lines of a text, the first of which had a margin, with another.
  static std::string moved(llvm::StringRef text, llvm::StringRef from, llvm::StringRef to) {
    std::string result;
    llvm::SmallVector<llvm::StringRef> lines;
    text.split(lines, '\n');
    for (llvm::StringRef line : lines) {
      line.consume_front(from);
      result += (line.trim().empty() || line.starts_with("#") ? "" : to.str()) +
                line.rtrim().str() + "\n";
    }
    return result;
  }

  void write(const std::vector<Unit> &units, const std::string &margin, std::string &text) {
    for (std::size_t i = 0; i < units.size();) {
      const Unit &unit = units[i];
      if (unit.loop) {
        writeLoop(unit, margin, text);
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < units.size() && units[end].group == unit.group)
        ++end;
      writeGroup({&units[i], end - i}, margin, text);
      i = end;
    }
  }

  void writeLoop(const Unit &unit, const std::string &margin, std::string &text) {
    if (!unit.lead.empty())
      text += moved(unit.lead, view_.indentation(unit.begin), margin);
    const bool isInnermost =
        llvm::none_of(unit.inside, [](const Unit &each) { return each.loop != nullptr; });
    if (isInnermost && !llvm::StringRef(unit.lead).contains("#pragma")) {
      text += "#pragma unroll ${UNROLL}\n";
      writesUnroll_ = true;
    }
    const unsigned end = *view_.endOffset(unit.loop->getRParenLoc());
    text += margin + view_.text().slice(unit.begin, end).str() + " {\n";
    write(unit.inside, margin + body_.step, text);
    text += margin + "}\n";
  }

  void writeGroup(llvm::ArrayRef<Unit> units, const std::string &margin, std::string &text) {
    const Axes axes = units.front().axes;
    std::string declared, done, inner = margin;
    for (const unsigned axis : {2u, 1u, 0u})
      if (axes >> axis & 1)
        inner += body_.step;
    const bool isMany = axes != 0 && units.size() > 1;
    for (const Unit &unit : units) {
      const std::string old = view_.indentation(unit.begin);
      if (!unit.lead.empty())
        (axes && !isMany ? declared : done) +=
            moved(unit.lead, old, axes && !isMany ? margin : inner);
      const auto *declaration = dyn_cast<DeclStmt>(unit.statement);
      const auto *first = declaration ? dyn_cast<VarDecl>(*declaration->decl_begin()) : nullptr;
      if (!first || !arrays_.contains(first)) {
        done += moved(body_.edited(unit.begin, unit.end, edits_), old, inner);
        continue;
      }
      for (const Decl *each : declaration->decls())
        writeArray(*cast<VarDecl>(each), margin, inner, declared, done);
    }
    text += declared;
    if (done.empty())
      return;
    std::string at = margin;
    for (const unsigned axis : {2u, 1u, 0u})
      if (axes >> axis & 1) {
        text += "#pragma unroll\n" + at + head(axis) + "\n";
        at += body_.step;
      }
    const bool isBraced = axes != 0 && llvm::StringRef(done).rtrim().contains('\n');
    if (isBraced)
      text.insert(text.size() - 1, " {");
    text += done;
    if (isBraced)
      text += margin + std::string(at.size() - margin.size() - body_.step.size(), ' ') + "}\n";
  }

  void writeArray(const VarDecl &variable, const std::string &margin, const std::string &inner,
                  std::string &declared, std::string &done) const {
    std::string sizes, element;
    for (const unsigned axis : {2u, 1u, 0u})
      if (axes_.lookup(&variable) >> axis & 1) {
        sizes += "[" + factor(1u << axis) + "]";
        element += "[" + names_[axis] + "]";
      }
    const std::string name = variable.getName().str();
    const auto place = *view_.endOffset(variable.getLocation());
    if (variable.getType()->isConstantArrayType())
      sizes += view_.text().slice(place, *view_.endOffset(variable.getEndLoc())).str();
    declared += margin + arrays_.lookup(&variable) + name + sizes + ";\n";
    if (const Expr *value = variable.getInit(); value && !isa<CXXConstructExpr>(value))
      done += inner + name + element + " = " +
              body_.edited(*view_.offset(value->getBeginLoc()),
                           *view_.endOffset(value->getEndLoc()), edits_) +
              ";\n";
  }

  const KernelView &view_;
  const BodyView &kernel_;
  const Axes merged_;
  Refusals &refusals_;
  const IndexForms forms_;
  ThreadBody body_;
  const IfStmt *guard_ = nullptr;
  bool leaves_ = false; ///< `if (…) return;`, otherwise the work stands in it
  std::vector<Unit> units_, inside_;
  llvm::DenseMap<const VarDecl *, Axes> axes_;
  llvm::DenseSet<const ForStmt *> apart_; ///< loops that each element runs by itself
  const ForStmt *headOfElement_ = nullptr;
  llvm::DenseMap<const VarDecl *, std::string> arrays_; ///< with their types
  std::string names_[3];
  unsigned groups_ = 0;
  /// Of an element, of the last element, and of coordinates alone.
  std::vector<SliceEdit> edits_, last_, coordinates_;
  bool writesUnroll_ = false;
};

} // namespace

std::vector<Offer> jamOffers(const KernelView &view, Refusals &refusals) {
  std::vector<Offer> offers;
  for (const Axes merged : {0b011u, 0b010u, 0b001u}) {
    const bool isLarge = llvm::any_of(view.launches, [&](const LaunchShape &launch) {
      return std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2] * launch.block[0] *
                 launch.block[1] * launch.block[2] >=
             2ull * kFewThreads * llvm::popcount(merged) * llvm::popcount(merged);
    });
    const bool hasBlocks = llvm::any_of(view.launches, [&](const LaunchShape &launch) {
      return (!(merged & 1) || launch.grid[0] > 3) && (!(merged & 2) || launch.grid[1] > 3);
    });
    if (!isLarge || !hasBlocks)
      continue;
    if (auto offer = Jammer(view, merged, refusals).run())
      offers.push_back(std::move(*offer));
  }
  return offers;
}

} // namespace kopt::frontend
