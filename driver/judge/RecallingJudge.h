// SPDX-License-Identifier: Apache-2.0
// A judge that records: each trial is committed to the store before the next begins, and candidates
// with a recorded trial are not judged again. This implements --resume.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/store/Store.h"

#include <functional>
#include <map>
#include <utility>

namespace kopt {

class RecallingJudge final : public Judge {
public:
  /// Reads the run's trials. `inner` and `store` must outlive the judge. `tell`, which may be
  /// empty, puts a trial into the user's words before it is recorded. Fails as Store::trials()
  /// does.
  static Result<RecallingJudge> open(Judge &inner, Store &store, std::int64_t run,
                                     std::function<void(Trial &)> tell = {});

  /// Measures the baseline anew, since candidates are compared with it. If the run has a recorded
  /// baseline trial, returns that trial.
  Result<Baseline> baseline() override;
  void begin(const std::vector<Candidate> &candidates) override;
  Result<Trial> judge(const Candidate &candidate, Purpose purpose) override;
  /// Not recorded: the decision log has the choice that follows from it.
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override {
    return inner_.compare(candidate, other);
  }
  Status addCounters(Trial &trial) override;
  void remember(const Trial &trial) override { inner_.remember(trial); }

private:
  RecallingJudge(Judge &inner, Store &store, std::int64_t run, std::function<void(Trial &)> tell)
      : inner_(inner), store_(store), run_(run), tell_(std::move(tell)) {}
  using Key = std::pair<std::string, Purpose>; ///< candidate hash and purpose
  /// Commits the trial and returns it with its id.
  Result<Trial> record(Trial trial, const Key &key);

  Judge &inner_;
  Store &store_;
  std::int64_t run_;
  std::function<void(Trial &)> tell_;
  std::map<Key, Trial> recorded_;
};

} // namespace kopt
