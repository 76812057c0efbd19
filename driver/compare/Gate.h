// SPDX-License-Identifier: Apache-2.0
// The results of `kopt ci` for a change: which kernels it touches, and how long each of them takes
// now.
#pragma once

#include "driver/model/Device.h"
#include "driver/model/Trial.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// How the change affects a kernel, by the content of its slice and its launches.
enum class KernelChange {
  Moved,     ///< same text in another file
  Modified,  ///< different text: of the kernel, of a function that it calls, or of a launch
  Signature, ///< different parameters or template arguments
  Renamed,   ///< another name, otherwise the same text
  Added,
  Removed,
};
constexpr auto spellings(KernelChange) {
  return std::to_array<std::string_view>(
      {"moved", "modified", "signature", "renamed", "new", "removed"});
}

/// The head's version compared with the base's.
enum class GateVerdict { Faster, Same, Slower, Ambiguous, NotMeasured };
constexpr auto spellings(GateVerdict) {
  return std::to_array<std::string_view>({"faster", "same", "slower", "ambiguous", "not measured"});
}

/// A place in the repository: the path is relative to its top.
struct GatePlace {
  std::string file;
  unsigned line = 0; ///< 0: the whole file
};
KOPT_FIELDS(GatePlace, file, line)

struct GateLaunch {
  std::string name;
  double baseSeconds = 0, headSeconds = 0; ///< medians
  Speedup speedup;
};
KOPT_FIELDS(GateLaunch, name, baseSeconds, headSeconds, speedup)

/// A kernel that the change touches.
struct GateKernel {
  std::string kernel;   ///< "stencil<float, 4>"
  std::string symbol;   ///< mangled; the head's if the head has the kernel
  std::string baseName; ///< its name in the base; empty: it is not there
  GatePlace place;      ///< in the head, or in the base if the kernel was removed
  std::string baseFile; ///< its file in the base; empty: it is not there
  KernelChange change = KernelChange::Modified;
  GateVerdict verdict = GateVerdict::NotMeasured;
  bool measured = false;  ///< both versions ran
  bool confirmed = false; ///< the verdict comes from fresh processes, after a first measurement
  bool broken = false;    ///< the head's version fails on launches on which the base's runs
  std::string reason;     ///< one sentence, with the figures
  std::optional<Speedup> speedup;
  std::vector<GateLaunch> launches;
  /// Additional seconds of one launch compared with the base, averaged over the workload; negative
  /// if it takes less.
  double lostSeconds = 0;
  std::vector<std::string> notes;

  bool isAlarm() const { return broken || verdict == GateVerdict::Slower; }
};
KOPT_FIELDS(GateKernel, kernel, symbol, baseName, place, baseFile, change, verdict, measured,
            confirmed, broken, reason, speedup, launches, lostSeconds, notes)

/// A variant of kopt.lock that the build no longer uses.
struct GateVariant {
  std::string kernel;
  GatePlace place;   ///< place of the change
  std::string what;  ///< "the constant 'TILE' changed"
  bool isNew = true; ///< the base still used it
};
KOPT_FIELDS(GateVariant, kernel, place, what, isNew)

/// A faster version of a touched kernel, as a patch.
struct GateProposal {
  std::string kernel, title;
  GatePlace place; ///< place of the kernel
  Speedup speedup;
  std::string assurance; ///< full or partial
  std::string patch;     ///< path of the file
};
KOPT_FIELDS(GateProposal, kernel, title, place, speedup, assurance, patch)

struct GateReport {
  std::string name;      ///< name of the job: a later report with the same name replaces this one
  std::string baseRef;   ///< as the user gave it
  std::string base;      ///< the commit to compare with: the merge base of the head and `baseRef`
  std::string head;      ///< commit of the working tree
  bool isDirty = false;  ///< the working tree has changes that are not in `head`
  bool isDryRun = false; ///< nothing was run
  std::string device;    ///< empty: none was opened
  bool modelled = false;
  double minChange = 0.01;   ///< smallest relative change of time that counts
  std::size_t unchanged = 0; ///< kernels that were read and that the change does not touch
  std::vector<GateKernel> kernels;
  std::vector<GateVariant> variants;
  std::vector<GateProposal> proposals;
  std::vector<std::string> notes; ///< sentences for the user
};
KOPT_FIELDS(GateReport, name, baseRef, base, head, isDirty, isDryRun, device, modelled, minChange,
            unchanged, kernels, variants, proposals, notes)

} // namespace kopt
