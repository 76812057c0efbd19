// SPDX-License-Identifier: Apache-2.0
// Byte-range edits of a text: pure functions, no files.
#pragma once

#include "driver/model/KernelSpec.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// The edits of each file, in order of their ranges. The same edit given twice counts once;
/// insertions at one place keep the order in which they were given. Fails with Internal where two
/// edits overlap, naming file and bytes.
Result<std::map<std::string, std::vector<SourceEdit>>>
editsByFile(const std::vector<SourceEdit> &edits);

/// The text with the edits of one file made, as editsByFile() returns them. Ranges count from the
/// start of `text`. Fails with StaleInput where a range lies beyond the text.
Result<std::string> applyEdits(std::string_view text, const std::vector<SourceEdit> &edits);

} // namespace kopt
