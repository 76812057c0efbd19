// SPDX-License-Identifier: Apache-2.0
#include "driver/report/Report.h"

#include "driver/model/Json.h"

namespace kopt {
namespace {

using nlohmann::json;

constexpr int kSchemaVersion = 1;

/// Leaves out what is in separate files.
json trialJson(const Trial &trial) {
  json value = toJson(trial);
  for (const char *key : {"id", "slice_text", "build_log"})
    value.erase(key);
  return value;
}

json embedded(const std::string &text) {
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json() : value;
}

} // namespace

std::string renderTrialJson(const Trial &trial) { return dumpJson(trialJson(trial), 2) + "\n"; }

std::string renderJson(const RunHistory &history) {
  const RunRecord &run = history.run;
  json trials = json::array(), decisions = json::array(), calls = json::array();
  for (const Trial &trial : history.trials)
    trials.push_back(trialJson(trial));
  for (const Decision &decision : history.decisions)
    decisions.push_back({{"sequence", decision.sequence},
                         {"round", decision.round},
                         {"kind", kindOf(decision)},
                         {"text", describe(decision)},
                         {"data", toJson(decision)}});
  for (const ModelCall &call : history.modelCalls)
    calls.push_back({{"request_hash", call.requestHash},
                     {"purpose", call.purpose},
                     {"model", call.model},
                     {"input_tokens", call.inputTokens},
                     {"output_tokens", call.outputTokens},
                     {"cached_tokens", call.cachedTokens},
                     {"seconds", call.seconds}});
  return dumpJson(
             {{"schema_version", kSchemaVersion},
              {"name", run.name},
              {"kernel", run.kernel},
              {"symbol", run.symbol},
              {"file", run.file},
              {"inputs_hash", run.inputsHash},
              {"config", embedded(run.configJson)},
              {"device", embedded(run.deviceJson)},
              {"started_utc", run.startedUtc},
              {"finished_utc", run.finishedUtc},
              {"state", toString(run.state)},
              {"stop_reason", run.stopText},
              {"stop", run.stop ? json(toString(*run.stop)) : json()},
              {"winner", run.winnerHash},
              {"trials", trials},
              {"decisions", decisions},
              {"model_calls", calls},
              {"session", history.session ? json(history.session->name) : json()},
              {"in_program", history.session ? toJson(*history.session->winOf(run.id)) : json()}},
             2) +
         "\n";
}

} // namespace kopt
