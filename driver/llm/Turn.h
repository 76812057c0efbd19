// SPDX-License-Identifier: Apache-2.0
// One turn of a model, from a task to a reply that can be read: a pure state machine. It is told
// what was said and done, and says what comes next; it knows no network, tool or clock.
#pragma once

#include "driver/llm/ChatModel.h"

#include <string>
#include <vector>

namespace kopt {

struct TurnLimits {
  int calls = 12;      ///< of the model; the last one may use no tools
  int corrections = 1; ///< of replies that break the contract
};

class Turn {
public:
  enum class Next {
    Call, ///< the model, with messages()
    Use,  ///< the tool of use()
    Read, ///< reply(): then correct() it, or the turn is over
    End,  ///< nothing can be read, for the reason why()
  };

  /// `messages`: the conversation so far. Those from `begin` on are of this turn; the first of them
  /// is its task. A turn that was interrupted goes on after its last message.
  Turn(std::vector<ChatMessage> messages, std::size_t begin, TurnLimits limits = {});

  Next next() const;
  const std::vector<ChatMessage> &messages() const { return messages_; }
  const ToolUse &use() const;       ///< only where Use is next
  const std::string &reply() const; ///< only where Read is next
  const std::string &why() const { return why_; }
  bool mayUseTools() const; ///< in the call that is next

  void replied(const ChatReply &reply);     ///< after Call
  void used(std::string text, bool failed); ///< after Use
  /// After Read: what is wrong with the reply. Another one is wanted, or the turn ends.
  void correct(const std::string &breach, std::string request);

private:
  int calls() const; ///< that were answered in this turn

  std::vector<ChatMessage> messages_;
  std::size_t begin_;
  TurnLimits limits_;
  std::vector<ToolOutcome> outcomes_; ///< of the last message's uses, until all have one
  int corrections_ = 0;
  std::string why_;
};

} // namespace kopt
