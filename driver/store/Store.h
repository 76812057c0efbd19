// SPDX-License-Identifier: Apache-2.0
// The database .kopt/kopt.db. Each record is committed before the next step begins. Reports are
// functions of the database.
#pragma once

#include "driver/model/Event.h"
#include "driver/model/ModelCall.h"
#include "driver/model/Run.h"
#include "driver/model/Session.h"
#include "driver/model/Trial.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

class Store {
public:
  virtual ~Store() = default;
  virtual Result<RunRecord> beginRun(const RunRecord &run) = 0;
  virtual Status updateRun(const RunRecord &run) = 0;
  virtual Result<std::vector<RunRecord>> runs() = 0;
  /// Commits the trial with its samples; returns it with its id. Fails with Internal if the run
  /// already has a trial of that candidate hash and purpose: no trial is repeated.
  virtual Result<Trial> recordTrial(std::int64_t run, const Trial &trial) = 0;
  /// Replaces a recorded trial by the same with the counters that were read afterwards.
  virtual Status recordCounters(const Trial &trial) = 0;
  virtual Result<std::vector<Trial>> trials(std::int64_t run) = 0;
  /// The first trial of the run, which is the baseline's; nothing: it has none yet.
  virtual Result<std::optional<Trial>> baseline(std::int64_t run) = 0;
  /// Commits the event as the run's next one.
  virtual Status recordEvent(std::int64_t run, const Event &event) = 0;
  virtual Result<std::vector<Event>> events(std::int64_t run) = 0;
  virtual Status recordModelCall(std::int64_t run, const ModelCall &call) = 0;
  virtual Result<std::vector<ModelCall>> modelCalls(std::int64_t run) = 0;
  /// Replaces the session that has the same id, and commits; with id 0, adds a new one. Returns the
  /// session with its id.
  virtual Result<SessionRecord> putSession(const SessionRecord &session) = 0;
  virtual Result<std::vector<SessionRecord>> sessions() = 0;
  /// Removes these runs, with all that is recorded of them, and these sessions, and gives their
  /// space back to the disk.
  virtual Status forget(const std::vector<std::int64_t> &runs,
                        const std::vector<std::int64_t> &sessions) = 0;
};

/// The runs in an existing database, which is left as it is. Fails as openStore() does.
Result<std::int64_t> countRuns(const std::filesystem::path &file);

/// Opens or creates the database (WAL). Fails with Environment on a full disk, a read-only folder
/// or another schema than knowledge/schema/kopt.sql.
Result<std::unique_ptr<Store>> openStore(const std::filesystem::path &file);

} // namespace kopt
