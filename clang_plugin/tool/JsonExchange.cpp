// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/tool/JsonExchange.h"

#include <iostream>
#include <nlohmann/json.hpp>

namespace kopt::frontend {

using nlohmann::json;

void printReply(const json &reply) {
  std::cout << reply.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
}

int failReply(const std::string &what, const std::string &where, const std::string &hint) {
  printReply({{"error", {{"what", what}, {"where", where}, {"hint", hint}}}});
  return 1;
}

int failOnSlice(llvm::Error error, const KernelSource &source) {
  return failReply(llvm::toString(std::move(error)), "slice of " + source.kernel,
                   "the slice must parse with the kernel's own flags: run kopt-extract again if "
                   "the source changed");
}

void readSource(const json &input, KernelSource &source) {
  source.slice = input.at("slice");
  source.kernel = input.at("kernel");
  source.expression = input.value("expression", source.kernel);
  source.flags = input.value("flags", std::vector<std::string>());
  source.directory = input.value("directory", std::string());
  source.arch = input.value("arch", std::string());
}

int answerRequest(llvm::function_ref<llvm::Expected<json>(const KernelSource &)> answer) {
  KernelSource source;
  try {
    readSource(json::parse(std::cin), source);
  } catch (const json::exception &error) {
    return failReply(error.what(), "the request on standard input",
                     "members: slice, kernel, expression, flags, directory, arch");
  }
  auto reply = answer(source);
  if (!reply)
    return failOnSlice(reply.takeError(), source);
  printReply(*reply);
  return 0;
}

} // namespace kopt::frontend
