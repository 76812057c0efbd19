// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/ReplyCandidates.h"
#include "driver/diagnose/CounterTable.h"
#include "driver/search/proposers/TransformProposer.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/Includes.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Text.h"
#include "driver/workload/ApplyCandidate.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

/// Moves #include directives from the text to the candidate's includes, as they go before
/// everything else.
void takeIncludes(std::string &text, const std::string &slice, Candidate &candidate) {
  std::set<std::string> known;
  for (const IncludeDirective &include : includesIn(slice))
    known.insert(include.header);
  for (const CandidateInclude &include : candidate.includes)
    known.insert(include.header);
  const std::vector<IncludeDirective> named = includesIn(text);
  for (auto include = named.rbegin(); include != named.rend(); ++include)
    text.erase(include->begin, include->end - include->begin);
  for (const IncludeDirective &include : named)
    if (known.insert(include.header).second)
      candidate.includes.push_back({include.header, false});
}

/// The text with the same line ends at its end as the original, so that nothing outside the chunk
/// moves.
std::string withEndOf(std::string text, const std::string &original) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  std::size_t last = original.find_last_not_of('\n');
  return text + (last == std::string::npos ? "" : original.substr(last + 1));
}

/// The name of a constant that the reply sets by value although the candidate rewrites its text;
/// empty if there is none.
std::string constantInNewText(const ProposalContext &context, const Candidate &candidate,
                              const ReplyCandidate &reply) {
  for (const NamedConstant &constant :
       constantsInScope(context.problem.kernel, context.problem.specialization))
    if (reply.constants.count(constant.name))
      for (const auto &[index, text] : candidate.chunks)
        if (contains(context.problem.specialization.chunks.at(index).source, constant.valueRange))
          return constant.name;
  return {};
}

} // namespace

tl::expected<Candidate, std::string> candidateOf(const ReplyCandidate &reply,
                                                 const ProposalContext &context,
                                                 const CodeTask &task,
                                                 const Techniques &techniques) {
  Candidate candidate = context.parent();
  candidate.proposer = kModelRole;
  candidate.title = reply.title;
  candidate.technique = techniques.named(reply.technique);
  candidate.rationale = reply.rationale;
  candidate.expects.emplace();
  for (const ReplyExpectation &expects : reply.expects)
    candidate.expects->push_back({counterOfLabel(expects.metric), expects.factor});
  for (auto [label, chunk] : reply.chunks) {
    const std::string &present = task.contract.chunks.at(label);
    takeIncludes(chunk, context.problem.sliceText, candidate);
    if (std::string changed = withEndOf(std::move(chunk), present); changed != present)
      (task.chunkOfLabel.contains(label)
           ? candidate.chunks[task.chunkOfLabel.at(label)]
           : candidate.declarations.at(task.declarationOfLabel.at(label)).text) =
          std::move(changed);
  }
  for (const auto &[name, value] : reply.constants)
    candidate.constants[name] = value;
  if (reply.block)
    candidate.launch.block = reply.block;
  if (reply.block || reply.grid)
    candidate.launch.grid = reply.grid; // that of the launch site if it has none
  if (reply.coverGrid) {
    coverThreads(candidate.launch);
    writeByHand(context.problem, candidate);
  }
  if (reply.sharedBytes)
    candidate.launch.sharedBytes = reply.sharedBytes;
  for (const ReplyTunable &tunable : reply.tunables) {
    std::erase_if(candidate.tunables,
                  [&](const CandidateTunable &old) { return old.name == tunable.name; });
    candidate.tunables.push_back({tunable.name, tunable.values, tunable.requirements, tunable.value,
                                  context.problem.specialization.kernelChunk});
  }
  if (std::string name = constantInNewText(context, candidate, reply); !name.empty())
    return tl::unexpected(fmt::format(
        "constant \"{}\" is declared in a chunk that is rewritten: change it there", name));
  if (candidate.contentHash() == context.parentTrial().candidateHash)
    return tl::unexpected(
        std::string("it changes neither the code nor the constants nor the launch"));
  candidate.parents = {context.parentTrial().candidateHash};
  return candidate;
}

} // namespace kopt
