// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/LlmProposer.h"
#include "driver/search/proposers/TransformProposer.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/Includes.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"
#include "driver/workload/ApplyCandidate.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {
namespace {

bool isRepairable(Verdict verdict) {
  switch (verdict) {
  case Verdict::Slower:
  case Verdict::Rejected:
  case Verdict::BuildFailed:
  case Verdict::WrongResult:
  case Verdict::RunFailed:
  case Verdict::TimedOut:
    return true;
  case Verdict::Faster:
  case Verdict::Same:
  case Verdict::Ambiguous:
  case Verdict::Duplicate:
  case Verdict::Suspect:
    return false;
  }
  return false;
}

const Trial *findTrial(const std::vector<Trial> &history, const std::string &hash) {
  for (const Trial &trial : history)
    if (trial.candidateHash == hash)
      return &trial;
  return nullptr;
}

/// The trial of the last of its parents; null if it is not in the history.
const Trial *parentOf(const std::vector<Trial> &history, const Trial &trial) {
  const std::vector<std::string> &parents = trial.candidate.parents;
  return parents.empty() ? nullptr : findTrial(history, parents.back());
}

std::string requestText(const ChatModel &model, const ChatRequest &request) {
  nlohmann::json messages = nlohmann::json::array();
  for (const ChatMessage &message : request.messages)
    messages.push_back({{"role", message.role}, {"text", message.text}});
  nlohmann::json document{{"model", model.name()},
                          {"purpose", request.purpose},
                          {"system", request.system},
                          {"messages", messages},
                          {"max_tokens", request.maxTokens}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

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
                              const CodeReply &reply) {
  for (const NamedConstant &constant :
       constantsInScope(context.problem.kernel, context.problem.specialization))
    if (reply.constants.count(constant.name))
      for (const auto &[index, text] : candidate.chunks)
        if (contains(context.problem.specialization.chunks.at(index).source, constant.valueRange))
          return constant.name;
  return {};
}

/// The subject of a note that gives up an attempt.
std::string abandoned(const std::string &hash) { return "abandoned " + hash; }

} // namespace

LlmProposer::LlmProposer(ChatModel &model, Store &store, std::int64_t run, LlmOptions options)
    : model_(model), store_(store), run_(run), options_(options) {}

Result<std::vector<Candidate>> LlmProposer::propose(const ProposalContext &context,
                                                    std::size_t limit) {
  std::vector<Candidate> proposals;
  if (limit == 0)
    return proposals;
  KOPT_TRY(const Trial *failed, attemptToRepair(context));
  KOPT_TRY(Answer answer, exchange(context, failed));
  if (failed && !answer.candidate && !answer.capped) {
    // The attempt cannot be repaired: ask for a new idea instead.
    KOPT_TRY(answer, exchange(context, nullptr));
  }
  if (answer.candidate)
    proposals.push_back(std::move(*answer.candidate));
  return proposals;
}

Result<LlmProposer::Answer> LlmProposer::exchange(const ProposalContext &context,
                                                  const Trial *failed) {
  const Candidate &base = failed ? failed->candidate : context.parent();
  const std::string repaired = failed ? failed->candidateHash : "";
  KOPT_TRY(const CodeTask task, makeCodeTask(context, base));
  ChatRequest request;
  request.purpose = failed ? "fixer" : "coder";
  request.maxTokens = options_.replyTokens;
  request.timeout = options_.timeout;
  KOPT_TRY(request.system, systemPrompt());
  KOPT_TRY(std::string prompt,
           failed ? fixerPrompt(context, task, *failed) : coderPrompt(context, task));
  request.messages.push_back({"user", std::move(prompt)});

  for (int attempt = 0;; ++attempt) {
    KOPT_TRY(const std::optional<std::string> reply, ask(request, context));
    if (!reply) {
      Answer capped;
      capped.capped = true;
      return capped;
    }
    Answer answer = read(*reply, context, task, base);
    if (answer.candidate) {
      answer.candidate->parents = {failed ? failed->candidateHash
                                          : context.parentTrial().candidateHash};
      return answer;
    }
    if (!answer.stop.empty()) {
      KOPT_CHECK(note(
          context, fmt::format("the model as {} offers nothing: {}", request.purpose, answer.stop),
          repaired));
      return answer;
    }
    if (attempt == 1) {
      KOPT_CHECK(note(context,
                      fmt::format("the model's replies as {} could not be used: {}",
                                  request.purpose, answer.breach),
                      repaired));
      return answer;
    }
    KOPT_TRY(std::string retry, retryPrompt(answer.breach));
    request.messages.push_back({"assistant", *reply});
    request.messages.push_back({"user", std::move(retry)});
  }
}

Result<const Trial *> LlmProposer::attemptToRepair(const ProposalContext &context) {
  auto last = std::find_if(context.history.rbegin(), context.history.rend(),
                           [](const Trial &trial) { return trial.candidate.proposer == "llm"; });
  if (last == context.history.rend() || !isRepairable(last->verdict))
    return nullptr;
  int repairs = 0;
  for (const Trial *trial = parentOf(context.history, *last);
       trial && trial->candidate.proposer == "llm" && isRepairable(trial->verdict) &&
       repairs < options_.maxRepairs;
       trial = parentOf(context.history, *trial))
    ++repairs;
  if (repairs >= options_.maxRepairs)
    return nullptr;
  KOPT_TRY(const std::vector<Decision> decisions, store_.decisions(run_));
  for (const Decision &decision : decisions)
    if (const auto *note = std::get_if<Note>(&decision.what);
        note && note->about == abandoned(last->candidateHash))
      return nullptr;
  return &*last;
}

LlmProposer::Answer LlmProposer::read(const std::string &text, const ProposalContext &context,
                                      const CodeTask &task, const Candidate &base) const {
  auto breached = [](std::string what) {
    Answer answer;
    answer.breach = std::move(what);
    return answer;
  };
  auto reply = parseCodeReply(text, task.contract);
  if (!reply)
    return breached(reply.error());
  if (!reply->stop.empty()) {
    Answer answer;
    answer.stop = reply->stop;
    return answer;
  }

  Candidate candidate = base;
  candidate.proposer = "llm";
  candidate.title = reply->title;
  candidate.technique = reply->technique;
  candidate.rationale = reply->rationale;
  for (auto &[label, chunk] : reply->chunks) {
    const std::string &present = task.contract.chunks.at(label);
    takeIncludes(chunk, context.problem.sliceText, candidate);
    if (std::string changed = withEndOf(std::move(chunk), present); changed != present)
      candidate.chunks[task.chunkOfLabel.at(label)] = std::move(changed);
  }
  for (const auto &[name, value] : reply->constants)
    candidate.constants[name] = value;
  if (reply->block) {
    candidate.launch.block = Dim3{(*reply->block)[0], (*reply->block)[1], (*reply->block)[2]};
    candidate.launch.coverGrid = reply->coverGrid;
    writeByHand(context.problem, candidate);
  }
  if (reply->sharedBytes)
    candidate.launch.sharedBytes = reply->sharedBytes;

  if (std::string name = constantInNewText(context, candidate, *reply); !name.empty())
    return breached(fmt::format(
        "constant \"{}\" is declared in a chunk that is rewritten: change it there", name));
  const std::string hash = candidate.contentHash();
  if (hash == base.contentHash() || hash == context.parent().contentHash())
    return breached("the reply changes neither the code nor the constants nor the launch");
  if (const Trial *same = findTrial(context.history, hash))
    return breached(
        fmt::format("this repeats attempt \"{}\", which ended as {}; propose something else",
                    same->candidate.title, toString(same->verdict)));
  for (const Launch &launch : context.problem.workload.launches)
    if (auto changed = applyToLaunch(context.problem.kernel, launch, candidate); !changed)
      return breached(
          fmt::format("launch {} is not possible: {}", launch.name, changed.error().what));
  if (auto edits =
          writeBackEdits(context.problem.kernel, context.problem.specialization, candidate);
      !edits)
    return breached("the change cannot be written back to the user's source: " +
                    edits.error().what);
  Answer answer;
  answer.candidate = std::move(candidate);
  return answer;
}

Result<std::optional<std::string>> LlmProposer::ask(const ChatRequest &request,
                                                    const ProposalContext &context) {
  ModelCall call;
  call.request = requestText(model_, request);
  call.requestHash = hashHex(call.request);
  KOPT_TRY(const std::vector<ModelCall> calls, store_.modelCalls(run_));
  long tokens = 0;
  for (const ModelCall &earlier : calls) {
    if (earlier.requestHash == call.requestHash)
      return earlier.reply;
    tokens += earlier.inputTokens + earlier.outputTokens;
  }
  std::string cap;
  if (options_.maxCalls > 0 && calls.size() >= std::size_t(options_.maxCalls))
    cap = fmt::format("the model is not asked: {} of {} calls are used", calls.size(),
                      options_.maxCalls);
  else if (options_.maxTokens > 0 && tokens >= options_.maxTokens)
    cap =
        fmt::format("the model is not asked: {} of {} tokens are used", tokens, options_.maxTokens);
  if (!cap.empty()) {
    KOPT_CHECK(note(context, cap));
    return std::nullopt;
  }

  ChatRequest numbered = request;
  if (options_.secondsLeft)
    numbered.timeout = std::min(numbered.timeout, Duration(std::max(1.0, options_.secondsLeft())));
  numbered.call = int(calls.size()) + 1;
  KOPT_TRY(const ChatReply reply, model_.complete(numbered));
  call.purpose = request.purpose;
  call.model = reply.model;
  call.reply = reply.text;
  call.inputTokens = reply.inputTokens;
  call.outputTokens = reply.outputTokens;
  call.cachedTokens = reply.cachedTokens;
  call.seconds = reply.seconds;
  KOPT_CHECK(store_.recordModelCall(run_, call));
  return reply.text;
}

Status LlmProposer::note(const ProposalContext &context, const std::string &text,
                         const std::string &givenUp) {
  Decision decision;
  decision.round = context.round;
  decision.what = Note{givenUp.empty() ? "llm" : abandoned(givenUp), text};
  // A resumed run takes this path again and must not record the note twice.
  KOPT_TRY(const std::vector<Decision> recorded, store_.decisions(run_));
  for (const Decision &known : recorded)
    if (identityOf(known) == identityOf(decision) && describe(known) == text)
      return {};
  if (options_.tell)
    options_.tell("note: " + text);
  return store_.recordDecision(run_, decision);
}

} // namespace kopt
