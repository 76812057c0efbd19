// SPDX-License-Identifier: Apache-2.0
// Gets candidates from a language model, as coder (a new idea for the incumbent) or as fixer (a
// repair of its last attempt).
#pragma once

#include "driver/diagnose/Techniques.h"
#include "driver/llm/ChatModel.h"
#include "driver/search/Proposer.h"
#include "driver/search/model/Prompts.h"
#include "driver/store/Store.h"
#include "driver/support/JobQueue.h"

#include <functional>
#include <map>

namespace kopt {

struct LlmOptions {
  int maxCalls =
      40; ///< most exchanges of the run, including those of earlier sessions; 0: no limit
  long maxTokens = 0; ///< most tokens of the run, if the provider counts them; 0: no limit
  int maxRepairs = 2; ///< most repairs in a row for one idea
  int replyTokens = 16000;
  Duration timeout{600};                 ///< for one exchange
  std::function<double()> secondsLeft{}; ///< also limits the time of an exchange; empty: no limit
  std::function<void(const std::string &)> tell{}; ///< tells the user why the model offers nothing
};

class LlmProposer final : public Proposer {
public:
  /// `model` and `store` must outlive it. Every exchange is stored under the hash of its request
  /// before its reply is used; an exchange that the run has stored is not made again.
  LlmProposer(ChatModel &model, Store &store, std::int64_t run, LlmOptions options = {});

  std::string name() const override { return "llm"; }

  /// Answers with at most one candidate; with none if the model stops, breaks the contract twice,
  /// or a limit is reached; a note of the answer says which. The answer is an error if the model
  /// cannot be reached.
  void start(const ProposalContext &context, Inbox &inbox) override;
  void heard(const ProposalContext &context, Result<ChatReply> reply, Inbox &inbox) override;

private:
  /// A request for one idea, or for a repair of a failed attempt: one call, and one retry with the
  /// reason if the reply breaks the contract.
  struct Exchange {
    std::string repaired; ///< hash of the attempt; empty: a new idea is wanted
    Candidate base;
    CodeTask task;
    ChatRequest request;
    ModelCall call; ///< the last one
    bool isRetry = false;
    std::vector<std::string> notes{};
    std::string abandoned{};
  };
  struct Reading {
    std::optional<Candidate> candidate; ///< the first of the reply, if it can be judged
    CodeReply reply;
  };

  /// Makes the request: for a repair of `failed` if that is not null.
  Status begin(const ProposalContext &context, const Trial *failed);
  /// Sends the request, unless the store has its reply or a limit forbids the call.
  Status send(const ProposalContext &context, Inbox &inbox);
  Status record(const ProposalContext &context, const ChatReply &reply);
  Status use(const std::string &reply, const ProposalContext &context, Inbox &inbox);
  void note(Exchange &exchange, std::string text) const;
  /// Answers, and ends the exchange.
  void answer(int ask, Result<std::vector<Candidate>> candidates, Inbox &inbox);
  /// The failed trial that the next call should repair; null if there is none or the idea has no
  /// repairs left.
  const Trial *attemptToRepair(const ProposalContext &context) const;
  Reading read(const std::string &reply, const ProposalContext &context,
               const Exchange &exchange) const;

  ChatModel &model_;
  Store &store_;
  std::int64_t run_;
  LlmOptions options_;
  Techniques techniques_;             ///< read before the first request
  std::map<int, Exchange> exchanges_; ///< by the id of the ask
  JobQueue network_{1};               ///< where the model is waited for
};

} // namespace kopt
