// SPDX-License-Identifier: Apache-2.0
// kopt-extract's command line: clang-tidy's language (-p, --, --extra-arg).
#pragma once

#include <string>
#include <vector>

namespace kopt::frontend {

struct Options {
  std::vector<std::string> files;
  std::string build;                  ///< -p
  std::vector<std::string> extraArgs; ///< --extra-arg, nvcc's spelling
  std::vector<std::string> flags;     ///< after --
  bool hasFlags = false;              ///< there was a --
  std::string output;                 ///< -o
  std::vector<std::string> proveOnly; ///< --prove, symbols
  bool keepGoing = false;             ///< --keep-going
  bool list = false, json = false, prove = true, cache = true, help = false, version = false,
       printClangArgs = false;
  unsigned jobs = 1;
  std::string error; ///< what is wrong with the command line; empty if nothing is
};

Options parseOptions(const std::vector<std::string> &arguments);

/// The known word nearest to `word`, or empty where none is near.
std::string didYouMean(const std::string &word, const std::vector<std::string> &known);

extern const char *const kHelpText;

} // namespace kopt::frontend
