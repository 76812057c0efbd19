// SPDX-License-Identifier: Apache-2.0
// Texts that help with kernels, cut into passages and searched by words: kopt's own skills, and
// folders that the user indexes. Kept in one SQLite database of the user's.
#pragma once

#include "driver/model/Json.h"
#include "driver/store/Database.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

struct Passage {
  std::string source, file; ///< the file's path in the source's folder
  std::int64_t line = 0;    ///< of its first line, from 1
  std::string heading, text;
  double score = 0; ///< larger is better; comparable within one search
};
KOPT_FIELDS(Passage, source, file, line, heading, text, score)

struct PassageSource {
  std::string name, folder;
  double weight = 1; ///< scores are multiplied by it
  std::int64_t files = 0, passages = 0;
};
KOPT_FIELDS(PassageSource, name, folder, weight, files, passages)

struct Indexed {
  int read = 0, unchanged = 0, removed = 0; ///< files
  std::vector<std::string> skipped;         ///< those that are no text, or too large
};

/// A text that is indexed without being a file on disk.
struct NamedDocument {
  std::string name, text;
};

class Passages {
public:
  /// Opens or creates the database. Fails as Database::open() does.
  static Result<Passages> open(const std::filesystem::path &file);

  /// Indexes the texts and sources below the folder under this name; what has not changed since the
  /// last time is left as it is, and what is no longer there is removed. Hidden files and folders
  /// are passed over. Fails with Usage if the folder is none, or if the weight is not above 0.
  Result<Indexed> index(const std::filesystem::path &folder, const std::string &source,
                        double weight);
  /// Replaces the source by these texts, unless it has them already.
  Status put(const std::string &source, double weight, const std::vector<NamedDocument> &documents);
  /// Removes what is known of the source. Fails with Usage if there is none of this name.
  Status forget(const std::string &source);

  Result<std::vector<PassageSource>> sources();
  /// The passages that have the most, and the rarest, of these words, one of each file, the best
  /// file first; parts of identifiers count as words, too.
  Result<std::vector<Passage>> search(const std::string &words, std::size_t most);

private:
  explicit Passages(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  struct KnownFile {
    std::int64_t id = 0;
    std::string stamp; ///< differs once the file has changed
  };
  Status setSource(const std::string &name, const std::string &folder, double weight);
  Result<std::map<std::string, KnownFile>> filesOf(const std::string &source);
  Status addFile(const std::string &source, const std::string &file, const std::string &stamp,
                 const std::string &text);
  Status removeFile(std::int64_t file);

  std::unique_ptr<Database> database_;
};

/// A document's passages: a Markdown section each, or up to 60 lines of another text.
std::vector<Passage> passagesIn(const std::string &file, const std::string &text);

/// "maxThreads_per_block" as "max Threads per block"; the words alone, each once.
std::string partsOfIdentifiers(const std::string &text);

} // namespace kopt
