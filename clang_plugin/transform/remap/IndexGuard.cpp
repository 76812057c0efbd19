// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/remap/IndexGuard.h"

#include "clang_plugin/analysis/Writes.h"

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr std::int64_t kMostMerged = 8; ///< blocks whose elements a thread gets at most: of jam

class GuardReader {
public:
  GuardReader(const KernelView &view, Refusals &refusals) : view_(view), refusals_(refusals) {}

  bool read() {
    const auto *block = cast<CompoundStmt>(view_.work().function->getBody());
    for (const Stmt *statement : block->body()) {
      result_.statement = dyn_cast<IfStmt>(statement);
      if (result_.statement || !isa<DeclStmt>(statement))
        break;
      result_.declarations.push_back(cast<DeclStmt>(statement));
    }
    const IfStmt *guard = result_.statement;
    if (!guard)
      return refusals_.add("it does not begin with declarations and a test of its index");
    const Stmt *then = guard->getThen();
    if (const auto *only = dyn_cast<CompoundStmt>(then); only && only->size() == 1)
      then = only->body_front();
    result_.leaves = isa<ReturnStmt>(then);
    if (guard->getElse() || guard->getInit() || guard->getConditionVariable() ||
        (!result_.leaves && block->body_back() != guard))
      return refuse("the test of its index is not around the whole work");
    const BodyView &work = view_.work();
    for (const Stmt *part : work.statements)
      if (const auto written = writesOf(part);
          work.isWithin(part, guard->getCond()) && (!written || !written->empty()))
        return refuse("the test of its index changes something");
    model_ = modelOf(view_, refusals_);
    return model_ && readTests(guard->getCond());
  }

  IndexGuard &result() { return result_; }

private:
  bool refuse(const llvm::Twine &why) { return refusals_.add(result_.statement, why); }

  /// True of what may not be the same for all threads while the kernel runs.
  bool mayDiffer(unsigned number) const {
    const model::Symbol &symbol = model_->symbols[number];
    return llvm::is_contained(symbol.isOfGrid, true) || symbol.isOfMemory ||
           !symbol.loops.empty() || llvm::is_contained(symbol.varies, true);
  }

  bool readTests(const Expr *test) {
    const auto *binary = dyn_cast<BinaryOperator>(test->IgnoreParenImpCasts());
    if (binary && binary->getOpcode() == (result_.leaves ? BO_LOr : BO_LAnd))
      return readTests(binary->getLHS()) && readTests(binary->getRHS());
    const auto begin = binary ? view_.offset(binary->getBeginLoc()) : std::nullopt;
    if (binary && (!begin || !view_.endOffset(binary->getEndLoc())))
      return refuse("a macro spells the test of its index");
    std::vector<const model::Comparison *> found; // one for each call of the work
    for (const model::Condition &each : model_->conditions)
      if (begin && each.place.range && each.place.range->begin == *begin)
        found.push_back(each.compared ? &*each.compared : nullptr);
    const auto isFixed = [&](const model::Comparison *each) {
      return each && each->left == found.front()->left &&
             llvm::none_of(each->right.symbols(),
                           [this](unsigned symbol) { return mayDiffer(symbol); });
    };
    if (found.empty() || !found.front() || !llvm::all_of(found, isFixed) ||
        binary->getOpcode() != (result_.leaves ? BO_GE : BO_LT))
      return refuse("it does not compare a fixed index with a fixed bound");
    const model::Polynomial &index = found.front()->left;
    if (llvm::none_of(index.symbols(), [this](unsigned symbol) { return mayDiffer(symbol); }))
      return true;
    for (unsigned axis = 0; axis < 3; ++axis) {
      const unsigned block = model_->coordinate(model::SymbolKind::BlockIdx, axis),
                     thread = model_->coordinate(model::SymbolKind::ThreadIdx, axis);
      const auto width = index.growth(block).value_or(model::Polynomial());
      const auto first = product(width, model::Polynomial::ofSymbol(block));
      if (width.terms.size() == 1 && first &&
          sum(*first, model::Polynomial::ofSymbol(thread)) == index) {
        result_.tests.push_back({binary->getLHS(), binary->getRHS(), axis});
        return checkLaunches(width, result_.tests.back(), found);
      }
    }
    return refuse("the index is not blockIdx * b + threadIdx");
  }

  bool checkLaunches(const model::Polynomial &width, const GuardTest &test,
                     llvm::ArrayRef<const model::Comparison *> comparisons) {
    const QualType type = test.index->IgnoreParenImpCasts()->getType();
    for (const LaunchShape &launch : view_.launches) {
      const std::int64_t block = launch.block[test.axis], threads = launch.grid[test.axis] * block;
      if (valueOf(width, *model_, &launch) != block)
        return refuse("a launch has blocks of another width than the index");
      for (const model::Comparison *each : comparisons)
        if (const auto elements = valueOf(each->right, *model_, &launch);
            elements && *elements > threads)
          return refuse("a launch has fewer threads than elements");
      if (threads + kMostMerged * block > INT32_MAX || view_.context().getTypeSize(type) < 32)
        return refuse("the index may wrap beyond the last thread");
    }
    return true;
  }

  const KernelView &view_;
  Refusals &refusals_;
  const model::KernelModel *model_ = nullptr;
  IndexGuard result_;
};

} // namespace

std::optional<IndexGuard> readGuard(const KernelView &view, Refusals &refusals) {
  GuardReader reader(view, refusals);
  return reader.read() ? std::optional(std::move(reader.result())) : std::nullopt;
}

} // namespace kopt::frontend
