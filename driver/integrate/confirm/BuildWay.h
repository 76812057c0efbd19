// SPDX-License-Identifier: Apache-2.0
// How the user's program is built.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

/// What the user has said of it.
struct BuildWayRequest {
  std::string command;                  ///< of --build, for a shell; empty: none
  std::filesystem::path buildDirectory; ///< of -p; empty: none
  std::vector<std::filesystem::path> files;
  std::vector<std::string> flags;  ///< nvcc's, of a program that is these files alone
  std::string program;             ///< of --run
  std::filesystem::path root;      ///< of the project, where a command runs
  std::filesystem::path directory; ///< the current one
  std::filesystem::path nvcc;      ///< empty: there is none
};

struct BuildWay {
  enum class Kind {
    Command,  ///< any, by a shell
    CMake,    ///< a build folder with a CMakeCache.txt
    Compiler, ///< nvcc alone, of a program that is one command
  };
  Kind kind = Kind::Command;
  std::vector<std::string> argv;
  std::filesystem::path directory; ///< where it runs
  /// Everything below is copied; the build folder, where it is another one, too.
  std::filesystem::path project;
  std::filesystem::path build; ///< of CMake
  std::string describe() const;
};

/// Fails with Usage, saying what to give, where nothing says how the program is linked.
Result<BuildWay> findBuildWay(const BuildWayRequest &request);

/// One entry of a CMakeCache.txt.
struct CacheEntry {
  std::string name, type, value;
};
std::vector<CacheEntry> readCMakeCache(const std::string &text);

/// A script for `cmake -C` that gives a fresh configuration the user's settings: what CMake keeps
/// for itself, and what names the old folders, is left to it.
std::string initialCache(const std::vector<CacheEntry> &entries,
                         const std::filesystem::path &source, const std::filesystem::path &build);

} // namespace kopt
