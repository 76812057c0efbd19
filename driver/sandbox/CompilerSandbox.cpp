// SPDX-License-Identifier: Apache-2.0
#include "driver/sandbox/CompilerSandbox.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

namespace kopt {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCpuSeconds = 600; ///< for each process; the deadline of a build is shorter
/// Preprocessed text of a kernel was seen to reach 30 MB.
constexpr std::uint64_t kFileBytes = 1ull << 30;
/// Old kernels count all processes of the user; a build has about ten.
constexpr std::uint64_t kProcesses = 4096;
constexpr std::uint64_t kScratchBytes = 2ull << 30;

/// The variables that nvcc, its host compiler and Clang use. None of them holds a key or loads code
/// into a process.
const std::vector<std::string> kVariables = {
    // of any program
    "PATH", "LANG", "LANGUAGE", "LC_*", "TZ", "TERM", "LD_LIBRARY_PATH", "SOURCE_DATE_EPOCH",
    // of host compilers
    "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    // of CUDA's compilers
    "CUDAHOSTCXX", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVVMIR_LIBRARY_DIR",
    "KOPT_CUDA_PATH", "LM_LICENSE_FILE", "NVHPC_CUDA_HOME"};
/// Those that name folders, which are then readable.
const std::vector<const char *> kFolderVariables = {
    "LD_LIBRARY_PATH",    "LIBRARY_PATH",  "CPATH",          "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH", "COMPILER_PATH", "NVHPC_CUDA_HOME"};

bool isHomeOrAbove(const fs::path &folder) {
  const char *home = std::getenv("HOME");
  return !home || !*home ||
         (fs::path(home) / "x").lexically_normal().string().starts_with((folder / "").string());
}

/// Adds the parent of a program's folder, which contains its libraries and headers, unless that is
/// a home or contains one.
void addPrefix(const fs::path &program, std::vector<fs::path> &out) {
  std::error_code ignored;
  for (const fs::path &file : {program, fs::canonical(program, ignored)}) {
    const fs::path prefix = file.parent_path().parent_path();
    if (prefix.empty() || prefix == "/" || isHomeOrAbove(prefix))
      out.push_back(file.parent_path());
    else
      out.push_back(prefix);
  }
}

/// Half of the machine's memory, at least 4 GiB, because a build that needs more would harm other
/// programs.
std::uint64_t memoryLimit() {
  const std::uint64_t half =
      std::uint64_t(sysconf(_SC_PHYS_PAGES)) * std::uint64_t(sysconf(_SC_PAGESIZE)) / 2;
  return std::max<std::uint64_t>(half, 4ull << 30);
}

} // namespace

void addPlaces(const std::string &flag, const fs::path &directory, std::vector<fs::path> &out) {
  std::vector<std::string> words;
  for (const std::string &part : split(flag, ','))
    for (const std::string &word : split(part, '='))
      words.push_back(word);
  for (std::string word : words) {
    for (const char *option : {"-isystem", "-iquote", "-idirafter", "-include", "-I", "-F", "-B"})
      if (word.starts_with(option)) {
        word.erase(0, std::string(option).size());
        break;
      }
    if (word.empty() || word[0] == '-' || (word[0] != '/' && directory.empty()))
      continue;
    const fs::path place = (directory / word).lexically_normal();
    if (place != "/" && isThere(place))
      out.push_back(place);
  }
}

std::vector<fs::path> compilersInPath() {
  std::vector<fs::path> found;
  for (const char *name : {"c++", "g++", "clang++", "gcc", "cc"})
    if (const auto program = findProgram(name))
      found.push_back(*program);
  for (const char *variable : {"NVCC_CCBIN", "CUDAHOSTCXX"})
    if (const char *value = std::getenv(variable); value && *value)
      if (const auto program = findProgram(value))
        found.push_back(*program);
  return found;
}

CompilerSandbox::CompilerSandbox(Sandbox sandbox, std::vector<fs::path> installation,
                                 fs::path cache, std::string cudaPath)
    : sandbox_(std::move(sandbox)), installation_(std::move(installation)),
      cache_(std::move(cache)), cudaPath_(std::move(cudaPath)) {
  if (fs::path(cudaPath_).is_absolute()) {
    installation_.emplace_back(cudaPath_);
    addPrefix(fs::path(cudaPath_) / "bin/nvcc", installation_);
  }
  for (const fs::path &program : compilersInPath())
    addPrefix(program, installation_);
  for (const char *variable : kFolderVariables)
    if (const char *value = std::getenv(variable))
      for (const std::string &folder : split(value, ':'))
        if (!folder.empty() && folder[0] == '/')
          installation_.emplace_back(folder);
  std::error_code ignored;
  if (!cache_.empty() && !fs::create_directories(cache_, ignored) &&
      !fs::is_directory(cache_, ignored))
    cache_.clear();
}

ProcessSpec CompilerSandbox::withToolkit(ProcessSpec spec) const {
  if (!cudaPath_.empty())
    spec.env["KOPT_CUDA_PATH"] = cudaPath_;
  return spec;
}

ProcessSpec CompilerSandbox::contain(ProcessSpec spec, const CompilerSite &site) const {
  SandboxPolicy policy;
  policy.readable = installation_;
  addPrefix(spec.argv.at(0), policy.readable);
  policy.readable.insert(policy.readable.end(), site.readable.begin(), site.readable.end());
  for (const std::string &flag : site.flags)
    addPlaces(flag, site.directory, policy.readable);
  policy.writable = site.writable;
  if (!cache_.empty()) {
    policy.writable.push_back(cache_);
    spec.env.emplace("KOPT_CACHE_DIR", cache_.string());
  }
  policy.environment = kVariables;
  policy.cpuSeconds = kCpuSeconds;
  policy.fileBytes = kFileBytes;
  policy.openFiles = 1024;
  policy.processes = kProcesses;
  policy.scratchBytes = kScratchBytes;
  policy.memoryBytes = memoryLimit();
#if !defined(__SANITIZE_ADDRESS__) && !(defined(__has_feature) && __has_feature(address_sanitizer))
  policy.addressBytes = memoryLimit(); // for each process; the only limit if there is no cgroup
#endif
  return sandbox_.contain(withToolkit(std::move(spec)), policy);
}

std::string cleanDiagnostics(std::string text, const fs::path &scratch, std::size_t limit) {
  if (!scratch.empty())
    text = replaceAll(std::move(text), scratch.string() + "/", "");
  // Remove terminal sequences as a whole: without its first byte, the rest of one would remain as
  // text.
  std::string clean;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0x1b && i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && !(text[i] >= 0x40 && text[i] <= 0x7e))
        ++i;
      continue;
    }
    if ((byte >= 0x20 && byte != 0x7f) || byte == '\n' || byte == '\t')
      clean += text[i];
  }
  clean = validUtf8(clean);
  if (clean.size() <= limit)
    return clean;
  const std::string note =
      "\n[what follows is left out: " + std::to_string(clean.size()) + " bytes of diagnostics]\n";
  std::size_t end = limit - note.size();
  while (end > 0 && (static_cast<unsigned char>(clean[end]) & 0xc0) == 0x80)
    --end; // do not cut within a character
  clean.resize(end);
  return clean + note;
}

} // namespace kopt
