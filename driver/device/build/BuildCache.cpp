// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/BuildCache.h"

#include "driver/device/build/BuildInputs.h"
#include "driver/model/Json.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Log.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <regex>
#include <sys/stat.h>
#include <unistd.h>

namespace kopt {

/// What an entry has before the bytes of the module.
struct KeptBuild {
  bool ok = false, isLimit = false;
  std::string suffix; ///< of the module's name
  std::string log, hash;
  std::vector<std::string> externals, reads;
  std::string state; ///< stateOfInputs()
};
KOPT_FIELDS(KeptBuild, ok, isLimit, suffix, log, hash, externals, reads, state)

namespace {

namespace fs = std::filesystem;

constexpr const char *kEntry = ".build";
constexpr std::size_t kHashSize = 32; ///< of what an entry begins with, which shows damage
constexpr unsigned kTrimAfter = 256;  ///< builds
/// File systems take the time of a change from a clock that may be this far behind, in nanoseconds.
constexpr std::int64_t kClockStep = 20'000'000;

std::int64_t nowInNanoseconds() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// True if the text is the reason for the failure, not the machine: an error of a line, or of
/// ptxas.
bool isOfText(const BuildOutcome &outcome) {
  static const std::regex kError(
      R"((\(\d+\)|:\d+:\d+): error|(^|\n)ptxas (\S+, line \d+; )?error)");
  return outcome.fault != BuildFault::Compiler && std::regex_search(outcome.log, kError);
}

/// Makes the folder, for its owner alone. False if that cannot be, or it is another user's, whose
/// modules are not run.
bool makeOwn(const fs::path &folder) {
  std::error_code error;
  if (fs::create_directories(folder, error))
    fs::permissions(folder, fs::perms::owner_all, error);
  struct stat status{};
  return ::stat(folder.c_str(), &status) == 0 && status.st_uid == ::geteuid() &&
         (status.st_mode & S_IWOTH) == 0;
}

} // namespace

BuildCache::BuildCache(fs::path folder, std::uintmax_t limit)
    : folder_(std::move(folder)), limit_(limit > 0 && makeOwn(folder_) ? limit : 0) {}

BuildCache::~BuildCache() {
  if (limit_ > 0 && compiled_ > 0)
    trimBuilds(folder_, limit_);
}

Result<BuildOutcome> BuildCache::build(Toolchain &compiler, const BuildRequest &request) {
  const bool isKept = limit_ > 0 && !compiler.programs().empty();
  const fs::path entry = isKept ? folder_ / (keyOfBuild(request, compiler) + kEntry) : fs::path();
  if (auto known = isKept ? find(entry, request) : std::nullopt) {
    ++taken_;
    logLine("build: from the cache: " + request.output.string());
    return std::move(*known);
  }
  const std::int64_t started = nowInNanoseconds();
  Result<BuildOutcome> outcome = compiler.build(request);
  logLine(fmt::format("build: compiled in {}: {}",
                      formatDuration(double(nowInNanoseconds() - started) / 1e9),
                      request.output.string()));
  if (isKept && outcome && outcome->reads && (outcome->ok || isOfText(*outcome)))
    keep(entry, request, *outcome, started - kClockStep);
  if (++compiled_ % kTrimAfter == 0 && isKept)
    trimBuilds(folder_, limit_);
  return outcome;
}

std::optional<BuildOutcome> BuildCache::find(const fs::path &entry,
                                             const BuildRequest &request) const {
  const Result<std::string> bytes = readFile(entry);
  if (!bytes)
    return std::nullopt;
  KeptBuild kept;
  const std::size_t line = bytes->find('\n');
  std::error_code ignored;
  if (line == bytes->npos || line < kHashSize ||
      hashHex(std::string_view(*bytes).substr(kHashSize)) != bytes->substr(0, kHashSize) ||
      !readDocument(
           nlohmann::json::parse(bytes->begin() + kHashSize, bytes->begin() + line, nullptr, false),
           kept)
           .empty()) {
    fs::remove(entry, ignored);
    return std::nullopt;
  }
  if (stateOfInputs(request, kept.reads, std::numeric_limits<std::int64_t>::max()) != kept.state)
    return std::nullopt;
  BuildOutcome outcome{kept.ok,
                       kept.isLimit ? BuildFault::Device : BuildFault::Source,
                       {},
                       std::move(kept.log),
                       std::move(kept.hash),
                       std::move(kept.externals),
                       std::move(kept.reads)};
  if (kept.ok) {
    outcome.module = request.output.string() + kept.suffix;
    if (!writeFileAtomically(outcome.module, std::string_view(*bytes).substr(line + 1)))
      return std::nullopt; // the compiler says what is wrong with that folder
  }
  fs::last_write_time(entry, fs::file_time_type::clock::now(), ignored);
  return outcome;
}

void BuildCache::keep(const fs::path &entry, const BuildRequest &request,
                      const BuildOutcome &outcome, std::int64_t started) const {
  const auto state = stateOfInputs(request, *outcome.reads, started);
  const Result<std::string> module = outcome.ok ? readFile(outcome.module) : std::string();
  if (!state || !module)
    return;
  const KeptBuild kept{outcome.ok,
                       outcome.fault == BuildFault::Device,
                       outcome.ok ? outcome.module.string().substr(request.output.string().size())
                                  : std::string(),
                       outcome.log,
                       outcome.hash,
                       outcome.externals,
                       *outcome.reads,
                       *state};
  const std::string content = dumpJson(toJson(kept)) + "\n" + *module;
  const Status written = writeFileAtomically(entry, hashHex(content) + content);
  static_cast<void>(written);
}

FolderUse trimBuilds(const fs::path &folder, std::uintmax_t limit) {
  return trimFolder(folder, limit, kEntry);
}

} // namespace kopt
