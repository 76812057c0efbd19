// SPDX-License-Identifier: Apache-2.0
// The rewrites of the catalogue: each reads one kernel and offers text edits of the slice, each of
// which makes one candidate. A rewrite never judges whether an offer is faster. If
// it cannot prove that an offer is correct, it says so in the offer's note, and verification
// decides.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <clang/Basic/SourceLocation.h>
#include <cstdint>
#include <llvm/ADT/Twine.h>
#include <vector>

namespace clang {
class Stmt;
class VarDecl;
} // namespace clang

namespace kopt::frontend {

struct BodyView;
class KernelView;
namespace model {
struct KernelModel;
struct Place;
} // namespace model

/// Why one rewrite does not apply to a kernel or to parts of it.
class Refusals {
public:
  Refusals(const KernelView &view, std::string technique, std::vector<OfferRefusal> &list)
      : view_(view), technique_(std::move(technique)), list_(list) {}

  // All return false: the answer of a check that refuses.
  /// `at`: what is in the way. Each reason is kept once a line.
  bool add(clang::SourceLocation at, const llvm::Twine &why);
  bool add(const clang::Stmt *at, const llvm::Twine &why);
  bool add(const model::Place &at, const llvm::Twine &why);
  /// The kernel as a whole.
  bool add(const llvm::Twine &why);

private:
  bool keep(unsigned line, const llvm::Twine &why);

  const KernelView &view_;
  std::string technique_;
  std::vector<OfferRefusal> &list_;
};

/// The model of the kernel, made when it is first asked for; null, with a refusal, if there is
/// none.
const model::KernelModel *modelOf(const KernelView &view, Refusals &refusals);

/// The static shared variables that a body declares.
std::vector<const clang::VarDecl *> staticShared(const BodyView &body);

// Every offer of a rewrite for this kernel, the most promising first; empty if the rewrite does not
// match, with what is in its way in `refusals`. findOffers() sets their techniques and sorts their
// edits: at one place, insertions come before what replaces text, in the order in which they are.
std::vector<Offer> loopSplitOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> arithmeticOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> stageOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> launchBoundsOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> unrollOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> readonlyLoadsOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> sharedPaddingOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> blockSizeOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> specialiseOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> gridSizeOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> swapAxesOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> jamOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> vectorizeOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> coarsenOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> gridStrideOffers(const KernelView &view, Refusals &refusals);
std::vector<Offer> trimGridOffers(const KernelView &view, Refusals &refusals);

} // namespace kopt::frontend
