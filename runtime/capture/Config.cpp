// SPDX-License-Identifier: Apache-2.0
#include "runtime/capture/Config.h"

#include "runtime/runner/Protocol.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace kopt::runtime::capture {

namespace {

using protocol::parseNumber;

std::vector<std::string_view> wordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : protocol::split(line, ' '))
    if (!word.empty())
      words.push_back(word);
  return words;
}

bool parseList(std::string_view text, std::vector<std::uint32_t> &out) {
  for (const std::string_view part : protocol::split(text, ',')) {
    const auto number = parseNumber<std::uint32_t>(part);
    if (!number)
      return false;
    out.push_back(*number);
  }
  return true;
}

bool parseRule(const std::vector<std::string_view> &words, SnapshotRule &out) {
  if (words.size() != 5 || (words[1] != "symbol" && words[1] != "kernel"))
    return false;
  out.bySymbol = words[1] == "symbol";
  out.name = protocol::decode(words[2]).value_or("");
  if (out.name.empty())
    return false;
  if (words[3] == "launch") {
    out.how = SnapshotRule::How::Listed;
    if (!parseList(words[4], out.ordinals))
      return false;
    std::sort(out.ordinals.begin(), out.ordinals.end());
    return true;
  }
  const auto count = parseNumber<std::uint64_t>(words[4]);
  if (!count || *count == 0)
    return false;
  out.count = *count;
  if (words[3] == "first")
    out.how = SnapshotRule::How::First;
  else if (words[3] == "every")
    out.how = SnapshotRule::How::Every;
  else if (words[3] == "class")
    out.how = SnapshotRule::How::PerClass;
  else
    return false;
  return true;
}

bool parseLine(const std::vector<std::string_view> &words, Config &out) {
  const std::string_view key = words[0];
  if (key == "snapshot")
    return parseRule(words, out.rules.emplace_back());
  if (key == "params") {
    if (words.size() != 3)
      return false;
    const auto symbol = protocol::decode(words[1]);
    return symbol && parseList(words[2], out.parameterSizes[*symbol]);
  }
  if (words.size() != 2)
    return false;
  if (key == "trace" || key == "cupti") {
    const auto path = protocol::decode(words[1]);
    if (!path || path->empty())
      return false;
    if (key == "trace")
      out.trace = *path;
    else
      out.cupti.push_back(*path);
    return true;
  }
  const auto number = parseNumber<std::uint64_t>(words[1]);
  if (!number)
    return false;
  if (key == "timing")
    out.timing = *number != 0;
  else if (key == "code")
    out.code = *number != 0;
  else if (key == "max-launches")
    out.maxLaunches = *number;
  else if (key == "max-log-bytes")
    out.maxLogBytes = *number;
  else if (key == "max-snapshot-bytes")
    out.maxSnapshotBytes = *number;
  else if (key == "depth")
    out.depth = unsigned(std::min<std::uint64_t>(*number, 8));
  else if (key == "wait-seconds")
    out.waitSeconds = double(*number);
  else
    return false;
  return true;
}

} // namespace

bool parseConfig(std::string_view text, Config &out, std::string &why) {
  std::size_t number = 0;
  for (const std::string_view line : protocol::split(text, '\n')) {
    ++number;
    const std::vector<std::string_view> words = wordsOf(line);
    if (words.empty() || parseLine(words, out))
      continue;
    why = "line " + std::to_string(number) + ": '" + std::string(line) +
          "' is not a setting of the capture library";
    return false;
  }
  if (out.trace.empty()) {
    why = "the folder for the trace is missing";
    return false;
  }
  return true;
}

bool namesKernel(const std::string &name, const std::string &symbol) {
  if (name == symbol)
    return true;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !demangled)
    return false;
  // "void ns::scale<float, 4>(float*)": the name ends at the first < or ( outside of "(anonymous
  // namespace)".
  std::string text = demangled.get();
  static const std::string kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = text.find(kAnonymous); at != text.npos; at = text.find(kAnonymous))
    text.erase(at, kAnonymous.size());
  text.resize(std::min(text.find_first_of("<("), text.size()));
  if (const std::size_t blank = text.rfind(' '); blank != text.npos)
    text.erase(0, blank + 1);
  return text == name || (text.size() > name.size() + 2 && text.ends_with("::" + name));
}

} // namespace kopt::runtime::capture
