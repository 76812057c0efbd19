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
  json trials = json::array(), events = json::array(), calls = json::array();
  for (const Trial &trial : history.trials)
    trials.push_back(trialJson(trial));
  for (const Event &event : history.events) {
    json &value = events.emplace_back(toJson(event));
    if (const auto *offer = std::get_if<Offered>(&event.what)) // their trials have them
      value["what"][Offered::kName]["candidates"] = offer->candidates.size();
    value["kind"] = kindOf(event);
    value["text"] = describe(event);
  }
  for (const ModelCall &call : history.modelCalls) {
    json &value = calls.emplace_back(toJson(call));
    value.erase("request");
    value.erase("reply");
  }
  const Trial *measured = history.confirmation() ? history.confirmation() : history.winner();
  const GainParts gain = measured ? gainParts(history.trials, *measured) : GainParts();
  json value = toJson(run);
  for (const char *key : {"id", "config_json", "device_json", "stop_text", "winner_hash",
                          "slice_text", "edits", "patch_text"})
    value.erase(key);
  value.update(
      {{"schema_version", kSchemaVersion},
       {"config", embedded(run.configJson)},
       {"device", embedded(run.deviceJson)},
       {"stop_reason", run.stopText},
       {"winner", run.winnerHash},
       {"gain", measured ? json{{"recalled", gain.recalled}, {"own", gain.own}} : json()},
       {"trials", trials},
       {"decisions", events},
       {"model_calls", calls},
       {"session", history.session ? json(history.session->name) : json()},
       {"in_program", history.session ? toJson(*history.session->winOf(run.id)) : json()}});
  return dumpJson(value, 2) + "\n";
}

} // namespace kopt
