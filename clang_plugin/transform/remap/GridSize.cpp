// SPDX-License-Identifier: Apache-2.0
// grid-size: launch more blocks, or fewer, of a kernel whose loops stride over the grid. Matches
// kernels in which blockIdx goes only into the start and gridDim only into the step of such loops:
// start = blockIdx.x * b + t and step = gridDim.x * b, whatever b and t are. Then a grid of any
// size has the same turns of the loops, dealt out to its blocks in another way. Refuses loops that
// are left early, stores that do not depend on the turn, and threads that depend on each other
// where there is only one block. Blocks that wait for others have to run at once: a limit of the
// grid.
#include "clang_plugin/analysis/CudaFunctions.h"
#include "clang_plugin/transform/remap/IndexForm.h"
#include "clang_plugin/transform/remap/ThreadBody.h"
#include "runtime/device/GpuLimits.h"

#include <clang/AST/Attr.h>

#include <numeric>

namespace kopt::frontend {

using namespace clang;

namespace {

/// A loop whose threads take every gridDim-th turn.
struct GridLoop {
  const Stmt *loop = nullptr, *body = nullptr;
  const VarDecl *counter = nullptr;
  const Expr *start = nullptr, *step = nullptr, *bound = nullptr;
  const Stmt *stepping = nullptr; ///< the statement that adds the step
  IndexForm width;                ///< how much further the next block begins
};

/// The amount in `i += amount` or `i = i + amount`.
const Expr *amountOf(const Stmt *statement, const VarDecl *&counter) {
  const auto *binary = dyn_cast_or_null<BinaryOperator>(statement);
  counter = binary ? variableOf(binary->getLHS()) : nullptr;
  if (!counter)
    return nullptr;
  if (binary->getOpcode() == BO_AddAssign)
    return binary->getRHS();
  const auto *sum = binary->getOpcode() == BO_Assign
                        ? dyn_cast<BinaryOperator>(binary->getRHS()->IgnoreParenImpCasts())
                        : nullptr;
  if (!sum || sum->getOpcode() != BO_Add)
    return nullptr;
  return variableOf(sum->getLHS()) == counter   ? sum->getRHS()
         : variableOf(sum->getRHS()) == counter ? sum->getLHS()
                                                : nullptr;
}

/// The bound in `i < bound`, `i <= bound` and their mirror images.
const Expr *boundOf(const Expr *condition, const VarDecl *counter) {
  const auto *binary =
      condition ? dyn_cast<BinaryOperator>(condition->IgnoreParenImpCasts()) : nullptr;
  if (!binary)
    return nullptr;
  const BinaryOperatorKind kind = binary->getOpcode();
  if (variableOf(binary->getLHS()) == counter)
    return kind == BO_LT || kind == BO_LE ? binary->getRHS() : nullptr;
  return variableOf(binary->getRHS()) == counter && (kind == BO_GT || kind == BO_GE)
             ? binary->getLHS()
             : nullptr;
}

/// The strided loops of a body along one dimension, and whether the grid may have another size
/// there.
class GridLoops {
public:
  GridLoops(const KernelView &view, const BodyView &body, unsigned dimension, Refusals &refusals)
      : view_(view), body_(body), forms_(view, body), refusals_(refusals),
        block_(nameOf({"blockIdx", dimension})), grid_(nameOf({"gridDim", dimension})) {
    for (const Stmt *statement : body.statements) {
      if (const auto *declaration = dyn_cast<DeclStmt>(statement))
        for (const Decl *each : declaration->decls())
          if (const auto *variable = dyn_cast<VarDecl>(each))
            declarations_[variable] = statement;
      if (const auto *binary = dyn_cast<BinaryOperator>(statement);
          binary && binary->getOpcode() == BO_Assign)
        assignments_.push_back(binary);
      addLoop(statement);
    }
  }

  /// False, with a refusal, if something but the loops depends on the grid.
  bool check() {
    return llvm::all_of(body_.statements, [&](const Stmt *each) { return checkUse(each); }) &&
           (loops_.empty() ||
            llvm::all_of(body_.statements, [&](const Stmt *each) { return checkEffect(each); }));
  }

  const std::vector<GridLoop> &loops() const { return loops_; }
  const IndexForms &forms() const { return forms_; }
  /// Each turn computes the same whichever thread it is given to.
  bool isProven() const { return isProven_ && areApart_; }
  /// The turns store to places that are certainly different ones.
  bool areApart() const { return areApart_; }

private:
  bool refuse(const Stmt *at, const llvm::Twine &why) {
    refusals_.add(at->getBeginLoc(), why);
    return false;
  }

  bool isOfGrid(const Stmt *expression) const {
    return forms_.mentions(expression, [&](const Expr *part) {
      const auto found = coordinate(part);
      return found && (nameOf(*found) == block_ || nameOf(*found) == grid_);
    });
  }

  void addLoop(const Stmt *statement) {
    GridLoop found;
    const Expr *condition = nullptr;
    if (const auto *loop = dyn_cast<ForStmt>(statement)) {
      found.body = loop->getBody();
      condition = loop->getCond();
      found.stepping = loop->getInc();
      if (const auto *assigned = dyn_cast_or_null<BinaryOperator>(loop->getInit());
          assigned && assigned->getOpcode() == BO_Assign) {
        found.counter = variableOf(assigned->getLHS());
        found.start = assigned->getRHS();
      }
    } else if (const auto *loop = dyn_cast<WhileStmt>(statement)) {
      found.body = loop->getBody();
      condition = loop->getCond();
    }
    if (!condition)
      return;
    // Without a third part the last statement steps.
    const auto *block = dyn_cast_or_null<CompoundStmt>(found.body);
    if (!found.stepping && block && !block->body_empty())
      found.stepping = block->body_back();
    const VarDecl *counter = nullptr;
    found.loop = statement;
    found.step = amountOf(found.stepping, counter);
    if (!found.step || (found.start && counter != found.counter))
      return;
    found.counter = counter;
    if (!found.start)
      found.start = counter->getInit();
    found.bound = boundOf(condition, counter);
    if (!found.start || !found.bound || !isOfGrid(found.start) || !isOfGrid(found.step) ||
        !counter->isLocalVarDecl() || !counter->getType()->isIntegerType())
      return;
    const IndexForm start = forms_.of(found.start), step = forms_.of(found.step);
    const auto width = start.factorOf(block_), stride = step.factorOf(grid_);
    IndexForm rest = start;
    std::erase_if(rest.terms,
                  [&](const auto &term) { return llvm::is_contained(term.first, block_); });
    const bool isWhole = stride && llvm::all_of(step.terms, [&](const auto &term) {
                           return llvm::is_contained(term.first, grid_);
                         });
    const auto isTied = [&](const IndexForm &form) {
      return form.has(block_) || form.has(grid_) ||
             llvm::any_of(form.opaque, [&](const auto &part) { return isOfGrid(part.second); });
    };
    if (!width || !isWhole || !(*width == *stride) || isTied(*width) || isTied(rest))
      return;
    found.width = *width;
    loops_.push_back(std::move(found));
  }

  bool isIn(const Stmt *statement, const Stmt *outer) const {
    while (statement && statement != outer)
      statement = body_.parents.lookup(statement);
    return statement;
  }

  const GridLoop *loopAround(const Stmt *statement) const {
    for (const GridLoop &loop : loops_)
      if (isIn(statement, loop.body))
        return &loop;
    return nullptr;
  }

  /// True if the grid's number or size, as this, is needed for a loop alone.
  bool servesALoop(const Stmt *use) const {
    for (const GridLoop &loop : loops_) {
      if (isIn(use, loop.start) || isIn(use, loop.step))
        return true;
      const auto *reference = dyn_cast<DeclRefExpr>(use);
      if (reference && reference->getDecl() == loop.counter && isIn(use, loop.loop))
        return true;
    }
    // Or it defines a local whose uses are looked at in turn.
    const Stmt *up = use;
    while (up && isa<Expr>(up))
      up = body_.parents.lookup(up);
    const auto *declaration = dyn_cast_or_null<DeclStmt>(up);
    return declaration && llvm::any_of(declaration->decls(), [&](const Decl *each) {
             const auto *variable = dyn_cast<VarDecl>(each);
             return forms_.definition(variable) && isIn(use, variable->getInit());
           });
  }

  bool checkUse(const Stmt *statement) {
    const auto *expression = dyn_cast<Expr>(statement);
    if (!expression || isa<CastExpr>(expression) || isa<ParenExpr>(expression))
      return true;
    if (const auto *reference = dyn_cast<DeclRefExpr>(expression)) {
      const auto *variable = dyn_cast<VarDecl>(reference->getDecl());
      const bool isStart = variable && llvm::any_of(loops_, [&](const GridLoop &loop) {
                             return loop.counter == variable;
                           });
      const Expr *meaning = forms_.definition(variable);
      return !(isStart || (meaning && isOfGrid(meaning))) || servesALoop(statement) ||
             refuse(statement, "'" + reference->getDecl()->getNameAsString() +
                                   "', which depends on the grid, has another use than to begin "
                                   "a loop or to step in it");
    }
    const auto found = coordinate(expression);
    return !found || (nameOf(*found) != block_ && nameOf(*found) != grid_) ||
           servesALoop(statement) ||
           refuse(statement,
                  nameOf(*found) + " has another use than to begin a loop or to step in it");
  }

  /// The variable of the thread or the block that an lvalue is a part of; null for other memory.
  const VarDecl *ownerOf(const Expr *element) const {
    element = element->IgnoreParenNoopCasts(view_.context());
    if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(element))
      return ownerOfPointer(subscript->getBase());
    if (const auto *member = dyn_cast<MemberExpr>(element))
      return member->isArrow() ? ownerOfPointer(member->getBase()) : ownerOf(member->getBase());
    if (const auto *unary = dyn_cast<UnaryOperator>(element);
        unary && unary->getOpcode() == UO_Deref)
      return ownerOfPointer(unary->getSubExpr());
    const VarDecl *variable = variableOf(element);
    if (!variable || variable->hasAttr<CUDASharedAttr>())
      return variable;
    if (variable->getType()->isReferenceType())
      return variable->hasInit() ? ownerOf(variable->getInit()) : nullptr;
    return variable->isLocalVarDeclOrParm() && !variable->isStaticLocal() ? variable : nullptr;
  }

  const VarDecl *ownerOfPointer(const Expr *pointer) const {
    pointer = pointer->IgnoreParens();
    if (const auto *cast = dyn_cast<CastExpr>(pointer)) {
      const bool isArray = cast->getCastKind() == CK_ArrayToPointerDecay;
      return isArray ? ownerOf(cast->getSubExpr()) : ownerOfPointer(cast->getSubExpr());
    }
    if (const auto *unary = dyn_cast<UnaryOperator>(pointer);
        unary && unary->getOpcode() == UO_AddrOf)
      return ownerOf(unary->getSubExpr());
    if (const auto *sum = dyn_cast<BinaryOperator>(pointer); sum && sum->isAdditiveOp())
      return ownerOfPointer(sum->getLHS()->getType()->isPointerType() ? sum->getLHS()
                                                                      : sum->getRHS());
    const Expr *meaning = forms_.definition(variableOf(pointer));
    return meaning && meaning->getType()->isPointerType() ? ownerOfPointer(meaning) : nullptr;
  }

  /// True if the counter goes into it, also by way of other variables.
  bool dependsOnTurn(const Stmt *part, const GridLoop &loop, unsigned depth = 0) const {
    return part && depth < 4 &&
           forms_.mentions(
               part,
               [&](const Expr *each) {
                 const VarDecl *variable = variableOf(each);
                 if (!variable || variable == loop.counter)
                   return variable != nullptr;
                 return dependsOnTurn(isIn(declarations_.lookup(variable), loop.body)
                                          ? variable->getInit()
                                          : nullptr,
                                      loop, depth + 1) ||
                        llvm::any_of(assignments_, [&](const BinaryOperator *assignment) {
                          return variableOf(assignment->getLHS()) == variable &&
                                 isIn(assignment, loop.body) &&
                                 dependsOnTurn(assignment->getRHS(), loop, depth + 1);
                        });
               });
  }

  /// True if the place is another one in each turn: the counter is a summand of its index.
  bool isOfTurnAlone(const Expr *place, const GridLoop &loop) const {
    const auto isSummand = [&](const Expr *index) {
      const IndexForm form = forms_.of(index);
      return llvm::any_of(form.opaque, [&](const auto &atom) {
        return variableOf(atom.second) == loop.counter && form.has(atom.first);
      });
    };
    place = place->IgnoreParenCasts();
    if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(place))
      return isSummand(subscript->getIdx()) || isOfTurnAlone(subscript->getBase(), loop);
    if (const auto *member = dyn_cast<MemberExpr>(place))
      return isOfTurnAlone(member->getBase(), loop);
    if (const auto *unary = dyn_cast<UnaryOperator>(place))
      return isOfTurnAlone(unary->getSubExpr(), loop);
    if (const auto *sum = dyn_cast<BinaryOperator>(place); sum && sum->isAdditiveOp()) {
      const bool isLeft = sum->getLHS()->getType()->isPointerType();
      return isSummand(isLeft ? sum->getRHS() : sum->getLHS()) ||
             isOfTurnAlone(isLeft ? sum->getLHS() : sum->getRHS(), loop);
    }
    const Expr *meaning = forms_.definition(variableOf(place));
    return meaning && meaning->getType()->isPointerType() && isOfTurnAlone(meaning, loop);
  }

  /// What is changed in a turn has to be the turn's own, and nothing but the loops may change
  /// memory that other blocks see.
  bool checkEffect(const Stmt *statement) {
    const GridLoop *loop = loopAround(statement);
    if (loop && (isa<ReturnStmt>(statement) || isa<GotoStmt>(statement) ||
                 (isa<BreakStmt>(statement) && brokenLoop(statement) == loop->loop)))
      return refuse(statement, "the loop that strides over the grid is left early");
    if (llvm::any_of(loops_, [&](const GridLoop &each) {
          return isIn(statement, each.stepping) || isIn(each.start, statement);
        }))
      return true;
    if (const auto *binary = dyn_cast<BinaryOperator>(statement);
        binary && binary->isAssignmentOp())
      return checkStore(binary->getLHS(), ownerOf(binary->getLHS()), loop);
    if (const auto *unary = dyn_cast<UnaryOperator>(statement);
        unary && unary->isIncrementDecrementOp())
      return checkStore(unary->getSubExpr(), ownerOf(unary->getSubExpr()), loop);
    const auto *call = dyn_cast<CallExpr>(statement);
    return !call || checkCall(*call, loop);
  }

  bool checkStore(const Expr *target, const VarDecl *owner, const GridLoop *loop) {
    areApart_ = areApart_ && (owner || (loop && isOfTurnAlone(target, *loop)));
    if (!owner)
      return (loop && dependsOnTurn(target, *loop)) ||
             refuse(target, loop ? "a store is to the same place in each turn of the loop"
                                 : "a store is outside of the loops that stride over the grid");
    if (llvm::any_of(loops_, [&](const GridLoop &each) { return each.counter == owner; }))
      return refuse(target, "'" + owner->getName() + "' is not only stepped");
    const bool isOwn = !owner->hasAttr<CUDASharedAttr>() &&
                       (!loop || isIn(declarations_.lookup(owner), loop->body));
    isProven_ = isProven_ && isOwn;
    return true;
  }

  static bool holdsPointers(QualType type) {
    const auto *record = type->getAsCXXRecordDecl();
    return type->isAnyPointerType() || type->isReferenceType() ||
           (record && record->hasDefinition() &&
            llvm::any_of(record->fields(),
                         [](const auto *field) { return holdsPointers(field->getType()); }));
  }

  const Stmt *brokenLoop(const Stmt *statement) const {
    while (statement && !isa<ForStmt>(statement) && !isa<WhileStmt>(statement) &&
           !isa<DoStmt>(statement) && !isa<SwitchStmt>(statement) &&
           !isa<CXXForRangeStmt>(statement))
      statement = body_.parents.lookup(statement);
    return statement;
  }

  bool checkCall(const CallExpr &call, const GridLoop *loop) {
    const FunctionDecl *callee = call.getDirectCallee();
    if (callee && cudaFunction(*callee) == CudaFunction::Atomic) {
      // Sums of real numbers depend on their order, and what a call returns on the others.
      const bool isUsed = isa_and_nonnull<Expr>(body_.parentOf(&call)) ||
                          isa_and_nonnull<DeclStmt>(body_.parentOf(&call));
      isProven_ = isProven_ && loop && call.getType()->isIntegralOrEnumerationType() && !isUsed;
      return true;
    }
    if (const auto *method = dyn_cast<CXXMemberCallExpr>(&call)) {
      const Expr *object = method->getImplicitObjectArgument();
      const bool isPointer = object->getType()->isPointerType();
      // An object that holds pointers may store through them.
      const VarDecl *owner = isPointer ? ownerOfPointer(object) : ownerOf(object);
      if (holdsPointers(isPointer ? object->getType()->getPointeeType() : object->getType()))
        owner = nullptr;
      if (method->getMethodDecl() && !method->getMethodDecl()->isConst() &&
          !method->getMethodDecl()->isStatic() && object->isGLValue() &&
          !isa<MaterializeTemporaryExpr>(object) && !checkStore(&call, owner, loop))
        return false;
    }
    const bool isOperator =
        isa<CXXOperatorCallExpr>(call) && isa_and_nonnull<CXXMethodDecl>(callee);
    bool isPlain = callee && (!view_.isInText(callee->getLocation()) || callee->isTrivial());
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
      const Expr *argument = call.getArg(i);
      const unsigned position = isOperator ? i - 1 : i;
      QualType type = argument->getType();
      if (isOperator && i == 0)
        type = cast<CXXMethodDecl>(callee)->isConst()
                   ? type
                   : view_.context().getLValueReferenceType(type);
      else if (callee && position < callee->getNumParams())
        type = callee->getParamDecl(position)->getType();
      if (!isPlain && !type->isArithmeticType())
        isProven_ = false; // what it does with it is not looked at
      const QualType pointee = type->getPointeeType();
      if (pointee.isNull() || pointee.isConstQualified() || pointee->isFunctionType())
        continue;
      if (!checkStore(argument,
                      type->isPointerType() ? ownerOfPointer(argument) : ownerOf(argument), loop))
        return false;
    }
    return true;
  }

  const KernelView &view_;
  const BodyView &body_;
  const IndexForms forms_;
  Refusals &refusals_;
  const std::string block_, grid_;
  std::vector<GridLoop> loops_;
  llvm::DenseMap<const VarDecl *, const Stmt *> declarations_;
  std::vector<const BinaryOperator *> assignments_;
  bool isProven_ = true, areApart_ = true;
};

std::uint64_t blocksOf(const LaunchShape &launch) {
  return std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
}

std::uint64_t threadsOf(const LaunchShape &launch) {
  return std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
}

/// What keeps the grid's size as it is; null if nothing.
const Stmt *tieToGrid(const BodyView &body) {
  for (const Stmt *statement : body.statements) {
    if (const auto *expression = dyn_cast<Expr>(statement))
      if (const auto *record = expression->getType()->getAsCXXRecordDecl();
          record && record->getIdentifier() && record->getName().ends_with("grid_group"))
        return statement;
    const auto *member = dyn_cast<MemberExpr>(statement);
    const IdentifierInfo *name = member ? member->getMemberDecl()->getIdentifier() : nullptr;
    if (name && (name->getName().contains("group_index") || name->getName().contains("block_rank")))
      return statement;
    if (const auto *assembly = dyn_cast<GCCAsmStmt>(statement);
        assembly && assembly->getAsmString()->getString().contains("ctaid"))
      return statement;
  }
  return nullptr;
}

/// True if a thread may wait for one of another block: all blocks have to run at once.
bool mayWaitForBlocks(const KernelView &view) {
  return llvm::any_of(view.bodies(), [](const BodyView &body) {
    return llvm::any_of(body.statements, [&](const Stmt *statement) {
      const auto *expression = dyn_cast<Expr>(statement);
      const CudaFunction kind = cudaFunction(statement);
      return isa<AsmStmt>(statement) || kind == CudaFunction::Fence ||
             kind == CudaFunction::Sleep || kind == CudaFunction::Clock ||
             (kind == CudaFunction::Atomic && mayWait(body, cast<CallExpr>(statement))) ||
             (expression && expression->getType().isVolatileQualified());
    });
  });
}

/// Sizes of the grid along one dimension that are worth a try.
class GridSizes {
public:
  GridSizes(const KernelView &view, unsigned dimension, const std::vector<GridLoop> &loops,
            const std::vector<IndexForm> &bounds, bool waits)
      : view_(view), dimension_(dimension), waits_(waits),
        heaviest_(*std::max_element(
            view.launches.begin(), view.launches.end(),
            [](const LaunchShape &a, const LaunchShape &b) { return a.weight < b.weight; })) {
    const std::uint64_t most = view.threadsPerMultiprocessor;
    full_ =
        std::uint64_t{kMultiprocessors} * std::max<std::uint64_t>(1, most / threadsOf(heaviest_));
    useful_ = 0;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      const auto bound = valueOf(bounds[i], heaviest_), width = valueOf(loops[i].width, heaviest_);
      const bool isKnown = bound && width && *bound > 0 && *width > 0;
      useful_ = std::max(useful_, isKnown ? std::uint64_t((*bound + *width - 1) / *width)
                                          : std::uint64_t{gpu::kMostGrid[0]});
    }
  }

  /// Factors by which the grid grows until it fills the GPU.
  std::vector<std::int64_t> growth() const {
    std::vector<std::int64_t> factors;
    for (const unsigned factor : {16u, 8u, 4u, 2u})
      if (blocksOf(heaviest_) * factor / 2 < full_ && own() * factor / 2 < useful_ &&
          llvm::all_of(view_.launches, [&](const LaunchShape &launch) {
            return std::uint64_t{launch.grid[dimension_]} * factor <= gpu::kMostGrid[dimension_] &&
                   (!waits_ || blocksOf(launch) * factor * threadsOf(launch) <=
                                   std::uint64_t{kMultiprocessors} * gpu::kMostThreads);
          }))
        factors.push_back(factor);
    return factors;
  }

  /// Divisors that leave the blocks with turns, and those that leave a few for each place.
  std::vector<std::int64_t> shrinkage() const {
    std::vector<std::int64_t> divisors;
    const std::uint64_t used = std::min(own(), useful_), others = blocksOf(heaviest_) / own();
    for (const std::uint64_t wanted : {used, 4 * full_ / others, 2 * full_ / others})
      if (const auto divisor =
              static_cast<std::int64_t>(own() / std::max<std::uint64_t>(1, wanted));
          wanted <= used && divisor > 1 && !llvm::is_contained(divisors, divisor))
        divisors.push_back(divisor);
    return divisors;
  }

private:
  std::uint64_t own() const { return heaviest_.grid[dimension_]; }

  const KernelView &view_;
  unsigned dimension_;
  bool waits_;
  const LaunchShape &heaviest_;
  std::uint64_t full_, useful_; ///< blocks: those that run at once, those that have turns
};

void addGrids(const KernelView &view, unsigned dimension, llvm::ArrayRef<GridLoops> bodies,
              Refusals &refusals, std::vector<Offer> &offers) {
  for (const BodyView &body : view.bodies())
    if (const Stmt *tie = tieToGrid(body))
      return refusals.add(tie->getBeginLoc(), "it knows the grid by other means");
  std::vector<OfferRefusal> ties;
  Refusals unused(view, "", ties);
  const bool areIndependent = areThreadsIndependent(view, /*atomics=*/true, unused);
  const bool waits = !areIndependent && mayWaitForBlocks(view);
  // The threads of one block may be in step by barriers, and its turns have an order.
  const bool areApart = llvm::all_of(bodies, [](const GridLoops &each) { return each.areApart(); });
  if (!(areIndependent && areApart) &&
      llvm::any_of(view.launches, [](const LaunchShape &launch) { return blocksOf(launch) == 1; }))
    return refusals.add("a launch has one block, whose work may depend on its order");
  std::vector<GridLoop> loops;
  std::vector<IndexForm> bounds;
  bool isProven = areIndependent;
  for (const GridLoops &body : bodies) {
    isProven = isProven && body.isProven();
    for (const GridLoop &loop : body.loops()) {
      loops.push_back(loop);
      bounds.push_back(body.forms().of(loop.bound));
      isProven = isProven && body.forms().isFixed(loop.bound);
    }
  }
  const GridSizes sizes(view, dimension, loops, bounds, waits);
  const std::string own = nameOf({"gridDim", dimension});
  const auto add = [&](const char *title, const std::string &grid,
                       std::vector<std::int64_t> values) {
    if (values.empty())
      return;
    Offer offer{"", title, "", {}, LaunchChange{}, {{"FACTOR", std::move(values)}}};
    offer.launch->grid = {"gridDim.x", "gridDim.y", "gridDim.z"};
    offer.launch->grid[dimension] = grid;
    offer.legality = isProven ? Legality::Proven : Legality::Tested;
    if (waits)
      offer.note = "threads may wait for other blocks, so all of them have to run at once";
    else if (!isProven)
      offer.note = "turns of a loop move to other threads, and sums are added in another order";
    offers.push_back(std::move(offer));
  };
  add("launch ${FACTOR} times the blocks", own + " * ${FACTOR}", sizes.growth());
  add("launch a block for ${FACTOR} of today's", "(" + own + " + ${FACTOR} - 1) / ${FACTOR}",
      sizes.shrinkage());
}

} // namespace

std::vector<Offer> gridSizeOffers(const KernelView &view, Refusals &refusals) {
  std::vector<Offer> offers;
  for (const LaunchShape &launch : view.launches)
    if (blocksOf(launch) == 0 || threadsOf(launch) == 0)
      return {};
  bool hasLoops = false;
  for (unsigned dimension = 0; dimension < 3 && !view.launches.empty(); ++dimension) {
    std::vector<GridLoops> all;
    for (const BodyView &body : view.bodies())
      all.emplace_back(view, body, dimension, refusals);
    if (llvm::all_of(all, [](const GridLoops &each) { return each.loops().empty(); }))
      continue;
    hasLoops = true;
    if (!llvm::all_of(all, [](GridLoops &each) { return each.check(); }))
      continue;
    addGrids(view, dimension, all, refusals, offers);
  }
  if (!hasLoops)
    refusals.add("no loop strides over the grid");
  return offers;
}

} // namespace kopt::frontend
