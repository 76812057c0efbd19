// SPDX-License-Identifier: Apache-2.0
// `kopt-frontend coverage`: JSON in, JSON out.
#include "clang_plugin/coverage/Coverage.h"
#include "clang_plugin/tool/JsonExchange.h"
#include "clang_plugin/tool/Tools.h"

#include <nlohmann/json.hpp>

namespace kopt::frontend {

using nlohmann::json;

namespace {

json toJson(const CoverageClone &clone) {
  json reply = {{"slice", clone.slice},
                {"variable", clone.variable},
                {"bytes", clone.bytes},
                {"in_macros", clone.inMacros},
                {"marks", json::array()}};
  for (const CoveragePoint &mark : clone.marks)
    reply["marks"].push_back({{"at", mark.at},
                              {"line", mark.line},
                              {"what", mark.what},
                              {"names", mark.names},
                              {"codes", mark.codes},
                              {"required", mark.required}});
  return reply;
}

} // namespace

int runCoverage(int, const char **) {
  return answerRequest([](const KernelSource &source) -> llvm::Expected<json> {
    auto clone = markReach(source);
    if (!clone)
      return clone.takeError();
    return toJson(*clone);
  });
}

} // namespace kopt::frontend
