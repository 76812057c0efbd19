// SPDX-License-Identifier: Apache-2.0
#include "driver/search/proposers/LlmProposer.h"
#include "driver/llm/Schema.h"
#include "driver/llm/contract/Contract.h"
#include "driver/model/Json.h"
#include "driver/search/proposers/ReplyCandidates.h"
#include "driver/support/Hash.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {

KOPT_FIELDS(ToolUse, id, name, input)
KOPT_FIELDS(ToolOutcome, id, text, failed)
KOPT_FIELDS(ChatMessage, role, text, uses, outcomes)

namespace {

using nlohmann::json;

constexpr std::size_t kMostOfTool = 16u << 10; ///< bytes of a tool's outcome that a model reads

/// Bytes of a conversation that is not continued: about 60,000 tokens.
constexpr std::size_t kMostOfConversation = 200u << 10;

std::string requestText(const ChatModel &model, const ChatRequest &request) {
  return dumpJson({{"model", model.name()},
                   {"purpose", request.purpose},
                   {"system", request.system},
                   {"messages", toJson(request.messages)},
                   {"max_tokens", request.maxTokens}});
}

Result<std::vector<ChatMessage>> messagesOf(const ModelCall &call) {
  json request = json::parse(call.request, nullptr, false);
  KOPT_TRY(std::vector<ChatMessage> messages,
           fromJson<std::vector<ChatMessage>>(request.is_object() ? request["messages"] : json()));
  if (messages.empty())
    return makeError(ErrorCode::Internal, "a recorded call of the model has no messages");
  return messages;
}

Result<ChatReply> replyOf(const ModelCall &call) {
  ChatReply reply{call.reply, call.model};
  if (call.uses) {
    KOPT_TRY(reply.uses, fromJson<std::vector<ToolUse>>(json::parse(*call.uses, nullptr, false)));
  }
  return reply;
}

std::size_t bytesOf(const std::vector<ChatMessage> &messages) {
  std::size_t bytes = 0;
  for (const ChatMessage &message : messages) {
    bytes += message.text.size();
    for (const ToolUse &use : message.uses)
      bytes += use.input.size();
    for (const ToolOutcome &outcome : message.outcomes)
      bytes += outcome.text.size();
  }
  return bytes;
}

std::string inWords(const std::vector<ReplyBreach> &breaches) {
  std::vector<std::string> lines;
  for (const ReplyBreach &breach : breaches)
    lines.push_back((breach.candidate.empty() ? "" : "candidate " + breach.candidate + ": ") +
                    (breach.where.empty() ? "" : breach.where + ": ") + breach.what);
  return join(lines, "; ");
}

} // namespace

LlmProposer::LlmProposer(ChatModel &model, Store &store, std::int64_t run, LlmOptions options)
    : model_(model), store_(store), run_(run), options_(std::move(options)) {}

void LlmProposer::start(const ProposalContext &context, Inbox &inbox) {
  if (context.ask.limit == 0)
    return inbox.put({context.ask.id, ProposerAnswer{std::vector<Candidate>()}});
  Status status = [&]() -> Status {
    KOPT_TRY(Exchange exchange, begin(context));
    exchanges_.insert_or_assign(context.ask.id, std::move(exchange));
    return proceed(context, inbox);
  }();
  if (!status)
    fail(context.ask.id, status.error(), inbox);
}

void LlmProposer::heard(const ProposalContext &context, Result<ChatReply> reply, Inbox &inbox) {
  Status status;
  if (!reply)
    status = tl::unexpected(reply.error());
  if (status)
    status = record(context, *reply);
  if (status && reply->isLater && options_.tell)
    options_.tell("note: the model's reply is waited for: " + reply->text);
  if (status && !reply->isLater) {
    exchanges_.at(context.ask.id).turn.replied(*reply);
    status = proceed(context, inbox);
  }
  if (!status)
    fail(context.ask.id, status.error(), inbox);
}

void LlmProposer::fail(int ask, const Error &error, Inbox &inbox) {
  exchanges_.erase(ask);
  inbox.put({ask, ProposerAnswer{tl::unexpected(error)}});
}

Result<LlmProposer::Exchange> LlmProposer::begin(const ProposalContext &context) {
  KOPT_TRY(techniques_, Techniques::load());
  KOPT_TRY(CodeTask code, makeCodeTask(context, context.parent()));
  KOPT_TRY(const std::vector<ModelCall> calls, store_.modelCalls(run_));
  const auto first = std::ranges::find(calls, std::optional(context.ask.id), &ModelCall::ask);
  if (first == calls.end() && options_.open && context.history.find(options_.openAbout)) {
    KOPT_TRY(std::vector<ChatMessage> messages, messagesOf(*options_.open));
    const auto task = std::find_if(messages.rbegin(), messages.rend(), [](const ChatMessage &each) {
      return each.role == "user" && each.outcomes.empty();
    });
    const auto begin = std::size_t(messages.rend() - task) - 1;
    Exchange exchange{Turn(std::move(messages), begin, options_.turn), begin, std::move(code)};
    exchange.call.key = std::exchange(options_.open, std::nullopt)->key;
    return exchange;
  }
  if (first == calls.end()) {
    std::map<std::string, long> sections;
    KOPT_TRY(std::vector<ChatMessage> messages, task(context, code, calls, sections));
    const std::size_t begin = messages.size() - 1;
    Exchange exchange{Turn(std::move(messages), begin, options_.turn), begin, std::move(code)};
    exchange.call.sections = std::move(sections);
    return exchange;
  }
  // An earlier session began the turn.
  const auto last = std::ranges::find(calls.rbegin(), calls.rend(), std::optional(context.ask.id),
                                      &ModelCall::ask);
  KOPT_TRY(const std::vector<ChatMessage> firstMessages, messagesOf(*first));
  KOPT_TRY(std::vector<ChatMessage> messages, messagesOf(*last));
  const std::size_t begin = firstMessages.size() - 1;
  Exchange exchange{Turn(std::move(messages), begin, options_.turn), begin, std::move(code)};
  if (last->isOpen()) {
    exchange.call.key = last->key;
  } else {
    KOPT_TRY(const ChatReply reply, replyOf(*last));
    exchange.turn.replied(reply);
  }
  return exchange;
}

Result<std::vector<ChatMessage>> LlmProposer::task(const ProposalContext &context,
                                                   const CodeTask &task,
                                                   const std::vector<ModelCall> &calls,
                                                   std::map<std::string, long> &sections) const {
  const auto use = [&](Prompt prompt, std::vector<ChatMessage> messages) {
    sections = std::move(prompt.sections);
    messages.push_back({"user", std::move(prompt.text)});
    return messages;
  };
  const int end = options_.without.empty() ? context.ask.id : options_.without.begin()->first;
  const auto last = std::find_if(calls.rbegin(), calls.rend(), [&](const ModelCall &call) {
    return call.ask && *call.ask < end;
  });
  if (last != calls.rend() && !last->isOpen()) {
    KOPT_TRY(std::vector<ChatMessage> messages, messagesOf(*last));
    std::set<int> turns;
    for (const ModelCall &call : calls) {
      KOPT_TRY(const std::vector<ChatMessage> earlier, messagesOf(call));
      if (call.ask && *call.ask < end && earlier.front().text == messages.front().text)
        turns.insert(*call.ask);
    }
    const Asked &asked = context.history.asked.at(std::size_t(*last->ask) - 1);
    std::vector<const Trial *> judged;
    for (const std::size_t trial : asked.trials)
      judged.push_back(&context.history.trials.at(trial));
    if (!judged.empty() && last->uses.value_or("").empty() &&
        int(turns.size()) < options_.maxTurns && bytesOf(messages) < kMostOfConversation) {
      messages.push_back({"assistant", last->reply});
      KOPT_TRY(Prompt prompt, continuationPrompt(context, judged, asked.ask.parents.front(),
                                                 promptOf(context.ask.id)));
      return use(std::move(prompt), std::move(messages));
    }
  }
  KOPT_TRY(Prompt prompt, taskPrompt(context, task, promptOf(context.ask.id)));
  return use(std::move(prompt), {});
}

Status LlmProposer::proceed(const ProposalContext &context, Inbox &inbox) {
  Exchange &exchange = exchanges_.at(context.ask.id);
  std::optional<std::vector<Candidate>> candidates;
  while (!candidates) {
    switch (exchange.turn.next()) {
    case Turn::Next::Call:
      return send(context, inbox);
    case Turn::Next::Use:
      use(context, exchange);
      break;
    case Turn::Next::Read: {
      KOPT_TRY(candidates, read(context, exchange));
      break;
    }
    case Turn::Next::End:
      note(exchange, "the model offers nothing: " + exchange.turn.why());
      candidates.emplace();
    }
  }
  finish(context.ask.id, std::move(*candidates), inbox);
  return {};
}

void LlmProposer::finish(int ask, std::vector<Candidate> candidates, Inbox &inbox) {
  inbox.put({ask, ProposerAnswer{std::move(candidates), std::move(exchanges_.at(ask).notes)}});
  exchanges_.erase(ask);
}

Status LlmProposer::send(const ProposalContext &context, Inbox &inbox) {
  const int ask = context.ask.id;
  Exchange &exchange = exchanges_.at(ask);
  ChatRequest request;
  request.purpose = "coder";
  KOPT_TRY(const Prompt system, systemPrompt(promptOf(ask)));
  request.system = system.text;
  request.messages = exchange.turn.messages();
  if (const CandidateTools *tools = toolsOf(ask))
    request.tools = tools->tools();
  request.maxTokens = options_.replyTokens;
  request.timeout = options_.timeout;
  if (options_.secondsLeft)
    request.timeout = std::min(request.timeout, Duration(std::max(1.0, options_.secondsLeft())));
  KOPT_TRY(const std::vector<ModelCall> calls, store_.modelCalls(run_));
  if (std::string why = cap(calls, request); !why.empty()) {
    note(exchange, std::move(why));
    finish(ask, {}, inbox);
    return {};
  }
  const auto ofAsk = std::ranges::count_if(
      calls, [&](const ModelCall &call) { return call.ask == ask && !call.isOpen(); });
  request.key = exchange.call.key.value_or(fmt::format("{}-{}-{}", options_.run, ask, ofAsk + 1));
  // Those of other asks are under way.
  request.call = int(std::ranges::count_if(calls, std::not_fn(&ModelCall::isOpen)) +
                     std::ptrdiff_t(exchanges_.size()));
  ModelCall call;
  call.sections = std::move(exchange.call.sections);
  call.ask = ask;
  call.key = request.key;
  call.purpose = request.purpose;
  call.request = requestText(model_, request);
  call.requestHash = hashFields(request.key, call.request);
  exchange.call = std::move(call);
  network_.add([this, ask, &inbox, request] { inbox.put({ask, model_.complete(request)}); });
  return {};
}

PromptOptions LlmProposer::promptOf(int ask) const {
  PromptOptions prompt;
  if (const auto found = options_.without.find(ask); found != options_.without.end())
    prompt.without = found->second;
  prompt.without.erase(LlmOptions::kTools);
  return prompt;
}

CandidateTools *LlmProposer::toolsOf(int ask) const {
  const auto found = options_.without.find(ask);
  const bool has = !model_.repliesLater() &&
                   (found == options_.without.end() || !found->second.contains(LlmOptions::kTools));
  return has ? options_.tools : nullptr;
}

std::string LlmProposer::cap(const std::vector<ModelCall> &calls, ChatRequest &request) const {
  long tokens = 0;
  double dollars = 0;
  for (const ModelCall &call : calls) {
    tokens += call.inputTokens + call.outputTokens;
    dollars += call.dollars.value_or(0);
  }
  const auto made = std::ranges::count_if(calls, std::not_fn(&ModelCall::isOpen)) +
                    std::ptrdiff_t(exchanges_.size()) - 1;
  if (options_.maxCalls > 0 && made >= options_.maxCalls)
    return fmt::format("the model is not asked: {} of {} calls are used", made, options_.maxCalls);
  if (options_.maxTokens > 0 && tokens >= options_.maxTokens)
    return fmt::format("the model is not asked: {} of {} tokens are used", tokens,
                       options_.maxTokens);
  if (options_.maxDollars > 0 && options_.price) {
    const double most = mostDollars(*options_.price, request);
    const double requests = (options_.maxDollars - dollars) / most;
    if (requests < 1)
      return fmt::format("the model is not asked: {:.2f} of {:.2f} dollars are used, and the next "
                         "call may cost {:.2f}",
                         dollars, options_.maxDollars, most);
    request.continuations = int(std::min<double>(request.continuations, requests - 1));
  }
  return {};
}

Status LlmProposer::record(const ProposalContext &context, const ChatReply &reply) {
  ModelCall call = exchanges_.at(context.ask.id).call;
  call.model = reply.model;
  if (reply.isLater) {
    call.requestHash = hashFields(call.requestHash, "later");
    KOPT_TRY(const std::vector<ModelCall> calls, store_.modelCalls(run_));
    const bool isKnown = std::ranges::count(calls, call.requestHash, &ModelCall::requestHash) > 0;
    return isKnown ? Status() : store_.recordModelCall(run_, call);
  }
  exchanges_.at(context.ask.id).call = {}; // the next call of the turn is another
  call.reply = reply.text;
  if (!reply.uses.empty())
    call.uses = dumpJson(toJson(reply.uses));
  call.inputTokens = reply.inputTokens;
  call.outputTokens = reply.outputTokens;
  call.cachedTokens = reply.cachedTokens;
  call.cacheWriteTokens = reply.cacheWriteTokens;
  if (options_.price)
    call.dollars = dollarsOf(*options_.price, reply);
  call.seconds = reply.seconds;
  return store_.recordModelCall(run_, call);
}

void LlmProposer::use(const ProposalContext &context, Exchange &exchange) {
  const ToolUse &use = exchange.turn.use();
  const auto failed = [&](const std::string &why) { exchange.turn.used(why, true); };
  std::vector<std::string> names;
  const Tool *tool = nullptr;
  CandidateTools *tools = toolsOf(context.ask.id);
  if (tools)
    for (const Tool &each : tools->tools()) {
      names.push_back(each.name);
      tool = each.name == use.name ? &each : tool;
    }
  if (!tool)
    return failed(fmt::format("there is no tool \"{}\"; there are: {}", use.name,
                              names.empty() ? "none" : join(names, ", ")));
  const json arguments = json::parse(use.input.empty() ? "{}" : use.input, nullptr, false);
  if (const auto breaches = schemaBreaches(arguments, tool->input); !breaches.empty())
    return failed(breaches.front().text());
  Candidate candidate = context.parent();
  if (arguments.contains("candidate")) {
    const CodeReply reply = readCandidate(arguments["candidate"], exchange.task.contract);
    if (reply.candidates.empty())
      return failed(inWords(reply.breaches));
    auto made = candidateOf(reply.candidates.front(), context, exchange.task, techniques_);
    if (!made)
      return failed(made.error());
    candidate = std::move(*made);
  }
  const ToolResult result = tools->call(*tool, candidate, arguments);
  exchange.turn.used(head(result.text, kMostOfTool), result.failed);
}

Result<std::optional<std::vector<Candidate>>> LlmProposer::read(const ProposalContext &context,
                                                                Exchange &exchange) const {
  CodeReply whole; // what was taken of all replies, and what breaks the last one
  const std::vector<ChatMessage> &messages = exchange.turn.messages();
  Offers offers(context);
  for (std::size_t i = exchange.begin; i < messages.size(); ++i) {
    if (messages[i].role != "assistant" || !messages[i].uses.empty())
      continue;
    CodeReply reply = readReply(messages[i].text, exchange.task.contract);
    whole.breaches = std::move(reply.breaches);
    whole.stop = std::move(reply.stop);
    whole.plan = std::move(reply.plan);
    for (ReplyCandidate &each : reply.candidates)
      if (const std::string refusal = offer(each, context, exchange.task, offers); refusal.empty())
        whole.candidates.push_back(std::move(each));
      else
        whole.breaches.push_back({each.id, "", refusal + "; propose something else"});
  }
  if (!whole.breaches.empty()) {
    KOPT_TRY(std::string retry, retryPrompt(whole));
    exchange.turn.correct(inWords(whole.breaches), std::move(retry));
    if (exchange.turn.next() != Turn::Next::End || whole.candidates.empty())
      return std::nullopt;
  }
  for (const std::string &direction : whole.plan)
    exchange.notes.push_back("the model plans: " + direction);
  if (!whole.stop.empty())
    note(exchange, "the model offers nothing more: " + whole.stop);
  return offers.take();
}

std::string LlmProposer::offer(const ReplyCandidate &reply, const ProposalContext &context,
                               const CodeTask &task, Offers &offers) const {
  if (offers.isFull())
    return "there is no room for it in the budget of trials";
  auto candidate = candidateOf(reply, context, task, techniques_);
  if (!candidate)
    return candidate.error();
  return offers.add(std::move(*candidate)).value_or("");
}

void LlmProposer::note(Exchange &exchange, std::string text) const {
  if (options_.tell)
    options_.tell("note: " + text);
  exchange.notes.push_back(std::move(text));
}

} // namespace kopt
