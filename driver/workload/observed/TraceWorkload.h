// SPDX-License-Identifier: Apache-2.0
// The workload that a program itself gives to a kernel.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"
#include "driver/workload/observed/LaunchClasses.h"

namespace kopt {

/// A launch with what the memory it can reach held after it.
struct CapturedLaunch {
  Launch launch;
  std::vector<std::string>
      after; ///< per buffer: the file of its contents after the launch; empty: not stored
  std::vector<std::string> notAfter; ///< per buffer: why they are not stored
  std::uint64_t ordinal = 0;         ///< among the kernel's launches in its process
  std::uint64_t pid = 0;
};

struct TraceWorkload {
  Workload workload; ///< the representative launches, weighted by how often their kind was launched
  std::vector<Launch> heldOut;          ///< others of those kinds: for the final validation
  std::vector<CapturedLaunch> captured; ///< all that can be run again, in the order of the program
  std::map<std::string, double> programSeconds; ///< as SubjectWorkload has them
  double coverage = 0; ///< of the kernel's time in the program, by the kinds that `workload` has
  std::vector<std::string> notes; ///< what was left out, and why
};

/// Fails with Usage where the trace has no launch of the specialization (naming those it has) or
/// none with a snapshot, with StaleInput where the kernel's parameters are not those of the trace
/// or the program is no longer the one observed. Also fails as checkLaunchable() does for the
/// device (emulated or cuda).
Result<TraceWorkload> workloadFromTrace(const ObservedTrace &trace, const KernelSpec &kernel,
                                        const Specialization &specialization,
                                        const TuneDeclaration &declaration, DeviceKind device,
                                        std::size_t most);

/// What an argument's pointer points to, `at` bytes into it ("f32"); of a struct "pointers 0 f32 8
/// i32" says it by their offsets. Empty where it is not known.
std::string pointeeOf(const KernelParam &param, std::size_t at);

/// Fails with StaleInput where a program of the trace has changed since. One that is not here
/// cannot be compared: `note` says so.
Status checkPrograms(const ObservedTrace &trace, std::string &note);

} // namespace kopt
