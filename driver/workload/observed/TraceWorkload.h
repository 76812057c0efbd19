// SPDX-License-Identifier: Apache-2.0
// Makes a kernel's workload from a program's own launches.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"
#include "driver/workload/observed/LaunchClasses.h"
#include "driver/workload/observed/TraceFolder.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// The launches that a kernel is judged on.
struct SubjectWorkload {
  Workload workload;
  std::vector<Launch> heldOut; ///< captured launches for the final validation only
  /// Mean seconds in the program of the launches that the launch of that name represents, if known.
  std::map<std::string, double> programSeconds;
  std::vector<std::string> notes; ///< messages: what was left out of a trace, and why; constants to
                                  ///< which a clause gives another value
};

/// A launch, and the contents of its memory after it.
struct CapturedLaunch {
  Launch launch;
  std::vector<std::string>
      after; ///< for each buffer, the file with its contents after the launch; empty: not stored
  std::vector<std::string> notAfter; ///< for each buffer, why they are not stored
  std::uint64_t ordinal = 0;         ///< number among the kernel's launches in its process
};

/// Its launches represent classes of launches and are weighted by how many launches their class
/// has; those held out are others of the same classes.
struct TraceWorkload : SubjectWorkload {
  std::vector<CapturedLaunch> captured; ///< all that can be repeated, in the program's order
  double coverage = 0; ///< share of the kernel's time that the classes of `workload` have
  double launches = 0; ///< of the program, that the classes of `workload` have
};

/// Where an address of the program points: the buffer that holds it. The end of a buffer belongs to
/// it if no other begins there.
std::optional<PointerWord> pointerTo(const Launch &launch, std::uint64_t address);

/// True if the program launched the specialization.
bool isLaunched(const ObservedTrace &trace, const Specialization &specialization);

/// Makes the workload from at most `most` classes of launches. Fails with Usage if the trace has no
/// launch of the specialization (naming those that it has) or none that can be repeated, and with
/// StaleInput if the kernel's parameters differ from those in the trace. Also fails as
/// checkLaunchable() does for the device (emulated or cuda).
Result<TraceWorkload> workloadFromTrace(const ObservedTrace &trace, const KernelSpec &kernel,
                                        const Specialization &specialization,
                                        const TuneDeclaration &declaration, DeviceKind device,
                                        std::size_t most);

/// The type that the pointer at byte `at` of an argument points to ("f32"). For a struct,
/// KernelParam::scalar lists them by offset: "pointers 0 f32 8 i32". Empty if unknown.
std::string pointeeOf(const KernelParam &param, std::size_t at);

/// Fails with StaleInput if a program of the trace has changed since. If a program is not on this
/// machine it cannot be compared, and `note` says so.
Status checkPrograms(const ObservedTrace &trace, std::string &note);

} // namespace kopt
