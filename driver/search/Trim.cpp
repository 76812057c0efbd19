// SPDX-License-Identifier: Apache-2.0
#include "driver/search/Trim.h"

#include "driver/model/Json.h"
#include "driver/search/Confirmation.h"
#include "driver/support/Text.h"
#include "driver/support/UnifiedDiff.h"
#include "driver/workload/ApplyCandidate.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

/// A loss below this is too small for the sample sizes of a search, so the edit is not worth
/// keeping.
constexpr double kNoLoss = 1.002;

struct LineRun {
  std::size_t begin = 0, end = 0; ///< lines of the new text, from 0
  std::string removed;            ///< the baseline's lines at that place
};

/// The runs of changed lines between two texts of a chunk, in order.
std::vector<LineRun> changedRuns(const std::string &before, const std::string &after) {
  std::vector<LineRun> runs;
  for (const DiffHunk &hunk : diffTexts("", before, after).hunks) {
    std::size_t line = hunk.newStart;
    bool isOpen = false;
    for (const DiffLine &each : hunk.lines) {
      if (each.kind == ' ') {
        isOpen = false;
        ++line;
        continue;
      }
      if (!isOpen)
        runs.push_back({line, line, ""});
      isOpen = true;
      if (each.kind == '-')
        runs.back().removed += each.text;
      else
        runs.back().end = ++line;
    }
  }
  return runs;
}

std::string withoutRun(const std::string &text, const LineRun &run) {
  std::string result;
  std::size_t line = 0, at = 0;
  while (true) {
    if (line == run.begin)
      result += run.removed;
    if (at >= text.size())
      return result;
    const std::size_t newline = text.find('\n', at);
    const std::size_t next = newline == text.npos ? text.size() : newline + 1;
    if (line < run.begin || line >= run.end)
      result += text.substr(at, next - at);
    at = next;
    ++line;
  }
}

/// False for a change that takes only one of two braces, such as the line with a condition around
/// statements: it does not compile.
bool staysBalanced(const std::string &text, const std::string &changed) {
  const auto open = [](const std::string &in) {
    return std::ranges::count(in, '{') - std::ranges::count(in, '}');
  };
  return open(changed) == open(text);
}

/// True if the run only indents the baseline's lines in another way, for a block around them.
bool onlyIndents(const std::string &text, const LineRun &run) {
  std::vector<std::string> lines = split(text, '\n'), removed = split(run.removed, '\n');
  lines = {lines.begin() + std::ptrdiff_t(run.begin), lines.begin() + std::ptrdiff_t(run.end)};
  if (!removed.empty() && removed.back().empty())
    removed.pop_back();
  return std::ranges::equal(
      lines, removed, {}, [](const std::string &line) { return trim(line); },
      [](const std::string &line) { return trim(line); });
}

std::string nameOf(const SliceChunk &chunk) {
  return chunk.name.empty() ? "a declaration" : chunk.name + "()";
}

bool isSet(const LaunchOverride &launch) { return toJson(launch) != toJson(LaunchOverride()); }

/// The reduced candidate with its own title: the original title, and everything that was removed.
Candidate named(Candidate candidate, bool isFirst, const std::string &title,
                const std::string &parent) {
  candidate.title += (isFirst ? ", without " : ", ") + title;
  candidate.parents = {parent};
  candidate.expects.reset();
  return candidate;
}

/// True if both have the same machine code and the same launches.
bool isTheSame(const SearchProblem &problem, const Trial &one, const Trial &other) {
  const auto runsAlike = [&](const Launch &launch) {
    const auto first = applyToLaunch(problem.kernel, launch, one.candidate);
    const auto second = applyToLaunch(problem.kernel, launch, other.candidate);
    return first && second && first->grid == second->grid && first->block == second->block &&
           first->sharedBytes == second->sharedBytes;
  };
  return !one.moduleHash.empty() && one.moduleHash == other.moduleHash &&
         std::ranges::all_of(problem.workload.launches, runsAlike);
}

} // namespace

std::vector<CandidateEdit> editsOf(const Candidate &candidate, const Specialization &specialization,
                                   const std::string &sliceText) {
  std::vector<CandidateEdit> edits;
  const auto add = [&](std::string title, auto take) {
    CandidateEdit edit{std::move(title), candidate};
    take(edit.without);
    edits.push_back(std::move(edit));
  };
  for (const auto &[name, value] : candidate.constants)
    add(fmt::format("{} = {}", name, value), [&](Candidate &rest) { rest.constants.erase(name); });
  if (isSet(candidate.launch))
    add("the launch", [](Candidate &rest) { rest.launch = {}; });
  if (candidate.options)
    add("the compiler's options", [](Candidate &rest) { rest.options.reset(); });
  std::size_t whole = edits.size(); // edits that are not a part of another one
  for (const auto &[index, text] : candidate.chunks) {
    const SliceChunk &chunk = specialization.chunks[index];
    const std::string before =
        sliceText.substr(chunk.sliceBegin, chunk.sliceEnd - chunk.sliceBegin);
    const std::vector<LineRun> runs = changedRuns(before, text);
    add("the change of " + nameOf(chunk), [&](Candidate &rest) { rest.chunks.erase(index); });
    ++whole;
    for (const LineRun &run : runs)
      if (runs.size() > 1 && !onlyIndents(text, run) && staysBalanced(text, withoutRun(text, run)))
        add(run.begin + 1 >= run.end
                ? fmt::format("line {} of {}", run.begin + 1, nameOf(chunk))
                : fmt::format("lines {} to {} of {}", run.begin + 1, run.end, nameOf(chunk)),
            [&](Candidate &rest) { rest.chunks[index] = withoutRun(text, run); });
  }
  for (std::size_t i = 0; i < candidate.declarations.size(); ++i)
    add(fmt::format("an added declaration ({})", i + 1), [&](Candidate &rest) {
      rest.declarations.erase(rest.declarations.begin() + std::ptrdiff_t(i));
    });
  for (std::size_t i = 0; i < candidate.includes.size(); ++i)
    add("#include " + candidate.includes[i].header,
        [&](Candidate &rest) { rest.includes.erase(rest.includes.begin() + std::ptrdiff_t(i)); });
  if (whole == 1) // without it the candidate would be the baseline
    edits.erase(edits.begin());
  return edits;
}

Result<std::optional<Trial>> trimWinner(const SearchProblem &problem, const Trial &winner,
                                        int round, Judge &judge, Journal &journal,
                                        const std::function<bool()> &isTimeUp) {
  std::optional<Trial> trimmed;
  std::set<std::string> tried;
  const auto nextEdit = [&](const Candidate &candidate) -> std::optional<CandidateEdit> {
    for (CandidateEdit &edit : editsOf(candidate, problem.specialization, problem.sliceText))
      if (tried.insert(edit.without.contentHash()).second)
        return std::move(edit);
    return std::nullopt;
  };
  for (int tries = 0; tries < kMostTrims && !(isTimeUp && isTimeUp()); ++tries) {
    const Trial &best = trimmed ? *trimmed : winner;
    const auto edit = nextEdit(best.candidate);
    if (!edit)
      break;
    KOPT_TRY(Trial rest,
             judge.judge(named(edit->without, !trimmed, edit->title, best.candidateHash),
                         Purpose::Search));
    if (rest.verdict == Verdict::Duplicate && isTheSame(problem, best, rest)) {
      Trial equal = best;
      equal.id = rest.id;
      equal.candidate = std::move(rest.candidate);
      equal.candidateHash = std::move(rest.candidateHash);
      trimmed = std::move(equal);
      continue;
    }
    if (rest.verdict != Verdict::Faster || !rest.speedup)
      continue;
    KOPT_TRY(const auto loss, compareTrials(best, rest, round, judge, journal));
    if (loss && loss->low <= 1 && loss->estimate < kNoLoss)
      trimmed = std::move(rest);
  }
  return trimmed;
}

} // namespace kopt
