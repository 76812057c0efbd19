// SPDX-License-Identifier: Apache-2.0
// #include directives of the user's files: which there are, where another one goes, what they name.
#pragma once

#include "driver/model/KernelSpec.h"

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

struct IncludeDirective {
  std::string header;    ///< as it is spelled: "<cstdint>", "\"tile.cuh\""
  std::size_t begin = 0; ///< the start of its line
  std::size_t end = 0;   ///< behind its line's end
  bool isPlain = true;   ///< false: within an #if, other than a guard around the whole file
};

/// In their order; those in comments are none.
std::vector<IncludeDirective> includesIn(std::string_view text);

/// The spellings in all files that were read for the original. One that cannot be read has none.
std::set<std::string> includesOf(const ExtractionResult &original);

/// The edit that includes `headers` in a file, behind its last include before the byte `before`, or
/// at its top; those that it includes there already are left out. Without text where all are.
SourceEdit includeEdit(const std::string &file, std::string_view text, std::size_t before,
                       const std::vector<std::string> &headers);

/// The folders that the flags search for headers: those of -I, -isystem and their like, absolute.
std::vector<std::filesystem::path> includeFolders(const std::vector<std::string> &flags,
                                                  const std::filesystem::path &directory);

/// What the quoted includes of `file` name, and theirs, in the folders of the files that include
/// them and in `folders`; only what lies below `folders`.
std::set<std::filesystem::path> headersNamedBy(const std::filesystem::path &file,
                                               const std::vector<std::filesystem::path> &folders);

} // namespace kopt
