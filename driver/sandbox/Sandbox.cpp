// SPDX-License-Identifier: Apache-2.0
#include "driver/sandbox/Sandbox.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace kopt {

namespace {

namespace fs = std::filesystem;

constexpr Duration kProbeDeadline{30};
constexpr int kExitRefused = 125, kExitNoProgram = 126; ///< exit codes of kopt-sandbox
constexpr const char *kPrefix = "kopt-sandbox: ";

/// The paths as absolute paths without "..", as mounts need them, and the targets of links in them,
/// because a program may use either.
std::vector<std::string> places(const std::vector<fs::path> &paths) {
  std::vector<std::string> found;
  for (const fs::path &path : paths) {
    std::error_code ignored;
    const fs::path plain = fs::absolute(path, ignored).lexically_normal();
    for (const fs::path &one : {plain, fs::weakly_canonical(plain, ignored)}) {
      std::string text = one.string();
      while (text.size() > 1 && text.back() == '/')
        text.pop_back();
      if (!text.empty() && text != "/" && std::ranges::find(found, text) == found.end())
        found.push_back(std::move(text));
    }
  }
  return found;
}

bool liesWithin(const std::string &path, const std::string &folder) {
  return path == folder || path.starts_with(folder + "/");
}

/// The hidden files of the user's home (keys, histories, settings), if a visible folder contains
/// the home.
std::vector<std::string> hiddenOf(const std::vector<std::string> &shown) {
  const char *variable = std::getenv("HOME");
  std::vector<std::string> hidden;
  if (!variable || !*variable)
    return hidden;
  for (const std::string &home : places({variable})) {
    const auto isShown = [&](const std::string &place) { return liesWithin(home, place); };
    if (!std::ranges::any_of(shown, isShown))
      continue;
    std::error_code ignored;
    for (const fs::directory_entry &entry : fs::directory_iterator(home, ignored)) {
      const std::string path = entry.path().string();
      // Do not hide a folder that contains a visible path, such as a toolkit below ~/.local.
      const auto wanted = [&](const std::string &place) { return liesWithin(place, path); };
      if (entry.path().filename().string().starts_with('.') && !entry.is_symlink(ignored) &&
          std::ranges::none_of(shown, wanted))
        hidden.push_back(path);
    }
  }
  return hidden;
}

std::vector<SandboxLayer> parseLayers(const std::string &text, std::string &use) {
  std::vector<SandboxLayer> layers;
  for (const std::string &line : split(text, '\n')) {
    const std::vector<std::string> words = split(line, '\t');
    if (words.size() != 4)
      continue;
    if (words[0] == "use")
      use = words[2];
    else
      layers.push_back({words[0], words[1] == "1", words[2], words[3]});
  }
  return layers;
}

} // namespace

nlohmann::json describeLayers(const std::vector<SandboxLayer> &layers) {
  nlohmann::json list = nlohmann::json::array();
  for (const SandboxLayer &layer : layers)
    list.push_back({{"layer", layer.name}, {"active", layer.active}, {"detail", layer.detail}});
  return list;
}

Result<Sandbox> Sandbox::open(ProcessRunner &processes, const fs::path &launcher,
                              SandboxMode mode) {
  Sandbox sandbox;
  if (mode == SandboxMode::Off) {
    sandbox.layers_.push_back(
        {"sandbox", false, "switched off (--sandbox off)", "leave --sandbox at auto"});
    return sandbox;
  }
  ProcessSpec spec;
  spec.argv = {launcher.string(), "--probe"};
  spec.timeout = kProbeDeadline;
  const Result<ProcessResult> result = processes.run(spec);
  std::string use;
  if (result && result->ok())
    sandbox.layers_ = parseLayers(result->out, use);
  if (use.empty())
    return makeError(ErrorCode::Environment,
                     "the sandbox for candidates cannot be made: " +
                         (result ? launcher.string() + " --probe gives no answer " +
                                       std::string(trim(result->err))
                                 : result.error().what),
                     "install kopt as a whole; --sandbox off goes without");
  sandbox.launcher_ = launcher;
  for (const std::string &word : split(use, ' '))
    if (!word.empty())
      sandbox.use_.push_back(word);
  sandbox.namespaces_ = std::ranges::find(sandbox.use_, "none") == sandbox.use_.end();
  sandbox.privateProc_ = std::ranges::any_of(sandbox.layers_, [](const SandboxLayer &layer) {
    return layer.name == "private /proc" && layer.active;
  });
  std::string missing, remedies;
  for (const SandboxLayer &layer : sandbox.layers_)
    if (!layer.active) {
      missing += (missing.empty() ? "" : "; ") + layer.name + " (" + layer.detail + ")";
      remedies += (remedies.empty() ? "" : "; ") + layer.name + ": " + layer.remedy;
    }
  if (mode == SandboxMode::Required && !missing.empty())
    return makeError(ErrorCode::Environment,
                     "--sandbox required, but this machine does not give: " + missing, remedies);
  return sandbox;
}

ProcessSpec Sandbox::contain(ProcessSpec spec, const SandboxPolicy &policy) const {
  spec.keepEnv = policy.environment;
  if (!active()) {
    spec.cpuSeconds = policy.cpuSeconds;
    return spec;
  }
  const bool namespaces = namespaces_ && (privateProc_ || !policy.writesOwnProc);
  std::vector<std::string> argv{launcher_.string()};
  argv.insert(argv.end(), use_.begin(), use_.end());
  if (!namespaces)
    if (const auto option = std::ranges::find(argv, "--namespaces"); option + 1 < argv.end())
      *(option + 1) = "none";
  const auto add = [&](const char *option, const std::string &value) {
    argv.emplace_back(option);
    argv.push_back(value);
  };
  const std::vector<std::string> readable = places(policy.readable),
                                 writable = places(policy.writable);
  for (const std::string &path : readable)
    add("--readable", path);
  for (const std::string &path : writable)
    add("--writable", path);
  std::vector<std::string> shown = readable;
  shown.insert(shown.end(), writable.begin(), writable.end());
  for (const std::string &path : hiddenOf(shown))
    add("--hidden", path);
  for (const fs::path &node : policy.devices)
    add("--device", node.string());
  if (policy.sysfs)
    argv.emplace_back("--sysfs");
  if (policy.unixSockets)
    argv.emplace_back("--unix-sockets");
  const auto limit = [&](const char *option, const std::optional<std::uint64_t> &value) {
    if (value)
      add(option, std::to_string(*value));
  };
  limit("--cpu-seconds", policy.cpuSeconds);
  limit("--file-bytes", policy.fileBytes);
  limit("--open-files", policy.openFiles);
  limit("--address-bytes", policy.addressBytes);
  limit("--memory-bytes", policy.memoryBytes);
  add("--scratch-bytes", std::to_string(policy.scratchBytes));
  add("--processes", std::to_string(policy.processes));
  if (!spec.cwd.empty())
    add("--cwd", spec.cwd.string());
  else if (namespaces)
    add("--cwd", "/dev/shm");
  spec.cwd.clear();
  argv.emplace_back("--");
  argv.insert(argv.end(), spec.argv.begin(), spec.argv.end());
  spec.argv = std::move(argv);
  // A private folder in memory (/tmp would be the machine's if a project lies below it). Without
  // namespaces, a folder that it may write to.
  const std::string temporary = namespaces         ? "/dev/shm"
                                : writable.empty() ? "/nonexistent"
                                                   : writable.front();
  spec.env.emplace("TMPDIR", temporary);
  spec.env.emplace("HOME", temporary);
  return spec;
}

std::optional<Error> Sandbox::refusal(int exitCode, const std::string &errorText) {
  if ((exitCode != kExitRefused && exitCode != kExitNoProgram) ||
      errorText.find(kPrefix) == errorText.npos)
    return std::nullopt;
  const std::size_t at = errorText.find(kPrefix) + std::string(kPrefix).size();
  return Error{ErrorCode::Environment,
               "the sandbox failed: " + errorText.substr(at, errorText.find('\n', at) - at),
               {},
               "'kopt doctor' shows what it is made of here; --sandbox off goes without",
               {}};
}

} // namespace kopt
