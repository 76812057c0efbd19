// SPDX-License-Identifier: Apache-2.0
// Determines how the user's program is built.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

/// What the user has given.
struct BuildWayRequest {
  std::string command;                  ///< of --build, for a shell; empty: none
  std::filesystem::path buildDirectory; ///< of -p; empty: none
  std::vector<std::filesystem::path> files;
  std::vector<std::string> flags;  ///< nvcc's flags, for a program that consists of `files` alone
  std::string program;             ///< of --run
  std::filesystem::path root;      ///< of the project; commands run there
  std::filesystem::path directory; ///< the current directory
  std::filesystem::path nvcc;      ///< empty: not found
};

struct BuildWay {
  enum class Kind {
    Command,  ///< any command, run by a shell
    CMake,    ///< a build folder with a CMakeCache.txt
    Compiler, ///< nvcc alone, for a program that one command builds
  };
  Kind kind = Kind::Command;
  std::vector<std::string> argv;
  std::filesystem::path directory; ///< where it runs
  /// Everything below it is copied, and the build folder too if it lies elsewhere.
  std::filesystem::path project;
  std::filesystem::path build; ///< CMake's build folder
  std::string describe() const;
};

/// Fails with Usage, saying which option to give, if it cannot tell how the program is linked.
Result<BuildWay> findBuildWay(const BuildWayRequest &request);

/// The flags of the CUDA libraries that a linker's output misses, "-lcublas -lcufft"; empty: none.
std::string missingLibraries(const std::string &output);

/// One entry of a CMakeCache.txt.
struct CacheEntry {
  std::string name, type, value;
};
std::vector<CacheEntry> readCMakeCache(const std::string &text);

/// A script for `cmake -C` that gives a new configuration the user's settings. CMake's internal
/// entries, and entries that name the old folders, are left out.
std::string initialCache(const std::vector<CacheEntry> &entries,
                         const std::filesystem::path &source, const std::filesystem::path &build);

} // namespace kopt
