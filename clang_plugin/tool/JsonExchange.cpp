// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/tool/JsonExchange.h"

namespace kopt::frontend {

using nlohmann::json;

void printReply(const json &reply) {
  std::cout << reply.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
}

int failReply(const std::string &what, const std::string &where, const std::string &hint) {
  printReply({{"error", {{"what", what}, {"where", where}, {"hint", hint}}}});
  return 1;
}

} // namespace kopt::frontend
