// SPDX-License-Identifier: Apache-2.0
// What of a compiler's output a person reads first.
#pragma once

#include "driver/source/SliceLines.h"

#include <filesystem>
#include <string>

namespace kopt {

/// The first error with its includes, source lines and notes, at most `lines` lines, and how many
/// errors follow. All of it where it is no longer than that. Of output without an error the first
/// lines.
std::string firstError(const std::string &output, std::size_t lines = 16);

/// The hint of an error that says why nothing was built: firstError() in the lines of the user's
/// files, as far as `places` knows them (null: not at all), and the file with the whole output,
/// which is written to `folder` (empty: the system's folder of temporary files) where it is longer.
std::string compilerHint(const std::string &output, const SliceLines *places,
                         std::filesystem::path folder = {});

} // namespace kopt
