// SPDX-License-Identifier: Apache-2.0
// loop-split: the iterations of a reduction loop are dealt out to the lanes of a warp, or of a part
// of one, which add up their parts by shuffles. Each thread of the present launch becomes as many
// lanes, which do the rest of its work alike; the first of them stores. Matches kernels of
// independent threads with a counted loop that only accumulates. Refuses loops that store, break or
// carry other values, and stores whose memory is not a parameter's.
#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/transform/ReductionLoop.h"
#include "clang_plugin/transform/ThreadOrder.h"
#include "runtime/device/GpuLimits.h"

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr std::size_t kMostLoops = 4; ///< that are offered alone

/// A statement of the kernel that stores to a buffer.
struct Store {
  const Stmt *statement = nullptr;
  std::string root;       ///< the buffer
  TextSpan span;          ///< with its semicolon
  bool isOrdered = false; ///< other lanes may read what it writes
  /// What it stores, if all lanes have to compute that together.
  std::optional<TextSpan> together = {};
};

class LoopSplitter {
public:
  LoopSplitter(const KernelView &view, Refusals &refusals) : view_(view), refusals_(refusals) {}

  std::vector<Offer> run() {
    model_ = view_.launches.empty() ? nullptr : modelOf(view_, refusals_);
    if (!model_ || !findLoops() || !areThreadsIndependent(view_, /*atomics=*/false, refusals_) ||
        !chooseLaunch())
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
    const auto offerAll = [&](llvm::ArrayRef<const ReductionLoop *> loops) {
      if (factors_.front() == kWarp)
        offers.push_back(offerFor(loops, "32"));
      if (factors_.back() != kWarp && (loops.size() == all.size() || offers.empty()))
        offers.push_back(offerFor(loops, "${LANES}"));
    };
    if (!all.empty())
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
        const auto place = spanOf(view_, loop->getSourceRange());
        if (body.function->hasAttr<CUDAHostAttr>() || enclosing<LambdaExpr>(body, loop)) {
          refusals_.add(loop, "the loop is in a lambda, or in a function of the host");
        } else if (!place || !endOfStatement(view_, loop) || !bodyText(view_, *body.function)) {
          refusals_.add(loop, "a macro spells the loop");
        } else if (!seen.insert(place->begin).second) {
          refusals_.add(loop, "the loop is instantiated several times");
          std::erase_if(loops_, [&](const ReductionLoop &each) {
            return each.loop->getForLoc() == loop->getForLoc();
          });
        } else if (auto read = readReductionLoop(view_, *model_, body, *loop, refusals_)) {
          loops_.push_back(std::move(*read));
        }
      }
    return !loops_.empty();
  }

  /// True if the grid, or else the block, of every launch can have as many times the threads in x.
  /// Chooses the numbers of lanes, the most promising first.
  bool chooseLaunch() {
    const auto take = [&](auto holds) {
      for (const unsigned lanes : {32u, 8u, 16u, 4u})
        if (llvm::all_of(view_.launches,
                         [&](const LaunchShape &launch) { return holds(launch, lanes); }))
          factors_.push_back(lanes);
      return !factors_.empty();
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
    return refusals_.add(
        "blocks are too large for several lanes a thread, and no multiple of some");
  }

  /// The stores to buffers, each a statement of the kernel's. What the model does not see is the
  /// thread's own.
  bool findStores() {
    const BodyView &body = view_.bodies().front();
    if (!model_->blind.empty())
      return refusals_.add(model_->blind.front().place, "it calls what may store to memory");
    for (const model::Access &access : model_->accesses) {
      if (access.kind == model::AccessKind::Load || access.space == model::MemorySpace::Local)
        continue;
      const auto statement = llvm::find_if(body.statements, [&](const Stmt *each) {
        const Expr *target = writtenBy(each);
        const auto span = target ? spanOf(view_, target->getSourceRange()) : std::nullopt;
        const auto &range = access.place.range;
        return span && range && range->begin == span->begin && range->end == span->end;
      });
      if (statement == body.statements.end() || !access.isParameter || !access.calls.empty())
        return refusals_.add(access.place, "it stores to what may be a thread's own memory");
      const auto known =
          llvm::find_if(stores_, [&](const Store &each) { return each.statement == *statement; });
      if (known == stores_.end() ? !addStore(*statement, access.root) : known->root != access.root)
        return false;
    }
    orderStores();
    return !stores_.empty() && bodyText(view_, view_.kernel());
  }

  bool addStore(const Stmt *statement, const std::string &root) {
    const BodyView &body = view_.bodies().front();
    for (const Stmt *each : body.statements) {
      const auto written = writesOf(each);
      if (each != statement && body.isWithin(each, statement) &&
          (isa<LambdaExpr>(each) || !written || !written->empty()))
        return refusals_.add(statement, "the store changes something else, too");
    }
    const auto begin = view_.offset(statement->getBeginLoc()),
               end = endOfStatement(view_, statement);
    if (!isStatement(body, statement) || !begin || !end)
      return refusals_.add(statement, "the store is no statement of its own");
    stores_.push_back({statement, root, {*begin, *end}});
    return true;
  }

  /// A store that other lanes may read is one that comes before other work of theirs.
  void orderStores() {
    const BodyView &body = view_.bodies().front();
    unsigned lastLoop = 0;
    for (const ReductionLoop &each : loops_)
      lastLoop = std::max(lastLoop, each.body == &body ? *view_.endOffset(each.loop->getEndLoc())
                                                       : unsigned(view_.text().size()));
    const auto isRestrict = [&](const std::string &root) {
      return llvm::any_of(view_.kernel().parameters(), [&](const ParmVarDecl *each) {
        return each->getName() == root && each->getType().isRestrictQualified();
      });
    };
    for (Store &store : stores_) {
      const bool mayAlias = llvm::any_of(model_->accesses, [&](const model::Access &access) {
        return access.kind == model::AccessKind::Load &&
               (access.root == store.root || access.space == model::MemorySpace::Unknown ||
                (access.space == model::MemorySpace::Global &&
                 !(isRestrict(store.root) || isRestrict(access.root))));
      });
      store.isOrdered =
          mayAlias &&
          (store.span.begin < lastLoop ||
           enclosing<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(body, store.statement));
    }
  }

  /// The loops that are in no other of them, and whose lanes all get there together: what one of
  /// them calls has no other of them.
  std::vector<const ReductionLoop *> outermost() {
    std::vector<const ReductionLoop *> chosen;
    for (const ReductionLoop &each : loops_) {
      if (llvm::any_of(loops_, [&](const ReductionLoop &outer) {
            return &outer != &each &&
                   ((each.body == outer.body && each.body->isWithin(each.loop, outer.loop)) ||
                    calls(*outer.body, outer.loop, *each.body));
          }))
        continue;
      if (hoistStores(*each.body))
        chosen.push_back(&each);
      else
        refusals_.add(each.loop, "a store to memory has this loop in its text");
    }
    return chosen;
  }

  /// Marks the stores that run a function with a loop to split: the value has to be computed before
  /// the first lane alone stores it. False if that cannot be written.
  bool hoistStores(const BodyView &withLoop) {
    const BodyView &body = view_.bodies().front();
    for (Store &store : stores_) {
      if (!calls(body, store.statement, withLoop))
        continue;
      const auto *set = dyn_cast<BinaryOperator>(store.statement);
      store.together = set ? spanOf(view_, set->getRHS()->getSourceRange()) : std::nullopt;
      if (!store.together || calls(body, set->getLHS(), withLoop) ||
          llvm::any_of(coordinates_, [&](const CoordinateUse &use) {
            return store.together->contains({use.begin, use.end});
          }))
        return false;
    }
    return true;
  }

  /// True if a statement of a body runs the function, directly or not.
  bool calls(const BodyView &from, const Stmt *statement, const BodyView &function,
             unsigned depth = 0) const {
    return depth > 8 || llvm::any_of(from.statements, [&](const Stmt *each) {
             const auto *call = dyn_cast<CallExpr>(each);
             const auto *construct = dyn_cast<CXXConstructExpr>(each);
             const FunctionDecl *callee = call        ? call->getDirectCallee()
                                          : construct ? construct->getConstructor()
                                                      : nullptr;
             if (!callee || !from.isWithin(each, statement))
               return false;
             return callee->getDefinition() == function.function ||
                    llvm::any_of(view_.bodies(), [&](const BodyView &next) {
                      return next.function == callee->getDefinition() &&
                             calls(next, next.function->getBody(), function, depth + 1);
                    });
           });
  }

  Offer offerFor(llvm::ArrayRef<const ReductionLoop *> loops, const std::string &lanes) {
    lanes_ = lanes;
    isWarp_ = lanes == "32";
    Offer offer;
    offer.title = "split over " + lanes + " lanes the loop over";
    offer.note = "sums are added up in another order";
    if (!isWarp_) {
      offer.parameters = {{"LANES", {}}};
      for (const unsigned each : factors_)
        if (each != kWarp)
          offer.parameters.front().values.push_back(each);
    }
    splitCoordinates(offer.edits);
    llvm::DenseSet<const BodyView *> withLane = {&view_.bodies().front()};
    for (const ReductionLoop *each : loops) {
      offer.title += (each == loops.front() ? " " : ", ") + each->count.counter->getName().str();
      splitLoop(*each, offer.edits);
      withLane.insert(each->body);
    }
    for (const Store &store : stores_)
      guardStore(store, offer.edits);
    for (const BodyView *body : withLane)
      declareLane(*body, offer.edits);
    offer.launch = LaunchChange();
    if (growsGrid_) {
      offer.launch->grid = {"gridDim.x * " + lanes, "gridDim.y", "gridDim.z"};
      offer.blockMultiple = lanes;
    } else {
      offer.launch->block = {"blockDim.x * " + lanes, "blockDim.y", "blockDim.z"};
    }
    return offer;
  }

  void splitCoordinates(std::vector<SliceEdit> &edits) const {
    std::vector<TextSpan> whole; // global indices
    for (const CoordinateUse &use : coordinates_)
      if (use.coordinate.variable == "threadIdx" && use.coordinate.dimension == 0)
        if (const Expr *index = globalIndexAt(use))
          if (const auto span = spanOf(view_, index->getSourceRange()))
            whole.push_back(*span);
    for (const TextSpan &span : whole) {
      edits.push_back({span.begin, span.begin, "("});
      edits.push_back({span.end, span.end, ") / " + lanes_});
    }
    for (const CoordinateUse &use : coordinates_) {
      if (use.coordinate.dimension != 0 || llvm::any_of(whole, [&](const TextSpan &span) {
            return span.contains({use.begin, use.end});
          }))
        continue;
      const std::string &variable = use.coordinate.variable;
      std::string text;
      if (growsGrid_ && variable == "threadIdx")
        text =
            "blockIdx.x % " + lanes_ + " * (blockDim.x / " + lanes_ + ") + threadIdx.x / " + lanes_;
      else if (growsGrid_ ? variable != "blockDim"
                          : variable == "threadIdx" || variable == "blockDim")
        text = variable + ".x / " + lanes_;
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

  /// The lane of the warp that a thread is.
  std::string linearLane() const {
    const bool isLine = llvm::all_of(view_.launches, [&](const LaunchShape &launch) {
      return (growsGrid_ && launch.block[0] % kWarp == 0) || launch.block[1] * launch.block[2] == 1;
    });
    return isLine ? "threadIdx.x % 32"
                  : "((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % 32";
  }

  void splitLoop(const ReductionLoop &split, std::vector<SliceEdit> &edits) const {
    const ForStmt &loop = *split.loop;
    const CountedLoop &count = split.count;
    const std::string amount =
        std::abs(count.step) == 1 ? "" : std::to_string(std::abs(count.step)) + " * ";
    const std::string sign = count.step > 0 ? "+" : "-";
    const TextSpan first = *spanOf(view_, count.first->getSourceRange()),
                   step = *spanOf(view_, loop.getInc()->getSourceRange());
    if (view_.constant(count.first) == 0 && sign == "+") {
      edits.push_back({first.begin, first.end, amount + lane_});
    } else {
      const bool isPlain =
          isa<IntegerLiteral, DeclRefExpr, ParenExpr, CallExpr, MemberExpr, ArraySubscriptExpr>(
              count.first->IgnoreImpCasts());
      edits.push_back({first.begin, first.begin, isPlain ? "" : "("});
      edits.push_back({first.end, first.end, (isPlain ? " " : ") ") + sign + " " + amount + lane_});
    }
    edits.push_back({step.begin, step.end,
                     count.counter->getName().str() + " " + sign + "= " + amount + lanes_});

    const Stmt *whole = &loop;
    if (isa_and_nonnull<AttributedStmt>(split.body->parents.lookup(whole)))
      whole = split.body->parents.lookup(whole);
    const unsigned keyword = *view_.offset(loop.getForLoc());
    const unsigned place = view_.offset(whole->getBeginLoc()).value_or(keyword);
    const unsigned line = lineStart(view_.text(), place);
    const std::string indent = view_.indentation(keyword);
    std::string identities, before, after;
    for (const Accumulator &each : split.accumulators) {
      if (!each.identity.empty() && !each.startsAtIdentity)
        identities += indent + "  " + each.name + " = " + each.identity + ";\n";
      std::string combine = each.combine;
      combine.replace(combine.find("${OTHER}"), 8,
                      "__shfl_xor_sync(" + mask() + ", " + each.name + ", " + offset_ + ")");
      after += "\n" + indent + "  " + combine + ";";
    }
    if (!identities.empty())
      before = indent + "if (" + lane_ + " != 0) {\n" + identities + indent + "}\n";
    const bool areSeveral = split.accumulators.size() > 1;
    after = "\n" + indent + "for (int " + offset_ + " = " + (isWarp_ ? "16" : "${LANES} / 2") +
            "; " + offset_ + " > 0; " + offset_ + " /= 2)" + (areSeveral ? " {" : "") + after +
            (areSeveral ? "\n" + indent + "}" : "");
    if (!isa_and_nonnull<CompoundStmt>(split.body->parents.lookup(whole))) {
      before = indent + "{\n" + before;
      after += "\n" + indent + "}";
    }
    if (view_.text().slice(line, place).trim().empty() || whole != &loop)
      edits.push_back({line, line, before});
    else
      edits.push_back({place, place, "\n" + before + indent});
    const unsigned end = *endOfStatement(view_, &loop);
    edits.push_back({end, end, after});
  }

  std::string mask() const { return isWarp_ ? "0xffffffff" : mates_; }

  void guardStore(const Store &store, std::vector<SliceEdit> &edits) const {
    const auto [begin, end] = store.span;
    const bool isBraced =
        isa_and_nonnull<CompoundStmt>(view_.bodies().front().parentOf(store.statement));
    const std::string blank = isBraced ? "\n" + view_.indentation(begin) : " ";
    std::string before = "if (" + lane_ + " == 0)" + blank + (isBraced ? "  " : ""), after;
    if (store.together) {
      const TextSpan &value = *store.together;
      before = "const auto " + value_ + " = " + view_.text().slice(value.begin, value.end).str() +
               ";" + blank + before;
      edits.push_back({value.begin, value.end, value_});
    }
    if (store.isOrdered) {
      after = blank + "__syncwarp(" + (isWarp_ ? "" : mates_) + ");";
      before = after.substr(blank.size()) + blank + before;
    }
    if (!isBraced || store.together) {
      before = (isBraced ? "{" + blank : "{ ") + before;
      after += isBraced ? blank + "}" : " }";
    }
    edits.push_back({begin, begin, before});
    edits.push_back({end, end, after});
  }

  void declareLane(const BodyView &body, std::vector<SliceEdit> &edits) const {
    const auto text = bodyText(view_, *body.function);
    std::string declared =
        "\n" + text->inner + "const int " + lane_ + " = threadIdx.x % " + lanes_ + ";" +
        (body.function == &view_.kernel() ? " // " + lanes_ + " lanes do the work of one thread"
                                          : "");
    if (!isWarp_)
      declared += "\n" + text->inner + "const unsigned " + mates_ +
                  " = 0xffffffffu >> (32 - ${LANES}) << (" + linearLane() +
                  " / ${LANES} * ${LANES});";
    edits.push_back({text->begin, text->begin, declared});
  }

  const KernelView &view_;
  Refusals &refusals_;
  const model::KernelModel *model_ = nullptr;
  std::vector<ReductionLoop> loops_;
  std::vector<Store> stores_;
  std::vector<CoordinateUse> coordinates_;
  bool growsGrid_ = false, isWarp_ = false; ///< false: the block grows; it is a part of a warp
  std::vector<unsigned> factors_;
  /// Of the offer that is written: the number of lanes, a lane, a distance, the lanes of a group,
  /// what is stored.
  std::string lanes_, lane_, offset_, mates_, value_;
};

} // namespace

std::vector<Offer> loopSplitOffers(const KernelView &view, Refusals &refusals) {
  return LoopSplitter(view, refusals).run();
}

} // namespace kopt::frontend
