// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/BuildInputs.h"

#include "driver/model/Version.h"
#include "driver/sandbox/CompilerSandbox.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <set>
#include <sys/stat.h>
#include <unordered_set>

namespace kopt {
namespace {

namespace fs = std::filesystem;

/// Decide what compilers make or say. Folders and files that they name are read.
constexpr const char *kVariables[] = {"NVCC_PREPEND_FLAGS",
                                      "NVCC_APPEND_FLAGS",
                                      "NVCC_CCBIN",
                                      "NVVMIR_LIBRARY_DIR",
                                      "NVHPC_CUDA_HOME",
                                      "CPATH",
                                      "C_INCLUDE_PATH",
                                      "CPLUS_INCLUDE_PATH",
                                      "COMPILER_PATH",
                                      "GCC_EXEC_PREFIX",
                                      "CCC_OVERRIDE_OPTIONS",
                                      "CUDAHOSTCXX",
                                      "KOPT_CUDA_PATH",
                                      "LD_LIBRARY_PATH",
                                      "SOURCE_DATE_EPOCH",
                                      "LANG",
                                      "LC_ALL",
                                      "LC_MESSAGES"};

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// Size and times, of which every change of a file changes one. "-": there is none.
std::string stampOf(const fs::path &file, std::int64_t *newest = nullptr) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0)
    return "-";
  const auto in = [](timespec at) { return std::int64_t(at.tv_sec) * 1'000'000'000 + at.tv_nsec; };
  const std::int64_t modified = in(status.st_mtim), changed = in(status.st_ctim);
  if (newest)
    *newest = std::max({*newest, modified, changed});
  return fmt::format("{} {} {}", status.st_size, modified, changed);
}

bool hasTime(std::string_view text) {
  return text.find("__TIME") != text.npos || text.find("__DATE__") != text.npos;
}

/// Adds "x/y.h" for each `__has_include(<x/y.h>)`.
void addAsked(std::string_view text, std::set<std::string> &out) {
  for (auto at = text.find("__has_include"); at != text.npos; at = text.find("__has_include", at)) {
    const auto begin = text.find_first_of("<\"\n", at += 13);
    const auto end = text.find_first_of(">\"\n", begin + 1);
    if (begin < end && end != text.npos)
      out.emplace(text.substr(begin + 1, end - begin - 1));
  }
}

/// What in `folder` one of `names`, or an end of one of `files`, can mean.
std::string shadowsIn(const fs::path &folder, const std::set<std::string> &names,
                      const std::set<std::string> &files) {
  std::unordered_set<std::string> own; // so that few paths are looked up
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    own.insert(entry->path().filename().string());
  std::string found;
  const auto add = [&](const std::string &name) {
    if (own.contains(name.substr(0, name.find('/'))) && isThere(folder / name))
      found += (folder / name).string() + "\n";
  };
  std::ranges::for_each(names, add);
  for (const std::string &file : files)
    for (auto at = file.rfind('/'); at != file.npos; at = at ? file.rfind('/', at - 1) : file.npos)
      add(file.substr(at + 1));
  return found;
}

} // namespace

std::string keyOfBuild(const BuildRequest &request, const Toolchain &compiler) {
  std::string context;
  for (const fs::path &program : compiler.programs())
    context += program.string() + " " + stampOf(program) + "\n";
  for (const char *name : kVariables)
    context += variable(name) + "\n";
  return hashFields(koptVersion(), compiler.name(), context, request.sliceText, request.expression,
                    request.symbol, request.arch, join(request.flags, "\n"), request.directory,
                    request.output.filename().string(), std::to_string(int(request.rounding)),
                    std::to_string(int(request.unoptimized)));
}

std::optional<std::string> stateOfInputs(const BuildRequest &request,
                                         const std::vector<std::string> &reads,
                                         std::int64_t started) {
  std::vector<std::string> words = request.flags;
  for (const char *name : kVariables)
    for (std::string &word : split(replaceAll(variable(name), ":", " "), ' '))
      words.push_back(std::move(word));
  std::vector<fs::path> places{request.directory};
  for (const std::string &word : words)
    addPlaces(word, request.directory, places);
  std::set<std::string> files, folders, asked;
  std::error_code ignored;
  for (const fs::path &place : places)
    (fs::is_directory(place, ignored) ? folders : files).insert(place.string());
  for (const std::string &file : reads)
    files.insert((request.directory / fs::path(file)).string());
  std::string state;
  std::int64_t newest = 0;
  bool isTimed = hasTime(request.sliceText);
  addAsked(request.sliceText, asked);
  for (const std::string &file : files) {
    const std::string stamp = stampOf(file, &newest);
    state += file + " ";
    if (stamp == "-" || file.starts_with("/usr/")) {
      state += stamp + "\n";
      continue;
    }
    const std::string text = readFile(file).value_or("");
    state += hashHex(text) + "\n";
    isTimed |= hasTime(text);
    addAsked(text, asked);
    folders.insert(fs::path(file).parent_path().string());
  }
  for (const std::string &folder : folders)
    state += shadowsIn(folder, asked, files);
  return isTimed || newest >= started ? std::nullopt : std::optional(hashHex(state));
}

} // namespace kopt
