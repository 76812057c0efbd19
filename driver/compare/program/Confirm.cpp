// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/program/Confirm.h"

#include "driver/compare/program/ProgramOutput.h"
#include "driver/compare/program/ProgramTimes.h"
#include "driver/judge/Statistics.h"
#include "driver/source/KernelNames.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <numeric>

namespace kopt {
namespace {

/// Launches of a kernel in each run from which on two pairs of long runs can be enough.
constexpr std::size_t kManyLaunches = 16;
/// A speedup in the program that differs from that in isolation by more is explained.
constexpr double kApart = 0.03;

/// True if both speedups are the same but for noise.
bool agree(double a, double b) { return std::abs(std::log(a / b)) <= std::log(1 + kApart); }

/// How the speedup in the program differs from that in isolation, and why; empty if it hardly does.
std::string whyApart(const SessionWin &win) {
  const ProgramTime &program = *win.program;
  // Where single launches are not timed, the program's time is that of all together.
  const double isolated = win.isolated.of && !program.speedup.of && win.launch.after > 0
                              ? win.launch.before / win.launch.after
                              : win.isolated.estimate;
  if (agree(program.speedup.estimate, isolated))
    return "";
  std::string text = fmt::format("; {:.3f}x in isolation", isolated);
  const std::string otherwise =
      ", on the captured launches alone, without the program's other work";
  if (program.speedup.of || win.launch.after <= 0 || program.oldLaunches == 0 ||
      program.newLaunches == 0)
    return text + otherwise;
  const LaunchSeconds there{program.oldSeconds / double(program.oldLaunches),
                            program.newSeconds / double(program.newLaunches)};
  text += fmt::format(", where a launch took {} and takes {}, not {} and {}",
                      formatDuration(win.launch.before), formatDuration(win.launch.after),
                      formatDuration(there.before), formatDuration(there.after));
  // In isolation a launch's time includes its start; the program's kernel times do not.
  const double more = (win.launch.before - there.before + win.launch.after - there.after) / 2;
  if (more > 0 && agree((there.before + more) / (there.after + more), isolated))
    return text + fmt::format(": about {} longer, before and after", formatDuration(more));
  return text + otherwise;
}

/// The runs of both programs: by each command, and by all of them as if they were one.
struct ProgramRuns {
  std::vector<PairedRuns> each;
  PairedRuns all;

  void add(Side side, std::vector<ProgramSample> runs) {
    const auto of = [&](PairedRuns &pairs) -> auto & {
      return side == Side::Old ? pairs.old : pairs.fresh;
    };
    of(all).push_back(together(runs));
    each.resize(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i)
      of(each[i]).push_back(std::move(runs[i]));
  }
};

/// "by './app 7': ", before what is said of one of several commands.
std::string byCommand(const ProgramSample &run) {
  return run.command.empty() ? "" : fmt::format("by '{}': ", run.command);
}

std::vector<double> wallTimes(const std::vector<ProgramSample> &runs) {
  std::vector<double> seconds;
  for (const ProgramSample &run : runs)
    seconds.push_back(run.seconds);
  return seconds;
}

class Confirmation {
public:
  Confirmation(std::size_t count, const EditsOf &editsOf, ProgramPair &programs, Clock &clock,
               const ConfirmPolicy &policy, const TellProgress &tell, SessionRecord &session)
      : count_(count), editsOf_(editsOf), programs_(programs), clock_(clock), policy_(policy),
        tell_(tell), session_(session), report_(session.confirmation) {}

  Status run() {
    std::vector<std::size_t> active(count_);
    std::iota(active.begin(), active.end(), 0);
    report_.copies = programs_.describe();
    tell_(fmt::format("building the program as it is, and with {}",
                      counted(active.size(), "win", "wins")));
    KOPT_TRY(const ProgramEdits whole, editsOf_(active));
    ProgramPair::Built built = programs_.buildBoth(whole);
    if (!built.old)
      return notDone("the program as it is could not be built: " + inWords(built.old.error()));
    built_ = std::move(built.fresh);
    while (!active.empty()) {
      if (report_.rounds == policy_.rounds)
        return leave(
            active, WinState::Unconfirmed,
            fmt::format("after {} rounds other wins still left the patch", policy_.rounds));
      ++report_.rounds;
      for (const std::size_t i : active)
        session_.wins[i].reason.clear();
      ProgramRuns runs;
      std::string problem;
      KOPT_CHECK(tryPatch(active, runs, problem));
      if (ended_)
        return {};
      if (!problem.empty()) {
        KOPT_CHECK(keepWhatWorks(active, problem));
        continue;
      }
      const std::size_t before = active.size();
      judgeTimes(active, runs);
      for (const PairedRuns &pairs : runs.each)
        guardOthers(active, pairs);
      if (active.size() == before) {
        report_.done = true;
        for (const std::size_t i : active)
          session_.wins[i].state = WinState::Confirmed;
        return {};
      }
    }
    report_.done = true;
    return {};
  }

private:
  /// Ends the confirmation. Wins that have no other state stay unconfirmed.
  Status notDone(const std::string &reason) {
    report_.reason = reason;
    for (SessionWin &win : session_.wins)
      if (win.state == WinState::Unconfirmed && win.reason.empty())
        win.reason = "not confirmed in the program: " + reason;
    ended_ = true;
    return {};
  }

  Status leave(std::vector<std::size_t> &active, WinState state, const std::string &reason) {
    for (const std::size_t i : active) {
      session_.wins[i].state = state;
      session_.wins[i].reason =
          state == WinState::Unconfirmed ? "not confirmed in the program: " + reason : reason;
    }
    active.clear();
    return {};
  }

  void drop(std::vector<std::size_t> &active, std::size_t win, WinState state, std::string reason) {
    session_.wins[win].state = state;
    session_.wins[win].reason = std::move(reason);
    std::erase(active, win);
  }

  /// Builds and runs both programs. `problem` receives why the patched program is wrong, if it is.
  Status tryPatch(const std::vector<std::size_t> &active, ProgramRuns &runs, std::string &problem) {
    KOPT_TRY(const ProgramEdits made, editsOf_(active));
    tell_(fmt::format("building the program with {}", counted(active.size(), "win", "wins")));
    const Status built =
        built_ ? *std::exchange(built_, std::nullopt) : programs_.buildNew({made}).front();
    if (!built) {
      problem = "the patched program could not be built: " + inWords(built.error());
      return {};
    }
    const auto start = clock_.now();
    const PairedRuns &pairs = runs.all;
    while (wantsAnother(active, pairs, Duration(clock_.now() - start))) {
      tell_(fmt::format("running the program and the patched one, pair {}", pairs.old.size() + 1));
      // Alternate the order, because the program that runs first finds a colder machine.
      const bool newFirst = pairs.old.size() % 2 == 1;
      for (const Side side :
           newFirst ? std::vector{Side::New, Side::Old} : std::vector{Side::Old, Side::New}) {
        KOPT_CHECK(runOnce(side, runs, problem));
        if (ended_ || !problem.empty())
          return {};
      }
    }
    report_.pairs = std::uint32_t(pairs.old.size());
    report_.oldSeconds = median(wallTimes(pairs.old));
    report_.newSeconds = median(wallTimes(pairs.fresh));
    problem = outputProblem(runs);
    if (problem.empty())
      KOPT_CHECK(askTests(problem));
    return {};
  }

  bool wantsAnother(const std::vector<std::size_t> &active, const PairedRuns &pairs,
                    Duration spent) const {
    const std::size_t done = pairs.old.size();
    if (done == 0)
      return true;
    const Duration withNext = spent / double(done) * double(done + 1);
    if (done >= policy_.leastPairs)
      return done < policy_.mostPairs && withNext <= policy_.worth;
    return withNext <= policy_.most && (withNext <= policy_.worth || !areDecided(active, pairs));
  }

  /// True if two or more pairs of runs, each with many launches, agree about every kernel whose
  /// machine code changed: the single launches then tell as much as another pair of long runs.
  bool areDecided(const std::vector<std::size_t> &active, const PairedRuns &pairs) const {
    if (pairs.old.size() < 2)
      return false;
    std::vector<std::string> symbols = changedKernels(pairs);
    for (const std::size_t win : active) // one with a specialization of its own has a new symbol
      symbols.push_back(session_.wins[win].symbol);
    return std::ranges::all_of(symbols, [&](const std::string &symbol) {
      const auto time = timeOf(pairs, symbol, policy_.confidence, policy_.leastPairs);
      if (!time ||
          launchPairs(pairs, symbol, time->newSymbol).size() < kManyLaunches * pairs.old.size())
        return false;
      const auto isGain = [&](const TimingSample &run) {
        return run.a >= (1 + policy_.minGain) * run.b;
      };
      return std::ranges::all_of(time->runs, isGain) || std::ranges::none_of(time->runs, isGain);
    });
  }

  Status runOnce(Side side, ProgramRuns &runs, std::string &problem) {
    auto ran = programs_.run(side);
    if (!ran)
      return notDone(inWords(ran.error()));
    const ProgramSample all = together(*ran);
    if (side == Side::Old && !all.failure.empty())
      return notDone("the program as it is failed: " + byCommand(all) + all.failure);
    if (!all.failure.empty())
      problem = "the patched program failed: " + byCommand(all) + all.failure;
    else
      runs.add(side, std::move(*ran));
    return {};
  }

  std::string outputProblem(const ProgramRuns &runs) {
    report_.output.clear();
    for (const auto &[old, fresh] : runs.each) {
      const std::string by = byCommand(old.front());
      std::vector<std::string> known;
      for (const ProgramSample &run : old)
        known.push_back(run.out);
      for (const ProgramSample &run : fresh) {
        if (run.exitCode != old.front().exitCode)
          return fmt::format("{}the patched program ends with exit code {}, not {}", by,
                             run.exitCode, old.front().exitCode);
        const OutputComparison compared = compareOutputs(known, run.out);
        if (compared.verdict == OutputComparison::Verdict::Different)
          return by + "the patched program prints something else: " + compared.text;
        if (&run == &fresh.back())
          report_.output += (report_.output.empty() ? "" : "; ") + by + compared.text;
      }
    }
    return {};
  }

  Status askTests(std::string &problem) {
    KOPT_TRY(const std::optional<std::string> fresh, programs_.test(Side::New));
    if (!fresh)
      return {};
    report_.tests = "passed by the patched program";
    if (fresh->empty())
      return {};
    KOPT_TRY(const std::optional<std::string> old, programs_.test(Side::Old));
    if (old && !old->empty())
      report_.tests = "the program fails tests as it is: " + *old;
    else
      problem = "the patched program fails tests: " + *fresh;
    return {};
  }

  /// Handles a patch that is wrong as a whole: adds the wins one after another, the best first, and
  /// leaves out each win that makes the program wrong.
  Status keepWhatWorks(std::vector<std::size_t> &active, const std::string &problem) {
    if (active.size() == 1)
      return leave(active, WinState::Dropped, problem);
    const std::vector<std::size_t> all = active;
    active.clear();
    for (const std::size_t win : all) {
      active.push_back(win);
      KOPT_TRY(const ProgramEdits made, editsOf_(active));
      tell_(fmt::format("building the program with {}, to find which one is wrong",
                        counted(active.size(), "win", "wins")));
      std::string own;
      if (const Status built = programs_.buildNew({made}).front(); !built)
        own = "the patched program could not be built: " + inWords(built.error());
      else
        KOPT_CHECK(runForOutput(own));
      if (ended_)
        return {};
      if (!own.empty())
        drop(active, win, WinState::Dropped, own);
    }
    if (active.size() == all.size()) // no single win can be blamed
      return leave(active, WinState::Dropped, problem);
    return {};
  }

  Status runForOutput(std::string &problem) {
    ProgramRuns runs;
    for (const Side side : {Side::Old, Side::New, Side::Old}) {
      KOPT_CHECK(runOnce(side, runs, problem));
      if (ended_ || !problem.empty())
        return {};
    }
    problem = outputProblem(runs);
    if (problem.empty())
      KOPT_CHECK(askTests(problem));
    return {};
  }

  void judgeTimes(std::vector<std::size_t> &active, const ProgramRuns &runs) {
    const PairedRuns &pairs = runs.all;
    for (const std::size_t i : std::vector<std::size_t>(active)) {
      SessionWin &win = session_.wins[i];
      win.program =
          timeOf(pairs, win.symbol, policy_.confidence, policy_.leastPairs, policy_.objective);
      addRuns(runs, win);
      if (!win.program) {
        const bool launched = pairs.old.front().kernel(win.symbol) != nullptr;
        drop(active, i, WinState::Unconfirmed,
             launched ? "not confirmed in the program: its time there is not known"
                      : "not confirmed in the program: the program does not launch this kernel");
        continue;
      }
      const Speedup &speedup = win.program->speedup;
      const auto isUnproven = [](const RunGain &run) {
        return run.program && run.program->proof.empty();
      };
      if (win.program->proof.empty() || std::ranges::any_of(win.runs, isUnproven))
        drop(active, i, WinState::Unconfirmed,
             "not confirmed in the program: the patched program launches the same machine code in "
             "the same way, so the program that --run starts is not built from these files");
      else if (std::isinf(speedup.high))
        drop(active, i, WinState::Unconfirmed,
             fmt::format("not confirmed in the program: {} launches in {} runs are too few to tell",
                         win.program->newLaunches * pairs.old.size(), pairs.old.size()));
      else if (!(speedup.low > 1) || !(speedup.estimate >= 1 + policy_.minGain))
        drop(active, i, WinState::Dropped,
             fmt::format("not faster in the program: {} there, {} in isolation", inWords(speedup),
                         inWords(win.isolated)));
      else if (const std::string slower = slowerIn(win); !slower.empty())
        drop(active, i, WinState::Dropped, slower);
      else
        win.reason = fmt::format("{} in the program{}", inWords(speedup), whyApart(win));
    }
  }

  /// Fills in the win's gains in each of several commands.
  void addRuns(const ProgramRuns &runs, SessionWin &win) const {
    for (const PairedRuns &pairs : runs.each) {
      auto time =
          timeOf(pairs, win.symbol, policy_.confidence, policy_.leastPairs, policy_.objective);
      if (!time || runs.each.size() == 1)
        continue;
      const std::string &command = pairs.old.front().command;
      auto known = std::ranges::find(win.runs, command, &RunGain::command);
      if (known == win.runs.end()) // its launches could not be captured
        known = win.runs.insert(known, RunGain{command});
      known->program = std::move(time);
    }
  }

  /// Why a win in all runs together is none, as the patch is for each of them: it is slower in one.
  std::string slowerIn(const SessionWin &win) const {
    for (const RunGain &run : win.runs)
      if (run.program && run.program->speedup.high < 1 - policy_.regressionGuard)
        return fmt::format("slower in the program by '{}': {} there, {} in all runs together",
                           run.command, inWords(run.program->speedup),
                           inWords(win.program->speedup));
    return {};
  }

  /// Checks kernels that have no win but whose machine code changed.
  void guardOthers(std::vector<std::size_t> &active, const PairedRuns &pairs) {
    for (const std::string &symbol : changedKernels(pairs)) {
      const bool isWin = std::any_of(session_.wins.begin(), session_.wins.end(),
                                     [&](const SessionWin &win) { return win.symbol == symbol; });
      if (isWin)
        continue;
      const auto time = timeOf(pairs, symbol, policy_.confidence, policy_.leastPairs);
      if (!time)
        continue;
      note(fmt::format("{}the machine code of {} changed, too: {} in the program",
                       byCommand(pairs.old.front()), kernelName(symbol), inWords(time->speedup)));
      if (time->speedup.high >= 1 - policy_.regressionGuard)
        continue;
      // Blame the win with the smallest saving that shares the kernel's template, else the one with
      // the smallest saving of all.
      const std::size_t blamed = winSharedWith(active, symbol);
      if (blamed < count_)
        drop(active, blamed, WinState::Dropped,
             fmt::format("{}it makes another kernel, {}, slower: {}", byCommand(pairs.old.front()),
                         kernelName(symbol), inWords(time->speedup)));
    }
  }

  std::size_t winSharedWith(const std::vector<std::size_t> &active,
                            const std::string &symbol) const {
    for (auto i = active.rbegin(); i != active.rend(); ++i)
      if (withoutTemplateArguments(session_.wins[*i].symbol) == withoutTemplateArguments(symbol))
        return *i;
    return active.empty() ? count_ : active.back();
  }

  void note(const std::string &text) {
    if (std::find(report_.notes.begin(), report_.notes.end(), text) == report_.notes.end())
      report_.notes.push_back(text);
  }

  const std::size_t count_;
  const EditsOf &editsOf_;
  ProgramPair &programs_;
  Clock &clock_;
  const ConfirmPolicy &policy_;
  const TellProgress &tell_;
  SessionRecord &session_;
  ProgramConfirmation &report_;
  /// Result of building the program with all wins, until the first round uses it.
  std::optional<Status> built_;
  bool ended_ = false;
};

} // namespace

Status confirmInProgram(std::size_t count, const EditsOf &editsOf, ProgramPair &programs,
                        Clock &clock, const ConfirmPolicy &policy, const TellProgress &tell,
                        SessionRecord &session) {
  return Confirmation(count, editsOf, programs, clock, policy, tell, session).run();
}

} // namespace kopt
