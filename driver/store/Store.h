// SPDX-License-Identifier: Apache-2.0
// .kopt/kopt.db: what happened, committed before the next thing begins. Reports are functions of it.
#pragma once

#include "driver/evaluate/Trial.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

struct RunRecord {
  std::int64_t id = 0;
  std::string name;        ///< folder under kopt.out
  std::string kernel, symbol, file;
  std::string inputsHash;  ///< of source, flags, workload, device, options: a run resumes only on the same
  std::string configJson;  ///< everything needed to repeat it
  std::string deviceJson;
  std::string startedUtc, finishedUtc; ///< finishedUtc empty while it runs
  std::string state;       ///< running, finished, failed
  std::string stopReason;
  std::string winnerHash;  ///< empty: no candidate was accepted
  std::string sliceText;   ///< the baseline's slice: trials show their difference to it. Set it at beginRun()
  std::string patchText;   ///< of the winner, as it was written for `git apply`; empty: none
};

struct Decision {
  std::int64_t sequence = 0;
  int round = 0;
  /// stage, propose, accept, confirm, reject, stop; and for the report: "verified" (one way in which the baseline or the
  /// winner was checked) and "unchecked" (what could not be checked, and why)
  std::string kind;
  std::string text;   ///< for people
  std::string data;   ///< JSON
};

/// One exchange with a model, kept so that a resumed run does not ask again.
struct ModelCall {
  std::string requestHash, purpose, model, request, reply;
  long inputTokens = 0, outputTokens = 0, cachedTokens = 0;
  double seconds = 0;
};

class Store {
public:
  virtual ~Store() = default;
  virtual Result<RunRecord> beginRun(const RunRecord &run) = 0;
  virtual Status updateRun(const RunRecord &run) = 0;
  virtual Result<std::vector<RunRecord>> runs() = 0;
  /// Commits the trial with its samples; returns it with its id. Fails with Internal if the run already has a trial of
  /// that candidate hash: no trial is repeated. A confirmation is recorded under the candidate's hash + ":confirm".
  virtual Result<Trial> recordTrial(std::int64_t run, const Trial &trial) = 0;
  /// Adds to a recorded trial what was found of its counters afterwards: counters, source, findings, stages, seconds.
  virtual Status recordCounters(const Trial &trial) = 0;
  virtual Result<std::vector<Trial>> trials(std::int64_t run) = 0;
  virtual Status recordDecision(std::int64_t run, const Decision &decision) = 0;
  virtual Result<std::vector<Decision>> decisions(std::int64_t run) = 0;
  virtual Status recordModelCall(std::int64_t run, const ModelCall &call) = 0;
  virtual Result<std::optional<ModelCall>> findModelCall(std::int64_t run, const std::string &requestHash) = 0;
  virtual Result<std::vector<ModelCall>> modelCalls(std::int64_t run) = 0;
};

/// Opens or creates the database (WAL), migrating with knowledge/schema/NNNN_*.sql. Fails with Environment on a full
/// disk, a read-only folder or a newer schema.
Result<std::unique_ptr<Store>> openStore(const std::filesystem::path &file);

} // namespace kopt
