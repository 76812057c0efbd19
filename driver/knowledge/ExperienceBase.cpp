// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/ExperienceBase.h"

#include "driver/model/Json.h"
#include "driver/support/Text.h"
#include "knowledge/ExperienceFiles.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

const char *wordFor(Revocation::What what) {
  constexpr const char *kWords[] = {"trial", "run", "source"};
  return kWords[std::size_t(what)];
}

Outcomes sumsIn(Statement &row) {
  return {row.integer(), row.integer(), row.integer(), row.real(), row.real(), row.real()};
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
  const auto &[tables, views] = knowledge::experience::kFiles;
  KOPT_CHECK(database->execute(std::string(tables.second)));
  KOPT_CHECK(database->execute(
      fmt::format(fmt::runtime(views.second), kMostLogGain, kLeastLogGain, kEmulatedArch)));
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
      "INSERT INTO experience (id, record) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING 1", id,
      canonicalJson(experience));
  KOPT_TRY(const bool isNew, row.step());
  added += isNew;
  KOPT_CHECK(row.run());
  KOPT_CHECK(database_->run(
      "INSERT INTO origins (number, id, source) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", ++number,
      id, source));
  if (!lesson.edits)
    return {};
  return database_->run(
      "INSERT INTO edits (candidate, number, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
      experience.candidate, ++number, canonicalJson(contentOf(*lesson.edits)));
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
    KOPT_CHECK(database_->run(
        "INSERT INTO revocations (number, what, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        number + 1, wordFor(revocation.what), revocation.name));
    KOPT_TRY(after, countVisible());
    return {};
  }));
  return std::size_t(before - after);
}

Result<std::int64_t> ExperienceBase::countVisible() {
  KOPT_TRY(const std::int64_t now, last());
  KOPT_CHECK(pin(now));
  return database_->number("SELECT count(*) FROM visible");
}

Result<std::int64_t> ExperienceBase::last() {
  return database_->number(
      "SELECT max((SELECT coalesce(max(number), 0) FROM origins), (SELECT coalesce(max(number), 0) "
      "FROM revocations), (SELECT coalesce(max(number), 0) FROM edits))");
}

Status ExperienceBase::pin(std::int64_t snapshot) {
  return database_->run("UPDATE pinned SET number = ?", snapshot);
}

Result<std::vector<TechniqueOutcomes>> ExperienceBase::outcomes(std::int64_t snapshot,
                                                                bool isEmulated) {
  KOPT_CHECK(pin(snapshot));
  return database_
      ->prepare("SELECT state, technique, arch, trials, valid, gained, gain, square, seconds FROM "
                "outcomes WHERE (arch = ?) = ? ORDER BY technique, arch, state",
                kEmulatedArch, isEmulated)
      .rows<TechniqueOutcomes>([](Statement &row) {
        return TechniqueOutcomes{row.text(), row.text(), row.text(), sumsIn(row)};
      });
}

template <class... Values>
Result<std::vector<Remembered>> ExperienceBase::select(const std::string &which,
                                                       const Values &...values) {
  const auto read = [&]<class Record>(Record &into, const std::string &json) -> Status {
    Result<Record> record = fromJson<Record>(nlohmann::json::parse(json, nullptr, false));
    if (!record)
      return makeError(ErrorCode::Environment,
                       fmt::format("{}: {}", database_->file().string(), record.error().what),
                       "use the version of kopt that wrote it, or move the file away");
    into = std::move(*record);
    return {};
  };
  Statement rows = database_->prepare("SELECT id, record, is_own, coalesce(sources, ''), "
                                      "coalesce(edits, '') FROM remembered " +
                                          which,
                                      values...);
  return rows.rows<Remembered>([&](Statement &row) -> Result<Remembered> {
    Remembered found{.id = row.text()};
    KOPT_CHECK(read(found.experience, row.text()));
    found.isOwn = row.integer() != 0;
    if (const std::string sources = row.text(); !sources.empty())
      found.sources = split(sources, '\n');
    if (const std::string edits = row.text(); !edits.empty())
      KOPT_CHECK(read(found.edits.emplace(), edits));
    return found;
  });
}

Result<std::vector<Remembered>> ExperienceBase::recall(std::int64_t snapshot,
                                                       const std::string &text,
                                                       const std::string &arch, std::size_t most) {
  KOPT_CHECK(pin(snapshot));
  KOPT_TRY(std::vector<Remembered> found,
           select("WHERE slice = ? AND place = 1 AND verdict = 'Faster' AND edits IS NOT NULL AND "
                  "(arch = ?) = ? ORDER BY arch = ? DESC, speedup DESC, id",
                  text, kEmulatedArch, arch == kEmulatedArch, arch));
  std::set<std::string> candidates;
  std::erase_if(found, [&](const Remembered &row) {
    return candidates.size() >= most || !candidates.insert(row.experience.candidate).second;
  });
  return found;
}

Result<std::map<Recipe, Outcomes>>
ExperienceBase::ofAKind(std::int64_t snapshot, const std::map<std::string, double> &features,
                        bool isEmulated, std::size_t most) {
  KOPT_CHECK(pin(snapshot));
  Statement kernels =
      database_->prepare("SELECT slice, max(json_extract(record, '$.kernel.features')) FROM ranked "
                         "WHERE place = 1 AND (arch = ?) = ? GROUP BY slice",
                         kEmulatedArch, isEmulated);
  using Alike = std::pair<double, std::string>;
  KOPT_TRY(std::vector<Alike> alike, kernels.rows<Alike>([&](Statement &row) -> Alike {
    std::string slice = row.text();
    const auto known = nlohmann::json::parse(row.text(), nullptr, false);
    return {known.is_object() ? likeness(features, known.get<std::map<std::string, double>>()) : 0,
            std::move(slice)};
  }));
  std::erase_if(alike, [](const Alike &each) { return each.first < kOfAKind; });
  std::ranges::sort(alike, std::greater());
  alike.resize(std::min(alike.size(), most));
  std::vector<std::string> slices;
  for (auto &[how, slice] : alike)
    slices.push_back(std::move(slice));
  const std::vector<std::string> places(slices.size(), "?");
  Statement rows =
      database_->prepare(fmt::format("SELECT technique, variant, count(*), count(bounded), "
                                     "count(*) FILTER (WHERE bounded >= {}), total(bounded), "
                                     "total(bounded * bounded), total(seconds) FROM counted "
                                     "WHERE (arch = ?) = ? AND slice IN ({}) "
                                     "GROUP BY technique, variant",
                                     kLeastLogGain, join(places, ", ")),
                         kEmulatedArch, isEmulated, slices);
  using OfOne = std::pair<Recipe, Outcomes>;
  KOPT_TRY(const std::vector<OfOne> found, rows.rows<OfOne>([](Statement &row) {
    Recipe recipe{row.text(), row.text()};
    return OfOne{std::move(recipe), sumsIn(row)};
  }));
  return std::map<Recipe, Outcomes>(found.begin(), found.end());
}

Result<std::vector<Pattern>> ExperienceBase::patterns(bool isEmulated) {
  KOPT_TRY(const std::int64_t now, last());
  KOPT_CHECK(pin(now));
  return database_
      ->prepare("SELECT state, technique, kernels, held, gain FROM patterns WHERE emulated = ? "
                "ORDER BY held DESC, gain DESC",
                isEmulated)
      .rows<Pattern>([](Statement &row) {
        return Pattern{row.text(), row.text(), row.integer(), row.integer(), row.real()};
      });
}

Result<std::vector<Remembered>> ExperienceBase::ofKernels(std::int64_t snapshot,
                                                          const std::string &name) {
  KOPT_CHECK(pin(snapshot));
  return select("WHERE place = 1 AND instr(lower(json_extract(record, '$.kernel.name')), "
                "lower(?)) > 0 ORDER BY id",
                name);
}

Result<std::vector<Remembered>> ExperienceBase::find(const std::vector<std::string> &words,
                                                     std::size_t most) {
  KOPT_TRY(const std::int64_t now, last());
  KOPT_CHECK(pin(now));
  std::string which = "WHERE true";
  for (std::size_t i = 0; i < words.size(); ++i)
    which +=
        " AND instr(lower(id || ' ' || technique || ' ' || arch || ' ' || state || ' ' || "
        "verdict || ' ' || run || ' ' || json_extract(record, '$.kernel.name')), lower(?)) > 0";
  return select(which + " ORDER BY gain DESC, id LIMIT ?", words, most);
}

} // namespace kopt
