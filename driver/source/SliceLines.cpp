// SPDX-License-Identifier: Apache-2.0
#include "driver/source/SliceLines.h"

#include "driver/source/SourceEdits.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>

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

Result<SliceLines> SliceLines::inPatchedFiles(const RenderedSlice &rendered,
                                              const KernelSpec &kernel,
                                              const Specialization &specialization,
                                              const Candidate &candidate) {
  KOPT_TRY(const std::vector<SourceEdit> edits, writeBackEdits(kernel, specialization, candidate));
  KOPT_TRY(auto byFile, editsByFile(edits));
  const std::string_view slice = rendered.text;
  SliceLines result;
  result.lines_.resize(linesBefore(slice, slice.size()) + 1);
  std::map<std::string, std::string> patched; // by path
  const auto patchedText = [&](const std::string &path) -> Result<const std::string *> {
    if (const auto known = patched.find(path); known != patched.end())
      return &known->second;
    KOPT_TRY(const std::string original, readFile(path));
    KOPT_TRY(std::string text, applyEdits(original, byFile[path]));
    return &patched.emplace(path, std::move(text)).first->second;
  };
  // Records where the text at `begin` of the slice is in the file.
  const auto note = [&](std::uint64_t begin, std::string_view text, const std::string &path,
                        std::string_view file, std::size_t offset) {
    const unsigned first = linesBefore(slice, begin), line = linesBefore(file, offset) + 1;
    for (unsigned i = 0; i <= linesBefore(text, text.size()); ++i)
      result.lines_[first + i] = {path, line + i};
  };
  for (std::size_t i = 0; i < rendered.chunks.size() && i < specialization.chunks.size(); ++i) {
    const SourceRange &source = specialization.chunks[i].source;
    const auto [begin, end] = rendered.chunks[i];
    if (source.file.empty() || begin >= end || end > slice.size())
      continue;
    const std::string_view chunk = slice.substr(begin, end - begin);
    KOPT_TRY(const std::string *file, patchedText(source.file));
    std::size_t offset = source.begin;
    for (const SourceEdit &edit : byFile[source.file])
      if (edit.range.end <= source.begin)
        offset += edit.text.size() - (edit.range.end - edit.range.begin);
    if (offset > file->size() || file->compare(offset, chunk.size(), chunk) != 0)
      offset = file->find(chunk);
    if (offset != std::string::npos)
      note(begin, chunk, source.file, *file, offset);
  }
  for (const auto &[begin, end] : rendered.declarations)
    for (const auto &[path, file] : patched) {
      if (begin >= end || end > slice.size())
        continue;
      const std::string_view declaration = slice.substr(begin, end - begin);
      if (const std::size_t offset = file.find(declaration); offset != std::string::npos)
        note(begin, declaration, path, file, offset);
    }
  return result;
}

void SliceLines::tell(HotLines &hot, std::string_view sliceText, std::string_view name) const {
  const std::vector<std::string> texts = split(sliceText, '\n');
  for (HotLine &line : hot.lines) {
    if (std::filesystem::path(line.file).filename() != name) {
      const auto whole = std::ranges::find(texts, "#line 1 \"" + line.file + "\"");
      if (std::ptrdiff_t(line.line) < texts.end() - whole)
        line.text = trim(whole[std::ptrdiff_t(line.line)]);
      continue;
    }
    if (line.line > 0 && line.line <= texts.size())
      line.text = trim(texts[line.line - 1]);
    const std::optional<UserLine> place = at(line.line);
    line.file = place ? place->file : "";
    line.line = place ? place->line : 0;
  }
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

std::string inUserLines(const Specialization &specialization, const std::string &sliceText,
                        std::string_view message) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (const SliceChunk &chunk : specialization.chunks)
    places.emplace_back(chunk.sliceBegin, chunk.sliceEnd);
  const auto lines = SliceLines::make(sliceText, places, specialization);
  return lines ? lines->tell(message) : std::string(message);
}

std::optional<UserLine> SliceLines::at(unsigned sliceLine) const {
  if (sliceLine == 0 || sliceLine > lines_.size() || lines_[sliceLine - 1].file.empty())
    return std::nullopt;
  return lines_[sliceLine - 1];
}

} // namespace kopt
