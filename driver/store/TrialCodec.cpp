// SPDX-License-Identifier: Apache-2.0
#include "driver/store/TrialCodec.h"

namespace kopt {

using nlohmann::json;

json launchOverrideToJson(const LaunchOverride &launch) {
  json value = json::object();
  if (launch.block)
    value["block"] = {launch.block->x, launch.block->y, launch.block->z};
  if (launch.coverGrid)
    value["cover_grid"] = true;
  if (launch.sharedBytes)
    value["shared_bytes"] = *launch.sharedBytes;
  return value;
}

LaunchOverride launchOverrideFromJson(const json &value) {
  LaunchOverride launch;
  if (value.contains("block")) {
    const json &block = value.at("block");
    launch.block = Dim3{block.at(0), block.at(1), block.at(2)};
  }
  launch.coverGrid = value.value("cover_grid", false);
  if (value.contains("shared_bytes"))
    launch.sharedBytes = value.at("shared_bytes").get<std::uint32_t>();
  return launch;
}

json findingsToJson(const std::vector<Finding> &findings) {
  json value = json::array();
  for (const Finding &finding : findings)
    value.push_back({{"id", finding.id},
                     {"severity", finding.severity},
                     {"message", finding.message},
                     {"where", finding.where}});
  return value;
}

json gatesToJson(const std::vector<CheckRecord> &checks) {
  json value = json::array();
  for (const CheckRecord &record : checks)
    value.push_back(
        {{"check", record.check}, {"state", toString(record.state)}, {"detail", record.detail}});
  return value;
}

std::vector<Finding> findingsFromJson(const json &value) {
  std::vector<Finding> findings;
  for (const json &item : value)
    findings.push_back({item.at("id"), item.at("severity"), item.at("message"), item.at("where")});
  return findings;
}

json resourcesToJson(const ModuleInfo &resources) {
  return {{"symbol", resources.symbol},
          {"registers", resources.registers},
          {"shared_bytes", resources.sharedBytes},
          {"local_bytes", resources.localBytes},
          {"const_bytes", resources.constBytes},
          {"max_threads", resources.maxThreads}};
}

ModuleInfo resourcesFromJson(const json &value) {
  ModuleInfo resources;
  resources.symbol = value.at("symbol");
  resources.registers = value.at("registers");
  resources.sharedBytes = value.at("shared_bytes");
  resources.localBytes = value.at("local_bytes");
  resources.constBytes = value.at("const_bytes");
  resources.maxThreads = value.at("max_threads");
  return resources;
}

json speedupToJson(const Speedup &speedup) {
  return {{"estimate", speedup.estimate},  {"low", speedup.low},
          {"high", speedup.high},          {"confidence", speedup.confidence},
          {"pairs", speedup.pairs},        {"modelled", speedup.modelled},
          {"processes", speedup.processes}};
}

std::string dumpJson(const json &value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

} // namespace kopt
