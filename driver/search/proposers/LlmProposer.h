// SPDX-License-Identifier: Apache-2.0
// Gets candidates from a language model, as coder (a new idea for the incumbent) or as fixer (a
// repair of its last attempt).
#pragma once

#include "driver/llm/ChatModel.h"
#include "driver/search/proposers/LlmPrompt.h"
#include "driver/store/Store.h"

#include <functional>

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

class LlmProposer : public Proposer {
public:
  /// `model` and `store` must outlive it. Every exchange is stored under the hash of its request
  /// before its reply is used; an exchange that the run has stored is not made again.
  LlmProposer(ChatModel &model, Store &store, std::int64_t run, LlmOptions options = {});

  std::string name() const override { return "llm"; }

  /// Returns at most one candidate. Empty if the model stops, breaks the contract twice, or a limit
  /// is reached; a note in the run's decisions says which. Fails if the model cannot be reached.
  Result<std::vector<Candidate>> propose(const ProposalContext &context,
                                         std::size_t limit) override;

private:
  struct Answer {
    std::optional<Candidate> candidate;
    std::string stop;    ///< the model's reason for offering nothing
    std::string breach;  ///< what is wrong with the reply
    bool capped = false; ///< the model was not asked
  };
  /// Asks for one idea, or for a repair of `failed` if that is not null: one call, and one retry
  /// with the reason if the reply breaks the contract.
  Result<Answer> exchange(const ProposalContext &context, const Trial *failed);
  /// The failed trial that the next call should repair; null if there is none or the idea has no
  /// repairs left.
  Result<const Trial *> attemptToRepair(const ProposalContext &context);
  Answer read(const std::string &reply, const ProposalContext &context, const CodeTask &task,
              const Candidate &base) const;
  /// The reply from the store or from the model; nothing if a limit forbids the call.
  Result<std::optional<std::string>> ask(const ChatRequest &request,
                                         const ProposalContext &context);
  /// Records a note. `givenUp` is the hash of an attempt that is not repaired any more, or empty.
  Status note(const ProposalContext &context, const std::string &text,
              const std::string &givenUp = {});

  ChatModel &model_;
  Store &store_;
  std::int64_t run_;
  LlmOptions options_;
};

} // namespace kopt
