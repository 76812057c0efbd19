// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Passages.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"
#include "knowledge/PassagesFiles.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string_view>

namespace kopt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLines = 60;           ///< of a passage that is no section
constexpr std::size_t kMostBytes = 6'000;        ///< of a passage: longer ones are divided
constexpr std::uintmax_t kLargestFile = 1 << 20; ///< larger ones are data, not text
/// bm25's weights of a word in the heading, in the text, and as a part of an identifier.
constexpr const char *kRank = "bm25(passages, 4.0, 1.0, 0.5)";

/// What is worth reading: texts, and code in the languages of CUDA's users.
bool isText(const fs::path &file) {
  static const std::set<std::string> kEndings = {".md",  ".txt", ".rst", ".cu",  ".cuh", ".h",
                                                 ".hpp", ".c",   ".cc",  ".cpp", ".py",  ".adoc"};
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return kEndings.contains(ending);
}

bool isWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80);
}

std::vector<std::string> wordsIn(const std::string &text) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && isWordCharacter(text[end]))
      ++end;
    if (end > i)
      words.push_back(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return words;
}

std::vector<std::string> partsOf(const std::string &word) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto is = [&](int (*kind)(int), std::size_t at) {
      return at < word.size() && kind(static_cast<unsigned char>(word[at]));
    };
    const bool begins = i > 0 && is(std::isupper, i) &&
                        (is(std::islower, i - 1) || is(std::isdigit, i - 1) ||
                         (is(std::isupper, i - 1) && is(std::islower, i + 1)));
    if ((word[i] == '_' || begins) && !parts.back().empty())
      parts.emplace_back();
    if (word[i] != '_')
      parts.back() += word[i];
  }
  if (parts.back().empty())
    parts.pop_back();
  return parts;
}

/// The query of FTS5: any of the words, and of their parts.
std::string queryFor(const std::string &text) {
  static const std::set<std::string> kCommon = {
      // in the names of counters
      "active", "average", "avg", "elapsed", "max", "min", "pct", "peak", "per", "ratio", "sum",
      "sustained",
      // everywhere
      "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how",
      "i", "if", "in", "is", "it", "its", "my", "of", "on", "or", "so", "that", "the", "there",
      "this", "to", "too", "was", "what", "when", "which", "why", "with", "you"};
  std::vector<std::string> terms;
  const auto add = [&](std::string word) {
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
    if (word.size() > 1 && !kCommon.contains(word) && std::ranges::count(terms, word) == 0)
      terms.push_back(word);
  };
  for (const std::string &word : wordsIn(text)) {
    add(word);
    if (const std::vector<std::string> parts = partsOf(word); parts.size() > 1)
      std::ranges::for_each(parts, add);
  }
  for (std::string &term : terms)
    term = "\"" + term + "\"";
  return join(terms, " OR ");
}

std::string headingOf(std::string_view line) {
  const std::size_t level = line.find_first_not_of('#');
  return level > 0 && level <= 6 && level < line.size() && line[level] == ' '
             ? std::string(trim(line.substr(level)))
             : "";
}

} // namespace

std::string partsOfIdentifiers(const std::string &text) {
  std::vector<std::string> all;
  std::set<std::string> seen;
  for (const std::string &word : wordsIn(text))
    if (const std::vector<std::string> parts = partsOf(word); parts.size() > 1)
      for (const std::string &part : parts)
        if (seen.insert(part).second)
          all.push_back(part);
  return join(all, " ");
}

std::vector<Passage> passagesIn(const std::string &file, const std::string &text) {
  const bool isMarkdown = file.ends_with(".md");
  std::vector<Passage> passages;
  std::string title; // of the document: the first heading
  bool isInCode = false;
  std::int64_t number = 0;
  std::size_t lines = 0;
  for (const std::string &line : split(text, '\n')) {
    ++number;
    isInCode ^= isMarkdown && line.starts_with("```");
    const std::string heading = isMarkdown && !isInCode ? headingOf(line) : "";
    const bool isFull =
        !passages.empty() &&
        (passages.back().text.size() > kMostBytes ||
         (!isMarkdown && lines >= kMostLines && (trim(line).empty() || lines >= 2 * kMostLines)));
    if (!heading.empty() || passages.empty() || isFull) {
      Passage next{.file = file, .line = number};
      next.heading = !heading.empty() && !title.empty() && heading != title ? title + ": " + heading
                     : !heading.empty()                                     ? heading
                     : passages.empty() ? fs::path(file).stem().string()
                                        : passages.back().heading;
      if (title.empty())
        title = heading;
      passages.push_back(std::move(next));
      lines = 0;
    }
    passages.back().text += line + "\n";
    ++lines;
  }
  std::erase_if(passages, [](const Passage &passage) {
    const std::string body(trim(passage.text));
    return body.empty() || (body.find('\n') == body.npos && !headingOf(body).empty());
  });
  return passages;
}

Result<Passages> Passages::open(const fs::path &file) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  KOPT_TRY(std::unique_ptr<Database> database, Database::open(file));
  KOPT_CHECK(database->execute(std::string(knowledge::passages::kFiles.front().second)));
  return Passages(std::move(database));
}

Status Passages::setSource(const std::string &name, const std::string &folder, double weight) {
  return database_->run("INSERT INTO sources (name, folder, weight) VALUES (?, ?, ?) ON CONFLICT "
                        "(name) DO UPDATE SET folder = excluded.folder, weight = excluded.weight",
                        name, folder, weight);
}

Status Passages::removeFile(std::int64_t file) {
  KOPT_CHECK(database_->run("DELETE FROM passages WHERE rowid BETWEEN (SELECT first FROM files "
                            "WHERE id = ?1) AND (SELECT last FROM files WHERE id = ?1)",
                            file));
  return database_->run("DELETE FROM files WHERE id = ?", file);
}

Status Passages::addFile(const std::string &source, const std::string &file,
                         const std::string &stamp, const std::string &text) {
  Statement next = database_->prepare("SELECT coalesce(max(last), 0) + 1, coalesce(max(id), 0) + 1 "
                                      "FROM files");
  KOPT_CHECK(next.step());
  const std::int64_t first = next.integer(), id = next.integer();
  const std::vector<Passage> passages = passagesIn(file, text);
  std::int64_t row = first;
  for (const Passage &passage : passages)
    KOPT_CHECK(database_->run("INSERT INTO passages (rowid, heading, text, parts, file, line) "
                              "VALUES (?, ?, ?, ?, ?, ?)",
                              row++, passage.heading, passage.text,
                              partsOfIdentifiers(passage.text), id, passage.line));
  return database_->run("INSERT INTO files (id, source, path, stamp, first, last) "
                        "VALUES (?, ?, ?, ?, ?, ?)",
                        id, source, file, stamp, first, row - 1);
}

Result<std::map<std::string, Passages::KnownFile>> Passages::filesOf(const std::string &source) {
  using File = std::pair<std::string, KnownFile>;
  KOPT_TRY(const std::vector<File> files,
           database_->prepare("SELECT path, id, stamp FROM files WHERE source = ?", source)
               .rows<File>([](Statement &row) {
                 return File{row.text(), KnownFile{row.integer(), row.text()}};
               }));
  return std::map<std::string, KnownFile>(files.begin(), files.end());
}

Result<Indexed> Passages::index(const fs::path &folder, const std::string &source, double weight) {
  std::error_code failed;
  const fs::path root = fs::canonical(folder, failed);
  if (failed || !fs::is_directory(root))
    return makeError(ErrorCode::Usage, fmt::format("'{}' is no folder", folder.string()),
                     "name a folder with texts or sources");
  if (!(weight > 0))
    return makeError(ErrorCode::Usage, fmt::format("the weight {} is not above 0", weight),
                     "1 is that of kopt's own skills");
  Indexed indexed;
  const Status done = database_->inOneStep([&]() -> Status {
    KOPT_CHECK(setSource(source, root.string(), weight));
    KOPT_TRY(auto known, filesOf(source));
    for (fs::recursive_directory_iterator
             entry(root, fs::directory_options::skip_permission_denied, failed),
         end;
         !failed && entry != end; entry.increment(failed)) {
      if (entry->path().filename().string().starts_with('.')) {
        if (entry->is_directory(failed))
          entry.disable_recursion_pending();
        continue;
      }
      if (!entry->is_regular_file(failed) || !isText(entry->path()))
        continue;
      const std::string name = fs::relative(entry->path(), root).string();
      const std::uintmax_t size = entry->file_size(failed);
      const std::string stamp =
          fmt::format("{} {}", size, entry->last_write_time(failed).time_since_epoch().count());
      const auto before = known.extract(name);
      if (!before.empty() && before.mapped().stamp == stamp) {
        ++indexed.unchanged;
        continue;
      }
      if (!before.empty())
        KOPT_CHECK(removeFile(before.mapped().id));
      const auto text = size <= kLargestFile ? readFile(entry->path())
                                             : tl::unexpected(Error{ErrorCode::Usage, "too large"});
      if (!text || text->find('\0') != text->npos) {
        indexed.skipped.push_back(name);
        continue;
      }
      KOPT_CHECK(addFile(source, name, stamp, validUtf8(*text)));
      ++indexed.read;
    }
    for (const auto &[name, file] : known) {
      KOPT_CHECK(removeFile(file.id));
      ++indexed.removed;
    }
    return {};
  });
  if (!done)
    return tl::unexpected(done.error());
  return indexed;
}

Status Passages::put(const std::string &source, double weight,
                     const std::vector<NamedDocument> &documents) {
  KOPT_TRY(auto known, filesOf(source));
  bool isSame = known.size() == documents.size();
  for (const NamedDocument &document : documents)
    isSame = isSame && known.contains(document.name) &&
             known[document.name].stamp == hashHex(document.text);
  if (isSame)
    return {};
  return database_->inOneStep([&]() -> Status {
    KOPT_CHECK(setSource(source, "", weight));
    for (const auto &[name, file] : known)
      KOPT_CHECK(removeFile(file.id));
    for (const NamedDocument &document : documents)
      KOPT_CHECK(addFile(source, document.name, hashHex(document.text), document.text));
    return {};
  });
}

Status Passages::forget(const std::string &source) {
  KOPT_TRY(const std::vector<PassageSource> all, sources());
  if (std::ranges::count(all, source, &PassageSource::name) == 0) {
    std::vector<std::string> names;
    for (const PassageSource &each : all)
      names.push_back(each.name);
    return makeError(ErrorCode::Usage, fmt::format("no source has the name '{}'", source),
                     "known are " + join(names, ", "));
  }
  KOPT_TRY(const auto files, filesOf(source));
  return database_->inOneStep([&]() -> Status {
    for (const auto &[name, file] : files)
      KOPT_CHECK(removeFile(file.id));
    return database_->run("DELETE FROM sources WHERE name = ?", source);
  });
}

Result<std::vector<PassageSource>> Passages::sources() {
  Statement rows = database_->prepare(
      "SELECT name, folder, weight, count(files.id), "
      "coalesce(sum(last - first + 1), 0) FROM sources LEFT JOIN files ON files.source = name "
      "GROUP BY name ORDER BY name");
  return rows.rows<PassageSource>([](Statement &row) {
    return PassageSource{row.text(), row.text(), row.real(), row.integer(), row.integer()};
  });
}

Result<std::vector<Passage>> Passages::search(const std::string &words, std::size_t most) {
  const std::string query = queryFor(words);
  if (query.empty())
    return std::vector<Passage>();
  // bm25() is smaller for better passages, and negative. Of each file the best passage is shown,
  // ranked with the next one: a text of that matter has more than one.
  const std::string sql = fmt::format(
      "WITH found AS (SELECT rowid AS id, file, -{} AS score FROM passages WHERE passages MATCH "
      "?), "
      "ranked AS (SELECT id, file, row_number() OVER best AS place, "
      "score + coalesce(lead(score) OVER best, 0) AS score FROM found "
      "WINDOW best AS (PARTITION BY file ORDER BY score DESC, id)) "
      "SELECT files.source, path, line, heading, text, score * weight "
      "FROM ranked JOIN passages ON passages.rowid = ranked.id "
      "JOIN files ON files.id = ranked.file JOIN sources ON sources.name = files.source "
      "WHERE place = 1 ORDER BY score * weight DESC LIMIT ?",
      kRank);
  return database_->prepare(sql, query, most).rows<Passage>([](Statement &row) {
    return Passage{row.text(), row.text(), row.integer(), row.text(), row.text(), row.real()};
  });
}

} // namespace kopt
