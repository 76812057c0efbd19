// SPDX-License-Identifier: Apache-2.0
#include "driver/store/Store.h"

#include "driver/store/Database.h"
#include "driver/store/Rows.h"
#include "driver/store/SessionRows.h"
#include "driver/store/StoredJson.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"
#include "knowledge/SchemaFiles.h"

#include <algorithm>
#include <cstdlib>

namespace kopt {
namespace {

using nlohmann::json;

constexpr const char *kRunColumns =
    "SELECT id, name, kernel, symbol, file, inputs_hash, config, device, started_utc, "
    "finished_utc, state, "
    "stop_reason, winner_hash, (SELECT text FROM texts WHERE hash = slice_text), "
    "(SELECT text FROM texts WHERE hash = patch_text), stop FROM runs ";

constexpr const char *kTrialColumns =
    "SELECT id, candidate_hash, purpose, proposer, title, technique, rationale, parents, change, "
    "verdict, stage, reason, "
    "findings, assurance, (SELECT text FROM texts WHERE hash = slice_text), (SELECT text FROM "
    "texts WHERE "
    "hash = build_log), "
    "module_hash, resources, counter_source, seconds, has_speedup, speedup, speedup_low, "
    "speedup_high, confidence, "
    "pairs, modelled, processes, gpu, hot_lines FROM trials WHERE run_id = ? ORDER BY id";

constexpr const char *kCallColumns = "SELECT request_hash, purpose, model, request, reply, "
                                     "input_tokens, output_tokens, cached_tokens, seconds "
                                     "FROM model_calls WHERE run_id = ? ";

using Migration = std::pair<std::string_view, std::string_view>; ///< name and SQL

/// All of them, the oldest first.
std::vector<Migration> migrations() {
  std::vector<Migration> files(knowledge::schema::kFiles.begin(), knowledge::schema::kFiles.end());
  std::sort(files.begin(), files.end());
  return files;
}

int numberOf(std::string_view name) { return std::atoi(std::string(name.substr(0, 4)).c_str()); }

class SqliteStore final : public Store {
public:
  explicit SqliteStore(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  /// The schema of the file and the newest one; `runs` is not counted yet.
  Result<StoreFacts> facts() {
    StoreFacts facts;
    facts.newest = numberOf(migrations().back().first);
    KOPT_TRY(facts.schema, version());
    if (facts.schema > facts.newest)
      return makeError(ErrorCode::Environment,
                       database_->file().string() + " was written by a newer kopt (schema " +
                           std::to_string(facts.schema) + ", this one knows " +
                           std::to_string(facts.newest) + ")",
                       "update kopt, or move the file away to start anew",
                       database_->file().string());
    return facts;
  }

  Result<std::int64_t> countRuns() {
    Statement query = database_->prepare("SELECT count(*) FROM runs");
    KOPT_CHECK(query.step());
    return query.integer();
  }

  /// Migrates the file to the newest schema, with one transaction for each step.
  Status migrate() {
    KOPT_TRY(const StoreFacts known, facts());
    for (const auto &[name, sql] : migrations())
      if (numberOf(name) > known.schema) {
        const int step = numberOf(name);
        KOPT_CHECK(database_->transaction([&, text = std::string(sql)]() -> Status {
          KOPT_TRY(const int now, version()); // another process may have been first
          if (now >= step)
            return {};
          KOPT_CHECK(database_->execute(text));
          return database_->execute("PRAGMA user_version = " + std::to_string(step));
        }));
      }
    return {};
  }

  Result<RunRecord> beginRun(const RunRecord &run) override {
    RunRecord begun = run;
    KOPT_CHECK(database_->transaction([&]() -> Status {
      KOPT_TRY(const std::string slice, putText(run.sliceText));
      KOPT_TRY(const std::string patch, putText(run.patchText));
      Statement insert = database_->prepare(
          "INSERT INTO runs (name, kernel, symbol, file, inputs_hash, config, "
          "device, started_utc, finished_utc, "
          "state, stop_reason, winner_hash, slice_text, patch_text, stop) VALUES "
          "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
      insert.bind(run.name, run.kernel, run.symbol, run.file, run.inputsHash, run.configJson,
                  run.deviceJson, run.startedUtc, run.finishedUtc, toString(run.state),
                  run.stopText, run.winnerHash, slice, patch, run.stop);
      KOPT_CHECK(insert.run());
      begun.id = database_->lastInsertId();
      return putEdits(begun);
    }));
    return begun;
  }

  Status updateRun(const RunRecord &run) override {
    return database_->transaction([&]() -> Status {
      KOPT_TRY(const std::string slice, putText(run.sliceText));
      KOPT_TRY(const std::string patch, putText(run.patchText));
      Statement update =
          database_->prepare("UPDATE runs SET config = ?, device = ?, finished_utc "
                             "= ?, state = ?, stop_reason = ?, winner_hash = ?, "
                             "slice_text = ?, patch_text = ?, stop = ? WHERE id = ?");
      update.bind(run.configJson, run.deviceJson, run.finishedUtc, toString(run.state),
                  run.stopText, run.winnerHash, slice, patch, run.stop, run.id);
      KOPT_CHECK(update.run());
      if (database_->changes() != 1)
        return makeError(ErrorCode::Internal,
                         "unknown run " + std::to_string(run.id) + " to update");
      return putEdits(run);
    });
  }

  Result<std::vector<RunRecord>> runs() override {
    Statement query = database_->prepare((std::string(kRunColumns) + "ORDER BY id").c_str());
    KOPT_TRY(auto result, query.rows<RunRecord>([&] { return readRun(query); }));
    for (RunRecord &run : result) {
      KOPT_TRY(run.edits, edits(run.id));
    }
    return result;
  }

  Result<Trial> recordTrial(std::int64_t run, const Trial &trial) override {
    Trial recorded = trial;
    KOPT_CHECK(database_->transaction([&]() -> Status {
      KOPT_CHECK(refuseDuplicate(run, trial));
      KOPT_CHECK(insertTrial(run, trial));
      recorded.id = database_->lastInsertId();
      for (std::size_t i = 0; i < trial.timings.size(); ++i)
        KOPT_CHECK(insertTiming(recorded.id, i, trial.timings[i]));
      KOPT_CHECK(insertGates(recorded));
      return insertNumbers(recorded);
    }));
    return recorded;
  }

  Status recordCounters(const Trial &trial) override {
    return database_->transaction([&]() -> Status {
      Statement update = database_->prepare(
          "UPDATE trials SET counter_source = ?, findings = ?, seconds = ? WHERE id = ?");
      update.bind(trial.counterSource, canonicalJson(trial.findings), trial.seconds, trial.id);
      KOPT_CHECK(update.run());
      if (database_->changes() != 1)
        return makeError(ErrorCode::Internal,
                         "unknown trial " + std::to_string(trial.id) + " to add counters to");
      for (const char *sql :
           {"DELETE FROM counters WHERE trial_id = ?", "DELETE FROM stages WHERE trial_id = ?"})
        KOPT_CHECK(database_->prepare(sql).bind(trial.id).run());
      return insertNumbers(trial);
    });
  }

  Result<std::vector<Trial>> trials(std::int64_t run) override {
    Statement query = database_->prepare(kTrialColumns);
    KOPT_TRY(auto result, query.bind(run).rows<Trial>([&] { return readTrial(query); }));
    for (Trial &trial : result) {
      KOPT_TRY(trial.timings, timings(trial.id));
      KOPT_TRY(trial.counters,
               numbers("SELECT name, value FROM counters WHERE trial_id = ?", trial.id));
      KOPT_CHECK(readGates(trial));
      KOPT_TRY(trial.stages,
               numbers("SELECT name, seconds FROM stages WHERE trial_id = ?", trial.id));
    }
    return result;
  }

  Status recordDecision(std::int64_t run, const Decision &decision) override {
    return database_->transaction([&]() -> Status {
      std::int64_t sequence = decision.sequence;
      if (sequence == 0) {
        Statement last =
            database_->prepare("SELECT COALESCE(MAX(sequence), 0) FROM decisions WHERE run_id = ?");
        KOPT_CHECK(last.bind(run).run());
        sequence = last.integer() + 1;
      }
      return database_->prepare("INSERT INTO decisions VALUES (?,?,?,?,?,?)")
          .bind(run, sequence, decision.round, kindOf(decision), describe(decision),
                dumpJson(toJson(decision)))
          .run();
    });
  }

  Result<std::vector<Decision>> decisions(std::int64_t run) override {
    Statement query = database_->prepare("SELECT sequence, round, kind, text, data FROM decisions "
                                         "WHERE run_id = ? ORDER BY sequence");
    return query.bind(run).rows<Decision>([&] { return readDecision(query); });
  }

  Status recordModelCall(std::int64_t run, const ModelCall &call) override {
    Statement insert = database_->prepare("INSERT INTO model_calls (run_id, request_hash, purpose, "
                                          "model, request, reply, input_tokens, output_tokens, "
                                          "cached_tokens, seconds) VALUES (?,?,?,?,?,?,?,?,?,?)");
    insert.bind(run, call.requestHash, call.purpose, call.model, call.request, call.reply,
                call.inputTokens, call.outputTokens, call.cachedTokens, call.seconds);
    return insert.run();
  }

  Result<std::optional<ModelCall>> findModelCall(std::int64_t run,
                                                 const std::string &requestHash) override {
    Statement query =
        database_->prepare((std::string(kCallColumns) + "AND request_hash = ?").c_str());
    query.bind(run, requestHash);
    KOPT_TRY(const bool row, query.step());
    return row ? std::optional(readCall(query)) : std::nullopt;
  }

  Result<std::vector<ModelCall>> modelCalls(std::int64_t run) override {
    Statement query = database_->prepare((std::string(kCallColumns) + "ORDER BY id").c_str());
    return query.bind(run).rows<ModelCall>([&] { return readCall(query); });
  }

  Result<SessionRecord> putSession(const SessionRecord &session) override {
    SessionRecord stored = session;
    KOPT_CHECK(database_->transaction([&]() -> Status {
      KOPT_TRY(const std::string confirmed, putText(session.confirmedPatch));
      KOPT_TRY(const std::string offered, putText(session.offeredPatch));
      KOPT_TRY(stored.id, writeSession(*database_, session, confirmed, offered));
      return {};
    }));
    return stored;
  }

  Result<std::vector<SessionRecord>> sessions() override { return readSessions(*database_); }

private:
  /// Replaces the run's edits.
  Status putEdits(const RunRecord &run) {
    for (const char *sql :
         {"DELETE FROM edits WHERE run_id = ?", "DELETE FROM edited_files WHERE run_id = ?"})
      KOPT_CHECK(database_->prepare(sql).bind(run.id).run());
    for (const FileEdits &file : run.edits) {
      KOPT_CHECK(database_->prepare("INSERT INTO edited_files VALUES (?,?,?,?)")
                     .bind(run.id, file.path, file.baseHash, file.resultHash)
                     .run());
      for (std::size_t i = 0; i < file.edits.size(); ++i)
        KOPT_CHECK(database_->prepare("INSERT INTO edits VALUES (?,?,?,?,?,?)")
                       .bind(run.id, file.path, i, file.edits[i].range.begin,
                             file.edits[i].range.end, file.edits[i].text)
                       .run());
    }
    return {};
  }

  Result<std::vector<FileEdits>> edits(std::int64_t run) {
    Statement query = database_->prepare(
        "SELECT path, base_hash, result_hash, first_byte, end_byte, text FROM edited_files JOIN "
        "edits USING (run_id, path) WHERE run_id = ? ORDER BY path, position");
    query.bind(run);
    return readEdits(query);
  }

  Result<int> version() {
    Statement query = database_->prepare("PRAGMA user_version");
    KOPT_CHECK(query.run());
    return int(query.integer());
  }

  /// Stores a text once and returns its hash. Part of the caller's transaction.
  Result<std::string> putText(const std::string &text) {
    const std::string hash = hashHex(text);
    KOPT_CHECK(
        database_->prepare("INSERT OR IGNORE INTO texts VALUES (?,?)").bind(hash, text).run());
    return hash;
  }

  Result<std::string> getText(const std::string &hash) {
    Statement query = database_->prepare("SELECT text FROM texts WHERE hash = ?");
    query.bind(hash);
    KOPT_TRY(const bool row, query.step());
    if (!row)
      return makeError(ErrorCode::Internal, database_->file().string() + " lacks the text " + hash);
    return query.text();
  }

  Status refuseDuplicate(std::int64_t run, const Trial &trial) {
    Statement query =
        database_->prepare("SELECT id FROM trials WHERE run_id = ? AND candidate_hash = ? AND "
                           "purpose = ?");
    query.bind(run, trial.candidateHash, trial.purpose);
    KOPT_TRY(const bool row, query.step());
    if (row)
      return makeError(ErrorCode::Internal, "candidate " + trial.candidateHash + " ('" +
                                                trial.candidate.title +
                                                "') was tried twice in one run: trial " +
                                                std::to_string(query.integer()));
    return {};
  }

  Status insertTrial(std::int64_t run, const Trial &trial) {
    const Candidate &candidate = trial.candidate;
    json change = changeToJson(candidate);
    for (const auto &[chunk, text] : candidate.chunks) {
      KOPT_TRY(const std::string hash, putText(text));
      change["chunks"][std::to_string(chunk)] = hash;
    }
    KOPT_TRY(const std::string slice, putText(trial.sliceText));
    KOPT_TRY(const std::string log, putText(trial.buildLog));
    Statement insert = database_->prepare(
        "INSERT INTO trials (run_id, candidate_hash, purpose, proposer, title, "
        "technique, rationale, parents, change, verdict, "
        "stage, reason, findings, assurance, slice_text, build_log, module_hash, "
        "resources, counter_source, seconds, has_speedup, "
        "speedup, speedup_low, speedup_high, confidence, pairs, modelled, "
        "processes, gpu, hot_lines) "
        "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    insert.bind(run, trial.candidateHash, trial.purpose, candidate.proposer, candidate.title,
                candidate.technique, candidate.rationale, canonicalJson(candidate.parents),
                dumpJson(change), trial.verdict, trial.stage,
                validUtf8(trial.reason)); // it may contain output of faulty programs
    insert.bind(canonicalJson(trial.findings), canonicalJson(trial.assurance), slice, log,
                trial.moduleHash,
                trial.resources ? std::optional(canonicalJson(*trial.resources)) : std::nullopt,
                trial.counterSource, trial.seconds, trial.speedup.has_value());
    bindSpeedup(insert, trial.speedup.value_or(Speedup{}));
    return insert.bind(trial.gpu, canonicalJson(trial.hotLines)).run();
  }

  Status insertTiming(std::int64_t trial, std::size_t position, const LaunchTiming &timing) {
    Statement insert = database_->prepare("INSERT INTO timings (trial_id, position, launch, "
                                          "speedup, speedup_low, speedup_high, confidence, pairs, "
                                          "modelled, processes, baseline_seconds, "
                                          "candidate_seconds, cache_mode) VALUES "
                                          "(?,?,?,?,?,?,?,?,?,?,?,?,?)");
    insert.bind(trial, position, timing.launch);
    bindSpeedup(insert, timing.speedup);
    insert.bind(timing.baselineSeconds, timing.candidateSeconds, toString(timing.cacheMode));
    KOPT_CHECK(insert.run());
    const std::int64_t id = database_->lastInsertId();
    for (std::size_t i = 0; i < timing.samples.size(); ++i)
      KOPT_CHECK(
          database_->prepare("INSERT INTO samples VALUES (?,?,?,?,?)")
              .bind(id, i, timing.samples[i].a, timing.samples[i].b, timing.samples[i].process)
              .run());
    return {};
  }

  Result<Trial> readTrial(Statement &row) {
    Trial trial;
    Candidate &candidate = trial.candidate;
    trial.id = row.integer();
    trial.candidateHash = row.text();
    trial.purpose = Purpose(row.integer());
    for (std::string *field :
         {&candidate.proposer, &candidate.title, &candidate.technique, &candidate.rationale})
      *field = row.text();
    const std::string parents = row.text();
    const std::string change = row.text();
    trial.verdict = Verdict(row.integer());
    trial.stage = Stage(row.integer());
    trial.reason = row.text();
    const std::string findings = row.text();
    const std::string assurance = row.text();
    trial.sliceText = row.text();
    trial.buildLog = row.text();
    trial.moduleHash = row.text();
    const bool hasResources = !row.isNull();
    const std::string resources = row.text();
    trial.counterSource = row.text();
    trial.seconds = row.real();
    const bool hasSpeedup = row.integer() != 0;
    const Speedup speedup = readSpeedup(row);
    if (hasSpeedup)
      trial.speedup = speedup;
    trial.gpu = row.text();
    const std::string hotLines = row.text();
    try {
      if (hasResources)
        trial.resources = fromStored<ModuleInfo>(resources);
      trial.findings = listFromStored<Finding>(findings);
      trial.assurance = fromStored<Assurance>(assurance);
      trial.hotLines = fromStored<HotLines>(hotLines);
      KOPT_TRY(candidate.parents, fromJson<std::vector<std::string>>(json::parse(parents)));
      const json parts = json::parse(change);
      readChange(parts, candidate);
      for (const auto &[chunk, hash] : parts.at("chunks").items()) {
        KOPT_TRY(candidate.chunks[std::stoul(chunk)], getText(hash.get<std::string>()));
      }
    } catch (const std::exception &problem) {
      return makeError(ErrorCode::Internal, database_->file().string() + ": trial " +
                                                std::to_string(trial.id) +
                                                " cannot be read: " + problem.what());
    }
    return trial;
  }

  Result<std::vector<LaunchTiming>> timings(std::int64_t trial) {
    Statement query = database_->prepare(
        "SELECT id, launch, speedup, speedup_low, speedup_high, confidence, pairs, modelled, "
        "processes, baseline_seconds, "
        "candidate_seconds, cache_mode FROM timings WHERE trial_id = ? ORDER BY position");
    return query.bind(trial).rows<LaunchTiming>([&]() -> Result<LaunchTiming> {
      LaunchTiming timing;
      const std::int64_t id = query.integer();
      timing.launch = query.text();
      timing.speedup = readSpeedup(query);
      timing.baselineSeconds = query.real();
      timing.candidateSeconds = query.real();
      timing.cacheMode = parseEnum<CacheMode>(query.text()).value_or(CacheMode::Unknown);
      KOPT_TRY(timing.samples, samples(id));
      return timing;
    });
  }

  Result<std::vector<TimingSample>> samples(std::int64_t timing) {
    Statement query =
        database_->prepare("SELECT baseline_seconds, candidate_seconds, process FROM samples "
                           "WHERE timing_id = ? ORDER BY position");
    return query.bind(timing).rows<TimingSample>([&] {
      TimingSample sample;
      sample.a = query.real();
      sample.b = query.real();
      sample.process = std::uint32_t(query.integer());
      return sample;
    });
  }

  Result<std::map<std::string, double>> numbers(const char *sql, std::int64_t trial) {
    Statement query = database_->prepare(sql);
    using Number = std::pair<std::string, double>;
    KOPT_TRY(const auto all,
             query.bind(trial).rows<Number>([&] { return Number{query.text(), query.real()}; }));
    return std::map<std::string, double>(all.begin(), all.end());
  }

  Status insertGates(const Trial &trial) {
    for (std::size_t i = 0; i < trial.checks.size(); ++i)
      KOPT_CHECK(database_->prepare("INSERT INTO checks VALUES (?,?,?,?,?)")
                     .bind(trial.id, i, toString(trial.checks[i].check), trial.checks[i].state,
                           trial.checks[i].detail)
                     .run());
    return {};
  }

  Status readGates(Trial &trial) {
    Statement query = database_->prepare(
        "SELECT name, state, detail FROM checks WHERE trial_id = ? ORDER BY position");
    KOPT_TRY(trial.checks, query.bind(trial.id).rows<CheckRecord>([&] {
      CheckRecord record;
      record.check = parseEnum<CheckId>(query.text()).value_or(CheckId::None);
      record.state = CheckState(query.integer());
      record.detail = query.text();
      return record;
    }));
    const auto failed = std::ranges::find(trial.checks, CheckState::Failed, &CheckRecord::state);
    if (trial.check == CheckId::None && failed != trial.checks.end())
      trial.check = failed->check;
    return {};
  }

  /// Part of the caller's transaction.
  Status insertNumbers(const Trial &trial) {
    for (const auto &[sql, values] :
         {std::pair("INSERT INTO counters VALUES (?,?,?)", &trial.counters),
          std::pair("INSERT INTO stages VALUES (?,?,?)", &trial.stages)})
      for (const auto &[name, value] : *values)
        KOPT_CHECK(database_->prepare(sql).bind(trial.id, name, value).run());
    return {};
  }

  std::unique_ptr<Database> database_;
};

} // namespace

Result<std::unique_ptr<Store>> openStore(const std::filesystem::path &file) {
  KOPT_TRY(std::unique_ptr<Database> database, Database::open(file));
  auto store = std::make_unique<SqliteStore>(std::move(database));
  KOPT_CHECK(store->migrate());
  return store;
}

Result<StoreFacts> lookAtStore(const std::filesystem::path &file) {
  KOPT_TRY(std::unique_ptr<Database> database, Database::openExisting(file));
  SqliteStore store(std::move(database));
  KOPT_TRY(StoreFacts facts, store.facts());
  if (facts.schema > 0) { // else it is an empty file
    KOPT_TRY(facts.runs, store.countRuns());
  }
  return facts;
}

} // namespace kopt
