// SPDX-License-Identifier: Apache-2.0
#include "driver/support/MergeTexts.h"

#include "driver/support/UnifiedDiff.h"

#include <cctype>
#include <vector>

namespace kopt {
namespace {

/// Names and numbers, runs of blanks, and all other characters, each for itself.
std::vector<std::string_view> wordsOf(std::string_view text) {
  const auto kindOf = [&](std::size_t at) {
    const auto c = static_cast<unsigned char>(text[at]);
    return std::isalnum(c) || c == '_' ? 1 : std::isspace(c) ? 2 : 0;
  };
  std::vector<std::string_view> words;
  for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
    end = at + 1;
    while (kindOf(at) != 0 && end < text.size() && kindOf(end) == kindOf(at))
      ++end;
    words.push_back(text.substr(at, end - at));
  }
  return words;
}

/// What a change puts in the place of its words.
std::string_view newTextOf(const Change &change, const std::vector<std::string_view> &words) {
  if (change.newBegin == change.newEnd)
    return {};
  const std::string_view first = words[change.newBegin], last = words[change.newEnd - 1];
  return {first.data(), std::size_t(last.data() + last.size() - first.data())};
}

} // namespace

std::optional<std::string> mergeTexts(std::string_view base, std::string_view one,
                                      std::string_view other) {
  const std::vector<std::string_view> words = wordsOf(base);
  struct Side {
    std::vector<std::string_view> words;
    std::vector<Change> changes;
    std::size_t at = 0;

    explicit Side(std::string_view text, const std::vector<std::string_view> &former)
        : words(wordsOf(text)), changes(changesBetween(former, words)) {}
    const Change *next() const { return at < changes.size() ? &changes[at] : nullptr; }
  };
  Side sides[] = {Side(one, words), Side(other, words)};
  std::string merged;
  std::size_t done = 0; // words of the base
  const auto keepUntil = [&](std::size_t end) {
    for (; done < end; ++done)
      merged += words[done];
  };
  while (sides[0].next() || sides[1].next()) {
    const Change *mine = sides[0].next(), *others = sides[1].next();
    const bool isMine = mine && (!others || mine->oldBegin <= others->oldBegin);
    Side &first = sides[isMine ? 0 : 1], &second = sides[isMine ? 1 : 0];
    const Change &change = *first.next();
    const std::string_view text = newTextOf(change, first.words);
    if (const Change *near = second.next(); near && near->oldBegin <= change.oldEnd) {
      if (near->oldBegin != change.oldBegin || near->oldEnd != change.oldEnd ||
          newTextOf(*near, second.words) != text)
        return std::nullopt;
      ++second.at;
    }
    keepUntil(change.oldBegin);
    merged += text;
    done = change.oldEnd;
    ++first.at;
  }
  keepUntil(words.size());
  return merged;
}

} // namespace kopt
