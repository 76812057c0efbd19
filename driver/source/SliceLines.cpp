// SPDX-License-Identifier: Apache-2.0
#include "driver/source/SliceLines.h"

#include "driver/support/FileSystem.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>

namespace kopt {
namespace {

unsigned linesBefore(std::string_view text, std::size_t offset) {
  return unsigned(
      std::count(text.begin(), text.begin() + std::ptrdiff_t(std::min(offset, text.size())), '\n'));
}

/// The ends of the pieces between blank lines of a text.
std::vector<std::size_t> pieceEnds(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t at = text.find("\n\n"); at != text.npos; at = text.find("\n\n", at + 1))
    ends.push_back(at);
  ends.push_back(text.size());
  return ends;
}

} // namespace

Result<SliceLines>
SliceLines::make(const std::string &text,
                 const std::vector<std::pair<std::uint64_t, std::uint64_t>> &places,
                 const Specialization &specialization, const std::string &candidate,
                 const std::vector<std::pair<std::uint64_t, std::uint64_t>> &declarations) {
  SliceLines result;
  result.lines_.resize(linesBefore(text, text.size()) + 1);
  std::map<std::string, std::string> files;
  const auto readOnce = [&](const std::string &path) -> Result<const std::string *> {
    if (const auto known = files.find(path); known != files.end())
      return &known->second;
    KOPT_TRY(std::string content, readFile(path));
    return &files.emplace(path, std::move(content)).first->second;
  };
  // Records that `count` lines of the slice from `first` are those of `file` from `line`.
  const auto note = [&](unsigned first, unsigned count, const std::string &file, unsigned line) {
    for (unsigned i = 0; i < count && first + i < result.lines_.size(); ++i)
      result.lines_[first + i] = {file, line + i};
  };
  const auto findInCandidate = [&](unsigned first, std::string_view chunk) -> Status {
    KOPT_TRY(const std::string *changed, readOnce(candidate));
    const std::vector<std::size_t> ends = pieceEnds(chunk);
    for (std::size_t at = 0; at < chunk.size();) {
      std::size_t next = chunk.size();
      for (auto stop = ends.rbegin(); stop != ends.rend() && *stop > at; ++stop) {
        next = *stop; // if nothing is found, the shortest piece is skipped
        const std::string_view piece = chunk.substr(at, *stop - at);
        if (const std::size_t found = changed->find(piece); found != std::string::npos) {
          note(first + linesBefore(chunk, at), linesBefore(piece, piece.size()) + 1, candidate,
               linesBefore(*changed, found) + 1);
          break;
        }
      }
      at = std::max(next, at + 1);
      while (at < chunk.size() && chunk[at] == '\n')
        ++at;
    }
    return {};
  };
  for (const auto &[begin, end] : declarations)
    if (!candidate.empty() && begin < end && end <= text.size())
      KOPT_CHECK(findInCandidate(linesBefore(text, begin),
                                 std::string_view(text).substr(begin, end - begin)));
  for (std::size_t i = 0; i < places.size() && i < specialization.chunks.size(); ++i) {
    const SourceRange &source = specialization.chunks[i].source;
    const auto [begin, end] = places[i];
    if (source.file.empty() || begin >= end || end > text.size())
      continue;
    const std::string_view chunk = std::string_view(text).substr(begin, end - begin);
    const unsigned first = linesBefore(text, begin);
    KOPT_TRY(const std::string *original, readOnce(source.file));
    const bool isInside = source.begin <= source.end && source.end <= original->size();
    const std::string_view before =
        isInside ? std::string_view(*original).substr(source.begin, source.end - source.begin)
                 : std::string_view();
    // New values of constants do not change the number of lines.
    const bool sameLines = linesBefore(before, before.size()) == linesBefore(chunk, chunk.size());
    if (isInside && (chunk == before || (candidate.empty() && sameLines))) {
      note(first, linesBefore(chunk, chunk.size()) + 1, source.file,
           linesBefore(*original, source.begin) + 1);
      continue;
    }
    if (!candidate.empty())
      KOPT_CHECK(findInCandidate(first, chunk));
  }
  return result;
}

std::string SliceLines::tell(std::string_view message) const {
  static constexpr std::string_view kSlice = "slice.cu";
  const auto nameOf = [&](const std::string &file) {
    const auto name = std::filesystem::path(file).filename();
    const bool isOnly = std::all_of(lines_.begin(), lines_.end(), [&](const UserLine &line) {
      return line.file.empty() || line.file == file ||
             std::filesystem::path(line.file).filename() != name;
    });
    return isOnly ? name.string() : file;
  };
  const auto isInName = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '/' ||
           c == '.';
  };
  std::string told;
  while (!message.empty()) {
    const std::size_t found = message.find(kSlice);
    const std::size_t mark =
        found == message.npos ? message.size() : found + kSlice.size(); // clang's ':' or nvcc's '('
    const std::size_t digits = std::min(mark + 1, message.size());
    const char before = found == message.npos ? '/'
                        : found > 0           ? message[found - 1]
                        : told.empty()        ? ' '
                                              : told.back();
    const bool isWhole = !isInName(before) && mark < message.size() &&
                         (message[mark] == ':' || message[mark] == '(');
    unsigned line = 0;
    const char *end =
        std::from_chars(message.data() + digits, message.data() + message.size(), line).ptr;
    const auto place = isWhole ? at(line) : std::nullopt;
    const std::size_t next = std::size_t(end - message.data());
    told += place ? std::string(message.substr(0, found)) + nameOf(place->file) + message[mark] +
                        std::to_string(place->line)
                  : std::string(message.substr(0, next));
    message.remove_prefix(next);
  }
  return told;
}

std::optional<UserLine> SliceLines::at(unsigned sliceLine) const {
  if (sliceLine == 0 || sliceLine > lines_.size() || lines_[sliceLine - 1].file.empty())
    return std::nullopt;
  return lines_[sliceLine - 1];
}

} // namespace kopt
