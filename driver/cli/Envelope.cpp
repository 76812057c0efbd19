// SPDX-License-Identifier: Apache-2.0
#include "driver/cli/Envelope.h"

#include "driver/model/Version.h"

namespace kopt {

using nlohmann::json;

static const char *toString(ErrorCode code) {
  switch (code) {
  case ErrorCode::Usage:
    return "usage";
  case ErrorCode::BudgetEnded:
    return "budget-ended";
  case ErrorCode::BaselineFailed:
    return "baseline-failed";
  case ErrorCode::StaleInput:
    return "stale-input";
  case ErrorCode::Environment:
    return "environment";
  case ErrorCode::Interrupted:
    return "interrupted";
  case ErrorCode::Internal:
    break;
  }
  return "internal";
}

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
