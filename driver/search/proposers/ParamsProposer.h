// SPDX-License-Identifier: Apache-2.0
// Values for the tunables a user declared: named constants, macros and integral template arguments.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/search/proposers/Proposer.h"

namespace kopt {

class ParamsProposer : public Proposer {
public:
  /// `seed` orders what is drawn at random from spaces too large to list.
  ParamsProposer(TuneDeclaration declaration, std::uint64_t seed);

  std::string name() const override { return "params"; }

  /// First every neighbour of the parent (one tunable changed), then, where the whole space has at
  /// most kListable points, all of the rest, else points drawn at random. Only points that satisfy
  /// every requirement and give a launchable geometry.
  Result<std::vector<Candidate>> propose(const ProposalContext &context,
                                         std::size_t limit) override;

private:
  TuneDeclaration declaration_;
  std::uint64_t seed_;
};

} // namespace kopt
