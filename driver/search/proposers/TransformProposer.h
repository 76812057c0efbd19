// SPDX-License-Identifier: Apache-2.0
// Proposes rewrites from the front end's catalogue, first those that gained before,
// then those that treat what the rules found.
#pragma once

#include "driver/search/Proposer.h"
#include "driver/source/Frontend.h"

namespace kopt {

/// Writes a block whose grid covers the same threads as a person does, where all launches come
/// from one launch site or equal ones whose variables are known and have no other parameter's name.
void writeByHand(const SearchProblem &problem, Candidate &candidate);

class TransformProposer final : public ReadyProposer {
public:
  /// `names`: those of the proposers; "-unroll" leaves out a rewrite.
  TransformProposer(Frontend &frontend, std::vector<std::string> names)
      : frontend_(frontend), names_(std::move(names)) {}

  std::string name() const override { return "transform"; }
  Status propose(const ProposalContext &context, Offers &offers) override;

private:
  Frontend &frontend_;
  std::vector<std::string> names_;
};

} // namespace kopt
