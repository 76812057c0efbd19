// SPDX-License-Identifier: Apache-2.0
// #include directives of the user's files: finds them, inserts others, and resolves the headers
// that they name.
#pragma once

#include "driver/model/KernelSpec.h"

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

struct IncludeDirective {
  std::string header;    ///< as spelled: "<cstdint>", "\"tile.cuh\""
  std::size_t begin = 0; ///< the start of its line
  std::size_t end = 0;   ///< after its line's end
  bool isPlain = true;   ///< false: within an #if, other than a guard around the whole file
};

/// The directives in order, without those in comments.
std::vector<IncludeDirective> includesIn(std::string_view text);

/// The spellings in all files that were read for the original. Files that cannot be read are
/// skipped.
std::set<std::string> includesOf(const ExtractionResult &original);

/// The edit that includes `headers` in a file, after its last include before byte `before`, or at
/// its top. Headers that it already includes there are left out; the edit's text is empty if all
/// are.
SourceEdit includeEdit(const std::string &file, std::string_view text, std::size_t before,
                       const std::vector<std::string> &headers);

/// The folders that the flags search for headers (-I, -isystem and similar), as absolute paths.
std::vector<std::filesystem::path> includeFolders(const std::vector<std::string> &flags,
                                                  const std::filesystem::path &directory);

/// The headers that `file` includes, directly and indirectly. They are looked for in the folder of
/// the including file and in `folders`; only those below `folders` are returned.
std::set<std::filesystem::path> headersNamedBy(const std::filesystem::path &file,
                                               const std::vector<std::filesystem::path> &folders);

} // namespace kopt
