// SPDX-License-Identifier: Apache-2.0
// Edits as a database holds them, the diffs kopt makes, and byte-range edits.
#include "driver/integrate/patch/Patch.h"
#include "driver/source/SourceEdits.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"
#include "driver/support/UnifiedDiff.h"
#include "tests/fuzz/Fuzz.h"

using namespace kopt;
using kopt::fuzz::require;

namespace {

/// Begin, end and new text of each edit, in a section of its own.
std::vector<SourceEdit> editsOf(const std::vector<std::string> &parts, std::size_t first,
                                const std::string &file) {
  std::vector<SourceEdit> list;
  for (std::size_t i = first; i < parts.size(); ++i) {
    char *rest = nullptr;
    const std::uint64_t begin = std::strtoull(parts[i].c_str(), &rest, 10),
                        end = std::strtoull(rest, &rest, 10);
    list.push_back({{file, begin, end}, rest});
  }
  return list;
}

/// A path, the text of the file a.cu, then edits of the path as they might stand in a database.
void stored(std::string_view input) {
  const std::vector<std::string> parts = kopt::fuzz::sections(input);
  const std::filesystem::path root = kopt::fuzz::scratch().path() / "project";
  const std::string text = parts.size() > 1 ? parts[1] : "";
  require(writeFileAtomically(root / "a.cu", text).has_value(), "a file can be written");
  FileEdits file{parts[0], hashHex(text), "", editsOf(parts, 2, parts[0])};
  const auto made = applyEdits(text, file.edits);
  if (made)
    file.resultHash = hashHex(*made);
  const auto applied = applyPatch({file}, root);
  const auto now = readFile(root / "a.cu");
  require(now && *now == (applied && made ? *made : text), "all of the edits are made, or none");
  if (!applied)
    return;
  require(made.has_value(), "edits that do not fit are refused");
  for (const AppliedFile &changed : *applied)
    require(std::filesystem::weakly_canonical(changed.file) ==
                std::filesystem::canonical(root / "a.cu"),
            "only files of the project are changed");
}

/// Two texts.
void differences(std::string_view input) {
  const std::vector<std::string> parts = kopt::fuzz::sections(input);
  const std::string &before = parts[0], after = parts.size() > 1 ? parts[1] : "";
  const FileDiff diff = diffTexts("a folder/\xc3\xa9.cu", before, after);
  require(formatDiff(diff).empty() == (before == after), "equal texts have no diff");
  std::size_t removed = 0, added = 0;
  for (const DiffHunk &hunk : diff.hunks)
    for (const DiffLine &line : hunk.lines) {
      require(line.kind == '+' || before.find(line.text) != before.npos, "old lines are old");
      require(line.kind == '-' || after.find(line.text) != after.npos, "new lines are new");
      removed += line.kind == '-' ? line.text.size() : 0;
      added += line.kind == '+' ? line.text.size() : 0;
    }
  require(before.size() - removed + added == after.size(), "the diff makes the change");
}

/// A text, then edits: begin, end and new text of each in a section of its own.
void edits(std::string_view input) {
  const std::vector<std::string> parts = kopt::fuzz::sections(input);
  const auto files = editsByFile(editsOf(parts, 1, "f"));
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
    stored(input);
    break;
  case 1:
    differences(input);
    break;
  default:
    edits(input);
  }
  return 0;
}
