// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/SessionFlow.h"

#include "driver/integrate/compose/Compose.h"
#include "driver/integrate/compose/OtherUsers.h"
#include "driver/integrate/compose/OwnSpecialization.h"
#include "driver/integrate/header/TunedVariant.h"
#include "driver/judge/Statistics.h"
#include "driver/source/Subjects.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace kopt {

namespace fs = std::filesystem;

namespace {

/// True if a kernel that the user did not ask to tune is no worse with the composed text.
bool isGood(Verdict verdict) {
  return verdict == Verdict::Faster || verdict == Verdict::Same || verdict == Verdict::Duplicate;
}

/// The outcome of judging an instantiation with the composed text.
struct Judged {
  bool good = false;
  std::string reason;
};

class Session {
public:
  Session(SessionRequest request, const SessionServices &services)
      : request_(std::move(request)), services_(services) {}

  Result<SessionRecord> run() {
    KOPT_CHECK(begin());
    KOPT_CHECK(compose());
    KOPT_CHECK(store());
    if (!request_.modelled && !wins_.empty())
      KOPT_CHECK(confirm());
    KOPT_CHECK(makePatches());
    record_.finishedUtc = services_.clock.utc();
    KOPT_CHECK(store());
    return std::move(record_);
  }

private:
  Status begin() {
    KOPT_TRY(const std::vector<SessionRecord> known, services_.store.sessions());
    KOPT_TRY(const std::vector<RunRecord> runs, services_.store.runs());
    std::size_t number = known.size();
    do
      record_.name = fmt::format("session-{}", ++number);
    while (std::any_of(runs.begin(), runs.end(),
                       [&](const RunRecord &run) { return run.name == record_.name; }));
    record_.startedUtc = services_.clock.utc();
    std::vector<fs::path> files;
    for (const Win &win : request_.wins)
      for (const SourceEdit &edit : win.edits)
        files.emplace_back(edit.range.file);
    record_.root = patchRoot(files, request_.build).string();
    record_.confirmation.program = request_.program;
    record_.confirmation.buildWay = request_.buildWay;
    return {};
  }

  Status store() {
    KOPT_TRY(record_, services_.store.putSession(record_));
    return {};
  }

  SessionWin describe(const Win &win) const {
    SessionWin made;
    made.run = win.run;
    made.runName = win.runName;
    made.kernel = win.subject->label;
    made.symbol = win.subject->specialization.symbol;
    made.place = win.place();
    made.title = win.candidate().title;
    made.isolated = win.trial.speedup.value_or(Speedup());
    made.launch = win.launch;
    made.savedSeconds = win.savedSeconds;
    made.ownSpecialization = win.ownSpecialization;
    made.runs = win.runs;
    made.state = made.isolated.modelled ? WinState::Modelled : WinState::Unconfirmed;
    if (made.isolated.modelled)
      made.reason = "its time is modelled; tune on a GPU to measure it";
    return made;
  }

  void drop(const Win &win, std::string reason) {
    SessionWin made = describe(win);
    made.state = WinState::Dropped;
    made.reason = std::move(reason);
    dropped_.push_back(std::move(made));
  }

  Status compose() {
    for (const Win &win : request_.wins)
      won_.emplace(win.subject->specialization.symbol, win.candidate().contentHash());
    Composition composition = composeWins(std::move(request_.wins));
    for (Win &win : composition.wins)
      KOPT_CHECK(join(std::move(win)));
    for (const DroppedWin &out : composition.dropped) {
      // The win that it clashed with may have left the patch since.
      const bool clashes = std::any_of(wins_.begin(), wins_.end(), [&](const Win &kept) {
        return std::any_of(kept.edits.begin(), kept.edits.end(), [&](const SourceEdit &edit) {
          return std::any_of(out.win.edits.begin(), out.win.edits.end(),
                             [&](const SourceEdit &own) { return clash(edit, own); });
        });
      });
      if (std::ranges::any_of(wins_,
                              [&](const Win &kept) { return haveOtherOptions(out.win, kept); }))
        drop(out.win, out.reason);
      else if (clashes)
        KOPT_CHECK(joinApart(out.win, out.reason));
      else
        KOPT_CHECK(join(out.win));
    }
    for (const Win &win : wins_)
      record_.wins.push_back(describe(win));
    record_.wins.insert(record_.wins.end(), dropped_.begin(), dropped_.end());
    return {};
  }

  /// Takes the win into the patch if no other instantiation gets worse; otherwise tries to take it
  /// as an explicit specialization.
  Status join(Win win) {
    std::string problem;
    const std::vector<OtherUser> users = otherUsers(win, request_.extraction);
    const bool isSeparable = std::ranges::all_of(users, &OtherUser::onlyKernel);
    for (std::size_t i = 0; i < users.size(); ++i) {
      const OtherUser &user = users[i];
      if (isSeparable && !problem.empty())
        break; // an explicit specialization changes none of the users
      const Judged judged = judgeUser(user, win);
      if (judged.good)
        continue;
      problem +=
          (problem.empty() ? "" : "; ") + fmt::format("it changes {} of '{}' ({}), {}", user.what,
                                                      user.label, user.place, judged.reason);
      if (isLate()) {
        if (i + 1 < users.size())
          problem +=
              fmt::format(", nor {} others; --budget-seconds gives more", users.size() - i - 1);
        break;
      }
    }
    if (problem.empty())
      problem = problemOfOwn(win);
    if (problem.empty()) {
      wins_.push_back(std::move(win));
      return {};
    }
    if (isSeparable)
      return joinApart(win, problem);
    drop(win, problem);
    return {};
  }

  /// Takes the win into the patch as an explicit specialization, which changes no other
  /// instantiation. If that fails, the win is dropped because of `problem`.
  Status joinApart(const Win &win, const std::string &problem) {
    auto own = withOwnSpecialization(win, services_.specialize);
    if (!own) {
      drop(win, problem + "; it gets no specialization of its own: " + own.error().what);
      return {};
    }
    for (const Win &kept : wins_)
      for (const SourceEdit &edit : kept.edits)
        for (const SourceEdit &mine : own->edits)
          if (clash(edit, mine)) {
            drop(win, problem);
            return {};
          }
    if (!otherUsers(*own, request_.extraction).empty()) {
      drop(win, problem);
      return {};
    }
    if (own->candidate().chunks == win.candidate().chunks) { // only its launches are its own
      wins_.push_back(std::move(*own));
      return {};
    }
    const TuneSubject &subject = *win.subject;
    services_.tell(fmt::format("{}: judging it as a specialization of its own", subject.label));
    const auto trial = services_.judge(subject, own->trial.candidate);
    if (!trial || trial->verdict != Verdict::Faster) {
      drop(win, fmt::format("{}; as a specialization of its own it was {}", problem,
                            trial ? trial->reason : trial.error().what));
      return {};
    }
    record_.composed.push_back({subject.label + " as a specialization of its own", win.place(),
                                trial->verdict, trial->reason});
    wins_.push_back(std::move(*own));
    return {};
  }

  /// The wins in the patch and the one that is to join it.
  std::vector<const Win *> withOthers(const Win &win) const {
    std::vector<const Win *> all;
    for (const Win &kept : wins_)
      all.push_back(&kept);
    all.push_back(&win);
    return all;
  }

  const Win *winOf(const std::string &symbol) const {
    for (const Win &kept : wins_)
      if (kept.subject->specialization.symbol == symbol)
        return &kept;
    return nullptr;
  }

  bool isLate() const { return services_.isTimeUp && services_.isTimeUp(); }

  Judged judgeUser(const OtherUser &user, const Win &joining) {
    if (!user.notJudged.empty())
      return {false, "and it cannot be judged: " + user.notJudged};
    const Win *own = winOf(user.specialization->symbol);
    const auto subject =
        own ? Result<TuneSubject>(*own->subject) : services_.subject(*user.specialization);
    if (!subject)
      return {false, "and it cannot be judged: " + subject.error().what};
    return judge(*subject, own ? &own->candidate() : nullptr, joining, user.place);
  }

  /// Judges the subject with the composed text. `own`: the candidate of the subject's own win, or
  /// null.
  Judged judge(const TuneSubject &subject, const Candidate *own, const Win &joining,
               const std::string &place) {
    const auto candidate =
        composedCandidate(subject.kernel, subject.specialization, own, withOthers(joining));
    if (!candidate)
      return {false, "and it cannot be judged: " + candidate.error().what};
    if (won_.contains({subject.specialization.symbol, candidate->contentHash()}))
      return {true, {}}; // with this very text
    if (&subject != &*joining.subject && isLate())
      return {false, "and there was no time left to judge that"};
    services_.tell(fmt::format("{}: judging it with the composed text", subject.label));
    const auto trial = services_.judge(subject, *candidate);
    if (!trial)
      return {false, "and it cannot be judged: " + trial.error().what};
    const bool isWin = own != nullptr;
    record_.composed.push_back({subject.label, place, trial->verdict, trial->reason});
    if (isWin ? trial->verdict == Verdict::Faster : isGood(trial->verdict))
      return {true, {}};
    return {false, "and with that text it is not right or not as fast: " + trial->reason};
  }

  /// Why the win does not hold with the changes of the other wins; empty: it holds.
  std::string problemOfOwn(const Win &win) {
    const TuneSubject &subject = *win.subject;
    const bool touched = std::any_of(wins_.begin(), wins_.end(), [&](const Win &kept) {
      const std::vector<OtherUser> users = otherUsers(kept, request_.extraction);
      return std::any_of(users.begin(), users.end(), [&](const OtherUser &user) {
        return user.specialization->symbol == subject.specialization.symbol;
      });
    });
    if (!touched)
      return {};
    const Judged judged = judge(subject, &win.candidate(), win, win.place());
    return judged.good ? std::string() : "with the other wins in the patch: " + judged.reason;
  }

  Result<Patch> patchOf(const std::vector<const Win *> &wins) const {
    std::vector<SourceEdit> edits;
    std::map<std::string, std::string> others;
    FlagsOfFiles flags;
    for (const Win *win : wins) {
      flags.merge(flagsOf(win->subject->kernel, win->candidate()));
      edits.insert(edits.end(), win->edits.begin(), win->edits.end());
      others.merge(
          filesBehind(request_.extraction, win->subject->kernel, win->subject->specialization));
    }
    return makePatch(edits, request_.extraction.fileHashes, record_.root, others, flags);
  }

  Status confirm() {
    auto programs = services_.programs(record_.root);
    if (!programs) {
      record_.confirmation.reason = inWords(programs.error());
      for (std::size_t i = 0; i < wins_.size(); ++i)
        record_.wins[i].reason = "not confirmed in the program: " + record_.confirmation.reason;
      return {};
    }
    const auto editsOf = [&](const std::vector<std::size_t> &chosen) -> Result<ProgramEdits> {
      std::vector<const Win *> wins;
      for (const std::size_t i : chosen)
        wins.push_back(&wins_[i]);
      KOPT_TRY(Patch patch, patchOf(wins));
      return std::move(patch.files);
    };
    return confirmInProgram(wins_.size(), editsOf, **programs, services_.clock, request_.policy,
                            services_.tell, record_);
  }

  Status makePatches() {
    std::vector<const Win *> confirmed, offered;
    for (std::size_t i = 0; i < wins_.size(); ++i) {
      if (record_.wins[i].state != WinState::Dropped) {
        KOPT_TRY(record_.wins[i].variant, tunedVariant(wins_[i], request_.extraction, record_.root,
                                                       request_.device, request_.arch));
      }
      if (record_.wins[i].state == WinState::Confirmed)
        confirmed.push_back(&wins_[i]);
      if (record_.wins[i].state != WinState::Dropped)
        offered.push_back(&wins_[i]);
    }
    if (!confirmed.empty())
      KOPT_CHECK(addPatch(confirmed, record_.confirmed, record_.confirmedPatch));
    if (offered.size() > confirmed.size())
      KOPT_CHECK(addPatch(offered, record_.offered, record_.offeredPatch));
    return {};
  }

  Status addPatch(const std::vector<const Win *> &wins, std::vector<FileEdits> &files,
                  std::string &text) const {
    KOPT_TRY(const Patch patch, patchOf(wins));
    PatchMessage message;
    std::vector<std::string> labels, speedups;
    for (const Win *win : wins) {
      const SessionWin &known = *record_.winOf(win->run);
      const Speedup &speedup = known.program ? known.program->speedup : known.isolated;
      labels.push_back(known.kernel);
      speedups.push_back(inWords(speedup));
      message.body +=
          fmt::format("{} ({}): {}\n  in isolation: {}\n  in the program: {}\n", known.kernel,
                      known.place, known.title, inWords(known.isolated),
                      known.state == WinState::Confirmed ? inWords(speedup) : known.reason);
    }
    const SessionWin &first = *record_.winOf(wins.front()->run);
    const Speedup &best = first.program ? first.program->speedup : first.isolated;
    const char *how = first.state == WinState::Confirmed  ? "confirmed"
                      : first.state == WinState::Modelled ? "modelled"
                                                          : "measured";
    message.subject =
        fmt::format("{}{}: {} {:.2f}x on {}", first.kernel,
                    wins.size() == 1 ? "" : fmt::format(" and {} more", wins.size() - 1), how,
                    best.estimate, request_.device);
    message.kernel = kopt::join(labels, ", ");
    message.device = request_.device + (request_.modelled ? " (modelled)" : "");
    message.speedup = kopt::join(speedups, ", ");
    message.verifiedBy = first.state == WinState::Confirmed
                             ? "kopt, in the program: " + record_.confirmation.program
                             : "kopt on " + message.device;
    files = patch.files;
    files.insert(files.end(), patch.others.begin(), patch.others.end());
    text = formatMail(patch, message);
    return {};
  }

  SessionRequest request_;
  const SessionServices &services_;
  std::vector<Win> wins_; ///< in the patch; record_.wins begins with them, in this order
  std::vector<SessionWin> dropped_;
  std::set<std::pair<std::string, std::string>> won_; ///< symbols, and hashes of their candidates
  SessionRecord record_;
};

} // namespace

Result<SessionRecord> integrateWins(SessionRequest request, const SessionServices &services) {
  return Session(std::move(request), services).run();
}

} // namespace kopt
