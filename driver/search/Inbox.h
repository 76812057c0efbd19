// SPDX-License-Identifier: Apache-2.0
// What a search waits for arrives here: answers of proposers, and replies of the models that they
// asked. Only here do other threads meet the one that owns the search.
#pragma once

#include "driver/llm/ChatModel.h"
#include "driver/model/Candidate.h"
#include "driver/support/Result.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kopt {

/// The answer to an Ask, or why the proposer failed.
struct ProposerAnswer {
  Result<std::vector<Candidate>> candidates;
  std::vector<std::string> notes{};  ///< why there is nothing, or what else the user should know
  std::map<std::string, int> left{}; ///< how many more there are of each technique, if known
};

struct Arrival {
  int ask = 0; ///< its id
  std::variant<ProposerAnswer, Result<ChatReply>> what;
};

class Inbox {
public:
  virtual ~Inbox() = default;
  /// May be called from any thread.
  virtual void put(Arrival arrival) = 0;
  /// The next one that is there; nothing if there is none.
  virtual std::optional<Arrival> take() = 0;
  /// Waits for the next one.
  virtual Arrival wait() = 0;
};

std::unique_ptr<Inbox> makeInbox();

} // namespace kopt
