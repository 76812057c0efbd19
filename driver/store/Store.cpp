// SPDX-License-Identifier: Apache-2.0
#include "driver/store/Store.h"

#include "driver/model/Json.h"
#include "driver/store/Database.h"
#include "driver/support/Text.h"
#include "knowledge/SchemaFiles.h"

#include <fmt/format.h>

namespace kopt {
namespace {

/// The number of the tables and of the records in them. Raise it with each change of either.
constexpr int kSchema = 17;

/// The schema of the file; 0 if it is empty. Fails if it is another than kSchema.
Result<int> schemaOf(Database &database) {
  KOPT_TRY(const int schema, database.number("PRAGMA user_version"));
  if (schema == 0 || schema == kSchema)
    return schema;
  const std::string path = database.file().string();
  return makeError(ErrorCode::Environment,
                   fmt::format("{} was written by another version of kopt, with schema {} instead "
                               "of {}",
                               path, schema, kSchema),
                   "use that version, or move the file away to start anew", path);
}

class SqliteStore final : public Store {
public:
  explicit SqliteStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Result<RunRecord> beginRun(const RunRecord &run) override {
    RunRecord begun = run;
    KOPT_TRY(begun.id, write(run, "INSERT INTO runs (record) VALUES (?) RETURNING id"));
    return begun;
  }

  Status updateRun(const RunRecord &run) override {
    KOPT_CHECK(write(run, "UPDATE runs SET record = ? WHERE id = ? RETURNING id", run.id));
    return {};
  }

  Result<std::vector<RunRecord>> runs() override {
    return read<RunRecord>("SELECT record, id FROM runs ORDER BY id");
  }

  Result<Trial> recordTrial(std::int64_t run, const Trial &trial) override {
    Trial recorded = trial;
    recorded.reason = validUtf8(trial.reason); // it may contain output of faulty programs
    KOPT_TRY(
        recorded.id,
        write(recorded, "INSERT INTO trials (record, run_id) VALUES (?, ?) RETURNING id", run));
    return recorded;
  }

  Status recordCounters(const Trial &trial) override {
    KOPT_CHECK(write(trial, "UPDATE trials SET record = ? WHERE id = ? RETURNING id", trial.id));
    return {};
  }

  Result<std::vector<Trial>> trials(std::int64_t run) override {
    return read<Trial>("SELECT record, id FROM trials WHERE run_id = ? ORDER BY id", run);
  }

  Result<std::optional<Trial>> baseline(std::int64_t run) override {
    KOPT_TRY(
        const std::vector<Trial> trials,
        read<Trial>("SELECT record, id FROM trials WHERE run_id = ? ORDER BY id LIMIT 1", run));
    return trials.empty() ? std::nullopt : std::optional(trials.front());
  }

  Status recordEvent(std::int64_t run, const Event &event) override {
    KOPT_CHECK(write(event,
                     "INSERT INTO events (record, run_id, sequence) SELECT ?1, ?2, "
                     "COALESCE(MAX(sequence), 0) + 1 FROM events WHERE run_id = ?2 "
                     "RETURNING sequence",
                     run));
    return {};
  }

  Result<std::vector<Event>> events(std::int64_t run) override {
    return read<Event>("SELECT record, sequence FROM events WHERE run_id = ? ORDER BY sequence",
                       run);
  }

  Status recordModelCall(std::int64_t run, const ModelCall &call) override {
    KOPT_CHECK(
        write(call, "INSERT INTO model_calls (record, run_id) VALUES (?, ?) RETURNING id", run));
    return {};
  }

  Result<std::vector<ModelCall>> modelCalls(std::int64_t run) override {
    return read<ModelCall>("SELECT record, id FROM model_calls WHERE run_id = ? ORDER BY id", run);
  }

  Result<SessionRecord> putSession(const SessionRecord &session) override {
    SessionRecord stored = session;
    KOPT_TRY(stored.id,
             write(session,
                   "INSERT INTO sessions (record, id) VALUES (?, NULLIF(?, 0)) ON CONFLICT (id) "
                   "DO UPDATE SET record = excluded.record RETURNING id",
                   session.id));
    return stored;
  }

  Result<std::vector<SessionRecord>> sessions() override {
    return read<SessionRecord>("SELECT record, id FROM sessions ORDER BY id");
  }

  Status forget(const std::vector<std::int64_t> &runs,
                const std::vector<std::int64_t> &sessions) override {
    const auto list = [](const std::vector<std::int64_t> &ids) {
      return fmt::format("({})", fmt::join(ids, ", "));
    };
    const std::string those = list(runs);
    return database_->execute(
        fmt::format("BEGIN IMMEDIATE; DELETE FROM trials WHERE run_id IN {0}; "
                    "DELETE FROM events WHERE run_id IN {0}; "
                    "DELETE FROM model_calls WHERE run_id IN {0}; "
                    "DELETE FROM runs WHERE id IN {0}; DELETE FROM sessions WHERE id IN {1}; "
                    "COMMIT; VACUUM",
                    those, list(sessions)));
  }

private:
  /// Commits a record as one row, whose number the statement returns.
  template <class Record, class... Keys>
  Result<std::int64_t> write(const Record &record, const char *sql, const Keys &...keys) {
    Statement statement = database_->prepare(sql, canonicalJson(record), keys...);
    KOPT_TRY(const bool isThere, statement.step());
    if (!isThere)
      return makeError(ErrorCode::Internal,
                       database_->file().string() + " lacks the row to change: " + sql);
    const std::int64_t number = statement.integer();
    KOPT_CHECK(statement.run()); // the end of the statement is the commit
    return number;
  }

  /// The records of all rows, each with its number.
  template <class Record, class... Keys>
  Result<std::vector<Record>> read(const char *sql, const Keys &...keys) {
    return database_->prepare(sql, keys...)
        .template rows<Record>([&](Statement &query) -> Result<Record> {
          const auto document = nlohmann::json::parse(query.text(), nullptr, false);
          const std::int64_t number = query.integer();
          Result<Record> record = fromJson<Record>(document);
          if (!record)
            return makeError(ErrorCode::Internal,
                             fmt::format("{}: row {} of '{}' cannot be read: {}",
                                         database_->file().string(), number, sql,
                                         record.error().what),
                             "use the version of kopt that wrote it, or move the file away");
          if constexpr (requires { record->id; })
            record->id = number;
          else if constexpr (requires { record->sequence; })
            record->sequence = number;
          return record;
        });
  }

  std::unique_ptr<Database> database_;
};

} // namespace

Result<std::unique_ptr<Store>> openStore(const std::filesystem::path &file) {
  KOPT_TRY(std::unique_ptr<Database> database, Database::open(file));
  KOPT_TRY(const int schema, schemaOf(*database));
  if (schema == 0) // another process may be about to do the same
    KOPT_CHECK(database->execute(fmt::format("BEGIN IMMEDIATE; {} PRAGMA user_version = {}; COMMIT",
                                             knowledge::schema::kFiles.front().second, kSchema)));
  return std::make_unique<SqliteStore>(std::move(database));
}

Result<std::int64_t> countRuns(const std::filesystem::path &file) {
  KOPT_TRY(std::unique_ptr<Database> database, Database::openExisting(file));
  KOPT_TRY(const int schema, schemaOf(*database));
  return database->number(schema == 0 ? "SELECT 0" : "SELECT count(*) FROM runs");
}

} // namespace kopt
