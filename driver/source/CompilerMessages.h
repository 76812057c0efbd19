// SPDX-License-Identifier: Apache-2.0
// Extracts the part of a compiler's output that the user needs first.
#pragma once

#include "driver/source/SliceLines.h"

#include <filesystem>
#include <string>

namespace kopt {

/// The first error with its include line, source lines and notes, at most `lines` lines, and the
/// number of further errors. Returns the whole output if it is not longer than that, and its first
/// lines if it has no error.
std::string firstError(const std::string &output, std::size_t lines = 16);

/// At most the last `most` lines of an output, without the space around it.
std::string lastLines(const std::string &output, std::size_t most);

/// The hint for an error about a failed build: firstError(), with lines of the user's files as far
/// as `places` (may be null) knows them. If the output is longer, writes all of it to a file in
/// `folder` (empty: the system's temporary folder) and names that file.
std::string compilerHint(const std::string &output, const SliceLines *places,
                         std::filesystem::path folder = {});

} // namespace kopt
