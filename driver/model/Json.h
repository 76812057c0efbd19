// SPDX-License-Identifier: Apache-2.0
// The JSON of the driver's records (clang_plugin/output/RecordJson.h), to store, hash and send
// them.
#pragma once

#include "clang_plugin/output/RecordJson.h"
#include "driver/model/CheckList.h"
#include "driver/model/Device.h"
#include "driver/model/Workload.h"
#include "driver/support/JsonText.h"
#include "driver/support/Result.h"

namespace kopt {

nlohmann::json toJson(const Dim3 &value);
nlohmann::json toJson(const ValueArg &value);
nlohmann::json toJson(const Argument &value);
nlohmann::json toJson(const CheckSwitches &value); ///< CheckSwitches::list()
void readJson(const JsonReader &from, Dim3 &out);
void readJson(const JsonReader &from, ValueArg &out);
void readJson(const JsonReader &from, Argument &out);
void readJson(const JsonReader &from, CheckSwitches &out);

/// Reads a record. Fails with Internal, naming the place, if a member is missing, unknown or of
/// another type.
template <class T> Result<T> fromJson(const nlohmann::json &document) {
  T value{};
  if (const std::string problem = readDocument(document, value); !problem.empty())
    return makeError(ErrorCode::Internal, "malformed record: " + problem);
  return value;
}

/// The text to hash: it is the same for equal records.
template <class T> std::string canonicalJson(const T &value) { return dumpJson(toJson(value)); }

} // namespace kopt
