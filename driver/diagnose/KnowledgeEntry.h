// SPDX-License-Identifier: Apache-2.0
// Reads the files of knowledge/ that are lists of JSON objects. A mistake in one fails with
// Internal, naming file, entry and key.
#pragma once

#include "driver/support/Result.h"

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kopt {

/// One object of such a list, with the place that errors name.
struct KnowledgeEntry {
  nlohmann::json object;
  std::string where; ///< "knowledge/rules/memory.json#/rules/3"

  tl::unexpected<Error> fault(const std::string &what) const;
  /// Fails if the object has a key that is not among these.
  Status checkKeys(std::initializer_list<std::string_view> keys) const;
  Result<std::string> text(const char *key) const; ///< fails if it is missing or empty
  /// Nothing if the key is missing.
  Result<std::vector<std::string>> texts(const char *key) const;
};

/// The entries of the list `key` of a file. Each has an "id", and no two the same one.
Result<std::vector<KnowledgeEntry>> readEntries(const std::string &file, std::string_view text,
                                                const char *key);

} // namespace kopt
