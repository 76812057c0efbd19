// SPDX-License-Identifier: Apache-2.0
// From a candidate as a model wrote it to one that can be judged.
#pragma once

#include "driver/diagnose/Techniques.h"
#include "driver/llm/contract/Contract.h"
#include "driver/search/Proposer.h"
#include "driver/search/model/SectionTexts.h"

#include <string>
#include <tl/expected.hpp>

namespace kopt {

/// The ask's parent with the changes of `reply`, or in words what is wrong with them, made to be
/// sent back to the model. `task`: of the parent.
tl::expected<Candidate, std::string> candidateOf(const ReplyCandidate &reply,
                                                 const ProposalContext &context,
                                                 const CodeTask &task,
                                                 const Techniques &techniques);

} // namespace kopt
