// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/compose/OtherUsers.h"

#include "driver/integrate/compose/OwnSpecialization.h"
#include "driver/source/CandidateLaunch.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/UnifiedDiff.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace kopt {
namespace {

bool overlap(const SourceRange &a, const SourceRange &b) {
  return a.file == b.file && a.begin < b.end && b.begin < a.end;
}

/// The lines of a chunk that its new text changes; an insertion is an empty range. The whole chunk
/// if the slice does not hold it as the user's file does.
std::vector<SourceRange> changedLines(const SliceChunk &chunk, const std::string &sliceText,
                                      const std::string &text) {
  const SourceRange &whole = chunk.source;
  if (chunk.sliceEnd - chunk.sliceBegin != whole.end - whole.begin ||
      chunk.sliceEnd > sliceText.size())
    return {whole};
  const std::string_view before =
      std::string_view(sliceText).substr(chunk.sliceBegin, chunk.sliceEnd - chunk.sliceBegin);
  std::vector<std::uint64_t> starts{whole.begin}; // of the lines
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] == '\n')
      starts.push_back(whole.begin + i + 1);
  std::vector<SourceRange> changed;
  for (const DiffHunk &hunk : diffTexts("", before, text).hunks) {
    std::size_t line = hunk.oldStart;
    for (const DiffLine &one : hunk.lines) {
      if (one.kind != ' ') {
        const std::uint64_t at = line < starts.size() ? starts[line] : whole.end;
        changed.push_back({whole.file, at, at + (one.kind == '-' ? one.text.size() : 0)});
      }
      line += one.kind != '+';
    }
  }
  return changed;
}

/// The ranges of the user's files that the win changes. A chunk is replaced as a whole, but other
/// kernels may use a macro that is defined in it and stays the same.
std::vector<SourceRange> changedRanges(const Win &win) {
  const std::vector<SliceChunk> &chunks = win.subject->specialization.chunks;
  std::vector<SourceRange> changed;
  for (const SourceEdit &edit : win.edits) {
    const auto chunk = std::ranges::find(chunks, edit.range, &SliceChunk::source);
    if (chunk == chunks.end() || edit.range.begin == edit.range.end)
      changed.push_back(edit.range);
    else
      std::ranges::copy(changedLines(*chunk, win.subject->sliceText, edit.text),
                        std::back_inserter(changed));
  }
  return changed;
}

/// An insertion at the beginning or end of a range is outside of it.
bool touchesAny(const std::vector<SourceRange> &changed, const SourceRange &range) {
  return std::ranges::any_of(changed, [&](const SourceRange &one) { return overlap(one, range); });
}

bool touchesAny(const std::vector<SourceRange> &changed, const std::optional<SourceRange> &range) {
  return range && touchesAny(changed, *range);
}

bool isUserText(const SliceChunk &chunk) {
  return chunk.role != ChunkRole::Instantiation && chunk.role != ChunkRole::Include &&
         !chunk.source.file.empty();
}

bool changesLaunch(const LaunchOverride &launch) {
  return launch.changesGeometry() || launch.largeShared;
}

const LaunchSite *siteOf(const KernelSpec &kernel, const std::string &symbol) {
  for (const LaunchSite &site : kernel.launches)
    if (site.symbol == symbol)
      return &site;
  return nullptr;
}

/// Collects what the win changes in one other instantiation.
class Look {
public:
  Look(const Win &win, const KernelSpec &kernel, const Specialization &specialization)
      : win_(win), kernel_(kernel), specialization_(specialization), changed_(changedRanges(win)) {}

  std::optional<OtherUser> take() {
    lookAtText();
    lookAtConstants();
    lookAtTemplateArguments();
    lookAtLaunches();
    if (parts_.empty())
      return std::nullopt;
    OtherUser user;
    user.kernel = &kernel_;
    user.specialization = &specialization_;
    user.label = specialization_.expression.empty() ? kernel_.name : specialization_.expression;
    const LaunchSite *site = siteOf(kernel_, specialization_.symbol);
    user.place = site ? placeOf(*site) : placeOf(kernel_);
    for (const std::string &part : parts_)
      user.what += (user.what.empty() ? "" : ", ") + part;
    user.onlyKernel = onlyKernel_;
    user.notJudged = notJudged_;
    return user;
  }

private:
  void add(std::string part, bool isKernels) {
    if (std::find(parts_.begin(), parts_.end(), part) == parts_.end())
      parts_.push_back(std::move(part));
    onlyKernel_ &= isKernels;
  }

  void lookAtText() {
    const auto &own = win_.subject->specialization;
    for (const SliceChunk &chunk : specialization_.chunks)
      if (isUserText(chunk) && touchesAny(changed_, chunk.source)) {
        const bool isKernel = own.kernelChunk < own.chunks.size() &&
                              own.chunks[own.kernelChunk].source == chunk.source;
        add(fmt::format("the text of '{}'", chunk.name), isKernel);
      }
  }

  void lookAtConstants() {
    for (const NamedConstant &constant : constantsInScope(kernel_, specialization_))
      if (touchesAny(changed_, constant.valueRange))
        add(fmt::format("the constant '{}'", constant.name), false);
  }

  void lookAtTemplateArguments() {
    for (const TemplateArg &argument : specialization_.templateArgs)
      if (touchesAny(changed_, argument.range)) {
        add(fmt::format("the template argument '{}'", argument.name), false);
        notJudged_ = "its template argument is spelled at the same place as the win's";
      }
  }

  void lookAtLaunches() {
    if (win_.ownSpecialization)
      return;
    for (LaunchSite site : kernel_.launches) {
      if (site.blockRange)
        ++site.blockRange->end; // where a launch gets another argument
      if (site.symbol == specialization_.symbol &&
          (touchesAny(changed_, site.gridRange) || touchesAny(changed_, site.blockRange) ||
           touchesAny(changed_, site.sharedRange)))
        add(fmt::format("the launch at {}", placeOf(site)), true);
    }
  }

  const Win &win_;
  const KernelSpec &kernel_;
  const Specialization &specialization_;
  const std::vector<SourceRange> changed_; ///< by the win
  std::vector<std::string> parts_;
  bool onlyKernel_ = true;
  std::string notJudged_;
};

/// Adds the launches of the win's own kernel in other files, because they keep their geometry.
void addOtherLaunches(const Win &win, const KernelSpec &kernel,
                      const Specialization &specialization, std::vector<OtherUser> &users) {
  if (!changesLaunch(win.candidate().launch))
    return;
  const KernelSpec &own = win.subject->kernel;
  for (const LaunchSite &site : kernel.launches) {
    if (site.symbol != specialization.symbol ||
        std::any_of(own.launches.begin(), own.launches.end(),
                    [&](const LaunchSite &known) { return sameSite(known, site); }))
      continue;
    OtherUser user{&kernel,
                   &specialization,
                   win.subject->label,
                   placeOf(site),
                   "the kernel, launched in another way",
                   false,
                   "the launch there would keep its geometry, and the kernel has another one"};
    users.push_back(std::move(user));
  }
}

} // namespace

std::vector<OtherUser> otherUsers(const Win &win, const ExtractionResult &extraction) {
  std::vector<OtherUser> users;
  for (const KernelSpec &kernel : extraction.kernels)
    for (const Specialization &specialization : kernel.specializations) {
      if (specialization.symbol == win.subject->specialization.symbol) {
        addOtherLaunches(win, kernel, specialization, users);
        continue;
      }
      std::optional<OtherUser> user = Look(win, kernel, specialization).take();
      // The same instantiation in two files counts once.
      if (user && std::none_of(users.begin(), users.end(), [&](const OtherUser &known) {
            return known.specialization->symbol == specialization.symbol;
          }))
        users.push_back(std::move(*user));
    }
  return users;
}

Result<Candidate> composedCandidate(const KernelSpec &kernel, const Specialization &specialization,
                                    const Candidate *own, const std::vector<const Win *> &wins) {
  Candidate candidate = own ? *own : Candidate();
  candidate.proposer = "composition";
  candidate.title =
      own ? own->title + ", with the other wins" : std::string("with the wins of other kernels");
  const std::vector<NamedConstant> constants = constantsInScope(kernel, specialization);
  for (const Win *win : wins) {
    if (own == &win->candidate())
      continue;
    const Specialization &from = win->subject->specialization;
    const std::vector<SourceRange> changed = changedRanges(*win);
    for (const auto &[index, text] : win->candidate().chunks) {
      const SourceRange &range = from.chunks.at(index).source;
      for (std::size_t i = 0; i < specialization.chunks.size(); ++i) {
        const SliceChunk &chunk = specialization.chunks[i];
        if (chunk.source == range)
          candidate.chunks.insert_or_assign(i, text);
        else if (isUserText(chunk) && overlap(chunk.source, range) &&
                 touchesAny(changed, chunk.source))
          return makeError(ErrorCode::Usage,
                           fmt::format("the win of '{}' changes only a part of the text of '{}'",
                                       win->subject->label, chunk.name),
                           {}, placeOf(kernel));
      }
    }
    for (const CandidateDeclaration &declaration : declarationsOf(win->candidate())) {
      const SourceRange &before = from.chunks.at(declaration.before).source;
      for (std::size_t i = 0; i < specialization.chunks.size(); ++i) {
        CandidateDeclaration placed = declaration;
        placed.before = i;
        if (specialization.chunks[i].source == before &&
            std::find(candidate.declarations.begin(), candidate.declarations.end(), placed) ==
                candidate.declarations.end())
          candidate.declarations.push_back(std::move(placed));
      }
    }
    for (const CandidateInclude &include : win->candidate().includes)
      if (std::find(candidate.includes.begin(), candidate.includes.end(), include) ==
          candidate.includes.end())
        candidate.includes.push_back(include);
    for (const NamedConstant &constant : constants) {
      const auto value = win->candidate().constants.find(constant.name);
      if (value != win->candidate().constants.end() && touchesAny(changed, constant.valueRange))
        candidate.constants.insert_or_assign(constant.name, value->second);
    }
    if (win->candidate().options && kernel.unit == win->subject->kernel.unit)
      candidate.options = win->candidate().options;
    const LaunchSite *site = siteOf(kernel, specialization.symbol);
    const LaunchSite *theirs = siteOf(win->subject->kernel, from.symbol);
    if (site && theirs && sameSite(*site, *theirs) && changesLaunch(win->candidate().launch))
      candidate.launch = win->candidate().launch;
  }
  return candidate;
}

} // namespace kopt
