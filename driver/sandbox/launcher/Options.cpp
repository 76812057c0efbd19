// SPDX-License-Identifier: Apache-2.0
#include "driver/sandbox/launcher/Options.h"

#include <charconv>
#include <map>

namespace kopt::sandbox {

namespace {

bool parseNumber(const std::string &text, std::uint64_t &out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace

std::optional<Options> parseOptions(int argc, char **argv, std::string &why) {
  Options options;
  options.words.assign(argv + 1, argv + argc);
  const std::map<std::string, bool *> flags = {{"--probe", &options.probe},
                                               {"--inside", &options.inside},
                                               {"--landlock", &options.landlock},
                                               {"--seccomp", &options.seccomp},
                                               {"--sysfs", &options.sysfs},
                                               {"--guard-proc", &options.guardProc},
                                               {"--shared-proc", &options.sharedProc},
                                               {"--unix-sockets", &options.unixSockets}};
  const std::map<std::string, std::vector<std::string> *> paths = {
      {"--readable", &options.readable},
      {"--writable", &options.writable},
      {"--device", &options.devices},
      {"--hidden", &options.hidden}};
  const std::map<std::string, std::optional<std::uint64_t> *> limits = {
      {"--cpu-seconds", &options.cpuSeconds},   {"--file-bytes", &options.fileBytes},
      {"--open-files", &options.openFiles},     {"--address-bytes", &options.addressBytes},
      {"--memory-bytes", &options.memoryBytes}, {"--scratch-bytes", &options.scratchBytes}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--") {
      options.program.assign(argv + i + 1, argv + argc);
      break;
    }
    if (const auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    if (i + 1 == argc) {
      why = name + " has no value";
      return std::nullopt;
    }
    const std::string value = argv[++i];
    std::uint64_t number = 0;
    if (const auto list = paths.find(name); list != paths.end()) {
      if (value.empty() || value[0] != '/') {
        why = name + " " + value + " is not an absolute path";
        return std::nullopt;
      }
      list->second->push_back(value);
    } else if (const auto limit = limits.find(name); limit != limits.end()) {
      if (!parseNumber(value, number)) {
        why = name + " " + value + " is not a number";
        return std::nullopt;
      }
      *limit->second = number;
    } else if (name == "--processes" && parseNumber(value, number)) {
      options.processes = number;
    } else if (name == "--cwd") {
      options.cwd = value;
    } else if (name == "--cgroup") {
      options.cgroup = value;
    } else if (name == "--namespaces" && (value == "none" || value[0] == '/')) {
      options.bubblewrap = value == "none" ? "" : value;
    } else {
      why = "unknown option " + name + " " + value;
      return std::nullopt;
    }
  }
  if (!options.probe && !options.inside && options.program.empty()) {
    why = "no program is given after --";
    return std::nullopt;
  }
  return options;
}

} // namespace kopt::sandbox
