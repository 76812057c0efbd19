// SPDX-License-Identifier: Apache-2.0
// What one verified trial taught, without the user's source: the row that statistics are made of.
#pragma once

#include "driver/model/Trial.h"
#include "driver/support/Result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The architecture of trials on the emulated device, whose times are modelled. They teach nothing
/// about GPUs, and GPUs nothing about them.
inline constexpr const char *kEmulatedArch = "emulated";

/// The log of a gain counts for at most this, so that one great win or loss does not decide for the
/// rest.
inline constexpr double kMostLogGain = 2;
/// What gains less over its parent gained nothing: about 2 %.
inline constexpr double kLeastLogGain = 0.02;

/// What tells kernels apart, or shows that they are alike.
struct KernelPrint {
  std::string name;                       ///< "stencil<float, 1>"
  std::string symbol;                     ///< empty if it has the name of the user's file in it
  std::string text;                       ///< hash of the slice
  std::map<std::string, double> features; ///< numbers about the kernel, its launches and counters
};
KOPT_FIELDS(KernelPrint, name, symbol, text, features)

/// The log of a speedup, with its interval and the pairs that it rests on.
struct LogGain {
  double estimate = 0, low = 0, high = 0;
  std::size_t pairs = 0;
};
KOPT_FIELDS(LogGain, estimate, low, high, pairs)

struct Provenance {
  std::string run;     ///< its name and a part of a hash: "scale-1-0a1b2c3d"
  std::string program; ///< file name of the program, or else the project's folder; no path
  std::string kopt;    ///< version
  std::string date;    ///< UTC, when the run began
};
KOPT_FIELDS(Provenance, run, program, kopt, date)

struct Experience {
  KernelPrint kernel;
  std::string state; ///< of the parent when the technique was applied; empty: not known
  std::string proposer, technique;
  std::string arch; ///< "sm_90", or kEmulatedArch
  std::string toolchain;
  Purpose purpose = Purpose::Search; ///< Search or Confirmation
  Verdict verdict = Verdict::Ambiguous;
  /// Nothing for a candidate that failed: it teaches only how often a technique is right.
  std::optional<LogGain> overParent, overBaseline;
  double seconds = 0;    ///< that the trial took
  std::string candidate; ///< hash of its content
  std::string parent;    ///< the same of its parent; empty: the baseline
  Provenance from;
  std::optional<std::string> variant{};   ///< of a rewrite: variantOf(); older rows have none
  std::optional<std::string> decidedBy{}; ///< of a failure: the check, or else the stage
};
KOPT_FIELDS(Experience, kernel, state, proposer, technique, arch, toolchain, purpose, verdict,
            overParent, overBaseline, seconds, candidate, parent, from, variant, decidedBy)

/// What trials came to.
struct Outcomes {
  std::int64_t trials = 0, right = 0;
  std::int64_t gained = 0; ///< right, and faster than the parent by kLeastLogGain
  /// Sums over the right ones: the log gain, at most kMostLogGain, and its square.
  double gain = 0, square = 0;
  double seconds = 0; ///< of all

  /// Adds a trial with its log gain; nothing: it was not right.
  void add(std::optional<double> logGain, double seconds);
  Outcomes &operator+=(const Outcomes &other);
};
KOPT_FIELDS(Outcomes, trials, right, gained, gain, square, seconds)

/// What the trials of a technique came to, where it was applied in one state on one architecture.
/// Of several trials of a candidate in one run the last counts: its confirmation.
struct TechniqueOutcomes {
  std::string state, technique, arch;
  Outcomes sums; ///< of gains over the parent
};
KOPT_FIELDS(TechniqueOutcomes, state, technique, arch, sums)

/// What kopt comes with: the outcomes of its own recordings, in knowledge/seed.json. They are never
/// among the user's rows.
Result<std::vector<TechniqueOutcomes>> seedOutcomes();

/// The hash of all of it: equal rows are one.
std::string idOf(const Experience &experience);
/// What no trial could have taught, or a terminal should not print; empty: nothing.
std::string problemOf(const Experience &experience);

/// A row as it is learnt: with the edits, if they are known.
struct Lesson {
  Experience experience;
  std::optional<Candidate> edits{};
};

} // namespace kopt
