// SPDX-License-Identifier: Apache-2.0
// Replaces several existing files, all of them or none.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace kopt {

struct NewContent {
  std::filesystem::path file; ///< must exist; a symbolic link is followed, permissions are kept
  std::string text;
};

/// The error of a change that could not be made, and of which nothing is left.
tl::unexpected<Error> swapFailure(const char *verb, const std::filesystem::path &path,
                                  const std::error_code &error);

/// Removes what a killed swapFiles() left beside the file.
void removeLeftovers(const std::filesystem::path &file);

/// Writes each text beside its file, then renames them all. On failure the files are unchanged and
/// nothing is left beside them. Fails with Environment, naming the file and the reason. If the
/// process is killed between two renames (a few microseconds, with two files or more), some files
/// are old and some new, but each is complete. What a killed process left beside a file is removed
/// by the next call for it.
Status swapFiles(const std::vector<NewContent> &contents);

} // namespace kopt
