// SPDX-License-Identifier: Apache-2.0
// Proposes values for the declared tunables, which are named constants, macros and integral
// template arguments, and for those that the parent has of its own.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/search/Proposer.h"

namespace kopt {

class ParamsProposer final : public ReadyProposer {
public:
  /// `seed` decides the points that are drawn.
  ParamsProposer(TuneDeclaration declaration, std::uint64_t seed);

  std::string name() const override { return "params"; }

  /// The points from which most is expected, after all trials of the parent's text with other
  /// values (makeSearcher()). Only points that satisfy every requirement and give a valid
  /// launch. Fails as Space::make().
  Status propose(const ProposalContext &context, Offers &offers) override;

private:
  TuneDeclaration declaration_;
  std::uint64_t seed_;
};

} // namespace kopt
