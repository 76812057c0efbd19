// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/program/BuildWay.h"

#include "driver/support/CommandWords.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <fmt/format.h>
#include <regex>
#include <set>

namespace kopt {

namespace fs = std::filesystem;

namespace {

constexpr const char *kCache = "CMakeCache.txt";

std::string valueOf(const std::vector<CacheEntry> &entries, const std::string &name) {
  for (const CacheEntry &entry : entries)
    if (entry.name == name)
      return entry.value;
  return {};
}

Result<BuildWay> cmakeWay(const BuildWayRequest &request) {
  KOPT_TRY(const std::string text, readFile(request.buildDirectory / kCache));
  const std::vector<CacheEntry> entries = readCMakeCache(text);
  BuildWay way;
  way.kind = BuildWay::Kind::CMake;
  way.build = request.buildDirectory;
  way.project = valueOf(entries, "CMAKE_HOME_DIRECTORY");
  way.directory = way.build;
  std::string cmake = valueOf(entries, "CMAKE_COMMAND");
  if (cmake.empty() || !isThere(cmake))
    cmake = "cmake";
  way.argv = {cmake, "--build", way.build.string(), "--parallel"};
  if (way.project.empty())
    return makeError(ErrorCode::Usage,
                     fmt::format("{} does not say where the sources are",
                                 (request.buildDirectory / kCache).string()),
                     "configure the build folder again, or give --build COMMAND");
  return way;
}

/// nvcc FLAGS FILES -o PROGRAM.
Result<BuildWay> compilerWay(const BuildWayRequest &request) {
  KOPT_TRY(const std::vector<std::string> words, splitCommand(request.program));
  const fs::path program = (request.directory / words.front()).lexically_normal();
  if (words.front().find('/') == std::string::npos)
    return makeError(ErrorCode::Usage,
                     fmt::format("--run starts '{}' from PATH, so nothing says which file the "
                                 "compiler should write",
                                 words.front()),
                     "write ./NAME for a program in this folder, or give --build COMMAND");
  if (request.nvcc.empty())
    return makeError(ErrorCode::Usage, "nvcc was not found, so the program cannot be built",
                     "install the CUDA toolkit, or give --build COMMAND");
  BuildWay way;
  way.kind = BuildWay::Kind::Compiler;
  way.directory = request.directory;
  way.project = request.root;
  way.argv = {request.nvcc.string()};
  way.argv.insert(way.argv.end(), request.flags.begin(), request.flags.end());
  for (const fs::path &file : request.files) {
    const fs::path relative = file.lexically_relative(request.directory);
    way.argv.push_back(relative.empty() ? file.string() : relative.string());
  }
  const fs::path relative = program.lexically_relative(request.directory);
  way.argv.insert(way.argv.end(), {"-o", relative.empty() ? program.string() : relative.string()});
  return way;
}

bool liesIn(const std::string &value, const fs::path &folder) {
  const std::string prefix = folder.string();
  for (const std::string &part : split(value, ';'))
    if (part == prefix || part.starts_with(prefix + "/"))
      return true;
  return false;
}

} // namespace

std::string BuildWay::describe() const {
  return kind == Kind::Command ? argv.back() : joinCommand(argv);
}

Result<BuildWay> findBuildWay(const BuildWayRequest &request) {
  if (!request.command.empty()) {
    BuildWay way;
    way.argv = {"/bin/sh", "-c", request.command};
    way.directory = way.project = request.root;
    return way;
  }
  if (!request.buildDirectory.empty()) {
    if (isThere(request.buildDirectory / kCache))
      return cmakeWay(request);
    return makeError(ErrorCode::Usage,
                     fmt::format("{} has a compile database, which says how files are compiled and "
                                 "not how the program is linked",
                                 request.buildDirectory.string()),
                     "give the command that builds the program: --build 'make -j'");
  }
  if (request.files.empty())
    return makeError(ErrorCode::Usage, "nothing says how the program is built",
                     "give the command: --build 'make -j'");
  return compilerWay(request);
}

std::string missingLibraries(const std::string &output) {
  // Functions of a CUDA library begin with its name; the first that fits decides.
  static const std::regex kMissing(
      R"(undefined (?:reference to|symbol:?) [`'"]?(cublasLt|cublas|cufft|curand|cusparse|cusolver|cudnn|nccl|nvrtc|nvml|nvJitLink|cu)[A-Z_])");
  std::set<std::string> flags;
  for (std::sregex_iterator found(output.begin(), output.end(), kMissing), end; found != end;
       ++found) {
    const std::string name = (*found)[1];
    flags.insert("-l" + (name == "cu" ? "cuda" : name == "nvml" ? "nvidia-ml" : name));
  }
  return join({flags.begin(), flags.end()}, " ");
}

std::vector<CacheEntry> readCMakeCache(const std::string &text) {
  std::vector<CacheEntry> entries;
  for (const std::string &line : split(text, '\n')) {
    if (line.empty() || line.front() == '#' || line.starts_with("//"))
      continue;
    const std::size_t equals = line.find('=');
    const std::size_t colon = line.rfind(':', equals);
    if (equals == line.npos || colon == line.npos)
      continue;
    CacheEntry entry{line.substr(0, colon), line.substr(colon + 1, equals - colon - 1),
                     line.substr(equals + 1)};
    if (entry.name.size() > 1 && entry.name.front() == '"' && entry.name.back() == '"')
      entry.name = entry.name.substr(1, entry.name.size() - 2);
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string initialCache(const std::vector<CacheEntry> &entries, const fs::path &source,
                         const fs::path &build) {
  std::string script;
  for (const CacheEntry &entry : entries) {
    if (entry.type == "INTERNAL" || entry.type == "STATIC" || entry.value.empty() ||
        entry.value.find("NOTFOUND") != entry.value.npos || liesIn(entry.value, source) ||
        liesIn(entry.value, build))
      continue;
    // A bracket argument can hold any text.
    script += fmt::format("set(\"{}\" [==[{}]==] CACHE {} \"\")\n", entry.name, entry.value,
                          entry.type == "UNINITIALIZED" ? "STRING" : entry.type);
  }
  return script;
}

} // namespace kopt
