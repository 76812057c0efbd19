// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/tool/Options.h"

#include "HelpFiles.h"

#include <llvm/ADT/StringRef.h>

#include <thread>

namespace kopt::frontend {

const std::string_view kHelpText = help::kFiles.front().second;

std::string didYouMean(const std::string &word, const std::vector<std::string> &known) {
  std::string best;
  unsigned bestDistance = 4;
  for (const std::string &candidate : known) {
    unsigned distance =
        llvm::StringRef(word).edit_distance(candidate, /*AllowReplacements=*/true, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

Options parseOptions(const std::vector<std::string> &arguments) {
  Options options;
  options.jobs = std::max(1u, std::thread::hardware_concurrency());
  const std::vector<std::string> known = {
      "-p",         "-o",      "--list",    "--json",      "--no-proof",
      "--no-cache", "--prove", "--command", "--project",   "--keep-going",
      "--jobs",     "--help",  "--version", "--extra-arg", "--print-clang-args"};
  for (std::size_t i = 0; i < arguments.size() && options.error.empty(); ++i) {
    const std::string &argument = arguments[i];
    std::string name = argument.substr(0, argument.find('='));
    bool joined = name.size() < argument.size();
    auto value = [&]() -> std::string {
      if (joined)
        return argument.substr(name.size() + 1);
      if (i + 1 < arguments.size() && arguments[i + 1] != "--")
        return arguments[++i];
      options.error = name + " needs a value";
      return "";
    };
    if (argument == "--") {
      options.hasFlags = true;
      options.flags.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (argument.empty() || argument[0] != '-') {
      options.files.push_back(argument);
    } else if (name == "-p") {
      options.build = value();
    } else if (name == "-o") {
      options.output = value();
    } else if (name == "--extra-arg" || name == "-extra-arg") {
      options.extraArgs.push_back(value());
    } else if (name == "--jobs" || name == "-j") {
      std::string number = value();
      if (options.error.empty() &&
          (llvm::StringRef(number).getAsInteger(10, options.jobs) || options.jobs == 0))
        options.error = name + " needs a number of at least 1, not '" + number + "'";
    } else if (argument.rfind("-j", 0) == 0 &&
               !llvm::StringRef(argument).drop_front(2).getAsInteger(10, options.jobs)) {
      options.jobs = std::max(1u, options.jobs);
    } else if (argument == "--list") {
      options.list = true;
    } else if (argument == "--json") {
      options.json = true;
    } else if (argument == "--no-proof") {
      options.prove = false;
    } else if (name == "--prove") {
      options.proveOnly.push_back(value());
    } else if (name == "--command") {
      options.command = value();
    } else if (name == "--project") {
      options.project = value();
    } else if (argument == "--keep-going") {
      options.keepGoing = true;
    } else if (argument == "--no-cache") {
      options.cache = false;
    } else if (argument == "--print-clang-args") {
      options.printClangArgs = true;
    } else if (argument == "--help" || argument == "-h") {
      options.help = true;
    } else if (argument == "--version") {
      options.version = true;
    } else {
      options.error = "unknown flag '" + argument + "'";
      if (std::string near = didYouMean(name, known); !near.empty())
        options.error += "; did you mean '" + near + "'?";
      else
        options.error += "; flags for nvcc go after --";
    }
  }
  if (options.error.empty() && !options.help && !options.version) {
    if (options.files.empty())
      options.error = "no file given";
    else if (options.list && options.json)
      options.error = "--list and --json exclude each other";
    else if (options.hasFlags && !options.build.empty())
      options.error = "-p and -- exclude each other: the flags come from one place";
  }
  return options;
}

} // namespace kopt::frontend
