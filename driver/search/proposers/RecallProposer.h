// SPDX-License-Identifier: Apache-2.0
// Proposes again what made the same text faster before, in other runs of the user's or in trials
// that were imported. It is judged like any other candidate: what it gained then only ranks it.
#pragma once

#include "driver/knowledge/ExperienceBase.h"
#include "driver/search/Proposer.h"

namespace kopt {

class RecallProposer final : public ReadyProposer {
public:
  static constexpr const char *kName = "recall";

  /// `known`: the best first; those without edits are passed over.
  explicit RecallProposer(std::vector<Remembered> known) : known_(std::move(known)) {}

  std::string name() const override { return kName; }
  /// Offers something for the baseline only: stored edits are against that.
  Status propose(const ProposalContext &context, Offers &offers) override;

private:
  std::vector<Remembered> known_;
};

/// Whether edits that strangers may have written are such as kopt writes, and need nothing but the
/// slice: they change what may be changed, and their names are names. The judge screens their
/// texts. What other files of the user are said to declare may no longer be there.
bool areEditsOf(const Specialization &specialization, const Candidate &edits);

} // namespace kopt
