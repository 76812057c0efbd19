// SPDX-License-Identifier: Apache-2.0
// Proposes what two lineages changed, in one candidate.
#pragma once

#include "driver/search/Proposer.h"

namespace kopt {

/// `one` and `other`, both made from `base`, in one candidate: their changes of the chunks of the
/// rendered `slice`, of constants, of the launch and of what they declare. Nothing if two changes
/// meet. Only what runs is merged; titles and the like are empty.
std::optional<Candidate> merged(const Candidate &base, const Candidate &one, const Candidate &other,
                                const std::vector<std::string> &chunks);

/// For the parent, the faster ones of the trials that are neither among its ancestors nor among its
/// descendants, each merged with it; the fastest first. Those whose changes meet are left to a
/// language model.
class MergeProposer final : public ReadyProposer {
public:
  std::string name() const override { return "merge"; }
  Status propose(const ProposalContext &context, Offers &offers) override;
};

} // namespace kopt
