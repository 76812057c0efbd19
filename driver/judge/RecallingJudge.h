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
  using Finish = std::function<void(Trial &, const Workload &)>;
  /// Reads the run's trials. `inner` and `store` must outlive the judge. `finish`, which may be
  /// empty, is called before a trial is recorded, and again when its counters are: it puts the
  /// trial into the user's words and adds its diagnosis. It gets the baseline's workload, too.
  /// Fails as Store::trials() does.
  static Result<RecallingJudge> open(Judge &inner, Store &store, std::int64_t run,
                                     Finish finish = {});

  /// Measures the baseline anew, since candidates are compared with it. If the run has a recorded
  /// baseline trial, returns that trial.
  Result<Baseline> baseline() override;
  void begin(const std::vector<Candidate> &candidates) override;
  Result<Trial> judge(const Candidate &candidate, Purpose purpose,
                      Stage upTo = Stage::Time) override;
  /// Not recorded: the journal has the choice that follows from it.
  Result<std::optional<Speedup>> compare(const Candidate &candidate,
                                         const Candidate &other) override {
    return inner_.compare(candidate, other);
  }
  Status addCounters(Trial &trial) override;
  void remember(const Trial &trial) override { inner_.remember(trial); }

private:
  RecallingJudge(Judge &inner, Store &store, std::int64_t run, Finish finish)
      : inner_(inner), store_(store), run_(run), finish_(std::move(finish)) {}
  using Key = std::pair<std::string, Purpose>; ///< candidate hash and purpose
  /// Commits the trial and returns it with its id.
  Result<Trial> record(Trial trial, const Key &key);

  Judge &inner_;
  Store &store_;
  std::int64_t run_;
  Finish finish_;
  Workload workload_; ///< as the baseline's measurement left it
  std::map<Key, Trial> recorded_;
};

} // namespace kopt
