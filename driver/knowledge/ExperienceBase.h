// SPDX-License-Identifier: Apache-2.0
// What verified trials taught, over all projects of a user: a set of rows, which only grows, and a
// set of revocations, which hides some. Every statistic is a view over the rows that are left.
#pragma once

#include "driver/knowledge/Kind.h"
#include "driver/store/Database.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace kopt {

/// A row that is not revoked.
struct Remembered {
  std::string id;
  Experience experience;
  bool isOwn = false;               ///< kopt found it here
  std::vector<std::string> sources; ///< where else it was imported from
  std::optional<Candidate> edits{}; ///< of strangers, unless it is own
};

/// On how many kernels a technique was tried in a state, and on how many it gained at least 1 %.
struct Pattern {
  std::string state, technique;
  std::int64_t kernels = 0, held = 0;
  double gain = 0; ///< the mean over kernels of the best log gain over a parent
};
KOPT_FIELDS(Pattern, state, technique, kernels, held, gain)

/// What is revoked: a row, those of a run, or what was imported under a name.
struct Revocation {
  enum class What { Trial, Run, Source };
  What what = What::Trial;
  std::string name; ///< id, run or source
};

class ExperienceBase {
public:
  /// Opens or creates the database. Fails as Database::open() does.
  static Result<ExperienceBase> open(const std::filesystem::path &file);

  /// Adds what is not known yet, all or nothing, and returns how much that was. `source`: the name
  /// of an import; empty: the user's own. Fails with Usage if edits are not those of their row.
  Result<std::size_t> add(const std::vector<Lesson> &lessons, const std::string &source = {});
  /// Hides what it names, also what is added later; returns how many rows that hides by now.
  Result<std::size_t> revoke(const Revocation &revocation);

  /// The number of the last change: a snapshot is what was known then.
  Result<std::int64_t> last();
  /// All outcomes on GPUs, or on the emulated device.
  Result<std::vector<TechniqueOutcomes>> outcomes(std::int64_t snapshot, bool isEmulated);
  /// The edits that made the kernel with this text faster, each once, the fastest first, those of
  /// the architecture before others; of GPUs, or of the emulated device.
  Result<std::vector<Remembered>> recall(std::int64_t snapshot, const std::string &text,
                                         const std::string &arch, std::size_t most);
  /// What each rewrite came to on the kernels that are most alike, at most `most` and of a kind
  /// with this one, whatever their names and GPUs; or on the emulated device.
  Result<std::map<Recipe, Outcomes>> ofAKind(std::int64_t snapshot,
                                             const std::map<std::string, double> &features,
                                             bool isEmulated, std::size_t most);
  /// Over kernels of GPUs, or of the emulated device; what held most often comes first.
  Result<std::vector<Pattern>> patterns(bool isEmulated);
  /// The rows of kernels that have this in their names, each candidate of a run once.
  Result<std::vector<Remembered>> ofKernels(std::int64_t snapshot, const std::string &name);
  /// The rows with all of these words in their names, or in their id, the greatest gain first.
  Result<std::vector<Remembered>> find(const std::vector<std::string> &words, std::size_t most);

private:
  explicit ExperienceBase(std::unique_ptr<Database> database) : database_(std::move(database)) {}

  Status pin(std::int64_t snapshot);
  Status addOne(const Lesson &lesson, const std::string &source, std::int64_t &number,
                std::size_t &added);
  /// The rows of the view `remembered`, by what follows its name in the statement.
  template <class... Values>
  Result<std::vector<Remembered>> select(const std::string &which, const Values &...values);
  Result<std::int64_t> countVisible();

  std::unique_ptr<Database> database_;
};

} // namespace kopt
