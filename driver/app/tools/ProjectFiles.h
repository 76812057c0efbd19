// SPDX-License-Identifier: Apache-2.0
// The files of a project that an agent may name.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>

namespace kopt {

/// The real path of a file, whose name is relative to the project's folder or absolute. Fails with
/// Usage if there is no such file, if it lies outside of the folder, also by a symbolic link, or if
/// it may hold what is to stay there: hidden files and folders (.git, .env, .ssh), keys and
/// certificates.
Result<std::filesystem::path> projectFile(const std::filesystem::path &project,
                                          const std::string &name);

/// Lines of a text file, numbered; `from` counts from 1. Fails as projectFile(), and with Usage if
/// it is no text, or larger than 4 MiB.
Result<std::string> projectLines(const std::filesystem::path &project, const std::string &name,
                                 std::size_t from, std::size_t most);

} // namespace kopt
