// SPDX-License-Identifier: Apache-2.0
// The stored result of one `kopt tune` over all of its kernels: the wins that became one patch, how
// the patched program behaved, and what was left out. Reports are made from it alone.
#pragma once

#include "clang_plugin/output/Fields.h"
#include "driver/model/Run.h"
#include "driver/model/Trial.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The state of a win of the search.
enum class WinState {
  Confirmed,   ///< confirmed in the program
  Unconfirmed, ///< measured only in isolation, not in the program
  Modelled,    ///< its times are modelled
  Dropped,     ///< not part of the patch
};
constexpr auto spellings(WinState) {
  return std::to_array<std::string_view>({"confirmed", "unconfirmed", "modelled", "dropped"});
}

/// A kernel's time in whole runs of the original program and of the patched one.
struct ProgramTime {
  std::string oldSymbol, newSymbol;               ///< mangled
  std::uint64_t oldLaunches = 0, newLaunches = 0; ///< in each run
  double oldSeconds = 0,
         newSeconds = 0;          ///< medians of a run's total
  Speedup speedup;                ///< over the pairs of runs
  std::vector<TimingSample> runs; ///< a: the old program, b: the patched one
  std::string proof;              ///< what proves that the patched kernel ran; empty: nothing
};
KOPT_FIELDS(ProgramTime, oldSymbol, newSymbol, oldLaunches, newLaunches, oldSeconds, newSeconds,
            speedup, runs, proof)

/// Text of the user's files that a win was judged with, changed or not.
struct TunedText {
  std::string file; ///< with forward slashes, relative to the root of the session
  std::uint64_t begin = 0, end = 0;
  std::string name; ///< "the kernel 'blur'", "the launch"
};
KOPT_FIELDS(TunedText, file, begin, end, name)

/// A byte range of a file that a win replaces.
struct TunedEdit {
  std::string file; ///< as in TunedText
  std::uint64_t begin = 0, end = 0;
  std::string text;
};
KOPT_FIELDS(TunedEdit, file, begin, end, text)

/// A single win, as the header mode builds it.
struct TunedVariant {
  std::string device, arch; ///< the device that it was measured on: "NVIDIA H200", "sm_90"
  /// True if it changes only device code.
  bool deviceOnly = false;
  Assurance assurance;
  std::map<std::string, std::string> fileHashes; ///< XXH3-128 of each file of `uses`
  std::vector<TunedText> uses;
  std::vector<TunedEdit> edits; ///< each within one of `uses`
  /// Of nvcc, besides the file's own; "{project}" stands for the root of the session.
  std::optional<std::vector<std::string>> options{};
};
KOPT_FIELDS(TunedVariant, device, arch, deviceOnly, assurance, fileHashes, uses, edits, options)

/// Seconds of a launch with the user's kernel and with the winner; 0 if not known.
struct LaunchSeconds {
  double before = 0, after = 0;
};
KOPT_FIELDS(LaunchSeconds, before, after)

/// What a win gains in one of several commands that run the program.
struct RunGain {
  std::string command;
  std::optional<Speedup> isolated{};    ///< on its launches; nothing: none was captured
  std::optional<ProgramTime> program{}; ///< nothing: not measured
};
KOPT_FIELDS(RunGain, command, isolated, program)

struct SessionWin {
  std::int64_t run = 0; ///< id of the kernel's run
  std::string runName;
  std::string kernel, symbol, place; ///< label, mangled name, file:line
  std::string title;
  WinState state = WinState::Unconfirmed;
  std::string reason;      ///< why it has this state, with names and places
  Speedup isolated;        ///< as the search confirmed it
  LaunchSeconds launch;    ///< in isolation, at the mean over the program's launches
  double savedSeconds = 0; ///< seconds saved in a run of the program, estimated from isolated times
  bool ownSpecialization = false; ///< it is applied as an explicit specialization of the template
  std::optional<ProgramTime> program;    ///< of all commands together
  std::optional<TunedVariant> variant{}; ///< nothing if the win was dropped
  std::vector<RunGain> runs{}; ///< of the commands that launch the kernel, if there are several
};
KOPT_FIELDS(SessionWin, run, runName, kernel, symbol, place, title, state, reason, isolated, launch,
            savedSeconds, ownSpecialization, program, variant, runs)

/// A kernel that was not tuned, or another win, judged with the text of the composed patch.
struct ComposedTrial {
  std::string kernel, place;
  Verdict verdict = Verdict::Ambiguous;
  std::string reason;
};
KOPT_FIELDS(ComposedTrial, kernel, place, verdict, reason)

/// The result of running the real program.
struct ProgramConfirmation {
  bool done = false;
  std::string reason;            ///< why it was not done, or why it ended early
  std::string program, buildWay; ///< command line; how the program was built
  std::string copies;            ///< how the scratch copies were seen: ProgramPair::describe()
  std::uint32_t pairs = 0;       ///< runs of each program in the last round
  double oldSeconds = 0, newSeconds = 0; ///< wall time of a run, medians
  std::string output;                    ///< how the outputs compare
  std::string tests;                     ///< result of the project's tests, if configured
  std::vector<std::string> notes;
  std::uint32_t rounds = 0; ///< number of patches that were tried
};
KOPT_FIELDS(ProgramConfirmation, done, reason, program, buildWay, copies, pairs, oldSeconds,
            newSeconds, output, tests, notes, rounds)

struct SessionRecord {
  std::int64_t id = 0;
  std::string name; ///< folder under kopt.out
  std::string root; ///< root folder of the patch
  std::string startedUtc, finishedUtc;
  std::vector<SessionWin> wins; ///< the most seconds saved first
  std::vector<ComposedTrial> composed;
  ProgramConfirmation confirmation;
  std::vector<FileEdits> confirmed; ///< the edits of `kopt apply`; empty: nothing was confirmed
  /// The same with the unconfirmed wins as well; empty if there are no such wins.
  std::vector<FileEdits> offered;
  std::string confirmedPatch, offeredPatch; ///< patches in mail format

  /// The win of a run; null if there is none.
  const SessionWin *winOf(std::int64_t run) const {
    for (const SessionWin &win : wins)
      if (win.run == run)
        return &win;
    return nullptr;
  }
};
KOPT_FIELDS(SessionRecord, id, name, root, startedUtc, finishedUtc, wins, composed, confirmation,
            confirmed, offered, confirmedPatch, offeredPatch)

} // namespace kopt
