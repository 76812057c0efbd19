// SPDX-License-Identifier: Apache-2.0
// `kopt-frontend transforms`: JSON in, JSON out.
#include "clang_plugin/tool/JsonExchange.h"
#include "clang_plugin/tool/Tools.h"
#include "clang_plugin/transform/Catalogue.h"

#include <cstdint>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace kopt::frontend {

using nlohmann::json;

namespace {

/// A whole number from `low` that 32 bits hold; where it is not one, std::out_of_range naming it.
unsigned wholeNumber(const json &value, const char *what, std::uint64_t low = 0) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < low ||
      value.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
    throw std::out_of_range(std::string(what) + " is no whole number from " + std::to_string(low));
  return value.get<unsigned>();
}

std::array<unsigned, 3> extent(const json &value, const char *what) {
  if (!value.is_array() || value.size() != 3)
    throw std::out_of_range(std::string(what) + " is no list of three numbers");
  return {wholeNumber(value[0], what, 1), wholeNumber(value[1], what, 1),
          wholeNumber(value[2], what, 1)};
}

TransformRequest readRequest(const json &request) {
  TransformRequest result;
  readSource(request, result);
  result.techniques = request.value("techniques", std::vector<std::string>());
  for (const json &launch : request.value("launches", json::array()))
    result.launches.push_back(
        {extent(launch.value("grid", json{1u, 1u, 1u}), "a launch's grid"),
         extent(launch.at("block"), "a launch's block"),
         wholeNumber(launch.value("shared_bytes", json(0u)), "a launch's shared_bytes")});
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

} // namespace

int runTransforms(int, const char **) {
  TransformRequest request;
  try {
    request = readRequest(json::parse(std::cin));
  } catch (const std::exception &error) {
    return failReply(error.what(), "the request on standard input",
                     "members: slice, expression, kernel, flags, directory, launches, arch");
  }
  auto offers = findOffers(request);
  if (!offers)
    return failOnSlice(offers.takeError(), request);
  json reply = {{"offers", json::array()}};
  for (const Offer &offer : *offers)
    reply["offers"].push_back(toJson(offer));
  printReply(reply);
  return 0;
}

} // namespace kopt::frontend
