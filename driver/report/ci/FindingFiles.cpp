// SPDX-License-Identifier: Apache-2.0
// Writes findings in other tools' formats: SARIF and GitLab's code quality report.
#include "driver/model/Version.h"
#include "driver/report/ci/Findings.h"
#include "driver/support/JsonText.h"

#include <cctype>
#include <nlohmann/json.hpp>

namespace kopt {
namespace {

using nlohmann::json;

const char *sarifLevel(FindingLevel level) {
  return level == FindingLevel::Error     ? "error"
         : level == FindingLevel::Warning ? "warning"
                                          : "note";
}

const char *severityName(FindingLevel level) {
  return level == FindingLevel::Error     ? "critical"
         : level == FindingLevel::Warning ? "major"
                                          : "info";
}

/// A relative path as a URI.
std::string uriOf(const std::string &path) {
  static const char *kHex = "0123456789ABCDEF";
  std::string uri;
  for (const unsigned char c : path)
    if (std::isalnum(c) || std::string_view("-._~/").find(char(c)) != std::string_view::npos)
      uri += char(c);
    else
      uri += {'%', kHex[c >> 4], kHex[c & 15]};
  return uri;
}

json ruleOf(const GateRule &rule) {
  return {{"id", rule.id},
          {"name", rule.name},
          {"shortDescription", {{"text", rule.description}}},
          {"defaultConfiguration", {{"level", sarifLevel(rule.level)}}}};
}

json resultOf(const GateFinding &one) {
  json result{{"ruleId", one.rule},
              {"level", sarifLevel(one.level)},
              {"message", {{"text", one.title + ": " + one.message}}},
              {"partialFingerprints", {{"koptFinding/v1", one.fingerprint}}},
              {"properties", {{"kernel", one.kernel}, {"lostSeconds", one.cost}}}};
  for (std::size_t i = 0; i < gateRules().size(); ++i)
    if (gateRules()[i].id == one.rule)
      result["ruleIndex"] = i;
  if (!one.place.file.empty()) {
    json place{{"artifactLocation", {{"uri", uriOf(one.place.file)}, {"uriBaseId", "%SRCROOT%"}}}};
    if (one.place.line > 0)
      place["region"] = {{"startLine", one.place.line}};
    result["locations"] = json::array({json{{"physicalLocation", place}}});
  }
  return result;
}

} // namespace

std::string sarifOf(const GateReport &report, const std::vector<GateFinding> &findings) {
  json rules = json::array(), results = json::array();
  for (const GateRule &rule : gateRules())
    rules.push_back(ruleOf(rule));
  for (const GateFinding &one : findings)
    results.push_back(resultOf(one));
  const json driver{{"name", "kopt"}, {"version", koptVersion()}, {"rules", rules}};
  const json run{{"tool", {{"driver", driver}}},
                 {"automationDetails", {{"id", "kopt/" + report.name + "/"}}},
                 {"originalUriBaseIds",
                  {{"%SRCROOT%", {{"description", {{"text", "the top of the repository"}}}}}}},
                 {"columnKind", "utf16CodeUnits"},
                 {"results", results}};
  return dumpJson({{"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/"
                               "sarif-schema-2.1.0.json"},
                   {"version", "2.1.0"},
                   {"runs", json::array({run})}},
                  2) +
         "\n";
}

std::string codeQualityOf(const std::vector<GateFinding> &findings) {
  json list = json::array();
  for (const GateFinding &one : findings)
    list.push_back({{"description", one.title + ": " + one.message},
                    {"check_name", one.rule},
                    {"fingerprint", one.fingerprint},
                    {"severity", severityName(one.level)},
                    {"location",
                     {{"path", one.place.file.empty() ? "." : one.place.file},
                      {"lines", {{"begin", one.place.line > 0 ? one.place.line : 1}}}}}});
  return dumpJson(list, 2) + "\n";
}

} // namespace kopt
