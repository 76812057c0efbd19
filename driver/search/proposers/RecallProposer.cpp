// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/RecallProposer.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <regex>

namespace kopt {

bool areEditsOf(const Specialization &specialization, const Candidate &edits) {
  static const std::regex kName("[A-Za-z_][A-Za-z_0-9]*"), kHeader(R"([<"][\w./+-]+[>"])");
  const std::vector<SliceChunk> &chunks = specialization.chunks;
  const auto isName = [](const std::string &name) { return std::regex_match(name, kName); };
  return !(edits.options && edits.options->needPermission()) &&
         std::ranges::all_of(edits.chunks,
                             [&](const auto &chunk) {
                               return chunk.first < chunks.size() && chunks[chunk.first].editable;
                             }) &&
         std::ranges::all_of(edits.tunables,
                             [&](const CandidateTunable &tunable) {
                               return isName(tunable.name) && tunable.before < chunks.size();
                             }) &&
         std::ranges::all_of(edits.declarations,
                             [&](const CandidateDeclaration &declaration) {
                               return declaration.file.empty() &&
                                      declaration.before < chunks.size();
                             }) &&
         std::ranges::all_of(edits.includes, [](const CandidateInclude &include) {
           return !include.isUsers && std::regex_match(include.header, kHeader);
         });
}

Status RecallProposer::propose(const ProposalContext &context, Offers &offers) {
  const std::string &baseline = context.history.trials.front().candidateHash;
  if (context.ask.parents.front() != baseline)
    return {};
  for (const Remembered &row : known_) {
    if (!row.edits || !areEditsOf(context.problem.specialization, *row.edits))
      continue;
    Candidate candidate = *row.edits;
    candidate.proposer = kName;
    candidate.technique = row.experience.technique;
    candidate.title = fmt::format("{} again, as in {}", candidate.technique,
                                  row.isOwn ? row.experience.from.run
                                            : "what was imported from " + join(row.sources, ", "));
    candidate.rationale =
        fmt::format("trial {} on {}: {:.3f}x", row.id.substr(0, 12), row.experience.arch,
                    std::exp(row.experience.overBaseline->estimate));
    candidate.parents = {baseline};
    offers.offer(std::move(candidate));
  }
  return {};
}

} // namespace kopt
