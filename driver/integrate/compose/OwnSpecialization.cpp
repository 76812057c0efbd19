// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/compose/OwnSpecialization.h"

#include "driver/source/CandidateLaunch.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {
namespace {

tl::unexpected<Error> notKnown(const std::string &what) {
  return makeError(ErrorCode::Usage, what);
}

/// True if several translation units may include the file, and their device code is linked: then
/// the specialization, unlike its template, would be defined twice.
bool isLinkedTwice(const KernelSpec &kernel, const std::string &file) {
  static const std::set<std::string> kRelocatable = {"-rdc=true", "-dc",
                                                     "--relocatable-device-code=true"};
  return file != kernel.unit &&
         std::ranges::any_of(kernel.compileFlags,
                             [](const std::string &flag) { return kRelocatable.contains(flag); });
}

/// A condition in the names of the launch site that tells the instantiation from the others that
/// are launched there, as a dispatch macro does; empty if there are none.
Result<std::string> conditionAt(const LaunchSite &site, const TuneSubject &subject) {
  const Specialization &own = subject.specialization;
  std::vector<const Specialization *> others;
  for (const LaunchSite &other : subject.kernel.launches)
    if (sameSite(other, site))
      for (const Specialization &one : subject.kernel.specializations)
        if (one.symbol == other.symbol && one.symbol != own.symbol)
          others.push_back(&one);
  if (others.empty())
    return std::string();
  std::string condition;
  const auto tell = [&](const std::string &part, const auto &differs) {
    if (std::erase_if(others, differs) > 0)
      condition += (condition.empty() ? "" : " && ") + part;
  };
  for (std::size_t i = 0; i < std::min(site.templateArgs.size(), own.templateArgs.size()); ++i) {
    const std::string &value = own.templateArgs[i].value, &text = site.templateArgs[i];
    if (text.empty()) // a macro spells it
      continue;
    const bool isType = !own.templateArgs[i].integral && value != "true" && value != "false";
    tell(isType ? fmt::format("std::is_same<{}, {}>::value", text, value)
                : fmt::format("({}) == {}", text, value),
         [&](const Specialization *other) {
           return i < other->templateArgs.size() && other->templateArgs[i].value != value;
         });
  }
  // What is deduced follows from the pointers that are passed.
  for (std::size_t i = 0; i < std::min(site.args.size(), own.params.size()); ++i)
    if (const KernelParam &param = own.params[i]; param.kind == ParamKind::Pointer)
      tell(fmt::format("std::is_convertible<decltype({}), {}>::value", site.args[i], param.type),
           [&](const Specialization *other) {
             return i < other->params.size() && other->params[i].type != param.type;
           });
  if (!others.empty())
    return notKnown(fmt::format("its launch at {} does not spell what tells it from '{}'",
                                placeOf(site), others.front()->expression));
  return "(" + condition + ")";
}

/// Makes the win's edits of launches depend on the template arguments, so that other instantiations
/// are launched as before. nvcc includes <utility>, and with it std::is_same, everywhere. True if
/// there are such edits.
Result<bool> keepLaunchesOfOthers(Win &win) {
  bool any = false;
  for (const LaunchSite &site : win.subject->kernel.launches) {
    if (site.symbol != win.subject->specialization.symbol || !site.blockRange)
      continue;
    KOPT_TRY(const std::string when, conditionAt(site, *win.subject));
    if (when.empty())
      continue;
    KOPT_TRY(const SourceRange callee, calleeAt(site));
    for (SourceEdit &edit : win.edits) {
      SourceRange &range = edit.range;
      if (range == site.gridRange || range == site.blockRange || range == site.sharedRange) {
        edit.text = when + " ? " + edit.text + " : "; // before the text as it is
        range.end = range.begin;
      } else if (range == SourceRange{site.file, site.blockRange->end, site.blockRange->end}) {
        edit.text = ", " + when + " ? " + edit.text.substr(2) + " : 0";         // was ", BYTES"
      } else if (range == SourceRange{site.file, callee.begin, callee.begin}) { // sets an attribute
        edit.text = "(void)(" + when + " && " + edit.text.insert(edit.text.rfind(','), ")");
      } else {
        continue;
      }
      any = true;
    }
  }
  return any;
}

} // namespace

bool sameSite(const LaunchSite &a, const LaunchSite &b) {
  return a.file == b.file && a.line == b.line && a.column == b.column;
}

Result<Win> withOwnSpecialization(const Win &win, const Specialize &specialize) {
  const TuneSubject &subject = *win.subject;
  const Specialization &specialization = subject.specialization;
  const auto text = win.candidate().chunks.find(specialization.kernelChunk);
  if (specialization.templateArgs.empty())
    return notKnown("it is not a template");
  Win own = win;
  own.ownSpecialization = true;
  KOPT_TRY(const bool hasLaunch, keepLaunchesOfOthers(own));
  if (text == win.candidate().chunks.end()) {
    if (hasLaunch)
      return own;
    return notKnown("the win changes neither the kernel's own text nor a launch of others");
  }
  const SourceRange &range = specialization.chunks.at(specialization.kernelChunk).source;
  KOPT_TRY(const std::string original, textOf(range));
  Candidate instantiated = win.candidate();
  instantiated.constants.clear(); // its arguments stay as they are
  KOPT_TRY(const RenderedSlice slice,
           renderSlice(subject.sliceText, subject.kernel, specialization, instantiated));
  KOPT_TRY(const ChunkReply made, specialize(slice, specialization.kernelChunk, subject.kernel,
                                             isLinkedTwice(subject.kernel, range.file)));
  if (!made.refusal.empty())
    return notKnown(made.refusal);
  own.trial.candidate.title += ", as a specialization of its own";
  own.trial.candidate.chunks[specialization.kernelChunk] = original + "\n\n" + made.text;
  own.trial.candidateHash = own.trial.candidate.contentHash();
  std::erase_if(own.edits, [&](const SourceEdit &edit) { return edit.range == range; });
  own.edits.push_back({{range.file, range.end, range.end}, "\n\n" + made.text});
  return own;
}

} // namespace kopt
