// SPDX-License-Identifier: Apache-2.0
// `kopt-frontend reach`: JSON in, JSON out.
#include "clang_plugin/reach/Reach.h"
#include "clang_plugin/tool/Tools.h"

#include <iostream>
#include <nlohmann/json.hpp>

namespace kopt::frontend {

using nlohmann::json;

namespace {

void print(const json &reply) {
  std::cout << reply.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
}

int fail(const std::string &what, const std::string &where, const std::string &hint) {
  print({{"error", {{"what", what}, {"where", where}, {"hint", hint}}}});
  return 1;
}

} // namespace

int runReach(int, const char **) {
  KernelSource request;
  try {
    const json input = json::parse(std::cin);
    request.slice = input.at("slice");
    request.kernel = input.at("kernel");
    request.expression = input.value("expression", request.kernel);
    request.flags = input.value("flags", std::vector<std::string>());
    request.directory = input.value("directory", std::string());
    request.arch = input.value("arch", std::string());
  } catch (const json::exception &error) {
    return fail(error.what(), "the request on standard input",
                "members: slice, kernel, expression, flags, directory, arch");
  }
  auto clone = markReach(request);
  if (!clone)
    return fail(llvm::toString(clone.takeError()), "slice of " + request.kernel,
                "the slice must parse with the kernel's own flags");
  json reply = {{"slice", clone->slice},
                {"variable", clone->variable},
                {"bytes", clone->bytes},
                {"in_macros", clone->inMacros},
                {"marks", json::array()}};
  for (const ReachMark &mark : clone->marks)
    reply["marks"].push_back({{"at", mark.at}, {"line", mark.line}, {"what", mark.what}});
  print(reply);
  return 0;
}

} // namespace kopt::frontend
