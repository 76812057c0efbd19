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

void readSource(const json &input, KernelSource &source) {
  source.slice = input.at("slice");
  source.kernel = input.at("kernel");
  source.expression = input.value("expression", source.kernel);
  source.flags = input.value("flags", std::vector<std::string>());
  source.directory = input.value("directory", std::string());
  source.arch = input.value("arch", std::string());
}

} // namespace kopt::frontend
