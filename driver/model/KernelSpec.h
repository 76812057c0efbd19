// SPDX-License-Identifier: Apache-2.0
// The front end's findings (clang_plugin/output/Extraction.h), with additions of the driver.
#pragma once

#include "clang_plugin/output/Extraction.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace kopt {

/// True if all of `inner` lies in `outer`, in the same file. Nothing lies in an empty range.
bool contains(const SourceRange &outer, const SourceRange &inner);

/// Replaces the bytes of a range by a text.
struct SourceEdit {
  SourceRange range;
  std::string text;
};

/// Parses the JSON printed by `kopt-extract --json`. Fails with Internal, naming the JSON pointer,
/// on a document that breaks the schema.
Result<ExtractionResult> parseExtraction(const nlohmann::json &document);

} // namespace kopt
