// SPDX-License-Identifier: Apache-2.0
// loop-split: the iterations of a reduction loop are dealt out to the lanes of a warp, or of a part
// of one, which add up their parts by shuffles. Each thread of the present launch becomes as many
// lanes, which do the rest of its work alike; the first of them stores. Matches kernels of
// independent threads with a counted loop that only accumulates. Refuses loops that store, break or
// carry other values, and stores whose memory is not a parameter's.
#include "clang_plugin/analysis/KernelFacts.h"
#include "clang_plugin/analysis/PointerUses.h"
#include "clang_plugin/transform/ReductionLoop.h"
#include "clang_plugin/transform/ThreadOrder.h"
#include "runtime/device/GpuLimits.h"

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr unsigned kWarp = 32;
constexpr std::size_t kMostLoops = 4; ///< that are offered alone

bool isLoop(const Stmt *statement) {
  return isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(statement);
}

/// A statement of the text that stores to memory which others see.
struct Store {
  const BodyView *body = nullptr;
  const Stmt *statement = nullptr;
  unsigned begin = 0, end = 0; ///< with its semicolon
  bool isOrdered = false;      ///< other lanes may read what it writes
  /// What it stores, if all lanes have to compute that together.
  const Expr *together = nullptr;
};

class LoopSplitter {
public:
  LoopSplitter(const KernelView &view, Refusals &refusals) : view_(view), refusals_(refusals) {}

  std::vector<Offer> run() {
    if (view_.launches.empty() || !findLoops() ||
        !areThreadsIndependent(view_, /*atomics=*/false, refusals_) || !chooseLaunch())
      return {};
    const auto coordinates = coordinateUses(view_, refusals_);
    if (!coordinates || !findStores())
      return {};
    coordinates_ = *coordinates;
    lane_ = freshName(view_, "lane");
    offset_ = freshName(view_, "offset");
    mates_ = freshName(view_, "mates");
    value_ = freshName(view_, "value");
    std::vector<Offer> offers;
    const std::vector<const ReductionLoop *> all = outermost();
    if (all.empty())
      return {};
    const auto offerAll = [&](llvm::ArrayRef<const ReductionLoop *> loops) {
      if (lanes_.front() == kWarp)
        offers.push_back(offerFor(loops, /*isWarp=*/true));
      if (lanes_.back() != kWarp && (loops.size() == all.size() || offers.empty()))
        offers.push_back(offerFor(loops, /*isWarp=*/false));
    };
    offerAll(all);
    if (all.size() > 1)
      for (std::size_t i = 0; i < std::min(all.size(), kMostLoops); ++i)
        offerAll({all[i]});
    return offers;
  }

private:
  bool findLoops() {
    llvm::DenseSet<unsigned> seen;
    for (const BodyView &body : view_.bodies())
      for (const Stmt *statement : body.statements) {
        const auto *loop = dyn_cast<ForStmt>(statement);
        if (!loop)
          continue;
        if (body.function->hasAttr<CUDAHostAttr>() || isInLambda(body, loop)) {
          refusals_.add(loop->getForLoc(), "the loop is in a lambda, or in a function of the host");
          continue;
        }
        const auto place = view_.offset(loop->getForLoc());
        if (!place || !view_.endOffset(loop->getEndLoc())) {
          refusals_.add(loop->getForLoc(), "a macro spells the loop");
        } else if (!seen.insert(*place).second) {
          refusals_.add(loop->getForLoc(), "the loop is instantiated several times");
          std::erase_if(loops_, [&](const ReductionLoop &each) {
            return view_.offset(each.loop->getForLoc()) == place;
          });
        } else if (auto read = readReductionLoop(view_, body, *loop, refusals_)) {
          loops_.push_back(std::move(*read));
        }
      }
    return !loops_.empty();
  }

  static bool isInLambda(const BodyView &body, const Stmt *statement) {
    for (const Stmt *up = statement; up; up = body.parents.lookup(up))
      if (isa<LambdaExpr>(up))
        return true;
    return false;
  }

  /// True if the grid, or else the block, of every launch can have as many times the threads in x.
  /// Chooses the numbers of lanes, the most promising first.
  bool chooseLaunch() {
    const auto take = [&](auto holds) {
      for (const unsigned lanes : {32u, 8u, 16u, 4u})
        if (llvm::all_of(view_.launches,
                         [&](const LaunchShape &launch) { return holds(launch, lanes); }))
          lanes_.push_back(lanes);
      return !lanes_.empty();
    };
    const auto *bounds = view_.kernel().getAttr<CUDALaunchBoundsAttr>();
    const std::uint64_t mostThreads =
        bounds ? std::uint64_t(std::max(0LL, view_.constant(bounds->getMaxThreads()).value_or(0)))
               : gpu::kMostThreads;
    growsGrid_ = take([](const LaunchShape &launch, unsigned lanes) {
      return launch.block[0] % lanes == 0 &&
             std::uint64_t{launch.grid[0]} * launch.block[0] * lanes <= INT32_MAX;
    });
    if (growsGrid_ || take([mostThreads](const LaunchShape &launch, unsigned lanes) {
          return std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2] * lanes <=
                 mostThreads;
        }))
      return true;
    refusals_.add("blocks are too large for several lanes a thread, and no multiple of some");
    return false;
  }

  bool findStores() {
    PointerUses pointers(view_);
    std::vector<const VarDecl *> loaded, stored;
    bool isUnknownLoaded = false;
    for (const BodyView &body : view_.bodies())
      for (const Stmt *statement : body.statements) {
        if (const auto *cast = dyn_cast<ImplicitCastExpr>(statement);
            cast && cast->getCastKind() == CK_LValueToRValue) {
          const Expr *pointer = pointerOf(cast->getSubExpr());
          if (!pointer)
            continue;
          const VarDecl *root = pointers.root(body, pointer);
          isUnknownLoaded |= root == nullptr;
          loaded.push_back(root);
        }
        if (const auto *copy = dyn_cast<CXXConstructExpr>(statement))
          for (const Expr *argument : copy->arguments())
            isUnknownLoaded |= argument->isLValue() && pointerOf(argument->IgnoreParenImpCasts());
        const Expr *lvalue = nullptr;
        if (const auto *binary = dyn_cast<BinaryOperator>(statement))
          lvalue = binary->isAssignmentOp() ? binary->getLHS() : nullptr;
        else if (const auto *unary = dyn_cast<UnaryOperator>(statement))
          lvalue = unary->isIncrementDecrementOp() ? unary->getSubExpr() : nullptr;
        if (!lvalue || isLocal(lvalue))
          continue;
        const Expr *pointer = pointerOf(lvalue);
        const VarDecl *root = pointer ? pointers.root(body, pointer) : nullptr;
        if (!root || !isOfKernel(body, root, pointers)) {
          refusals_.add(statement->getBeginLoc(), "it stores to what may be a thread's own memory");
          return false;
        }
        if (!addStore(body, statement))
          return false;
        stored.push_back(root);
      }
    return !stores_.empty() && checkCalls(pointers) &&
           (orderStores(loaded, stored, isUnknownLoaded), true);
  }

  /// The pointer through which an lvalue is reached; null if through none.
  static const Expr *pointerOf(const Expr *lvalue) {
    lvalue = lvalue->IgnoreParens();
    while (true) {
      if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(lvalue)) {
        if (subscript->getBase()->IgnoreParenImpCasts()->getType()->isPointerType())
          return subscript->getBase();
        lvalue = subscript->getBase()->IgnoreParenImpCasts();
      } else if (const auto *member = dyn_cast<MemberExpr>(lvalue)) {
        if (member->isArrow())
          return member->getBase();
        lvalue = member->getBase()->IgnoreParenImpCasts();
      } else if (const auto *unary = dyn_cast<UnaryOperator>(lvalue);
                 unary && unary->getOpcode() == UO_Deref) {
        return unary->getSubExpr();
      } else {
        return nullptr;
      }
    }
  }

  /// True for a local variable that is no reference, and for a part of one.
  static bool isLocal(const Expr *lvalue) {
    lvalue = lvalue->IgnoreParenImpCasts();
    while (true) {
      if (const auto *subscript = dyn_cast<ArraySubscriptExpr>(lvalue);
          subscript && subscript->getBase()->IgnoreParenImpCasts()->getType()->isArrayType())
        lvalue = subscript->getBase()->IgnoreParenImpCasts();
      else if (const auto *member = dyn_cast<MemberExpr>(lvalue); member && !member->isArrow())
        lvalue = member->getBase()->IgnoreParenImpCasts();
      else
        break;
    }
    const auto *reference = dyn_cast<DeclRefExpr>(lvalue);
    const auto *variable = reference ? dyn_cast<VarDecl>(reference->getDecl()) : nullptr;
    return variable && variable->hasLocalStorage() && !variable->getType()->isReferenceType();
  }

  bool addStore(const BodyView &body, const Stmt *statement) {
    const auto begin = view_.offset(statement->getBeginLoc()),
               end = view_.endOffset(statement->getEndLoc());
    const std::size_t semicolon = end ? view_.text().find_first_not_of(" \t\n", *end) : 0;
    if (hasOtherEffect(body, statement)) {
      refusals_.add(statement->getBeginLoc(), "the store changes something else, too");
      return false;
    }
    if (!isStatement(body, statement) || !begin || !end || semicolon == llvm::StringRef::npos ||
        view_.text()[semicolon] != ';' || isa_and_nonnull<ForStmt>(body.parentOf(statement))) {
      refusals_.add(statement->getBeginLoc(), "the store is no statement of its own");
      return false;
    }
    stores_.push_back({&body, statement, *begin, unsigned(semicolon) + 1});
    return true;
  }

  /// True if the statement changes more than what it stores to: all lanes have to see that.
  static bool hasOtherEffect(const BodyView &body, const Stmt *statement) {
    return llvm::any_of(body.statements, [&](const Stmt *each) {
      if (each == statement || !body.isWithin(each, statement))
        return false;
      if (const auto *binary = dyn_cast<BinaryOperator>(each))
        return binary->isAssignmentOp();
      if (const auto *unary = dyn_cast<UnaryOperator>(each))
        return unary->isIncrementDecrementOp();
      const auto *call = dyn_cast<CallExpr>(each);
      if (!call)
        return isa<LambdaExpr>(each);
      const auto *method = dyn_cast_or_null<CXXMethodDecl>(call->getDirectCallee());
      return (method && method->getParent()->isLambda()) ||
             llvm::any_of(call->arguments(), [](const Expr *argument) {
               const QualType type = argument->getType();
               return type->isPointerType() ? !type->getPointeeType().isConstQualified() &&
                                                  !type->getPointeeType()->isFunctionType()
                                            : argument->isLValue() && !type.isConstQualified() &&
                                                  !type->isFunctionType();
             });
    });
  }

  /// Functions that the kernel calls may store only to what is a thread's own.
  bool checkCalls(PointerUses &pointers) {
    for (const BodyView &body : view_.bodies())
      for (const Stmt *statement : body.statements)
        if (const auto *call = dyn_cast<CallExpr>(statement);
            call && call->getDirectCallee() && !call->getDirectCallee()->getBuiltinID() &&
            !writesOnlyThroughParameters(*call->getDirectCallee())) {
          refusals_.add(call->getBeginLoc(), "it calls what may store to memory");
          return false;
        } else if (call && !passesOwnMemory(body, *call, pointers)) {
          refusals_.add(call->getBeginLoc(), "it passes on a pointer that may be stored to");
          return false;
        }
    return true;
  }

  /// What a function of the text stores through a pointer into a buffer of the kernel is guarded
  /// there; other pointers have to point to a thread's own memory.
  bool passesOwnMemory(const BodyView &body, const CallExpr &call, PointerUses &pointers) const {
    return llvm::all_of(call.arguments(), [&](const Expr *argument) {
      const QualType type = argument->getType();
      if (!type->isPointerType())
        return !argument->isLValue() || isLocal(argument) || type.isConstQualified() ||
               type->isFunctionType();
      if (type->getPointeeType().isConstQualified() || type->getPointeeType()->isFunctionType())
        return true;
      const Expr *pointer = argument->IgnoreParenImpCasts();
      if (const auto *address = dyn_cast<UnaryOperator>(pointer);
          address && address->getOpcode() == UO_AddrOf)
        return isLocal(address->getSubExpr());
      if (pointer->getType()->isArrayType())
        return isLocal(pointer);
      const VarDecl *root = pointers.root(body, argument);
      return root && isOfKernel(body, root, pointers);
    });
  }

  /// True if a parameter of a function always points into a buffer of the kernel's.
  bool isOfKernel(const BodyView &body, const VarDecl *root, PointerUses &pointers,
                  unsigned depth = 0) const {
    const auto *parameter = dyn_cast<ParmVarDecl>(root);
    if (!parameter || depth > 8)
      return false;
    if (body.function == &view_.kernel())
      return true;
    bool isCalled = false;
    for (const BodyView &caller : view_.bodies())
      for (const Stmt *statement : caller.statements) {
        const auto *call = dyn_cast<CallExpr>(statement);
        const FunctionDecl *callee = call ? call->getDirectCallee() : nullptr;
        if (!callee || callee->getDefinition() != body.function)
          continue;
        isCalled = true;
        const unsigned position = parameter->getFunctionScopeIndex();
        const VarDecl *above =
            position < call->getNumArgs() ? pointers.root(caller, call->getArg(position)) : nullptr;
        if (!above || !isOfKernel(caller, above, pointers, depth + 1))
          return false;
      }
    return isCalled;
  }

  /// True if the kernel gives the pointer, or one made from it, to a function.
  bool isPassedOn(const VarDecl *pointer) const {
    return llvm::any_of(view_.bodies().front().statements, [&](const Stmt *statement) {
      const auto *call = dyn_cast<CallExpr>(statement);
      return call && llvm::any_of(call->arguments(), [&](const Expr *argument) {
               return argument->getType()->isPointerType() && mentions(argument, pointer);
             });
    });
  }

  /// A store that other lanes may read is one that comes before other work of theirs.
  void orderStores(llvm::ArrayRef<const VarDecl *> loaded, llvm::ArrayRef<const VarDecl *> stored,
                   bool isUnknownLoaded) {
    unsigned lastLoop = 0;
    for (const ReductionLoop &each : loops_)
      lastLoop = std::max(lastLoop, each.body->function == &view_.kernel()
                                        ? *view_.endOffset(each.loop->getEndLoc())
                                        : unsigned(view_.text().size()));
    for (std::size_t i = 0; i < stores_.size(); ++i) {
      Store &store = stores_[i];
      // What a called function promises of its parameter says nothing of the kernel's.
      const bool isRestrict = stored[i]->getType().isRestrictQualified() &&
                              store.body->function == &view_.kernel() && !isPassedOn(stored[i]);
      const bool mayAlias =
          llvm::is_contained(loaded, stored[i]) ||
          (!isRestrict && (isUnknownLoaded || llvm::any_of(loaded, [](const VarDecl *other) {
                             return other && !other->getType().isRestrictQualified();
                           })));
      bool isInLoop = false;
      for (const Stmt *up = store.statement; up; up = store.body->parents.lookup(up))
        isInLoop |= isLoop(up);
      store.isOrdered = mayAlias && (isInLoop || store.begin < lastLoop);
    }
  }

  /// The loops that are in no other of them, and whose lanes all get there together: what one of
  /// them calls has no other of them.
  std::vector<const ReductionLoop *> outermost() {
    std::vector<const ReductionLoop *> chosen;
    for (const ReductionLoop &each : loops_) {
      const bool isWithin = llvm::any_of(loops_, [&](const ReductionLoop &outer) {
        return &outer != &each && (isWithinLoop(each, outer) || calls(outer.loop, *each.body));
      });
      if (isWithin)
        continue;
      if (hoistStores(*each.body) && !storesCallStores())
        chosen.push_back(&each);
      else
        refusals_.add(each.loop->getForLoc(), "a store to memory has this loop in its text");
    }
    return chosen;
  }

  /// Marks the stores that run a function with a loop to split: the value has to be computed before
  /// the first lane alone stores it. False if that cannot be written.
  bool hoistStores(const BodyView &body) {
    for (Store &store : stores_) {
      if (!calls(store.statement, body))
        continue;
      const auto *set = dyn_cast<BinaryOperator>(store.statement);
      const auto begin = set ? view_.offset(set->getRHS()->getBeginLoc()) : std::nullopt,
                 end = set ? view_.endOffset(set->getRHS()->getEndLoc()) : std::nullopt;
      if (!begin || !end || calls(set->getLHS(), body) ||
          llvm::any_of(coordinates_, [&](const CoordinateUse &use) {
            return *begin <= use.begin && use.end <= *end;
          }))
        return false;
      store.together = set->getRHS();
    }
    return true;
  }

  /// True if a store runs a function that stores itself: one lane alone would come there.
  bool storesCallStores() const {
    return llvm::any_of(stores_, [&](const Store &outer) {
      return llvm::any_of(stores_, [&](const Store &inner) {
        return inner.body != outer.body && calls(outer.statement, *inner.body);
      });
    });
  }

  static bool isWithinLoop(const ReductionLoop &each, const ReductionLoop &outer) {
    return each.body == outer.body && each.body->isWithin(each.loop, outer.loop);
  }

  /// True if the statement runs the body, directly or not.
  bool calls(const Stmt *statement, const BodyView &body) const {
    llvm::SmallPtrSet<const Stmt *, 32> seen;
    llvm::SmallVector<const Stmt *> open = {statement};
    while (!open.empty()) {
      const Stmt *next = open.pop_back_val();
      if (!next || !seen.insert(next).second)
        continue;
      open.append(next->child_begin(), next->child_end());
      llvm::SmallVector<const FunctionDecl *, 2> callees;
      if (const auto *reference = dyn_cast<DeclRefExpr>(next))
        callees.push_back(dyn_cast<FunctionDecl>(reference->getDecl()));
      else if (const auto *member = dyn_cast<MemberExpr>(next))
        callees.push_back(dyn_cast<FunctionDecl>(member->getMemberDecl()));
      else if (const auto *construct = dyn_cast<CXXConstructExpr>(next))
        callees.push_back(construct->getConstructor());
      for (const FunctionDecl *callee : callees) {
        const FunctionDecl *definition = callee ? callee->getDefinition() : nullptr;
        if (definition && definition == body.function)
          return true;
        for (const BodyView &each : view_.bodies())
          if (definition && each.function == definition)
            open.push_back(definition->getBody());
      }
    }
    return false;
  }

  Offer offerFor(llvm::ArrayRef<const ReductionLoop *> loops, bool isWarp) const {
    const std::string lanes = isWarp ? "32" : "${LANES}";
    Offer offer;
    offer.title = "split over " + lanes + " lanes the loop over";
    offer.note = "sums are added up in another order";
    if (!isWarp) {
      offer.parameters = {{"LANES", {}}};
      for (const unsigned each : lanes_)
        if (each != kWarp)
          offer.parameters.front().values.push_back(each);
    }
    for (const ReductionLoop *each : loops)
      offer.title += (each == loops.front() ? " " : ", ") + each->counter;
    splitCoordinates(lanes, offer.edits);
    llvm::DenseSet<const BodyView *> withLane;
    for (const ReductionLoop *each : loops) {
      splitLoop(*each, lanes, isWarp, offer.edits);
      withLane.insert(each->body);
    }
    for (const Store &store : stores_) {
      guardStore(store, isWarp, offer.edits);
      withLane.insert(store.body);
    }
    for (const BodyView *body : withLane)
      declareLane(*body, lanes, isWarp, offer.edits);
    llvm::stable_sort(offer.edits,
                      [](const SliceEdit &a, const SliceEdit &b) { return a.begin < b.begin; });
    offer.launch = LaunchChange();
    if (growsGrid_)
      offer.launch->grid = {"gridDim.x * " + lanes, "gridDim.y", "gridDim.z"};
    else
      offer.launch->block = {"blockDim.x * " + lanes, "blockDim.y", "blockDim.z"};
    return offer;
  }

  void splitCoordinates(const std::string &lanes, std::vector<SliceEdit> &edits) const {
    std::vector<std::pair<unsigned, unsigned>> whole; // global indices
    for (const CoordinateUse &use : coordinates_)
      if (use.coordinate.variable == "threadIdx" && use.coordinate.dimension == 0)
        if (const Expr *index = globalIndexAt(use)) {
          const auto begin = view_.offset(index->getBeginLoc()),
                     end = view_.endOffset(index->getEndLoc());
          if (begin && end)
            whole.emplace_back(*begin, *end);
        }
    for (const auto &[begin, end] : whole) {
      edits.push_back({begin, begin, "("});
      edits.push_back({end, end, ") / " + lanes});
    }
    for (const CoordinateUse &use : coordinates_) {
      if (use.coordinate.dimension != 0 || llvm::any_of(whole, [&](const auto &range) {
            return range.first <= use.begin && use.end <= range.second;
          }))
        continue;
      const std::string &variable = use.coordinate.variable;
      std::string text;
      if (!growsGrid_)
        text = variable == "threadIdx" || variable == "blockDim" ? variable + ".x / " + lanes : "";
      else if (variable == "threadIdx")
        text = "blockIdx.x % " + lanes + " * (blockDim.x / " + lanes + ") + threadIdx.x / " + lanes;
      else if (variable != "blockDim")
        text = variable + ".x / " + lanes;
      if (!text.empty())
        edits.push_back({use.begin, use.end, isInitializer(use) ? text : "(" + text + ")"});
    }
  }

  /// True if it stands alone behind `=`.
  bool isInitializer(const CoordinateUse &use) const {
    const llvm::StringRef before = view_.text().take_front(use.begin).rtrim(),
                          after = view_.text().drop_front(use.end).ltrim();
    return before.ends_with("=") && !before.ends_with("==") && after.starts_with(";");
  }

  std::string mask(bool isWarp) const { return isWarp ? "0xffffffff" : mates_; }

  /// The lane of the warp that a thread is.
  std::string linearLane() const {
    const bool isLine = llvm::all_of(view_.launches, [&](const LaunchShape &launch) {
      return (growsGrid_ ? launch.block[0] % kWarp == 0 : false) ||
             launch.block[1] * launch.block[2] == 1;
    });
    return isLine ? "threadIdx.x % 32"
                  : "((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % 32";
  }

  void splitLoop(const ReductionLoop &split, const std::string &lanes, bool isWarp,
                 std::vector<SliceEdit> &edits) const {
    const ForStmt &loop = *split.loop;
    const std::string amount = std::to_string(std::abs(split.step));
    const std::string stride = amount == "1" ? lanes : amount + " * " + lanes,
                      offset = amount == "1" ? lane_ : amount + " * " + lane_;
    const char sign = split.step > 0 ? '+' : '-';
    const unsigned first = *view_.offset(split.first->getBeginLoc()),
                   firstEnd = *view_.endOffset(split.first->getEndLoc());
    if (view_.constant(split.first) == 0 && sign == '+')
      edits.push_back({first, firstEnd, offset});
    else {
      const bool isPlain =
          isa<IntegerLiteral, DeclRefExpr, ParenExpr, CallExpr, MemberExpr, ArraySubscriptExpr>(
              split.first->IgnoreImpCasts());
      if (!isPlain)
        edits.push_back({first, first, "("});
      edits.push_back(
          {firstEnd, firstEnd, std::string(isPlain ? " " : ") ") + sign + " " + offset});
    }
    edits.push_back({*view_.offset(loop.getInc()->getBeginLoc()),
                     *view_.endOffset(loop.getInc()->getEndLoc()),
                     split.counter + " " + sign + "= " + stride});

    const Stmt *whole = &loop;
    if (isa_and_nonnull<AttributedStmt>(split.body->parents.lookup(whole)))
      whole = split.body->parents.lookup(whole);
    const unsigned place =
        view_.offset(whole->getBeginLoc()).value_or(*view_.offset(loop.getForLoc()));
    const unsigned line = lineStart(place);
    const std::string indent = view_.indentation(*view_.offset(loop.getForLoc()));
    const bool isBraced = isa_and_nonnull<CompoundStmt>(split.body->parents.lookup(whole));
    std::string before, after;
    for (const Accumulator &each : split.accumulators)
      if (!each.identity.empty() && !each.startsAtIdentity)
        before += indent + (before.empty() ? "if (" + lane_ + " != 0) {\n" + indent : "") + "  " +
                  each.variable->getName().str() + " = " + each.identity + ";\n";
    if (!before.empty())
      before += indent + "}\n";
    after += "\n" + indent + "for (int " + offset_ + " = " + (isWarp ? "16" : "${LANES} / 2") +
             "; " + offset_ + " > 0; " + offset_ + " /= 2)" +
             (split.accumulators.size() > 1 ? " {" : "");
    for (const Accumulator &each : split.accumulators) {
      std::string combine = each.combine;
      const std::string other = "__shfl_xor_sync(" + mask(isWarp) + ", " +
                                each.variable->getName().str() + ", " + offset_ + ")";
      combine.replace(combine.find("${OTHER}"), 8, other);
      after += "\n" + indent + "  " + combine + ";";
    }
    if (split.accumulators.size() > 1)
      after += "\n" + indent + "}";
    unsigned end = *view_.endOffset(loop.getEndLoc());
    if (!isa<CompoundStmt>(loop.getBody())) // the end of its last expression
      if (const std::size_t semicolon = view_.text().find(';', end);
          view_.text()[end - 1] != '}' && semicolon != llvm::StringRef::npos)
        end = unsigned(semicolon) + 1;
    if (!isBraced) {
      before = indent + "{\n" + before;
      after += "\n" + indent + "}";
    }
    if (view_.text().slice(line, place).trim().empty() || whole != &loop)
      edits.push_back({line, line, before});
    else
      edits.push_back({place, place, "\n" + before + indent});
    edits.push_back({end, end, after});
  }

  unsigned lineStart(unsigned offset) const {
    return unsigned(view_.text().take_front(offset).rfind('\n') + 1);
  }

  void guardStore(const Store &store, bool isWarp, std::vector<SliceEdit> &edits) const {
    const bool isBraced = isa_and_nonnull<CompoundStmt>(store.body->parentOf(store.statement));
    const std::string sync =
        store.isOrdered ? "__syncwarp(" + (isWarp ? "" : mask(isWarp)) + ");" : "";
    const std::string blank = isBraced ? "\n" + view_.indentation(store.begin) : " ";
    std::string before = "if (" + lane_ + " == 0)" + blank + (isBraced ? "  " : ""), after;
    if (store.together) {
      const unsigned begin = *view_.offset(store.together->getBeginLoc()),
                     end = *view_.endOffset(store.together->getEndLoc());
      before = "const auto " + value_ + " = " + view_.text().slice(begin, end).str() + ";" + blank +
               before;
      edits.push_back({begin, end, value_});
    }
    if (store.isOrdered) {
      before = sync + blank + before;
      after = blank + sync;
    }
    if (!isBraced || store.together) {
      before = (isBraced ? "{" + blank : "{ ") + before;
      after += isBraced ? blank + "}" : " }";
    }
    edits.push_back({store.begin, store.begin, before});
    if (!after.empty())
      edits.push_back({store.end, store.end, after});
  }

  void declareLane(const BodyView &body, const std::string &lanes, bool isWarp,
                   std::vector<SliceEdit> &edits) const {
    const auto *block = cast<CompoundStmt>(body.function->getBody());
    const unsigned open = *view_.endOffset(block->getLBracLoc());
    const std::string indent =
        block->body_empty() ? "  "
                            : view_.indentation(*view_.offset(block->body_front()->getBeginLoc()));
    const bool isKernel = body.function == &view_.kernel();
    edits.push_back({open, open,
                     std::string("\n") + indent + "const int " + lane_ + " = threadIdx.x % " +
                         lanes + ";" +
                         (isKernel ? " // " + lanes + " lanes do the work of one thread" : "") +
                         (isWarp ? ""
                                 : "\n" + indent + "const unsigned " + mates_ +
                                       " = 0xffffffffu >> (32 - ${LANES}) << (" + linearLane() +
                                       " / ${LANES} * ${LANES});")});
  }

  const KernelView &view_;
  Refusals &refusals_;
  std::vector<ReductionLoop> loops_;
  std::vector<Store> stores_;
  std::vector<CoordinateUse> coordinates_;
  bool growsGrid_ = false; ///< the block stays; otherwise the grid does
  std::vector<unsigned> lanes_;
  /// Names: the lane, a distance, the lanes of a group, what is stored.
  std::string lane_, offset_, mates_, value_;
};

} // namespace

std::vector<Offer> loopSplitOffers(const KernelView &view, Refusals &refusals) {
  return LoopSplitter(view, refusals).run();
}

} // namespace kopt::frontend
