// SPDX-License-Identifier: Apache-2.0
// Proposes versions for some launches only: where a candidate was faster on some of the workload's
// launches and not on the others, or is wrong on launches that the workload does not have, a
// condition in the kernel chooses between its body and the usual one. It makes nothing new, so it
// is asked when trials give it a reason, not in turns.
#pragma once

#include "driver/search/Proposer.h"
#include "driver/source/Frontend.h"

namespace kopt {

class ClassProposer final : public ReadyProposer {
public:
  explicit ClassProposer(Frontend &frontend) : frontend_(frontend) {}

  std::string name() const override { return "classes"; }
  Status propose(const ProposalContext &context, Offers &offers) override;

private:
  Frontend &frontend_;
};

} // namespace kopt
