// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/compose/Compose.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// The first edit of `win` that clashes with an edit of `kept`, or null.
const SourceEdit *clashingEdit(const Win &win, const Win &kept) {
  for (const SourceEdit &edit : win.edits)
    for (const SourceEdit &other : kept.edits)
      if (clash(edit, other))
        return &edit;
  return nullptr;
}

} // namespace

std::string Win::place() const { return placeOf(subject->kernel); }

bool clash(const SourceEdit &a, const SourceEdit &b) {
  const SourceRange &x = a.range, &y = b.range;
  if (x.file != y.file || (x == y && a.text == b.text))
    return false;
  // An insertion clashes with an edit that replaces the text on both of its sides, never with
  // another insertion.
  return x.begin < y.end && y.begin < x.end;
}

bool haveOtherOptions(const Win &win, const Win &kept) {
  const auto &own = win.candidate().options, &theirs = kept.candidate().options;
  return own && theirs && own != theirs && win.subject->kernel.unit == kept.subject->kernel.unit;
}

Composition composeWins(std::vector<Win> wins) {
  std::stable_sort(wins.begin(), wins.end(),
                   [](const Win &a, const Win &b) { return a.savedSeconds > b.savedSeconds; });
  Composition composition;
  for (Win &win : wins) {
    const Win *better = nullptr;
    const SourceEdit *edit = nullptr;
    for (const Win &kept : composition.wins)
      if (!better && ((edit = clashingEdit(win, kept)) || haveOtherOptions(win, kept)))
        better = &kept;
    if (!better) {
      composition.wins.push_back(std::move(win));
      continue;
    }
    std::string reason = fmt::format(
        "it {} the win of '{}' ({}), which saves more of the program's time",
        edit ? fmt::format("changes the same text of {} (bytes {} to {}) as", edit->range.file,
                           edit->range.begin, edit->range.end)
             : fmt::format("compiles {} with other options ({}) than", win.subject->kernel.unit,
                           kopt::join(win.candidate().options->flags(), " ")),
        better->subject->label, better->place());
    composition.dropped.push_back({std::move(win), std::move(reason)});
  }
  return composition;
}

std::vector<SourceEdit> editsOf(const std::vector<Win> &wins) {
  std::vector<SourceEdit> all;
  for (const Win &win : wins)
    all.insert(all.end(), win.edits.begin(), win.edits.end());
  return all;
}

} // namespace kopt
