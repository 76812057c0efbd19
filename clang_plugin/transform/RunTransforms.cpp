// SPDX-License-Identifier: Apache-2.0
// `kopt-frontend transforms`: JSON in, JSON out.
#include "clang_plugin/tool/Tools.h"
#include "clang_plugin/transform/Catalogue.h"

#include <iostream>
#include <nlohmann/json.hpp>

namespace kopt::frontend {

using nlohmann::json;

namespace {

TransformRequest readRequest(const json &request) {
  TransformRequest result;
  result.slice = request.at("slice");
  result.kernel = request.at("kernel");
  result.expression = request.value("expression", result.kernel);
  result.flags = request.value("flags", std::vector<std::string>());
  result.directory = request.value("directory", std::string());
  result.arch = request.value("arch", std::string());
  result.techniques = request.value("techniques", std::vector<std::string>());
  for (const json &launch : request.value("launches", json::array()))
    result.launches.push_back({launch.value("grid", std::array<unsigned, 3>{1, 1, 1}),
                               launch.at("block"), launch.value("shared_bytes", 0u)});
  return result;
}

json toJson(const Offer &offer) {
  json result = {{"technique", offer.technique}, {"title", offer.title}, {"edits", json::array()}};
  if (!offer.note.empty())
    result["note"] = offer.note;
  for (const Edit &edit : offer.edits)
    result["edits"].push_back({{"begin", edit.begin}, {"end", edit.end}, {"text", edit.text}});
  if (offer.launch) {
    result["launch"] = {{"block", offer.launch->block}, {"cover_grid", offer.launch->coverGrid}};
    if (offer.launch->sharedBytes)
      result["launch"]["shared_bytes"] = *offer.launch->sharedBytes;
  }
  return result;
}

int fail(const std::string &what, const std::string &where, const std::string &hint) {
  std::cout << json{{"error", {{"what", what}, {"where", where}, {"hint", hint}}}}.dump(
                   -1, ' ', false, json::error_handler_t::replace)
            << "\n";
  return 1;
}

} // namespace

int runTransforms(int, const char **) {
  TransformRequest request;
  try {
    request = readRequest(json::parse(std::cin));
  } catch (const json::exception &error) {
    return fail(error.what(), "the request on standard input",
                "members: slice, expression, kernel, flags, directory, launches, arch");
  }
  auto offers = findOffers(request);
  if (!offers)
    return fail(llvm::toString(offers.takeError()), "slice of " + request.kernel,
                "the slice must parse with the kernel's own flags: run kopt-extract again if the "
                "source changed");
  json reply = {{"offers", json::array()}};
  for (const Offer &offer : *offers)
    reply["offers"].push_back(toJson(offer));
  std::cout << reply.dump(-1, ' ', false, json::error_handler_t::replace) << "\n";
  return 0;
}

} // namespace kopt::frontend
