// SPDX-License-Identifier: Apache-2.0
#include "driver/report/Report.h"

#include "driver/store/TrialCodec.h"

namespace kopt {
namespace {

using nlohmann::json;

constexpr int kSchemaVersion = 1;

json trialJson(const Trial &trial) {
  const Candidate &candidate = trial.candidate;
  json chunks = json::object();
  for (const auto &[index, text] : candidate.chunks)
    chunks[std::to_string(index)] = text;
  json timings = json::array();
  for (const LaunchTiming &timing : trial.timings) {
    json samples = json::array(), processes = json::array(); // in the same order
    for (const TimingSample &sample : timing.samples) {
      samples.push_back({sample.a, sample.b});
      processes.push_back(sample.process);
    }
    timings.push_back({{"launch", timing.launch},
                       {"speedup", speedupToJson(timing.speedup)},
                       {"baseline_seconds", timing.baselineSeconds},
                       {"candidate_seconds", timing.candidateSeconds},
                       {"cache_mode", timing.cacheMode},
                       {"samples", samples},
                       {"sample_processes", processes}});
  }
  return {{"candidate_hash", trial.candidateHash},
          {"candidate",
           {{"proposer", candidate.proposer},
            {"title", candidate.title},
            {"technique", candidate.technique},
            {"parent", candidate.parent},
            {"chunks", chunks},
            {"constants", candidate.constants},
            {"launch", launchOverrideToJson(candidate.launch)},
            {"rationale", candidate.rationale}}},
          {"verdict", toString(trial.verdict)},
          {"stage", toString(trial.stage)},
          {"reason", trial.reason},
          {"check", trial.check},
          {"checks", gatesToJson(trial.checks)},
          {"findings", findingsToJson(trial.findings)},
          {"module_hash", trial.moduleHash},
          {"resources", trial.resources ? resourcesToJson(*trial.resources) : json()},
          {"speedup", trial.speedup ? speedupToJson(*trial.speedup) : json()},
          {"timings", timings},
          {"counters", trial.counters},
          {"counter_source", trial.counterSource},
          {"gpu", trial.gpu},
          {"seconds", trial.seconds},
          {"stages", trial.stages}};
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
                         {"kind", decision.kind},
                         {"text", decision.text},
                         {"data", embedded(decision.data)}});
  for (const ModelCall &call : history.modelCalls)
    calls.push_back({{"request_hash", call.requestHash},
                     {"purpose", call.purpose},
                     {"model", call.model},
                     {"input_tokens", call.inputTokens},
                     {"output_tokens", call.outputTokens},
                     {"cached_tokens", call.cachedTokens},
                     {"seconds", call.seconds}});
  return dumpJson({{"schema_version", kSchemaVersion},
                   {"name", run.name},
                   {"kernel", run.kernel},
                   {"symbol", run.symbol},
                   {"file", run.file},
                   {"inputs_hash", run.inputsHash},
                   {"config", embedded(run.configJson)},
                   {"device", embedded(run.deviceJson)},
                   {"started_utc", run.startedUtc},
                   {"finished_utc", run.finishedUtc},
                   {"state", run.state},
                   {"stop_reason", run.stopReason},
                   {"winner", run.winnerHash},
                   {"trials", trials},
                   {"decisions", decisions},
                   {"model_calls", calls}},
                  2) +
         "\n";
}

} // namespace kopt
