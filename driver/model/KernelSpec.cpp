// SPDX-License-Identifier: Apache-2.0
#include "driver/model/KernelSpec.h"

#include "clang_plugin/output/RecordJson.h"

namespace kopt {

bool contains(const SourceRange &outer, const SourceRange &inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end &&
         outer.end > outer.begin;
}

Result<ExtractionResult> parseExtraction(const nlohmann::json &document) {
  const auto fail = [](const std::string &problem) {
    return makeError(ErrorCode::Internal, "the front end's answer breaks its schema: " + problem,
                     "kopt and kopt-frontend must come from the same build");
  };
  // Check the version first, because another version also has other members.
  if (document.is_object())
    if (const auto version = document.find("schema_version");
        version != document.end() && version->is_number() && *version != kExtractionSchema)
      return fail("schema version " + version->dump() + " instead of " +
                  std::to_string(kExtractionSchema) + " at /schema_version");
  ExtractionResult result;
  if (const std::string problem = readDocument(document, result); !problem.empty())
    return fail(problem);
  return result;
}

} // namespace kopt
