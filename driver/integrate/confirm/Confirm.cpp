// SPDX-License-Identifier: Apache-2.0
#include "driver/integrate/confirm/Confirm.h"

#include "driver/integrate/confirm/ProgramOutput.h"
#include "driver/judge/Statistics.h"
#include "driver/source/KernelNames.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

namespace kopt {
namespace {

/// Launches of a run that are compared if there are too few runs.
constexpr std::size_t kLaunchesPaired = 512;
/// Launches of a kernel in each run from which on two pairs of long runs can be enough.
constexpr std::size_t kManyLaunches = 16;
/// A speedup in the program that differs from that in isolation by more is explained.
constexpr double kApart = 0.03;

/// True if both speedups are the same but for noise.
bool agree(double a, double b) { return std::abs(std::log(a / b)) <= std::log(1 + kApart); }

/// How the speedup in the program differs from that in isolation, and why; empty if it hardly does.
std::string whyApart(const SessionWin &win) {
  const ProgramTime &program = *win.program;
  if (agree(program.speedup.estimate, win.isolated.estimate))
    return "";
  std::string text = fmt::format("; {:.3f}x in isolation", win.isolated.estimate);
  const std::string otherwise =
      ", on the captured launches alone, without the program's other work";
  if (win.launch.after <= 0 || program.oldLaunches == 0 || program.newLaunches == 0)
    return text + otherwise;
  const LaunchSeconds there{program.oldSeconds / double(program.oldLaunches),
                            program.newSeconds / double(program.newLaunches)};
  text += fmt::format(", where a launch took {} and takes {}, not {} and {}",
                      formatDuration(win.launch.before), formatDuration(win.launch.after),
                      formatDuration(there.before), formatDuration(there.after));
  // In isolation a launch's time includes its start; the program's kernel times do not.
  const double more = (win.launch.before - there.before + win.launch.after - there.after) / 2;
  if (more > 0 && agree((there.before + more) / (there.after + more), win.isolated.estimate))
    return text + fmt::format(": about {} longer, before and after", formatDuration(more));
  return text + otherwise;
}

/// The runs of both programs, in pairs.
struct Pairs {
  std::vector<ProgramSample> old, fresh;
};

std::string withoutArguments(const std::string &symbol) {
  const std::string name = kernelName(symbol);
  return name.substr(0, name.find('<'));
}

std::vector<double> wallTimes(const std::vector<ProgramSample> &runs) {
  std::vector<double> seconds;
  for (const ProgramSample &run : runs)
    seconds.push_back(run.seconds);
  return seconds;
}

/// The kernel of the patched program that replaced the old one: the one with the same name, or the
/// only new one of its template. Empty if there is none.
std::string symbolInNew(const Pairs &pairs, const std::string &old) {
  const ProgramSample &before = pairs.old.front(), &after = pairs.fresh.front();
  if (after.kernel(old))
    return old;
  std::string found;
  for (const KernelSample &kernel : after.kernels) {
    if (before.kernel(kernel.symbol) || withoutArguments(kernel.symbol) != withoutArguments(old))
      continue;
    if (!found.empty())
      return {};
    found = kernel.symbol;
  }
  return found;
}

/// The geometries of `some` that `others` do not have, at most three of them.
std::string geometriesOf(const std::set<std::string> &some, const std::set<std::string> &others) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> own;
  std::ranges::set_difference(some, others, std::back_inserter(own));
  if (own.empty())
    own.assign(some.begin(), some.end());
  const std::size_t shown = std::min(kMost, own.size());
  std::string text = fmt::format("{}", fmt::join(own.begin(), own.begin() + long(shown), ", "));
  return own.size() > shown ? text + fmt::format(" and {} others", own.size() - shown) : text;
}

std::string shortHash(const std::set<std::string> &hashes) {
  std::string all;
  for (const std::string &hash : hashes)
    all += (all.empty() ? "" : "+") + hash.substr(0, 8);
  return all;
}

/// What shows that the patched kernel ran; empty if nothing does.
std::string proofOf(const ProgramSample &before, const ProgramSample &after,
                    const KernelSample &old, const KernelSample &fresh) {
  if (old.symbol != fresh.symbol)
    return fmt::format("the program launches {} in place of {}", kernelName(fresh.symbol),
                       kernelName(old.symbol));
  if (!old.code.empty() && !fresh.code.empty() && old.code != fresh.code)
    return fmt::format("its machine code was {} and is {}", shortHash(old.code),
                       shortHash(fresh.code));
  if (old.geometries != fresh.geometries)
    return fmt::format("its launches were {} and are {}",
                       geometriesOf(old.geometries, fresh.geometries),
                       geometriesOf(fresh.geometries, old.geometries));
  if ((old.code.empty() || fresh.code.empty()) && before.programHash != after.programHash)
    return "the program's file is another one; which code its kernels have is not known";
  return {};
}

double perLaunch(const KernelSample &kernel) {
  return kernel.launches == 0 ? 0 : kernel.seconds / double(kernel.launches);
}

/// Pairs of single launches, for when there are too few runs to compare whole runs. Empty if
/// launches cannot be paired.
std::vector<TimingSample> launchPairs(const Pairs &pairs, const std::string &old,
                                      const std::string &fresh) {
  std::vector<TimingSample> samples;
  for (std::size_t i = 0; i < pairs.old.size(); ++i) {
    const std::vector<double> &a = pairs.old[i].kernel(old)->launchSeconds;
    const std::vector<double> &b = pairs.fresh[i].kernel(fresh)->launchSeconds;
    if (a.empty() || a.size() != b.size())
      return {};
    const std::size_t step = (a.size() + kLaunchesPaired - 1) / kLaunchesPaired;
    for (std::size_t at = 0; at < a.size(); at += step)
      samples.push_back({a[at], b[at], std::uint32_t(i)});
  }
  return samples;
}

/// The kernel's times in all runs. Nothing if it was not launched or not timed in one of them.
std::optional<ProgramTime> timeOf(const Pairs &pairs, const std::string &symbol,
                                  const ConfirmPolicy &policy) {
  ProgramTime time;
  time.oldSymbol = symbol;
  time.newSymbol = symbolInNew(pairs, symbol);
  std::vector<double> before, after;
  bool sameCount = true;
  for (std::size_t i = 0; i < pairs.old.size(); ++i) {
    const KernelSample *old = pairs.old[i].kernel(time.oldSymbol);
    const KernelSample *fresh = pairs.fresh[i].kernel(time.newSymbol);
    if (!old || !fresh || old->seconds <= 0 || fresh->seconds <= 0)
      return std::nullopt;
    sameCount &= old->launches == fresh->launches;
    before.push_back(old->seconds);
    after.push_back(fresh->seconds);
  }
  for (std::size_t i = 0; i < pairs.old.size(); ++i) {
    const KernelSample &old = *pairs.old[i].kernel(time.oldSymbol);
    const KernelSample &fresh = *pairs.fresh[i].kernel(time.newSymbol);
    // Compare times per launch if the counts differ: a program that runs for a fixed time launches
    // a faster kernel more often.
    time.runs.push_back({sameCount ? old.seconds : perLaunch(old),
                         sameCount ? fresh.seconds : perLaunch(fresh), std::uint32_t(i)});
  }
  const KernelSample &old = *pairs.old.front().kernel(time.oldSymbol);
  const KernelSample &fresh = *pairs.fresh.front().kernel(time.newSymbol);
  time.oldLaunches = old.launches;
  time.newLaunches = fresh.launches;
  time.oldSeconds = median(before);
  time.newSeconds = median(after);
  time.speedup = runSpeedup(time.runs, policy.confidence);
  if (pairs.old.size() < policy.leastPairs)
    if (const auto launches = launchPairs(pairs, time.oldSymbol, time.newSymbol);
        !launches.empty()) {
      const double estimate = time.speedup.estimate;
      time.speedup = pairedSpeedup(launches, policy.confidence, false);
      time.speedup.processes = pairs.old.size();
      // The launches give the confidence interval; the estimate is that of the whole runs.
      time.speedup.low = std::min(time.speedup.low, estimate);
      time.speedup.high = std::max(time.speedup.high, estimate);
      time.speedup.estimate = estimate;
    }
  time.proof = proofOf(pairs.old.front(), pairs.fresh.front(), old, fresh);
  return time;
}

/// Symbols of the kernels whose machine code differs in the patched program, in the order of the
/// old program's kernels.
std::vector<std::string> changedKernels(const Pairs &pairs) {
  std::vector<std::string> changed;
  for (const KernelSample &old : pairs.old.front().kernels)
    if (const KernelSample *fresh = pairs.fresh.front().kernel(old.symbol);
        fresh && fresh->code != old.code)
      changed.push_back(old.symbol);
  return changed;
}

class Confirmation {
public:
  Confirmation(const std::vector<Win> &wins, const PatchOf &patchOf, ProgramPair &programs,
               Clock &clock, const ConfirmPolicy &policy, const TellProgress &tell,
               SessionRecord &session)
      : wins_(wins), patchOf_(patchOf), programs_(programs), clock_(clock), policy_(policy),
        tell_(tell), session_(session), report_(session.confirmation) {}

  Status run() {
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < wins_.size(); ++i)
      active.push_back(i);
    report_.copies = programs_.describe();
    tell_(fmt::format("building the program as it is, and with {} win{}", active.size(),
                      active.size() == 1 ? "" : "s"));
    KOPT_TRY(const Patch whole, patch(active));
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
      Pairs pairs;
      std::string problem;
      KOPT_CHECK(tryPatch(active, pairs, problem));
      if (ended_)
        return {};
      if (!problem.empty()) {
        KOPT_CHECK(keepWhatWorks(active, problem));
        continue;
      }
      const std::size_t before = active.size();
      judgeTimes(active, pairs);
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
  static std::string inWords(const Error &error) {
    return error.hint.empty() ? error.what : error.what + "; " + error.hint;
  }

  Result<Patch> patch(const std::vector<std::size_t> &active) const {
    std::vector<const Win *> chosen;
    for (const std::size_t i : active)
      chosen.push_back(&wins_[i]);
    return patchOf_(chosen);
  }

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
  Status tryPatch(const std::vector<std::size_t> &active, Pairs &pairs, std::string &problem) {
    KOPT_TRY(const Patch made, patch(active));
    tell_(fmt::format("building the program with {} win{}", active.size(),
                      active.size() == 1 ? "" : "s"));
    const Status built = built_ ? *std::exchange(built_, std::nullopt) : programs_.buildNew(made);
    if (!built) {
      problem = "the patched program could not be built: " + inWords(built.error());
      return {};
    }
    const auto start = clock_.now();
    while (wantsAnother(active, pairs, Duration(clock_.now() - start))) {
      tell_(fmt::format("running the program and the patched one, pair {}", pairs.old.size() + 1));
      // Alternate the order, because the program that runs first finds a colder machine.
      const bool newFirst = pairs.old.size() % 2 == 1;
      for (const Side side :
           newFirst ? std::vector{Side::New, Side::Old} : std::vector{Side::Old, Side::New}) {
        KOPT_CHECK(runOnce(side, pairs, problem));
        if (ended_ || !problem.empty())
          return {};
      }
    }
    report_.pairs = std::uint32_t(pairs.old.size());
    report_.oldSeconds = median(wallTimes(pairs.old));
    report_.newSeconds = median(wallTimes(pairs.fresh));
    problem = outputProblem(pairs.old, pairs.fresh);
    if (problem.empty())
      KOPT_CHECK(askTests(problem));
    return {};
  }

  bool wantsAnother(const std::vector<std::size_t> &active, const Pairs &pairs,
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
  bool areDecided(const std::vector<std::size_t> &active, const Pairs &pairs) const {
    if (pairs.old.size() < 2)
      return false;
    std::vector<std::string> symbols = changedKernels(pairs);
    for (const std::size_t win : active) // one with a specialization of its own has a new symbol
      symbols.push_back(session_.wins[win].symbol);
    return std::ranges::all_of(symbols, [&](const std::string &symbol) {
      const auto time = timeOf(pairs, symbol, policy_);
      if (!time ||
          launchPairs(pairs, symbol, time->newSymbol).size() < kManyLaunches * pairs.old.size())
        return false;
      const auto isGain = [&](const TimingSample &run) {
        return run.a >= (1 + policy_.minGain) * run.b;
      };
      return std::ranges::all_of(time->runs, isGain) || std::ranges::none_of(time->runs, isGain);
    });
  }

  Status runOnce(Side side, Pairs &pairs, std::string &problem) {
    auto ran = programs_.run(side);
    if (!ran)
      return notDone(inWords(ran.error()));
    if (side == Side::Old) {
      if (!ran->failure.empty())
        return notDone("the program as it is failed: " + ran->failure);
      pairs.old.push_back(std::move(*ran));
      return {};
    }
    if (!ran->failure.empty())
      problem = "the patched program failed: " + ran->failure;
    else
      pairs.fresh.push_back(std::move(*ran));
    return {};
  }

  std::string outputProblem(const std::vector<ProgramSample> &old,
                            const std::vector<ProgramSample> &fresh) {
    std::vector<std::string> known;
    for (const ProgramSample &run : old)
      known.push_back(run.out);
    for (const ProgramSample &run : fresh) {
      if (run.exitCode != old.front().exitCode)
        return fmt::format("the patched program ends with exit code {}, not {}", run.exitCode,
                           old.front().exitCode);
      const OutputComparison compared = compareOutputs(known, run.out);
      if (compared.verdict == OutputComparison::Verdict::Different)
        return "the patched program prints something else: " + compared.text;
      report_.output = compared.text;
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
      KOPT_TRY(const Patch made, patch(active));
      tell_(fmt::format("building the program with {} win{}, to find which one is wrong",
                        active.size(), active.size() == 1 ? "" : "s"));
      std::string own;
      if (const Status built = programs_.buildNew(made); !built)
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
    std::vector<ProgramSample> old, fresh;
    for (const Side side : {Side::Old, Side::New, Side::Old}) {
      Pairs pairs;
      KOPT_CHECK(runOnce(side, pairs, problem));
      if (ended_ || !problem.empty())
        return {};
      std::move(pairs.old.begin(), pairs.old.end(), std::back_inserter(old));
      std::move(pairs.fresh.begin(), pairs.fresh.end(), std::back_inserter(fresh));
    }
    problem = outputProblem(old, fresh);
    if (problem.empty())
      KOPT_CHECK(askTests(problem));
    return {};
  }

  void judgeTimes(std::vector<std::size_t> &active, const Pairs &pairs) {
    for (const std::size_t i : std::vector<std::size_t>(active)) {
      SessionWin &win = session_.wins[i];
      win.program = timeOf(pairs, win.symbol, policy_);
      if (!win.program) {
        const bool launched = pairs.old.front().kernel(win.symbol) != nullptr;
        drop(active, i, WinState::Unconfirmed,
             launched ? "not confirmed in the program: its time there is not known"
                      : "not confirmed in the program: the program does not launch this kernel");
        continue;
      }
      const Speedup &speedup = win.program->speedup;
      if (win.program->proof.empty())
        drop(active, i, WinState::Unconfirmed,
             "not confirmed in the program: the patched program launches the same machine code in "
             "the same way, so the program that --run starts is not built from these files");
      else if (std::isinf(speedup.high))
        drop(active, i, WinState::Unconfirmed,
             fmt::format("not confirmed in the program: {} launches in {} runs are too few to tell",
                         win.program->newLaunches * pairs.old.size(), pairs.old.size()));
      else if (!(speedup.low > 1) || !(speedup.estimate >= 1 + policy_.minGain))
        drop(active, i, WinState::Dropped,
             fmt::format("not faster in the program: {} there, {} in isolation",
                         kopt::inWords(speedup), kopt::inWords(win.isolated)));
      else
        win.reason = fmt::format("{} in the program{}", kopt::inWords(speedup), whyApart(win));
    }
  }

  /// Checks kernels that have no win but whose machine code changed.
  void guardOthers(std::vector<std::size_t> &active, const Pairs &pairs) {
    for (const std::string &symbol : changedKernels(pairs)) {
      const bool isWin = std::any_of(session_.wins.begin(), session_.wins.end(),
                                     [&](const SessionWin &win) { return win.symbol == symbol; });
      if (isWin)
        continue;
      const auto time = timeOf(pairs, symbol, policy_);
      if (!time)
        continue;
      note(fmt::format("the machine code of {} changed, too: {} in the program", kernelName(symbol),
                       kopt::inWords(time->speedup)));
      if (time->speedup.high >= 1 - policy_.regressionGuard)
        continue;
      // Blame the win with the smallest saving that shares the kernel's template, else the one with
      // the smallest saving of all.
      const std::size_t blamed = winSharedWith(active, symbol);
      if (blamed < wins_.size())
        drop(active, blamed, WinState::Dropped,
             fmt::format("it makes another kernel, {}, slower: {}", kernelName(symbol),
                         kopt::inWords(time->speedup)));
    }
  }

  std::size_t winSharedWith(const std::vector<std::size_t> &active,
                            const std::string &symbol) const {
    for (auto i = active.rbegin(); i != active.rend(); ++i)
      if (withoutArguments(session_.wins[*i].symbol) == withoutArguments(symbol))
        return *i;
    return active.empty() ? wins_.size() : active.back();
  }

  void note(const std::string &text) {
    if (std::find(report_.notes.begin(), report_.notes.end(), text) == report_.notes.end())
      report_.notes.push_back(text);
  }

  const std::vector<Win> &wins_;
  const PatchOf &patchOf_;
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

const KernelSample *ProgramSample::kernel(const std::string &symbol) const {
  for (const KernelSample &kernel : kernels)
    if (kernel.symbol == symbol)
      return &kernel;
  return nullptr;
}

Status confirmInProgram(const std::vector<Win> &wins, const PatchOf &patchOf, ProgramPair &programs,
                        Clock &clock, const ConfirmPolicy &policy, const TellProgress &tell,
                        SessionRecord &session) {
  return Confirmation(wins, patchOf, programs, clock, policy, tell, session).run();
}

} // namespace kopt
