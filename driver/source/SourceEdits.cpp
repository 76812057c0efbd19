// SPDX-License-Identifier: Apache-2.0
#include "driver/source/SourceEdits.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace kopt {

namespace {

bool sameEdit(const SourceEdit &a, const SourceEdit &b) {
  return a.range.begin == b.range.begin && a.range.end == b.range.end && a.text == b.text;
}

/// An insertion comes before a replacement that begins at the same byte, because its `end` is
/// smaller.
bool precedes(const SourceEdit &a, const SourceEdit &b) {
  return std::pair(a.range.begin, a.range.end) < std::pair(b.range.begin, b.range.end);
}

} // namespace

Result<std::map<std::string, std::vector<SourceEdit>>>
editsByFile(const std::vector<SourceEdit> &edits) {
  std::map<std::string, std::vector<SourceEdit>> files;
  for (const SourceEdit &edit : edits) {
    if (edit.range.begin > edit.range.end)
      return makeError(ErrorCode::Internal,
                       fmt::format("an edit's range ends at byte {} before it begins at byte {}",
                                   edit.range.end, edit.range.begin),
                       {}, edit.range.file);
    auto &list = files[edit.range.file];
    if (std::ranges::none_of(list, [&](const SourceEdit &other) { return sameEdit(edit, other); }))
      list.insert(std::ranges::upper_bound(list, edit, precedes), edit);
  }
  for (auto &[file, list] : files) {
    for (std::size_t i = 1; i < list.size(); ++i) {
      const SourceRange &before = list[i - 1].range, &after = list[i].range;
      if (before.end > after.begin)
        return makeError(ErrorCode::Internal,
                         fmt::format("two edits overlap: bytes {} to {} and bytes {} to {}",
                                     before.begin, before.end, after.begin, after.end),
                         {}, file);
    }
  }
  return files;
}

Result<std::string> applyEdits(std::string_view text, const std::vector<SourceEdit> &edits) {
  std::string result;
  std::uint64_t copied = 0;
  for (const SourceEdit &edit : edits) {
    if (edit.range.end > text.size() || edit.range.begin < copied ||
        edit.range.begin > edit.range.end)
      return makeError(ErrorCode::StaleInput,
                       fmt::format("an edit of bytes {} to {} does not fit a text of {} bytes",
                                   edit.range.begin, edit.range.end, text.size()),
                       "run kopt tune again on the file as it is now", edit.range.file);
    result.append(text.substr(copied, edit.range.begin - copied));
    result.append(edit.text);
    copied = edit.range.end;
  }
  result.append(text.substr(copied));
  return result;
}

} // namespace kopt
