// SPDX-License-Identifier: Apache-2.0
// Candidates written by a language model, as coder (a new idea for the incumbent) or fixer (a
// repair of its last attempt).
#pragma once

#include "driver/llm/ChatModel.h"
#include "driver/search/proposers/LlmPrompt.h"
#include "driver/store/Store.h"

#include <functional>

namespace kopt {

struct LlmOptions {
  int maxCalls =
      40; ///< exchanges of the run, answered ones of earlier sessions included; 0: no limit
  long maxTokens = 0; ///< read and written in the run, where the provider counts them; 0: no limit
  int maxRepairs = 2; ///< in a row for one idea
  int replyTokens = 16000;
  Duration timeout{600}; ///< of one exchange
  std::function<double()>
      secondsLeft{}; ///< an exchange does not take longer, either; empty: no limit
  std::function<void(const std::string &)> tell{}; ///< why the model offers nothing, for people
};

class LlmProposer : public Proposer {
public:
  /// `model` and `store` outlive it. Every exchange is stored under the hash of its request before
  /// its answer is used; an exchange that the run has stored is not made again.
  LlmProposer(ChatModel &model, Store &store, std::int64_t run, LlmOptions options = {});

  std::string name() const override { return "llm"; }

  /// At most one candidate. Empty where the model stops, breaks the contract twice, or the caps are
  /// reached; a note in the run's decisions says which. Fails where the model cannot be reached.
  Result<std::vector<Candidate>> propose(const ProposalContext &context,
                                         std::size_t limit) override;

private:
  struct Answer {
    std::optional<Candidate> candidate;
    std::string stop;    ///< the model's reason to offer nothing
    std::string breach;  ///< what is wrong with the reply
    bool capped = false; ///< the model was not asked
  };
  /// One idea or one repair (of `failed`, where given): a call, and where its reply breaks the
  /// contract one narrowed retry.
  Result<Answer> exchange(const ProposalContext &context, const Trial *failed);
  /// The failed trial the next call should repair, if there is one and the idea has repairs left.
  Result<const Trial *> attemptToRepair(const ProposalContext &context);
  Answer read(const std::string &reply, const ProposalContext &context, const CodeTask &task,
              const Candidate &base) const;
  /// The reply from the store or from the model; nothing where a cap forbids the call.
  Result<std::optional<std::string>> ask(const ChatRequest &request,
                                         const ProposalContext &context);
  /// `givenUp`: hash of the attempt that is not repaired any more, or empty.
  Status note(const ProposalContext &context, const std::string &text,
              const std::string &givenUp = {});

  ChatModel &model_;
  Store &store_;
  std::int64_t run_;
  LlmOptions options_;
};

} // namespace kopt
