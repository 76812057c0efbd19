// SPDX-License-Identifier: Apache-2.0
// A judge with a memory: what it is told is committed before the next thing begins, and what the
// store has is not judged again. This is what --resume is.
#pragma once

#include "driver/judge/Judge.h"
#include "driver/store/Store.h"

#include <map>
#include <utility>

namespace kopt {

class RecallingJudge final : public Judge {
public:
  /// Reads the run's trials. `inner` and `store` outlive the judge. Fails as Store::trials() does.
  static Result<RecallingJudge> open(Judge &inner, Store &store, std::int64_t run);

  /// Measured anew, since candidates are compared with it; a baseline that the run has recorded is
  /// returned as it was recorded.
  Result<Baseline> baseline() override;
  void begin(const std::vector<Candidate> &candidates) override;
  Result<Trial> judge(const Candidate &candidate, Purpose purpose) override;
  /// Not kept here: the choice that it leads to is a decision, and the decision log keeps it.
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override {
    return inner_.compare(candidate, other);
  }
  Status addCounters(Trial &trial) override;
  void remember(const Trial &trial) override { inner_.remember(trial); }

private:
  RecallingJudge(Judge &inner, Store &store, std::int64_t run)
      : inner_(inner), store_(store), run_(run) {}
  using Key = std::pair<std::string, Purpose>; ///< of a candidate's hash
  /// Commits the trial; returns it with its id.
  Result<Trial> record(Trial trial, const Key &key);

  Judge &inner_;
  Store &store_;
  std::int64_t run_;
  std::map<Key, Trial> recorded_;
};

} // namespace kopt
