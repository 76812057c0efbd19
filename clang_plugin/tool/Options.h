// SPDX-License-Identifier: Apache-2.0
// kopt-extract's command line, with clang-tidy's conventions (-p, --, --extra-arg).
#pragma once

#include <string>
#include <vector>

namespace kopt::frontend {

struct Options {
  std::vector<std::string> files;
  std::string build;                  ///< -p
  std::vector<std::string> extraArgs; ///< --extra-arg, in nvcc's spelling
  std::vector<std::string> flags;     ///< after --
  bool hasFlags = false;              ///< -- was given
  std::string output;                 ///< -o
  std::string project;                ///< --project
  std::string command;                ///< --command
  std::vector<std::string> proveOnly; ///< --prove, symbols
  bool keepGoing = false;             ///< --keep-going
  bool list = false, json = false, prove = true, cache = true, help = false, version = false,
       printClangArgs = false;
  unsigned jobs = 1;
  std::string error; ///< what is wrong with the command line; empty: nothing
};

Options parseOptions(const std::vector<std::string> &arguments);

/// The known word nearest to `word`; empty if none is near.
std::string didYouMean(const std::string &word, const std::vector<std::string> &known);

extern const std::string_view kHelpText;

} // namespace kopt::frontend
