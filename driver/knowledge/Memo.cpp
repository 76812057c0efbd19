// SPDX-License-Identifier: Apache-2.0
#include "driver/knowledge/Memo.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <tuple>

namespace kopt {
namespace {

using Rows = std::vector<const Experience *>;

/// "unroll (unroll 4)".
std::string nameOf(const Experience &row) {
  const std::string variant = row.variant.value_or("");
  return row.technique + (variant.empty() ? "" : " (" + variant + ")");
}

/// The techniques of the version, its own last. One that was recalled has its line in the run that
/// found it.
Rows chainOf(const Experience *version, const Rows &rows) {
  Rows chain;
  while (version && chain.size() < rows.size()) {
    for (const Experience *row : rows)
      if (row->candidate == version->candidate && version->parent.empty())
        version = row;
    chain.insert(chain.begin(), version);
    const auto parent = std::ranges::find(rows, version->parent, &Experience::candidate);
    version = parent == rows.end() ? nullptr : *parent;
  }
  return chain;
}

/// What trials of a technique came to that the fastest version has not.
std::string lineOf(const Rows &tried) {
  const Experience *best = tried.front();
  std::size_t open = 0;
  std::map<std::string, std::size_t> failures;
  for (const Experience *row : tried) {
    open += row->verdict == Verdict::Ambiguous;
    if (!row->overParent)
      ++failures[fmt::format("{} ({})", toString(row->verdict), row->decidedBy.value_or("?"))];
    else if (!best->overParent || row->overParent->estimate > best->overParent->estimate)
      best = row;
  }
  std::vector<std::string> parts;
  if (best->overParent)
    parts.push_back(fmt::format("{:.3f}x at best", std::exp(best->overParent->estimate)));
  if (open > 0)
    parts.push_back(fmt::format("{} not decided", open));
  for (const auto &[how, count] : failures)
    parts.push_back(fmt::format("{} {}", count, how));
  const bool isPending = open > 0 || (best->overParent && best->overParent->low > 0);
  return fmt::format("{}: {}: {}, in {}", isPending ? "pending" : "avoid", nameOf(*best),
                     join(parts, ", "), counted(tried.size(), "trial", "trials"));
}

} // namespace

std::vector<Memo> memosOf(const std::vector<Remembered> &rows) {
  std::map<std::tuple<std::string, std::string, bool>, Rows> kernels;
  for (const auto &[id, row, isOwn, sources, edits] : rows)
    kernels[{row.kernel.name, row.from.program, row.arch == kEmulatedArch}].push_back(&row);
  std::vector<Memo> memos;
  for (const auto &[key, all] : kernels) {
    const Experience &fastest = **std::ranges::max_element(all, {}, [](const Experience *row) {
      return std::tuple(row->verdict == Verdict::Faster, row->purpose == Purpose::Confirmation,
                        row->overBaseline ? row->overBaseline->estimate : 0);
    });
    Memo memo{fastest.kernel.name, fastest.from.program, fastest.arch, all.size(), {}};
    std::map<std::string, Rows> techniques;
    for (const Experience *row : all)
      techniques[row->technique].push_back(row);
    if (fastest.verdict == Verdict::Faster) {
      std::vector<std::string> names;
      for (const Experience *each : chainOf(&fastest, all)) {
        techniques.erase(each->technique);
        names.push_back(nameOf(*each));
      }
      memo.lines.push_back(fmt::format(
          "resolved: {}: {:.3f}x{}", join(names, ", "), std::exp(fastest.overBaseline->estimate),
          fastest.purpose == Purpose::Confirmation ? "" : ", not confirmed"));
    }
    const std::size_t resolved = memo.lines.size();
    for (const auto &[technique, tried] : techniques)
      memo.lines.push_back(lineOf(tried));
    std::ranges::stable_partition(memo.lines.begin() + std::ptrdiff_t(resolved), memo.lines.end(),
                                  [](const auto &line) { return line.starts_with("pending"); });
    memos.push_back(std::move(memo));
  }
  return memos;
}

} // namespace kopt
