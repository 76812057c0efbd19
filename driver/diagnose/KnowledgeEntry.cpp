// SPDX-License-Identifier: Apache-2.0
#include "driver/diagnose/KnowledgeEntry.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {

using nlohmann::json;

tl::unexpected<Error> KnowledgeEntry::fault(const std::string &what) const {
  return makeError(ErrorCode::Internal, what, "the file is part of kopt: correct it and rebuild",
                   where);
}

Status KnowledgeEntry::checkKeys(std::initializer_list<std::string_view> keys) const {
  for (const auto &[key, value] : object.items())
    if (std::ranges::find(keys, key) == keys.end())
      return fault(fmt::format("there is no key \"{}\"", key));
  return {};
}

Result<std::string> KnowledgeEntry::text(const char *key) const {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string() || found->get<std::string>().empty())
    return fault(fmt::format("key \"{}\" is missing or is not a text", key));
  return found->get<std::string>();
}

Result<std::vector<std::string>> KnowledgeEntry::texts(const char *key) const {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end())
    return texts;
  const auto isText = [](const json &entry) { return entry.is_string(); };
  if (!found->is_array() || !std::ranges::all_of(*found, isText))
    return fault(fmt::format("key \"{}\" is not a list of texts", key));
  return found->get<std::vector<std::string>>();
}

Result<std::vector<KnowledgeEntry>> readEntries(const std::string &file, std::string_view text,
                                                const char *key) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains(key) || !document[key].is_array())
    return KnowledgeEntry{{}, file}.fault(
        fmt::format("the file is not a JSON object with a list \"{}\"", key));
  std::vector<KnowledgeEntry> entries;
  std::set<std::string> ids;
  for (const json &object : document[key]) {
    KnowledgeEntry entry{object, fmt::format("{}#/{}/{}", file, key, entries.size())};
    if (!object.is_object())
      return entry.fault("the entry is not an object");
    KOPT_TRY(const std::string id, entry.text("id"));
    entry.where += " (" + id + ")";
    if (!ids.insert(id).second)
      return entry.fault(fmt::format("\"{}\" exists twice", id));
    entries.push_back(std::move(entry));
  }
  return entries;
}

} // namespace kopt
