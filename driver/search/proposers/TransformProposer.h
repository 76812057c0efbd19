// SPDX-License-Identifier: Apache-2.0
// Proposes rewrites from the front end's catalogue, first those that treat what the rules found.
#pragma once

#include "driver/search/proposers/Proposer.h"
#include "driver/source/Frontend.h"

namespace kopt {

class TransformProposer : public Proposer {
public:
  explicit TransformProposer(Frontend &frontend) : frontend_(frontend) {}

  std::string name() const override { return "transform"; }
  Result<std::vector<Candidate>> propose(const ProposalContext &context,
                                         std::size_t limit) override;

private:
  Frontend &frontend_;
};

} // namespace kopt
