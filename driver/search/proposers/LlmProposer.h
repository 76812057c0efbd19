// SPDX-License-Identifier: Apache-2.0
// Gets candidates from a language model, by turns of a conversation: what became of the candidates
// of one turn is the task of the next.
#pragma once

#include "driver/diagnose/Techniques.h"
#include "driver/llm/ChatModel.h"
#include "driver/llm/Prices.h"
#include "driver/llm/Turn.h"
#include "driver/search/Proposer.h"
#include "driver/search/model/Prompts.h"
#include "driver/search/model/SectionTexts.h"
#include "driver/search/proposers/CandidateTools.h"
#include "driver/store/Store.h"
#include "driver/support/JobQueue.h"

#include <functional>
#include <map>
#include <set>

namespace kopt {

struct LlmOptions {
  std::string run{}; ///< its name, for the keys of requests
  int maxCalls =
      40; ///< most exchanges of the run, including those of earlier sessions; 0: no limit
  long maxTokens = 0;    ///< most tokens of the run, if the provider counts them; 0: no limit
  double maxDollars = 0; ///< most dollars of the run, by `price`; 0: no limit
  std::optional<Price> price{};
  TurnLimits turn{};
  int maxTurns = 6; ///< of one conversation
  int replyTokens = 16000;
  Duration timeout{600};                 ///< for one exchange
  std::function<double()> secondsLeft{}; ///< also limits the time of an exchange; empty: no limit
  std::function<void(const std::string &)> tell{}; ///< tells the user why the model offers nothing
  /// Null: the model gets none. One that replies later gets none either: it would be asked again
  /// for what a tool gave, and used none in 72 turns (tests/benchmarks/README.md).
  CandidateTools *tools = nullptr;
  /// Of a point that is asked again: what each turn leaves out, by its ask; sections of the prompt
  /// and kTools. Each goes on from what was said before the first of them. Empty: no such point.
  std::map<int, std::set<std::string>> without{};
  /// What `without` calls the tools, which are no section of a prompt.
  static constexpr const char *kTools = "tools";
  /// A call of an earlier run that waits for its reply: the first turn goes on with it, if the
  /// candidate that it is about is known.
  std::optional<ModelCall> open{};
  std::string openAbout{}; ///< its hash
};

class LlmProposer final : public Proposer {
public:
  /// `model`, `store` and the tools must outlive it. Every exchange is stored before its reply is
  /// used: a turn that was interrupted goes on after its last message.
  LlmProposer(ChatModel &model, Store &store, std::int64_t run, LlmOptions options = {});

  std::string name() const override { return kModelRole; }

  /// Answers with the good candidates of the turn; with none if the model stops, breaks the
  /// contract twice, or a limit is reached; a note of the answer says which. The answer is an error
  /// if the model cannot be reached. Tools are used on the search's thread.
  void start(const ProposalContext &context, Inbox &inbox) override;
  void heard(const ProposalContext &context, Result<ChatReply> reply, Inbox &inbox) override;

private:
  struct Exchange {
    Turn turn;
    std::size_t begin = 0; ///< index of the turn's first message
    CodeTask task;
    ModelCall call{}; ///< the last one
    std::vector<std::string> notes{};
  };

  /// Finds out where the turn is, or begins it.
  Result<Exchange> begin(const ProposalContext &context);
  /// The messages of a new conversation, or of the last one, continued with what became of it.
  Result<std::vector<ChatMessage>> task(const ProposalContext &context, const CodeTask &task,
                                        const std::vector<ModelCall> &calls,
                                        std::map<std::string, long> &sections) const;
  /// Does what is next, until a reply is waited for or the turn is over.
  Status proceed(const ProposalContext &context, Inbox &inbox);
  Status send(const ProposalContext &context, Inbox &inbox);
  /// What the turn is told and may use.
  PromptOptions promptOf(int ask) const;
  CandidateTools *toolsOf(int ask) const;
  /// Why the next call must not be made; empty: it may, with as many requests as can be paid.
  std::string cap(const std::vector<ModelCall> &calls, ChatRequest &request) const;
  Status record(const ProposalContext &context, const ChatReply &reply);
  void use(const ProposalContext &context, Exchange &exchange);
  /// The candidates of the turn; nothing if the model is asked to correct its reply.
  Result<std::optional<std::vector<Candidate>>> read(const ProposalContext &context,
                                                     Exchange &exchange) const;
  /// Why the candidate is not taken; empty: it was.
  std::string offer(const ReplyCandidate &reply, const ProposalContext &context,
                    const CodeTask &task, Offers &offers) const;
  /// Answers, and ends the exchange.
  void finish(int ask, std::vector<Candidate> candidates, Inbox &inbox);
  void fail(int ask, const Error &error, Inbox &inbox);
  void note(Exchange &exchange, std::string text) const;

  ChatModel &model_;
  Store &store_;
  std::int64_t run_;
  LlmOptions options_;
  Techniques techniques_;             ///< read before the first request
  std::map<int, Exchange> exchanges_; ///< by the id of the ask
  JobQueue network_{1};               ///< where the model is waited for
};

} // namespace kopt
