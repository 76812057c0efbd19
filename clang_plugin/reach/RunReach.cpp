// SPDX-License-Identifier: Apache-2.0
// `kopt-frontend reach`: JSON in, JSON out.
#include "clang_plugin/reach/Reach.h"
#include "clang_plugin/tool/JsonExchange.h"
#include "clang_plugin/tool/Tools.h"

#include <iostream>
#include <nlohmann/json.hpp>

namespace kopt::frontend {

using nlohmann::json;

int runReach(int, const char **) {
  KernelSource request;
  try {
    const json input = json::parse(std::cin);
    readSource(input, request);
  } catch (const json::exception &error) {
    return failReply(error.what(), "the request on standard input",
                     "members: slice, kernel, expression, flags, directory, arch");
  }
  auto clone = markReach(request);
  if (!clone)
    return failReply(llvm::toString(clone.takeError()), "slice of " + request.kernel,
                     "the slice must parse with the kernel's own flags");
  json reply = {{"slice", clone->slice},
                {"variable", clone->variable},
                {"bytes", clone->bytes},
                {"in_macros", clone->inMacros},
                {"marks", json::array()}};
  for (const ReachMark &mark : clone->marks)
    reply["marks"].push_back({{"at", mark.at}, {"line", mark.line}, {"what", mark.what}});
  printReply(reply);
  return 0;
}

} // namespace kopt::frontend
