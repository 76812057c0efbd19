// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/Envelope.h"

#include "driver/model/Fields.h"
#include "driver/model/Version.h"

namespace kopt {

using nlohmann::json;

template <> struct EnumNames<ErrorCode> {
  static constexpr std::pair<ErrorCode, const char *> kAll[] = {
      {ErrorCode::Usage, "usage"},
      {ErrorCode::BudgetEnded, "budget-ended"},
      {ErrorCode::BaselineFailed, "baseline-failed"},
      {ErrorCode::StaleInput, "stale-input"},
      {ErrorCode::Environment, "environment"},
      {ErrorCode::Internal, "internal"},
      {ErrorCode::Interrupted, "interrupted"}};
};

json toJson(const Error &error) {
  return {{"code", toString(error.code)}, {"exit_code", int(error.code)},
          {"what", error.what},           {"where", error.where},
          {"hint", error.hint},           {"context", error.context}};
}

std::string formatEnvelope(const std::string &command, const Answer &answer) {
  nlohmann::ordered_json envelope{{"schema_version", 1},
                                  {"kopt", koptVersion()},
                                  {"command", command.empty() ? json(nullptr) : json(command)},
                                  {"results", answer.results},
                                  {"details", answer.details},
                                  {"notes", answer.notes},
                                  {"error", answer.error ? toJson(*answer.error) : json(nullptr)}};
  return envelope.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

} // namespace kopt
