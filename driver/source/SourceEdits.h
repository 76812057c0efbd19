// SPDX-License-Identifier: Apache-2.0
// Byte-range edits of a text. Pure functions that access no files.
#pragma once

#include "driver/model/KernelSpec.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// The edits of each file, in order of their ranges. Duplicate edits count once; insertions at the
/// same place keep their order. Fails with Internal if two edits overlap, naming the file and the
/// bytes.
Result<std::map<std::string, std::vector<SourceEdit>>>
editsByFile(const std::vector<SourceEdit> &edits);

/// Applies the edits of one file, in the order of editsByFile(). Ranges count from the start of
/// `text`. Fails with StaleInput if a range lies beyond the text.
Result<std::string> applyEdits(std::string_view text, const std::vector<SourceEdit> &edits);

} // namespace kopt
