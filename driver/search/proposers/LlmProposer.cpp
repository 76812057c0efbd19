// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/LlmProposer.h"
#include "driver/search/policy/Arms.h"
#include "driver/search/proposers/TransformProposer.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/Includes.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Hash.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"
#include "driver/workload/ApplyCandidate.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace kopt {
namespace {

/// True of what is wrong or slower, unless kopt only doubts it.
bool isRepairable(const Trial &trial) {
  return trial.verdict == Verdict::Slower || (!isRight(trial) && trial.verdict != Verdict::Suspect);
}

/// The trial of the last of its parents; null if it is not in the history.
const Trial *parentOf(const SearchHistory &history, const Trial &trial) {
  const std::vector<std::string> &parents = trial.candidate.parents;
  return parents.empty() ? nullptr : history.find(parents.back());
}

bool isAbandoned(const SearchHistory &history, const std::string &candidate) {
  return std::ranges::any_of(history.events, [&](const Event &event) {
    const auto *offer = std::get_if<Offered>(&event.what);
    return offer && offer->abandoned == candidate;
  });
}

std::string requestText(const ChatModel &model, const ChatRequest &request) {
  nlohmann::json messages = nlohmann::json::array();
  for (const ChatMessage &message : request.messages)
    messages.push_back({{"role", message.role}, {"text", message.text}});
  return dumpJson({{"model", model.name()},
                   {"purpose", request.purpose},
                   {"system", request.system},
                   {"messages", messages},
                   {"max_tokens", request.maxTokens}});
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

LlmProposer::LlmProposer(ChatModel &model, Store &store, std::int64_t run, LlmOptions options)
    : model_(model), store_(store), run_(run), options_(options) {}

void LlmProposer::start(const ProposalContext &context, Inbox &inbox) {
  exchanges_[context.ask.id] = {};
  if (context.ask.limit == 0)
    return answer(context.ask.id, {}, inbox);
  Status status = begin(context, attemptToRepair(context));
  if (status)
    status = send(context, inbox);
  if (!status)
    answer(context.ask.id, tl::unexpected(status.error()), inbox);
}

void LlmProposer::heard(const ProposalContext &context, Result<ChatReply> reply, Inbox &inbox) {
  Status status;
  if (!reply)
    status = tl::unexpected(reply.error());
  if (status)
    status = record(context, *reply);
  if (status)
    status = use(reply->text, context, inbox);
  if (!status)
    answer(context.ask.id, tl::unexpected(status.error()), inbox);
}

void LlmProposer::answer(int ask, Result<std::vector<Candidate>> candidates, Inbox &inbox) {
  Exchange &exchange = exchanges_.at(ask);
  inbox.put({ask, ProposerAnswer{std::move(candidates), std::move(exchange.notes),
                                 std::move(exchange.abandoned)}});
  exchanges_.erase(ask);
}

Status LlmProposer::begin(const ProposalContext &context, const Trial *failed) {
  Exchange &exchange = exchanges_.at(context.ask.id);
  exchange.repaired = failed ? failed->candidateHash : "";
  exchange.base = failed ? failed->candidate : context.parent();
  exchange.isRetry = false;
  KOPT_TRY(exchange.task, makeCodeTask(context, exchange.base));
  ChatRequest &request = exchange.request = {};
  request.purpose = failed ? "fixer" : "coder";
  request.maxTokens = options_.replyTokens;
  request.timeout = options_.timeout;
  KOPT_TRY(techniques_, Techniques::load());
  KOPT_TRY(const Prompt system, systemPrompt());
  KOPT_TRY(const Prompt prompt, taskPrompt(context, exchange.task, failed));
  request.system = system.text;
  request.messages.push_back({"user", prompt.text});
  return {};
}

Status LlmProposer::send(const ProposalContext &context, Inbox &inbox) {
  const int ask = context.ask.id;
  Exchange &exchange = exchanges_.at(ask);
  exchange.call = {};
  exchange.call.purpose = exchange.request.purpose;
  exchange.call.request = requestText(model_, exchange.request);
  exchange.call.requestHash = hashHex(exchange.call.request);
  KOPT_TRY(const std::vector<ModelCall> calls, store_.modelCalls(run_));
  long tokens = 0;
  for (const ModelCall &earlier : calls) {
    if (earlier.requestHash == exchange.call.requestHash)
      return use(earlier.reply, context, inbox);
    tokens += earlier.inputTokens + earlier.outputTokens;
  }
  // Those of other asks are under way.
  const std::size_t made = calls.size() + exchanges_.size() - 1;
  std::string cap;
  if (options_.maxCalls > 0 && made >= std::size_t(options_.maxCalls))
    cap = fmt::format("the model is not asked: {} of {} calls are used", made, options_.maxCalls);
  else if (options_.maxTokens > 0 && tokens >= options_.maxTokens)
    cap =
        fmt::format("the model is not asked: {} of {} tokens are used", tokens, options_.maxTokens);
  if (!cap.empty()) {
    note(exchange, std::move(cap));
    answer(ask, {}, inbox);
    return {};
  }
  ChatRequest numbered = exchange.request;
  if (options_.secondsLeft)
    numbered.timeout = std::min(numbered.timeout, Duration(std::max(1.0, options_.secondsLeft())));
  numbered.call = int(made) + 1;
  network_.add([this, ask, &inbox, numbered] { inbox.put({ask, model_.complete(numbered)}); });
  return {};
}

Status LlmProposer::record(const ProposalContext &context, const ChatReply &reply) {
  ModelCall &call = exchanges_.at(context.ask.id).call;
  call.model = reply.model;
  call.reply = reply.text;
  call.inputTokens = reply.inputTokens;
  call.outputTokens = reply.outputTokens;
  call.cachedTokens = reply.cachedTokens;
  call.seconds = reply.seconds;
  return store_.recordModelCall(run_, call);
}

Status LlmProposer::use(const std::string &reply, const ProposalContext &context, Inbox &inbox) {
  Exchange &exchange = exchanges_.at(context.ask.id);
  Reading reading = read(reply, context, exchange);
  if (reading.candidate) {
    answer(context.ask.id, std::vector{std::move(*reading.candidate)}, inbox);
    return {};
  }
  const std::vector<ReplyBreach> &breaches = reading.reply.breaches;
  if (!breaches.empty() && !exchange.isRetry) {
    exchange.isRetry = true;
    KOPT_TRY(std::string retry, retryPrompt(reading.reply));
    exchange.request.messages.push_back({"assistant", reply});
    exchange.request.messages.push_back({"user", std::move(retry)});
    return send(context, inbox);
  }
  const std::string &purpose = exchange.request.purpose;
  note(exchange, breaches.empty() ? fmt::format("the model as {} offers nothing: {}", purpose,
                                                reading.reply.stop)
                                  : fmt::format("the model's replies as {} could not be used: {}",
                                                purpose, breaches.front().what));
  if (exchange.repaired.empty()) {
    answer(context.ask.id, {}, inbox);
    return {};
  }
  // The attempt cannot be repaired: ask for a new idea instead.
  exchange.abandoned = exchange.repaired;
  KOPT_CHECK(begin(context, nullptr));
  return send(context, inbox);
}

void LlmProposer::note(Exchange &exchange, std::string text) const {
  if (options_.tell)
    options_.tell("note: " + text);
  exchange.notes.push_back(std::move(text));
}

const Trial *LlmProposer::attemptToRepair(const ProposalContext &context) const {
  const SearchHistory &history = context.history;
  const auto last =
      std::find_if(history.trials.rbegin(), history.trials.rend(),
                   [](const Trial &trial) { return trial.candidate.proposer == "llm"; });
  if (last == history.trials.rend() || !isRepairable(*last) ||
      isAbandoned(history, last->candidateHash))
    return nullptr;
  int repairs = 0;
  for (const Trial *trial = parentOf(history, *last);
       trial && trial->candidate.proposer == "llm" && isRepairable(*trial) &&
       repairs < options_.maxRepairs;
       trial = parentOf(history, *trial))
    ++repairs;
  return repairs >= options_.maxRepairs ? nullptr : &*last;
}

LlmProposer::Reading LlmProposer::read(const std::string &text, const ProposalContext &context,
                                       const Exchange &exchange) const {
  const CodeTask &task = exchange.task;
  CodeReply read = readReply(text, task.contract);
  if (read.candidates.empty())
    return {{}, std::move(read)};
  ReplyCandidate *reply = &read.candidates.front();
  const auto breached = [&](std::string what) {
    read.breaches.push_back({reply->id, "/", std::move(what)});
    read.candidates.clear();
    return Reading{{}, read};
  };

  Candidate candidate = exchange.base;
  candidate.proposer = "llm";
  candidate.title = reply->title;
  candidate.technique = techniques_.named(reply->technique);
  candidate.rationale = reply->rationale;
  for (auto &[label, chunk] : reply->chunks) {
    const std::string &present = task.contract.chunks.at(label);
    takeIncludes(chunk, context.problem.sliceText, candidate);
    if (std::string changed = withEndOf(std::move(chunk), present); changed != present)
      candidate.chunks[task.chunkOfLabel.at(label)] = std::move(changed);
  }
  for (const auto &[name, value] : reply->constants)
    candidate.constants[name] = value;
  if (reply->block)
    candidate.launch.block = reply->block;
  if (reply->block || reply->grid)
    candidate.launch.grid = reply->grid; // that of the launch site if it has none
  if (reply->coverGrid) {
    coverThreads(candidate.launch);
    writeByHand(context.problem, candidate);
  }
  if (reply->sharedBytes)
    candidate.launch.sharedBytes = reply->sharedBytes;
  for (const ReplyTunable &tunable : reply->tunables) {
    std::erase_if(candidate.tunables,
                  [&](const CandidateTunable &old) { return old.name == tunable.name; });
    candidate.tunables.push_back({tunable.name, tunable.values, tunable.requirements, tunable.value,
                                  context.problem.specialization.kernelChunk});
  }

  if (std::string name = constantInNewText(context, candidate, *reply); !name.empty())
    return breached(fmt::format(
        "constant \"{}\" is declared in a chunk that is rewritten: change it there", name));
  const std::string hash = candidate.contentHash();
  if (hash == exchange.base.contentHash() || hash == context.parent().contentHash())
    return breached("the reply changes neither the code nor the constants nor the launch");
  candidate.parents = {exchange.repaired.empty() ? context.parentTrial().candidateHash
                                                 : exchange.repaired};
  Offers offers(context);
  if (auto refusal = offers.add(std::move(candidate)))
    return breached(*refusal + "; propose something else");
  return {std::move(offers.take().front()), std::move(read)};
}

} // namespace kopt
