// SPDX-License-Identifier: Apache-2.0
// Patches that were mailed and perhaps edited since, the diffs kopt itself makes, and byte-range
// edits.
#include "driver/integrate/patch/Patch.h"
#include "driver/integrate/patch/UnifiedDiff.h"
#include "driver/source/SourceEdits.h"
#include "tests/fuzz/Fuzz.h"

using namespace kopt;
using kopt::fuzz::require;

namespace {

/// A patch, then perhaps the text it is to be applied to.
void patches(std::string_view input) {
  const std::vector<std::string> parts = kopt::fuzz::sections(input);
  const std::filesystem::path root = kopt::fuzz::scratch().path() / "project";
  std::filesystem::create_directories(root);
  const std::string text = parts.size() > 1 ? parts[1] : "one\ntwo\nthree\n";
  const auto patch = parsePatch(parts[0], root);
  if (!patch)
    return;
  require(!patch->files.empty(), "a patch changes a file");
  const auto again = parseDiffs(patch->text());
  require(again.has_value(), "a written patch can be read");
  std::string rewritten;
  for (const FileDiff &diff : *again)
    rewritten += formatDiff(diff);
  require(rewritten == patch->text(), "a patch is read as it was written");
  for (const FileDiff &diff : patch->files) {
    const auto after = applyDiff(text, diff);
    if (!after)
      continue;
    const auto before = applyDiff(*after, invertDiff(diff));
    require(!before || *before == text, "the inverse takes the change back");
  }
  // Nothing is written, and only files of the project are ever looked at.
  const auto applied = applyPatch(*patch, /*checkOnly=*/true);
  if (applied)
    for (const AppliedFile &file : *applied)
      require(std::filesystem::weakly_canonical(file.file).string().rfind(
                  std::filesystem::canonical(root).string() + "/", 0) == 0,
              "a patch stays in its project");
}

/// Two texts.
void differences(std::string_view input) {
  const std::vector<std::string> parts = kopt::fuzz::sections(input);
  const std::string &before = parts[0], after = parts.size() > 1 ? parts[1] : "";
  const FileDiff diff = diffTexts("a folder/\xc3\xa9.cu", before, after);
  const std::string text = formatDiff(diff);
  require(text.empty() == (before == after), "equal texts have no diff");
  if (text.empty())
    return;
  const auto read = parseDiffs(text);
  require(read && read->size() == 1 && read->front().path == diff.path,
          "a written diff can be read");
  const auto forth = applyDiff(before, read->front());
  require(forth && *forth == after, "the diff makes the change");
  const auto back = applyDiff(after, invertDiff(read->front()));
  require(back && *back == before, "its inverse takes it back");
}

/// A text, then edits: begin, end and new text of each in a section of its own.
void edits(std::string_view input) {
  const std::vector<std::string> parts = kopt::fuzz::sections(input);
  std::vector<SourceEdit> list;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    char *rest = nullptr;
    const std::uint64_t begin = std::strtoull(parts[i].c_str(), &rest, 10),
                        end = std::strtoull(rest, &rest, 10);
    list.push_back({{"f", begin, end}, rest});
  }
  const auto files = editsByFile(list);
  if (!files)
    return;
  for (const auto &[file, sorted] : *files) {
    std::uint64_t at = 0;
    std::size_t size = parts[0].size();
    for (const SourceEdit &edit : sorted) {
      require(edit.range.begin >= at && edit.range.end >= edit.range.begin,
              "edits are in order and do not overlap");
      at = edit.range.end;
      size += edit.text.size() - (edit.range.end - edit.range.begin);
    }
    const auto made = applyEdits(parts[0], sorted);
    require(made.has_value() == (at <= parts[0].size()), "edits are made where they fit");
    require(!made || made->size() == size, "exactly the ranges are replaced");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  std::string_view input = kopt::fuzz::textOf(data, size);
  switch (kopt::fuzz::takeChoice(input, 3)) {
  case 0:
    patches(input);
    break;
  case 1:
    differences(input);
    break;
  default:
    edits(input);
  }
  return 0;
}
