// SPDX-License-Identifier: Apache-2.0
// Proposes values for the declared tunables, which are named constants, macros and integral
// template arguments, and for those that the parent has of its own.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/search/Proposer.h"
#include "driver/search/space/Searcher.h"

namespace kopt {

/// How the values are chosen.
struct NumberSearch {
  std::uint64_t seed = 1; ///< decides the points that are drawn
  NamedSearcher searcher = searchers().front();
  /// The points that may be tried, of all declared parameters in their order; null: all that
  /// satisfy the requirements. It must outlive the proposer.
  const Space *points = nullptr;
};

class ParamsProposer final : public ReadyProposer {
public:
  explicit ParamsProposer(TuneDeclaration declaration, NumberSearch search = {});

  std::string name() const override { return kNumbersRole; }

  /// The points from which most is expected, after all trials of the parent's text with other
  /// values, here and elsewhere (Precedents::numbers). Only points that satisfy every requirement
  /// and give a valid launch. Fails as Space::make().
  Status propose(const ProposalContext &context, Offers &offers) override;

private:
  TuneDeclaration declaration_;
  NumberSearch search_;
};

} // namespace kopt
