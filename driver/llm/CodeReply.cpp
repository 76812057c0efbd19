// SPDX-License-Identifier: Apache-2.0
#include "driver/llm/CodeReply.h"
#include "driver/support/JsonText.h"
#include "driver/support/Text.h"
#include "runtime/device/GpuLimits.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>
#include <vector>

namespace kopt {
namespace {

using nlohmann::json;
using Breach = tl::unexpected<std::string>;

constexpr std::size_t kTitleLimit = 120, kTechniqueLimit = 40, kRationaleLimit = 2000,
                      kLimitOfChunk = 256u << 10;

struct FencedBlock {
  std::string info; ///< what follows the opening fence
  std::string text;
};

/// Blocks between lines that begin with a fence. Nothing where the last one is not closed.
std::optional<std::vector<FencedBlock>> fencedBlocks(std::string_view reply) {
  std::vector<FencedBlock> blocks;
  std::size_t fence = 0; // length of the open fence, 0 outside
  for (const std::string &line : split(reply, '\n')) {
    std::string_view content = trim(line);
    std::size_t ticks = std::min(content.find_first_not_of('`'), content.size());
    if (!fence && ticks >= 3) {
      fence = ticks;
      blocks.push_back({std::string(trim(content.substr(ticks))), ""});
    } else if (fence && ticks >= fence && ticks == content.size()) {
      fence = 0;
    } else if (fence) {
      std::string_view kept(line);
      if (!kept.empty() && kept.back() == '\r')
        kept.remove_suffix(1);
      blocks.back().text.append(kept).push_back('\n');
    }
  }
  if (fence)
    return std::nullopt;
  return blocks;
}

/// "cuda chunk=f" and "cuda f" and "chunk=f" name f. Names may hold spaces ("operator ()").
std::string labelOf(std::string_view info) {
  static constexpr std::string_view kKey = "chunk=";
  if (std::size_t key = info.find(kKey); key != std::string_view::npos)
    return std::string(trim(info.substr(key + kKey.size())));
  for (std::string_view language : {"cuda", "cpp", "c++", "c"})
    if (info.substr(0, language.size() + 1) == std::string(language) + " ")
      return std::string(trim(info.substr(language.size())));
  return std::string(info);
}

std::string oneLine(std::string text, std::size_t limit) {
  text = std::string(trim(withoutControls(std::move(text))));
  if (text.size() <= limit)
    return text;
  text.resize(limit);
  while (!text.empty() && (text.back() & 0x80)) // a character that may have been cut in two
    text.pop_back();
  return text;
}

/// Reads one text member; the breach names it.
tl::expected<std::string, std::string> textMember(const json &header, const char *key,
                                                  bool required) {
  if (!header.contains(key)) {
    if (required)
      return Breach(fmt::format("the JSON header has no \"{}\"", key));
    return std::string();
  }
  if (!header[key].is_string() || (required && trim(header[key].get<std::string>()).empty()))
    return Breach(fmt::format("\"{}\" in the JSON header is not a text", key));
  return header[key].get<std::string>();
}

/// A number from `low` to `high`, or an expression, which is judged where its names are known.
std::optional<std::string> expressionMember(const json &value, std::uint32_t low,
                                            std::uint32_t high) {
  if (value.is_string() && !trim(value.get<std::string>()).empty())
    return oneLine(value.get<std::string>(), kTitleLimit);
  if (!value.is_number_integer() || value.get<std::int64_t>() < low ||
      value.get<std::int64_t>() > high)
    return std::nullopt;
  return std::to_string(value.get<std::int64_t>());
}

/// Reads one to three extents; the breach names the member.
tl::expected<std::array<std::string, 3>, std::string>
extentsMember(const json &value, const char *key, std::uint32_t most) {
  if (!value.is_array() || value.empty() || value.size() > 3)
    return Breach(fmt::format("\"launch.{}\" is not a list of one to three extents", key));
  std::array<std::string, 3> extents{"1", "1", "1"};
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto extent = expressionMember(value[i], 1, most);
    if (!extent)
      return Breach(fmt::format("each extent of \"launch.{}\" is an expression or a whole number "
                                "from 1 to {}",
                                key, most));
    extents[i] = *extent;
  }
  return extents;
}

std::optional<std::string> readLaunch(const json &launch, CodeReply &out) {
  if (!launch.is_object())
    return "\"launch\" is not an object";
  for (const auto &[key, value] : launch.items()) {
    if (key == "block") {
      auto block = extentsMember(value, "block", gpu::kMostThreads);
      if (!block)
        return block.error();
      out.block = *block;
    } else if (key == "grid" && value.is_array()) {
      auto grid = extentsMember(value, "grid", gpu::kMostGrid[0]);
      if (!grid)
        return grid.error();
      out.grid = *grid;
    } else if (key == "grid") {
      if (value != "keep" && value != "cover")
        return "\"launch.grid\" is \"keep\", \"cover\" or a list of one to three expressions";
      out.coverGrid = value == "cover";
    } else if (key == "shared_bytes") {
      out.sharedBytes = expressionMember(value, 0, gpu::kMostShared);
      if (!out.sharedBytes)
        return fmt::format("\"launch.shared_bytes\" is not an expression or a whole number from 0 "
                           "to {}",
                           gpu::kMostShared);
    } else {
      return fmt::format("\"launch\" has no member \"{}\"", key);
    }
  }
  const auto isNumber = [](const std::string &text) {
    return text.find_first_not_of("0123456789") == text.npos;
  };
  if (out.coverGrid && !(out.block && std::ranges::all_of(*out.block, isNumber)))
    return "\"launch.grid\" is \"cover\" without numbers in \"launch.block\"; give expressions";
  return std::nullopt;
}

std::optional<std::string> readTunables(const json &tunables, CodeReply &out) {
  static const std::regex kName("[A-Za-z_]\\w*");
  if (!tunables.is_array())
    return "\"tunables\" is not a list";
  for (const json &entry : tunables) {
    const std::string name = textIn(entry, "name");
    if (!std::regex_match(name, kName))
      return "a tunable has no \"name\" that is a name in C";
    const auto isInteger = [](const json &value) { return value.is_number_integer(); };
    const json values = entry.value("values", json::array());
    if (!values.is_array() || values.empty() || !std::ranges::all_of(values, isInteger))
      return fmt::format("\"values\" of the tunable \"{}\" are not whole numbers", name);
    ReplyTunable tunable;
    tunable.name = name;
    for (const json &value : values)
      if (std::ranges::count(tunable.values, value.get<std::int64_t>()) == 0)
        tunable.values.push_back(value.get<std::int64_t>());
    const json value = entry.value("value", json(tunable.values.front()));
    if (!isInteger(value) || std::ranges::count(tunable.values, value.get<std::int64_t>()) == 0)
      return fmt::format("\"value\" of the tunable \"{}\" is not one of its values", name);
    tunable.value = value.get<std::int64_t>();
    for (const json &requirement : entry.value("requires", json::array())) {
      if (!requirement.is_string())
        return fmt::format("\"requires\" of the tunable \"{}\" is not a list of expressions", name);
      tunable.requirements.push_back(requirement.get<std::string>());
    }
    out.tunables.push_back(std::move(tunable));
  }
  return std::nullopt;
}

std::optional<std::string> readConstants(const json &constants, const CodeContract &contract,
                                         CodeReply &out) {
  if (!constants.is_object())
    return "\"constants\" is not an object";
  for (const auto &[name, value] : constants.items()) {
    if (!contract.constants.count(name))
      return fmt::format("\"{}\" is not a constant that can be changed; these are: {}", name,
                         contract.constants.empty()
                             ? "none"
                             : join({contract.constants.begin(), contract.constants.end()}, ", "));
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>())))
      return fmt::format("the value of constant \"{}\" is not a whole number of 64 bits", name);
    out.constants[name] = value.get<std::int64_t>();
  }
  return std::nullopt;
}

std::optional<std::string> readHeader(const FencedBlock &block, const CodeContract &contract,
                                      CodeReply &out) {
  json header = json::parse(block.text, nullptr, false);
  if (header.is_discarded() || !header.is_object())
    return "the header is not one JSON object";
  for (const auto &[key, value] : header.items()) {
    static const std::set<std::string> kKeys{"title",     "technique", "rationale", "launch",
                                             "constants", "tunables",  "stop"};
    if (!kKeys.count(key))
      return fmt::format("the JSON header has a member \"{}\" that is not part of the contract",
                         key);
  }
  auto stop = textMember(header, "stop", false);
  if (!stop)
    return stop.error();
  if (!stop->empty()) {
    out.stop = oneLine(*stop, kRationaleLimit);
    return std::nullopt;
  }
  auto title = textMember(header, "title", true), technique = textMember(header, "technique", true),
       rationale = textMember(header, "rationale", true);
  for (const auto *member : {&title, &technique, &rationale})
    if (!*member)
      return member->error();
  out.title = oneLine(*title, kTitleLimit);
  out.technique = slug(*technique, kTechniqueLimit);
  out.rationale = oneLine(*rationale, kRationaleLimit);
  if (out.technique.empty())
    return "\"technique\" has no letter or digit";
  if (header.contains("launch"))
    if (auto breach = readLaunch(header["launch"], out))
      return breach;
  if (header.contains("tunables"))
    if (auto breach = readTunables(header["tunables"], out))
      return breach;
  if (header.contains("constants"))
    if (auto breach = readConstants(header["constants"], contract, out))
      return breach;
  return std::nullopt;
}

std::optional<std::string> readChunk(const FencedBlock &block, const CodeContract &contract,
                                     CodeReply &out) {
  std::string label = labelOf(block.info);
  auto original = contract.chunks.find(label);
  if (original == contract.chunks.end()) {
    std::vector<std::string> labels;
    for (const auto &[name, text] : contract.chunks)
      labels.push_back("chunk=" + name);
    return fmt::format(
        "a code block is labelled \"{}\", which is not an editable chunk; the labels are: {}",
        oneLine(block.info, 80), join(labels, ", "));
  }
  if (out.chunks.count(label))
    return fmt::format("chunk \"{}\" appears twice", label);
  if (trim(block.text).empty())
    return fmt::format("chunk \"{}\" is empty", label);
  if (block.text.size() > kLimitOfChunk)
    return fmt::format("chunk \"{}\" is longer than 256 KiB", label);
  if (std::string line = findElision(block.text, original->second); !line.empty())
    return fmt::format("chunk \"{}\" leaves code out: \"{}\"; write the whole text", label,
                       oneLine(line, 120));
  out.chunks[label] = block.text;
  return std::nullopt;
}

} // namespace

std::string findElision(std::string_view text, std::string_view original) {
  static const std::regex kOnlyDots(R"(^\s*(//|/\*|#)?\s*(\.\.\.|…)\s*(\*/)?\s*$)");
  static const std::regex kDots(R"((//|/\*).*(\.\.\.|…))");
  static const std::regex kWords(
      R"(\b(rest|remain\w*|unchanged|same|existing|omitted|original|previous|before|as is|keep|etc|here)\b)",
      std::regex::icase);
  static const std::regex kPhrase(
      R"((//|/\*).*\b((rest|remainder) of (the )?(\w+ )?(code|kernel|function|body|file|loop)|omitted for brevity|)"
      R"((existing|original|previous) (code|body|implementation) (here|goes|stays|unchanged)|(code|body|implementation) (is |remains )?unchanged))",
      std::regex::icase);
  for (const std::string &line : split(text, '\n')) {
    if (line.size() > 2000) // std::regex recurses per character
      continue;
    bool elides = std::regex_search(line, kOnlyDots) ||
                  (std::regex_search(line, kDots) && std::regex_search(line, kWords)) ||
                  std::regex_search(line, kPhrase);
    if (elides && original.find(trim(line)) == std::string_view::npos)
      return std::string(trim(line));
  }
  return {};
}

tl::expected<CodeReply, std::string> parseCodeReply(std::string_view reply,
                                                    const CodeContract &contract) {
  auto blocks = fencedBlocks(reply);
  if (!blocks)
    return Breach("the last code block is not closed");
  if (blocks->empty())
    return Breach("the reply has no fenced block; it must begin with a JSON header in one");
  CodeReply result;
  const FencedBlock &header = blocks->front();
  if (header.info != "json" && trim(header.text).substr(0, 1) != "{")
    return Breach("the first fenced block is not the JSON header");
  if (auto breach = readHeader(header, contract, result))
    return Breach(*breach);
  if (!result.stop.empty())
    return result;
  for (std::size_t i = 1; i < blocks->size(); ++i)
    if (auto breach = readChunk((*blocks)[i], contract, result))
      return Breach(*breach);
  if (result.chunks.empty() && result.constants.empty() && !result.block && !result.grid &&
      !result.sharedBytes)
    return Breach("the reply changes nothing: no chunk, no constant, no launch");
  return result;
}

} // namespace kopt
