// SPDX-License-Identifier: Apache-2.0
// Experience as a file that users give to each other: a line of JSON for each row.
#pragma once

#include "driver/knowledge/ExperienceBase.h"

namespace kopt {

struct Exported {
  std::string text;
  std::size_t rows = 0;
};

struct Imported {
  std::size_t added = 0, known = 0;
};

/// All rows that are not revoked, the user's own and imported ones. Without the source, nothing in
/// it is from the user's files but the names of kernels: neither texts, nor edits, nor paths.
Result<Exported> exportExperience(ExperienceBase &base, bool withSource);

/// Adds the rows of an exported text as those of this source, all or nothing; what is revoked stays
/// so. Fails with Usage, naming the file and the line, where a line is not as it was exported.
Result<Imported> importExperience(ExperienceBase &base, const std::string &text,
                                  const std::string &file, const std::string &source);

} // namespace kopt
