// SPDX-License-Identifier: Apache-2.0
// Reads JSON in columns of the database that this kopt or an older one wrote.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/model/Json.h"

#include <stdexcept>

namespace kopt {

/// Members that are newer than the row get their defaults. Throws std::exception if the JSON cannot
/// be read.
template <class T> T fromStored(const nlohmann::json &stored) {
  nlohmann::json whole = toJson(T{});
  whole.update(stored);
  Result<T> value = fromJson<T>(whole);
  if (!value)
    throw std::runtime_error(value.error().what);
  return std::move(*value);
}

template <class T> T fromStored(const std::string &text) {
  return fromStored<T>(nlohmann::json::parse(text));
}

template <class T> std::vector<T> listFromStored(const std::string &text) {
  std::vector<T> list;
  for (const nlohmann::json &item : nlohmann::json::parse(text))
    list.push_back(fromStored<T>(item));
  return list;
}

/// What a candidate changes, except the texts of chunks, which are stored once for all trials.
inline nlohmann::json changeToJson(const Candidate &candidate) {
  return {{"chunks", nlohmann::json::object()},
          {"constants", candidate.constants},
          {"launch", toJson(candidate.launch)},
          {"tunables", toJson(candidate.tunables)},
          {"includes", toJson(candidate.includes)},
          {"declarations", toJson(candidate.declarations)},
          {"requirements", toJson(candidate.requirements)}};
}

inline void readChange(nlohmann::json change, Candidate &candidate) {
  candidate.launch = fromStored<LaunchOverride>(change.at("launch"));
  change.erase("chunks");
  change.erase("launch");
  Candidate read = fromStored<Candidate>(change);
  candidate.constants = std::move(read.constants);
  candidate.tunables = std::move(read.tunables);
  candidate.includes = std::move(read.includes);
  candidate.declarations = std::move(read.declarations);
  candidate.requirements = std::move(read.requirements);
}

} // namespace kopt
