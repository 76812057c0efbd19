// SPDX-License-Identifier: Apache-2.0
// `kopt-frontend mutate`: JSON in, JSON out.
#include "clang_plugin/mutate/Mutate.h"
#include "clang_plugin/tool/JsonExchange.h"
#include "clang_plugin/tool/Tools.h"

#include <iostream>
#include <nlohmann/json.hpp>

namespace kopt::frontend {

using nlohmann::json;

namespace {

json toJson(const Mutant &mutant) {
  json result = {{"operator", mutant.op},
                 {"title", mutant.title},
                 {"kind", mutant.kind == MutantKind::Value ? "value" : "schedule"},
                 {"line", mutant.line},
                 {"edits", json::array()}};
  if (!mutant.note.empty())
    result["note"] = mutant.note;
  for (const Edit &edit : mutant.edits)
    result["edits"].push_back({{"begin", edit.begin}, {"end", edit.end}, {"text", edit.text}});
  return result;
}

} // namespace

int runMutate(int, const char **) {
  MutateRequest request;
  try {
    const json input = json::parse(std::cin);
    readSource(input, request);
    request.atMost = input.value("at_most", std::uint64_t(request.atMost));
    request.seed = input.value("seed", request.seed);
    request.operators = input.value("operators", std::vector<std::string>());
    request.file = input.value("file", std::string());
  } catch (const json::exception &error) {
    return failReply(error.what(), "the request on standard input",
                     "members: slice, kernel, expression, flags, directory, arch, at_most, seed, "
                     "operators, file");
  }
  auto found = findMutants(request);
  if (!found)
    return failOnSlice(found.takeError(), request);
  json reply = {
      {"found", found->found}, {"in_macros", found->inMacros}, {"mutants", json::array()}};
  for (const Mutant &mutant : found->mutants)
    reply["mutants"].push_back(toJson(mutant));
  printReply(reply);
  return 0;
}

} // namespace kopt::frontend
