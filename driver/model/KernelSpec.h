// SPDX-License-Identifier: Apache-2.0
// The front end's findings (clang_plugin/output/Extraction.h), with additions of the driver.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "driver/support/Result.h"

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace kopt {

/// True if all of `inner` lies in `outer`, in the same file. Nothing lies in an empty range.
bool contains(const SourceRange &outer, const SourceRange &inner);

/// Replaces the bytes of a range by a text.
struct SourceEdit {
  SourceRange range;
  std::string text;
};
KOPT_FIELDS(SourceEdit, range, text)

/// "file:line" of a kernel, launch site or clause, as messages name places; line 0: the whole file.
template <class Declared> std::string placeOf(const Declared &declared) {
  return declared.line == 0 ? declared.file : declared.file + ":" + std::to_string(declared.line);
}

/// Parses the JSON printed by `kopt-extract --json`. Fails with Internal, naming the JSON pointer,
/// on a document that breaks the schema.
Result<ExtractionResult> parseExtraction(const nlohmann::json &document);

} // namespace kopt
