// SPDX-License-Identifier: Apache-2.0
// Answers by key, each of which is worked out once.
#pragma once

#include "driver/support/Result.h"

#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace kopt {

/// May be used from several threads.
template <class Answer> class OnceEach {
public:
  /// What `work` gave for this key before, or gives now: who asks while another thread works it out
  /// waits for that. An Error is told to those who wait for it, and not kept.
  Result<Answer> get(const std::string &key, const std::function<Result<Answer>()> &work) {
    std::promise<Result<Answer>> promise;
    std::shared_future<Result<Answer>> answer;
    bool isKnown = false;
    {
      const std::lock_guard lock(mutex_);
      const auto [place, isNew] = answers_.try_emplace(key);
      if (isNew)
        place->second = promise.get_future().share();
      isKnown = !isNew;
      answer = place->second;
    }
    if (isKnown)
      return answer.get();
    promise.set_value(work());
    if (!answer.get()) {
      const std::lock_guard lock(mutex_);
      answers_.erase(key);
    }
    return answer.get();
  }

private:
  std::mutex mutex_;
  std::map<std::string, std::shared_future<Result<Answer>>> answers_;
};

} // namespace kopt
