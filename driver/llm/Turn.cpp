// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/Turn.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

const char *const kNoMoreTools =
    "That was the last use of tools in this turn. Reply now, in the agreed form.";

} // namespace

Turn::Turn(std::vector<ChatMessage> messages, std::size_t begin, TurnLimits limits)
    : messages_(std::move(messages)), begin_(begin), limits_(limits) {
  // Of a turn that was interrupted: each message of the user that answers no tools is a correction.
  for (std::size_t i = begin_ + 1; i < messages_.size(); ++i)
    corrections_ += messages_[i].role == "user" && messages_[i].outcomes.empty();
}

int Turn::calls() const {
  return int(std::count_if(messages_.begin() + std::ptrdiff_t(begin_), messages_.end(),
                           [](const ChatMessage &each) { return each.role == "assistant"; }));
}

bool Turn::mayUseTools() const { return calls() + 1 < limits_.calls; }

Turn::Next Turn::next() const {
  if (!why_.empty())
    return Next::End;
  const ChatMessage &last = messages_.back();
  return last.role == "user" ? Next::Call : last.uses.empty() ? Next::Read : Next::Use;
}

const ToolUse &Turn::use() const { return messages_.back().uses.at(outcomes_.size()); }

const std::string &Turn::reply() const { return messages_.back().text; }

void Turn::replied(const ChatReply &reply) {
  const bool mayUse = mayUseTools();
  messages_.push_back({"assistant", reply.text, reply.uses, {}});
  if (!reply.uses.empty() && !mayUse)
    why_ = fmt::format("it still used tools in the last of {} calls", limits_.calls);
}

void Turn::used(std::string text, bool failed) {
  const std::vector<ToolUse> &uses = messages_.back().uses;
  outcomes_.push_back({uses.at(outcomes_.size()).id, std::move(text), failed});
  if (outcomes_.size() < uses.size())
    return;
  ChatMessage answer{"user", mayUseTools() ? "" : kNoMoreTools, {}, std::move(outcomes_)};
  outcomes_.clear();
  messages_.push_back(std::move(answer));
}

void Turn::correct(const std::string &breach, std::string request) {
  if (corrections_ == limits_.corrections || calls() >= limits_.calls) {
    why_ = "its replies could not be used: " + breach;
    return;
  }
  ++corrections_;
  messages_.push_back({"user", std::move(request)});
}

} // namespace kopt
