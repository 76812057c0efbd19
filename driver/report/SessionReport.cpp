// SPDX-License-Identifier: Apache-2.0
#include "driver/report/SessionReport.h"

#include "driver/model/Json.h"
#include "driver/report/document/Markdown.h"
#include "driver/report/facts/TrialNames.h"
#include "driver/report/html/HtmlReport.h"
#include "driver/report/sections/Sections.h"
#include "driver/support/FileSystem.h"

#include <fmt/format.h>

namespace kopt {

namespace fs = std::filesystem;

namespace {

Section winsSection(const std::vector<const SessionWin *> &wins) {
  Section section{"wins", "Every win"};
  if (wins.empty()) {
    section.note("No kernel was won.");
    return section;
  }
  section.add(winsTable(wins));
  for (const auto &[state, title] : {std::pair(WinState::Confirmed, "Confirmed"),
                                     {WinState::Modelled, "Modelled"},
                                     {WinState::Dropped, "Not part of the patch"},
                                     {WinState::Unconfirmed, "Not confirmed"}}) {
    List list;
    for (const SessionWin *win : wins) {
      if (win->state != state)
        continue;
      list.items.push_back({fmt::format(
          "{} ({}), {}: {}{}", win->kernel, win->place, oneLine(win->title),
          oneLine(win->reason, 1000),
          win->ownSpecialization
              ? "; it changes this instantiation alone, as others share its text or launch"
              : "")});
      for (const std::string &gain : runsInWords(*win))
        list.items.push_back({oneLine(win->kernel + " " + gain, 2000)});
    }
    if (!list.items.empty())
      section.blocks.insert(section.blocks.end(), {Subheading{title}, std::move(list)});
  }
  return section;
}

Section sharedSection(const SessionRecord &session) {
  if (session.composed.empty())
    return {};
  const char *title = "Kernels that share text with a win";
  Table table{title, "narrow", {{"kernel"}, {"verdict"}, {"reason"}}};
  for (const ComposedTrial &trial : session.composed)
    table.rows.push_back({{{trial.kernel + " (" + trial.place + ")"},
                           {verdictInWords(trial.verdict)},
                           {oneLine(trial.reason, 600)}}});
  return {"shared", title, {std::move(table)}};
}

Section applySection(const SessionRecord &session) {
  Section section{"apply", "How to apply it"};
  const auto say = [&](Words words) { section.note(std::move(words)); };
  if (!session.confirmed.empty()) {
    section.add(CodeBlock{"kopt apply --run-id " + session.name});
    say("makes what was confirmed, for all kernels at once; 'git apply' takes confirmed.patch.");
  }
  if (!session.offered.empty()) {
    const char *state = toString(offeredState(session));
    const std::string flag = flagOf(offeredState(session));
    say({{Span::Code, "kopt apply --run-id " + session.name + " " + flag},
         fmt::format(" makes the {} wins, too. They are not applied without the flag.", state)});
  }
  if (session.confirmed.empty() && session.offered.empty())
    say("There is nothing to apply.");
  const std::string &patch =
      session.confirmed.empty() ? session.offeredPatch : session.confirmedPatch;
  if (!patch.empty())
    section.add(Diff{patch});
  return section;
}

Document documentOf(const SessionRecord &session) {
  Document document;
  document.title = "kopt: " + session.name;
  document.heading = session.name;
  document.over = "kopt report · session " + session.name + " · " + session.startedUtc;
  document.place = session.root;
  document.answer = headlineOf(session);
  std::vector<const SessionWin *> wins;
  for (const SessionWin &win : session.wins)
    wins.push_back(&win);
  document.add(winsSection(wins));
  if (countOf(session, WinState::Modelled) < session.wins.size())
    document.add({"program", "In the program", {programList(session, wins)}});
  document.add(sharedSection(session));
  document.add(applySection(session));
  return document;
}

} // namespace

std::string renderSession(const SessionRecord &session) { return toMarkdown(documentOf(session)); }

std::string renderSessionHtml(const SessionRecord &session) { return toHtml(documentOf(session)); }

std::string renderSessionJson(const SessionRecord &session) {
  nlohmann::json value = toJson(session);
  for (const char *key : {"id", "confirmed", "offered", "confirmed_patch", "offered_patch"})
    value.erase(key);
  value.update(
      {{"schema_version", 1}, {"headline", headlineOf(session)}, {"patch", patchName(session)}});
  return dumpJson(value, 2) + "\n";
}

Status writeSessionFolder(const SessionRecord &session, const fs::path &folder) {
  std::error_code ignored;
  for (const char *name : {"confirmed.patch", "modelled.patch", "unconfirmed.patch"})
    fs::remove(folder / name, ignored);
  KOPT_CHECK(writeFileAtomically(folder / "session.json", renderSessionJson(session)));
  KOPT_CHECK(writeFileAtomically(folder / "summary.md", renderSession(session)));
  KOPT_CHECK(writeFileAtomically(folder / "summary.html", renderSessionHtml(session)));
  if (!session.offered.empty())
    KOPT_CHECK(writeFileAtomically(
        folder / (std::string(toString(offeredState(session))) + ".patch"), session.offeredPatch));
  if (!session.confirmed.empty())
    KOPT_CHECK(writeFileAtomically(folder / "confirmed.patch", session.confirmedPatch));
  return {};
}

} // namespace kopt
