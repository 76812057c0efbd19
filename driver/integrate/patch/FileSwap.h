// SPDX-License-Identifier: Apache-2.0
// Several existing files replaced together: all of them or none.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

struct NewContent {
  std::filesystem::path file; ///< exists; a symbolic link is followed, permissions are kept
  std::string text;
};

/// Writes every text beside its file before the first file is touched, then renames. Whatever
/// fails, the files are as they were and nothing is left beside them. Fails with Environment naming
/// the file and the reason. A kill between two renames leaves whole files, some old and some new:
/// the only gap, a few microseconds with two files or more.
Status swapFiles(const std::vector<NewContent> &contents);

} // namespace kopt
