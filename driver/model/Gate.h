// SPDX-License-Identifier: Apache-2.0
// What `kopt ci` finds out about a change: which kernels it touches, and what each of them costs
// now.
#pragma once

#include "driver/model/Device.h"
#include "driver/model/Trial.h"

#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// What the change did to a kernel, by the content of its slice and its launches.
enum class KernelChange {
  Moved,     ///< the same text in another file
  Modified,  ///< other text: its own, of what it calls, or of how it is launched
  Signature, ///< other parameters or template arguments
  Renamed,   ///< another name, else the same text
  Added,
  Removed,
};
template <> struct EnumNames<KernelChange> {
  static constexpr std::pair<KernelChange, const char *> kAll[] = {
      {KernelChange::Moved, "moved"},         {KernelChange::Modified, "modified"},
      {KernelChange::Signature, "signature"}, {KernelChange::Renamed, "renamed"},
      {KernelChange::Added, "new"},           {KernelChange::Removed, "removed"}};
};

/// The head's version compared with the base's.
enum class GateVerdict { Faster, Same, Slower, Ambiguous, NotMeasured };
template <> struct EnumNames<GateVerdict> {
  static constexpr std::pair<GateVerdict, const char *> kAll[] = {
      {GateVerdict::Faster, "faster"},
      {GateVerdict::Same, "same"},
      {GateVerdict::Slower, "slower"},
      {GateVerdict::Ambiguous, "ambiguous"},
      {GateVerdict::NotMeasured, "not measured"}};
};

/// A place in the repository: the path is relative to its top.
struct GatePlace {
  std::string file;
  unsigned line = 0; ///< 0: of the whole file
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
  std::string symbol;   ///< mangled, of the head where it has the kernel
  std::string baseName; ///< in the base; empty: it has none there
  GatePlace place;      ///< in the head, or in the base where it was removed
  std::string baseFile; ///< where it was; empty: there is none
  KernelChange change = KernelChange::Modified;
  GateVerdict verdict = GateVerdict::NotMeasured;
  bool measured = false;  ///< both versions ran
  bool confirmed = false; ///< the verdict comes from fresh processes, after a first look
  bool broken = false;    ///< the head's version fails where the base's runs
  std::string reason;     ///< one sentence, with the figures
  std::optional<Speedup> speedup;
  std::vector<GateLaunch> launches;
  /// What one launch takes longer than in the base, on the average of the workload; negative: it
  /// takes less.
  double lostSeconds = 0;
  std::vector<std::string> notes;

  bool isAlarm() const { return broken || verdict == GateVerdict::Slower; }
};
KOPT_FIELDS(GateKernel, kernel, symbol, baseName, place, baseFile, change, verdict, measured,
            confirmed, broken, reason, speedup, launches, lostSeconds, notes)

/// A variant of kopt.lock that the build does not use any more.
struct GateVariant {
  std::string kernel;
  GatePlace place;   ///< of what changed
  std::string what;  ///< "the constant 'TILE' changed"
  bool isNew = true; ///< it was used at the base
};
KOPT_FIELDS(GateVariant, kernel, place, what, isNew)

/// A faster version of a touched kernel, as a patch.
struct GateProposal {
  std::string kernel, title;
  GatePlace place; ///< of the kernel
  Speedup speedup;
  std::string assurance; ///< full or partial
  std::string patch;     ///< path of the file
};
KOPT_FIELDS(GateProposal, kernel, title, place, speedup, assurance, patch)

struct GateReport {
  std::string name;     ///< of the job: a later report of the same name takes the place of this one
  std::string baseRef;  ///< as it was given
  std::string base;     ///< the commit that is compared with: where the head left `baseRef`
  std::string head;     ///< commit of the working tree
  bool isDirty = false; ///< the working tree has changes that are not in `head`
  bool isDryRun = false; ///< nothing was run
  std::string device;    ///< empty: none was opened
  bool modelled = false;
  double minChange = 0.01;   ///< smallest relative change of time that counts
  std::size_t unchanged = 0; ///< kernels of the files that were read that the change does not touch
  std::vector<GateKernel> kernels;
  std::vector<GateVariant> variants;
  std::vector<GateProposal> proposals;
  std::vector<std::string> notes; ///< sentences for people
};
KOPT_FIELDS(GateReport, name, baseRef, base, head, isDirty, isDryRun, device, modelled, minChange,
            unchanged, kernels, variants, proposals, notes)

} // namespace kopt
