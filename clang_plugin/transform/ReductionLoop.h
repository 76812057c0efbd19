// SPDX-License-Identifier: Apache-2.0
// Recognises loops whose iterations may run in any order, on any lane: they only read memory and
// add up variables.
#pragma once

#include "clang_plugin/analysis/Writes.h"
#include "clang_plugin/model/KernelModel.h"
#include "clang_plugin/transform/Transformation.h"

namespace kopt::frontend {

/// A variable that the iterations of a loop only add to, or take the largest of, and so on.
struct Accumulator {
  std::string name;
  /// Adds another lane's part: "sum += ${OTHER}", "m = fmaxf(m, ${OTHER})".
  std::string combine;
  /// What a lane begins with that has no part in the first value; empty: the first value itself, as
  /// the operation may meet it twice.
  std::string identity;
  bool startsAtIdentity = false; ///< it was declared so just before the loop
};

struct ReductionLoop {
  const BodyView *body = nullptr;
  const clang::ForStmt *loop = nullptr;
  CountedLoop count;
  std::vector<Accumulator> accumulators;
};

/// The loop, if its iterations do nothing but accumulate; otherwise what is in the way is refused.
/// Variables that every iteration sets anew do not matter if only the loop uses them.
std::optional<ReductionLoop> readReductionLoop(const KernelView &view,
                                               const model::KernelModel &model,
                                               const BodyView &body, const clang::ForStmt &loop,
                                               Refusals &refusals);

} // namespace kopt::frontend
