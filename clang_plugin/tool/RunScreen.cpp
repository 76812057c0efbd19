// SPDX-License-Identifier: Apache-2.0
// `kopt-frontend screen`: JSON in, JSON out.
#include "clang_plugin/screen/Screen.h"
#include "clang_plugin/tool/JsonExchange.h"
#include "clang_plugin/tool/Tools.h"

#include <iostream>
#include <nlohmann/json.hpp>

namespace kopt::frontend {

using nlohmann::json;

int runScreen(int, const char **) {
  ScreenRequest request;
  try {
    const json input = json::parse(std::cin);
    request.baseline = input.at("baseline");
    request.candidate = input.at("candidate");
    request.kernel = input.at("kernel");
    request.candidateExpression = input.value("expression", request.kernel);
    request.baselineExpression = input.value("baseline_expression", request.candidateExpression);
    request.flags = input.value("flags", std::vector<std::string>());
    request.directory = input.value("directory", std::string());
    for (const json &chunk : input.value("shared", json::array()))
      request.shared.push_back({chunk.at("name"), chunk.at("user"), chunk.at("begin"),
                                chunk.at("end"), chunk.at("new_begin"), chunk.at("new_end")});
    for (const json &name : input.value("outside", json::array()))
      request.outside.push_back({name.at("name"), name.at("user"), name.at("declared")});
  } catch (const json::exception &error) {
    return failReply(error.what(), "the request on standard input",
                     "members: baseline, candidate, kernel, expression, baseline_expression, "
                     "flags, directory, shared, outside");
  }
  auto findings = screenCandidate(request);
  if (!findings)
    return failReply(llvm::toString(findings.takeError()), "baseline slice of " + request.kernel,
                     "run kopt-extract again with the flags the kernel is compiled with");
  json reply = {{"findings", json::array()}};
  for (const ScreenFinding &finding : *findings)
    reply["findings"].push_back(
        {{"id", finding.id},
         {"severity", finding.severity == Severity::Reject ? "reject" : "flag"},
         {"message", finding.message},
         {"where", finding.line ? "line " + std::to_string(finding.line) : "baseline"}});
  printReply(reply);
  return 0;
}

} // namespace kopt::frontend
