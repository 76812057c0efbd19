// SPDX-License-Identifier: Apache-2.0
#include "driver/source/candidate/HostChanges.h"

#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>
#include <set>
#include <vector>

namespace kopt {
namespace {

using Items = std::map<std::pair<HostKind, std::string>, std::vector<const HostItem *>>;

constexpr std::size_t kMostShown = 100; ///< most characters of a statement in a message

bool isDeviceCode(ChunkRole role) {
  return role != ChunkRole::Include && role != ChunkRole::Instantiation && role != ChunkRole::Other;
}

/// The text that a candidate may change, or that the judge treats as a constant.
class DeviceText {
public:
  explicit DeviceText(const ExtractionResult &extraction) {
    for (const KernelSpec &kernel : extraction.kernels) {
      for (const Specialization &specialization : kernel.specializations)
        for (const SliceChunk &chunk : specialization.chunks)
          if (isDeviceCode(chunk.role))
            ranges_.push_back(chunk.source);
      for (const NamedConstant &constant : kernel.constants)
        if (constant.usedByKernel || constant.usedByLaunch)
          constants_.push_back(constant.valueRange);
    }
  }

  bool has(const HostItem &item) const {
    return std::ranges::any_of(ranges_,
                               [&](const SourceRange &range) {
                                 return range.file == item.file && range.begin <= item.begin &&
                                        item.end <= range.end;
                               }) ||
           (item.kind != HostKind::Function &&
            std::ranges::any_of(constants_, [&](const SourceRange &range) {
              return range.file == item.file && item.begin <= range.begin && range.end <= item.end;
            }));
  }

  /// The file without device text and white space.
  std::string without(const std::string &file) const {
    const Result<std::string> text = readFile(file);
    std::string rest = text ? *text : std::string();
    for (const SourceRange &range : ranges_)
      if (range.file == file && range.end <= rest.size())
        std::fill(rest.begin() + std::ptrdiff_t(range.begin),
                  rest.begin() + std::ptrdiff_t(range.end), ' ');
    std::erase_if(rest, [](unsigned char c) { return std::isspace(c); });
    return rest;
  }

private:
  std::vector<SourceRange> ranges_, constants_;
};

Items itemsOf(const HostText &text) {
  Items items;
  for (const HostItem &item : text.items)
    items[{item.kind, item.name}].push_back(&item);
  return items;
}

/// True if the statements are the same; a constant may be declared elsewhere or have another name.
bool sameStatement(const HostStatement &a, const HostStatement &b) {
  const auto valuesOf = [](const HostStatement &statement) -> const std::string & {
    return statement.values.empty() ? statement.text : statement.values;
  };
  return a.text == b.text || valuesOf(a) == valuesOf(b);
}

bool sameText(const HostItem &a, const HostItem &b) {
  return std::ranges::equal(a.text, b.text, sameStatement);
}

/// The words of the host code, and of the macros that it uses.
std::set<std::string> wordsOf(const HostText &text) {
  const auto addWords = [](const HostItem &item, std::set<std::string> &words) {
    for (const HostStatement &statement : item.text)
      for (const std::string &word : split(statement.text, ' '))
        words.insert(word);
  };
  std::set<std::string> words;
  for (const HostItem &item : text.items)
    if (item.kind != HostKind::Macro)
      addWords(item, words);
  for (std::size_t before = 0; before != words.size();) {
    before = words.size();
    for (const HostItem &item : text.items)
      if (item.kind == HostKind::Macro && words.contains(item.name))
        addWords(item, words);
  }
  return words;
}

std::string shown(const HostStatement &statement) {
  const std::string &text = statement.text;
  return text.size() <= kMostShown ? "'" + text + "'" : "'" + text.substr(0, kMostShown) + " ...'";
}

std::string placeOf(const HostItem &item, unsigned line) {
  return fmt::format("{}:{}", item.file, line ? line : item.line);
}

/// Describes the first difference between the texts, with both places.
std::string difference(const HostItem &before, const HostItem &after) {
  const auto &was = before.text, &is = after.text;
  std::size_t i = 0;
  while (i < was.size() && i < is.size() && sameStatement(was[i], is[i]))
    ++i;
  const auto at = [](const std::vector<HostStatement> &list, std::size_t index) {
    return index < list.size() ? &list[index] : nullptr;
  };
  const HostStatement *old = at(was, i), *now = at(is, i);
  const HostStatement *oldNext = at(was, i + 1), *nowNext = at(is, i + 1);
  const std::string in = fmt::format("in '{}'", after.name);
  if (now && (!old || (nowNext && nowNext->text == old->text)))
    return fmt::format("{}: {} the candidate adds {}", placeOf(after, now->line), in, shown(*now));
  if (old && (!now || (oldNext && oldNext->text == now->text)))
    return fmt::format("{}: {} the candidate leaves out {} ({})",
                       placeOf(after, now ? now->line : 0), in, shown(*old),
                       placeOf(before, old->line));
  return fmt::format("{}: {} the candidate has {} in place of {} ({})", placeOf(after, now->line),
                     in, shown(*now), shown(*old), placeOf(before, old->line));
}

std::string refusal(const std::string &what) {
  return what + ": kopt takes no host code from a candidate except the kernel's launches and what "
                "only feeds them; leave it as it is in the original";
}

} // namespace

std::optional<std::string> hostChange(const HostText &before, const ExtractionResult &original,
                                      const HostText &after, const ExtractionResult &changed) {
  const DeviceText device(original), newDevice(changed);
  const Items known = itemsOf(before);
  std::set<std::string> words = wordsOf(before);
  words.merge(wordsOf(after));
  std::map<std::pair<HostKind, std::string>, std::size_t> seen;
  for (const HostItem &item : after.items) {
    const std::size_t nth = seen[{item.kind, item.name}]++;
    const auto same = known.find({item.kind, item.name});
    const HostItem *old =
        same != known.end() && nth < same->second.size() ? same->second[nth] : nullptr;
    if (newDevice.has(item) || (old && device.has(*old)))
      continue;
    if (!old && item.kind == HostKind::Function && item.launches)
      return refusal(
          fmt::format("{}: '{}' launches the kernel, but the original has no such function",
                      placeOf(item, 0), item.name));
    if (!old || sameText(*old, item) ||
        (item.kind == HostKind::Macro && !words.contains(item.name)))
      continue;
    return refusal(difference(*old, item));
  }
  return std::nullopt;
}

bool sameOutsideKernels(const std::string &originalFile, const ExtractionResult &original,
                        const std::string &changedFile, const ExtractionResult &changed) {
  return DeviceText(original).without(originalFile) == DeviceText(changed).without(changedFile);
}

} // namespace kopt
