// SPDX-License-Identifier: Apache-2.0
// Computes an answer for each key only once.
#pragma once

#include "driver/support/Result.h"

#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>

namespace kopt {

/// May be used by several threads at once.
template <class Answer> class OnceEach {
public:
  /// The answer for this key: a known one, or the result of `work`. If another thread is already
  /// computing it, waits for that thread. An Error is returned to all that wait for it, but is not
  /// kept.
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
