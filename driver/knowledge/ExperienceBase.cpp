// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/ExperienceBase.h"

#include "driver/model/Json.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

// Nothing is ever changed or removed: so what two databases know is known by each that merges the
// other, in whatever order, and what a run has pinned stays as it was.
constexpr const char *kTables = R"(
CREATE TABLE IF NOT EXISTS experience (            -- Experience
  id TEXT PRIMARY KEY,                             -- the hash of the record
  record TEXT NOT NULL,
  run TEXT AS (json_extract(record, '$.from.run')) STORED,
  candidate TEXT AS (json_extract(record, '$.candidate')) STORED,
  slice TEXT AS (json_extract(record, '$.kernel.text')) STORED,
  state TEXT AS (json_extract(record, '$.state')) STORED,
  technique TEXT AS (json_extract(record, '$.technique')) STORED,
  arch TEXT AS (json_extract(record, '$.arch')) STORED,
  purpose TEXT AS (json_extract(record, '$.purpose')) STORED,
  verdict TEXT AS (json_extract(record, '$.verdict')) STORED,
  gain REAL AS (json_extract(record, '$.over_parent.estimate')) STORED,
  speedup REAL AS (json_extract(record, '$.over_baseline.estimate')) STORED,
  seconds REAL AS (json_extract(record, '$.seconds')) STORED
);
CREATE INDEX IF NOT EXISTS experience_slice ON experience (slice);
-- Where a row is from. `number` counts the changes of all three tables.
CREATE TABLE IF NOT EXISTS origins (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL REFERENCES experience(id),
  source TEXT NOT NULL,                            -- the name of an import; empty: the user's own
  UNIQUE (id, source)
);
CREATE TABLE IF NOT EXISTS revocations (
  number INTEGER PRIMARY KEY,
  what TEXT NOT NULL,                              -- trial, run or source
  name TEXT NOT NULL,
  UNIQUE (what, name)
);
CREATE TABLE IF NOT EXISTS edits (                 -- Candidate
  candidate TEXT PRIMARY KEY,                      -- the hash of its content
  number INTEGER NOT NULL,
  record TEXT NOT NULL
);
)";

// Each reads the one before; all of them what was known at the pinned change.
constexpr const char *kViews = R"(
CREATE TEMP TABLE pinned (number INTEGER NOT NULL);
INSERT INTO pinned VALUES (0);
CREATE TEMP VIEW revoked AS
  SELECT what, name FROM revocations JOIN pinned ON revocations.number <= pinned.number;
CREATE TEMP VIEW visible AS
  SELECT experience.*, min(source) = '' AS is_own, group_concat(nullif(source, ''), char(10)) AS sources
  FROM experience JOIN origins USING (id) JOIN pinned ON origins.number <= pinned.number
  WHERE ('trial', experience.id) NOT IN revoked AND ('run', run) NOT IN revoked
    AND ('source', source) NOT IN revoked
  GROUP BY experience.id;
CREATE TEMP VIEW ranked AS               -- a confirmation is before a search
  SELECT *, row_number() OVER (PARTITION BY run, candidate ORDER BY purpose, state DESC, id) AS place
  FROM visible;
CREATE TEMP VIEW counted AS
  SELECT *, max(-{0}, min({0}, gain)) AS bounded,
    coalesce(json_extract(record, '$.variant'), '') AS variant
  FROM ranked WHERE place = 1;
CREATE TEMP VIEW outcomes AS
  SELECT state, technique, arch, count(*) AS trials, count(bounded) AS valid,
    count(*) FILTER (WHERE bounded >= {1}) AS gained, total(bounded) AS gain,
    total(bounded * bounded) AS square, total(seconds) AS seconds
  FROM counted GROUP BY state, technique, arch;
CREATE TEMP VIEW patterns AS
  SELECT state, technique, emulated, count(*) AS kernels, total(best >= {1}) AS held,
    coalesce(avg(best), 0) AS gain
  FROM (SELECT state, technique, arch = '{2}' AS emulated, max(bounded) AS best
        FROM counted GROUP BY slice, state, technique, emulated)
  GROUP BY state, technique, emulated;
CREATE TEMP VIEW remembered AS
  SELECT ranked.*, edits.record AS edits FROM ranked JOIN pinned
  LEFT JOIN edits ON edits.candidate = ranked.candidate AND edits.number <= pinned.number;
)";

constexpr const char *kRemembered = "SELECT id, record, is_own, coalesce(sources, ''), "
                                    "coalesce(edits, '') FROM remembered ";

const char *wordFor(Revocation::What what) {
  constexpr const char *kWords[] = {"trial", "run", "source"};
  return kWords[std::size_t(what)];
}

/// What the candidate does, without what only tells of it.
Candidate contentOf(Candidate candidate) {
  for (std::string *words :
       {&candidate.proposer, &candidate.title, &candidate.technique, &candidate.rationale})
    words->clear();
  candidate.parents.clear();
  return candidate;
}

} // namespace

Result<ExperienceBase> ExperienceBase::open(const std::filesystem::path &file) {
  KOPT_TRY(std::unique_ptr<Database> database, Database::open(file));
  KOPT_CHECK(database->execute(kTables));
  KOPT_CHECK(database->execute(fmt::format(kViews, kMostLogGain, kLeastLogGain, kEmulatedArch)));
  return ExperienceBase(std::move(database));
}

Status ExperienceBase::addOne(const Lesson &lesson, const std::string &source, std::int64_t &number,
                              std::size_t &added) {
  const Experience &experience = lesson.experience;
  const std::string id = idOf(experience);
  if (const std::string problem = problemOf(experience); !problem.empty())
    return makeError(ErrorCode::Usage, fmt::format("trial {} teaches nothing: {}", id, problem));
  if (lesson.edits && lesson.edits->contentHash() != experience.candidate)
    return makeError(ErrorCode::Usage, fmt::format("the edits of trial {} are others", id));
  Statement row = database_->prepare(
      "INSERT INTO experience (id, record) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING 1");
  row.bind(id).bind(canonicalJson(experience));
  KOPT_TRY(const bool isNew, row.step());
  added += isNew;
  KOPT_CHECK(row.run());
  KOPT_CHECK(database_
                 ->prepare("INSERT INTO origins (number, id, source) VALUES (?, ?, ?) "
                           "ON CONFLICT DO NOTHING")
                 .bind(++number)
                 .bind(id)
                 .bind(source)
                 .run());
  if (!lesson.edits)
    return {};
  return database_
      ->prepare("INSERT INTO edits (candidate, number, record) VALUES (?, ?, ?) "
                "ON CONFLICT DO NOTHING")
      .bind(experience.candidate)
      .bind(++number)
      .bind(canonicalJson(contentOf(*lesson.edits)))
      .run();
}

Result<std::size_t> ExperienceBase::add(const std::vector<Lesson> &lessons,
                                        const std::string &source) {
  std::size_t added = 0;
  KOPT_CHECK(database_->inOneStep([&]() -> Status {
    KOPT_TRY(std::int64_t number, last());
    for (const Lesson &lesson : lessons)
      KOPT_CHECK(addOne(lesson, source, number, added));
    return {};
  }));
  return added;
}

Result<std::size_t> ExperienceBase::revoke(const Revocation &revocation) {
  std::int64_t before = 0, after = 0;
  KOPT_CHECK(database_->inOneStep([&]() -> Status {
    KOPT_TRY(before, countVisible());
    KOPT_TRY(const std::int64_t number, last());
    KOPT_CHECK(database_
                   ->prepare("INSERT INTO revocations (number, what, name) VALUES (?, ?, ?) "
                             "ON CONFLICT DO NOTHING")
                   .bind(number + 1)
                   .bind(wordFor(revocation.what))
                   .bind(revocation.name)
                   .run());
    KOPT_TRY(after, countVisible());
    return {};
  }));
  return std::size_t(before - after);
}

Result<std::int64_t> ExperienceBase::countVisible() {
  KOPT_TRY(const std::int64_t now, last());
  KOPT_CHECK(pin(now));
  Statement rows = database_->prepare("SELECT count(*) FROM visible");
  KOPT_CHECK(rows.run());
  return rows.integer();
}

Result<std::int64_t> ExperienceBase::last() {
  Statement row = database_->prepare(
      "SELECT max((SELECT coalesce(max(number), 0) FROM origins), (SELECT coalesce(max(number), 0) "
      "FROM revocations), (SELECT coalesce(max(number), 0) FROM edits))");
  KOPT_CHECK(row.run());
  return row.integer();
}

Status ExperienceBase::pin(std::int64_t snapshot) {
  return database_->prepare("UPDATE pinned SET number = ?").bind(snapshot).run();
}

Result<std::vector<TechniqueOutcomes>> ExperienceBase::outcomes(std::int64_t snapshot,
                                                                bool isEmulated) {
  KOPT_CHECK(pin(snapshot));
  Statement rows = database_->prepare(
      "SELECT state, technique, arch, trials, valid, gained, gain, square, seconds FROM outcomes "
      "WHERE (arch = ?) = ? ORDER BY technique, arch, state");
  rows.bind(kEmulatedArch).bind(std::int64_t(isEmulated));
  return rows.rows<TechniqueOutcomes>([&] {
    TechniqueOutcomes found{rows.text(), rows.text(), rows.text(), {}};
    found.sums = {rows.integer(), rows.integer(), rows.integer(),
                  rows.real(),    rows.real(),    rows.real()};
    return found;
  });
}

Result<std::vector<Remembered>> ExperienceBase::recall(std::int64_t snapshot,
                                                       const std::string &text,
                                                       const std::string &arch, std::size_t most) {
  KOPT_CHECK(pin(snapshot));
  Statement rows = database_->prepare(
      fmt::format(
          "{} WHERE slice = ? AND place = 1 AND verdict = 'Faster' AND edits IS NOT NULL AND "
          "(arch = ?) = ? ORDER BY arch = ? DESC, speedup DESC, id",
          kRemembered)
          .c_str());
  rows.bind(text).bind(kEmulatedArch).bind(std::int64_t(arch == kEmulatedArch));
  rows.bind(arch);
  KOPT_TRY(std::vector<Remembered> found, select(std::move(rows)));
  std::set<std::string> candidates;
  std::erase_if(found, [&](const Remembered &row) {
    return candidates.size() >= most || !candidates.insert(row.experience.candidate).second;
  });
  return found;
}

Result<std::map<std::string, Outcomes>>
ExperienceBase::ofAKind(std::int64_t snapshot, const std::map<std::string, double> &features,
                        bool isEmulated, std::size_t most) {
  KOPT_CHECK(pin(snapshot));
  Statement kernels =
      database_->prepare("SELECT slice, max(json_extract(record, '$.kernel.features')) FROM ranked "
                         "WHERE place = 1 AND (arch = ?) = ? GROUP BY slice");
  kernels.bind(kEmulatedArch).bind(std::int64_t(isEmulated));
  using Alike = std::pair<double, std::string>;
  KOPT_TRY(std::vector<Alike> alike, kernels.rows<Alike>([&]() -> Alike {
    std::string slice = kernels.text();
    const auto known = nlohmann::json::parse(kernels.text(), nullptr, false);
    return {known.is_object() ? likeness(features, known.get<std::map<std::string, double>>()) : 0,
            std::move(slice)};
  }));
  std::erase_if(alike, [](const Alike &each) { return each.first < kOfAKind; });
  std::ranges::sort(alike, std::greater());
  alike.resize(std::min(alike.size(), most));
  const std::vector<std::string> places(alike.size(), "?");
  Statement rows =
      database_->prepare(fmt::format("SELECT technique, count(*), count(bounded), "
                                     "count(*) FILTER (WHERE bounded >= {}), total(bounded), "
                                     "total(bounded * bounded), total(seconds) FROM counted "
                                     "WHERE (arch = ?) = ? AND slice IN ({}) GROUP BY technique",
                                     kLeastLogGain, join(places, ", "))
                             .c_str());
  rows.bind(kEmulatedArch).bind(std::int64_t(isEmulated));
  for (const auto &[how, slice] : alike)
    rows.bind(slice);
  using OfOne = std::pair<std::string, Outcomes>;
  KOPT_TRY(const std::vector<OfOne> found, rows.rows<OfOne>([&]() -> OfOne {
    std::string technique = rows.text();
    return {
        std::move(technique),
        {rows.integer(), rows.integer(), rows.integer(), rows.real(), rows.real(), rows.real()}};
  }));
  return std::map<std::string, Outcomes>(found.begin(), found.end());
}

Result<std::vector<Pattern>> ExperienceBase::patterns(bool isEmulated) {
  KOPT_TRY(const std::int64_t now, last());
  KOPT_CHECK(pin(now));
  Statement rows = database_->prepare("SELECT state, technique, kernels, held, gain FROM patterns "
                                      "WHERE emulated = ? ORDER BY held DESC, gain DESC");
  rows.bind(std::int64_t(isEmulated));
  return rows.rows<Pattern>([&] {
    return Pattern{rows.text(), rows.text(), rows.integer(), rows.integer(), rows.real()};
  });
}

Result<std::vector<Remembered>> ExperienceBase::ofKernels(std::int64_t snapshot,
                                                          const std::string &name) {
  KOPT_CHECK(pin(snapshot));
  Statement rows = database_->prepare(
      fmt::format("{} WHERE place = 1 AND instr(lower(json_extract(record, '$.kernel.name')), "
                  "lower(?)) > 0 ORDER BY id",
                  kRemembered)
          .c_str());
  rows.bind(name);
  return select(std::move(rows));
}

Result<std::vector<Remembered>> ExperienceBase::find(const std::vector<std::string> &words,
                                                     std::size_t most) {
  KOPT_TRY(const std::int64_t now, last());
  KOPT_CHECK(pin(now));
  std::string sql = fmt::format("{} WHERE true", kRemembered);
  for (std::size_t i = 0; i < words.size(); ++i)
    sql += " AND instr(lower(id || ' ' || technique || ' ' || arch || ' ' || state || ' ' || "
           "verdict || ' ' || run || ' ' || json_extract(record, '$.kernel.name')), lower(?)) > 0";
  Statement rows = database_->prepare((sql + " ORDER BY gain DESC, id LIMIT ?").c_str());
  for (const std::string &word : words)
    rows.bind(word);
  rows.bind(std::int64_t(most));
  return select(std::move(rows));
}

Result<std::vector<Remembered>> ExperienceBase::select(Statement rows) {
  const auto read = [&]<class Record>(Record &into, const std::string &json) -> Status {
    Result<Record> record = fromJson<Record>(nlohmann::json::parse(json, nullptr, false));
    if (!record)
      return makeError(ErrorCode::Environment,
                       fmt::format("{}: {}", database_->file().string(), record.error().what),
                       "use the version of kopt that wrote it, or move the file away");
    into = std::move(*record);
    return {};
  };
  return rows.rows<Remembered>([&]() -> Result<Remembered> {
    Remembered found{.id = rows.text()};
    KOPT_CHECK(read(found.experience, rows.text()));
    found.isOwn = rows.integer() != 0;
    if (const std::string sources = rows.text(); !sources.empty())
      found.sources = split(sources, '\n');
    if (const std::string edits = rows.text(); !edits.empty())
      KOPT_CHECK(read(found.edits.emplace(), edits));
    return found;
  });
}

} // namespace kopt
