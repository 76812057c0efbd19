// SPDX-License-Identifier: Apache-2.0
// `kopt profile`: shows what one launch of a kernel does, and which of its lines cost most.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/device/sass/SourceLines.h"
#include "driver/diagnose/Contrast.h"
#include "driver/diagnose/StallSlices.h"
#include "driver/model/Diagnosis.h"

namespace kopt {

struct ProfileRequest : KernelRequest {
  /// The file or its slice, with the kernel's device code changed; empty: profiles the baseline.
  std::filesystem::path candidate{};
  std::string launch{}; ///< name of a launch of the workload; empty: the one with the most weight
  bool ncu = false;     ///< also Nsight Compute's sections and advice
  std::vector<std::string> sections{}; ///< of Nsight Compute; empty: its set "detailed"
  /// Only say where the accesses of the kernel go: from its source, nothing runs.
  bool accesses = false;
};

/// Where an access of the kernel goes, in words.
struct AccessLine {
  SourceFrame place;
  std::string text;
};

struct ProfileReport {
  std::string label, file;
  unsigned line = 0;
  DeviceInfo device;
  std::vector<SandboxLayer> sandbox;
  Launch launch;                     ///< the profiled launch
  std::vector<std::string> launches; ///< names of all launches of the workload
  /// Counters of the launch and of the code, and what ptxas reports.
  ProfileOutcome profile;
  Diagnosis diagnosis;
  Contrast contrast;                ///< of a candidate with the original; empty without a candidate
  std::string codeArch;             ///< of the machine code that was read; empty: none was read
  std::vector<LineUse> lines;       ///< of the machine code, hottest first
  std::vector<StallSlice> stalls;   ///< what warps wait for, if Nsight Compute took samples
  std::vector<AccessLine> accesses; ///< if they were requested; nothing else is determined then
  HotLines executed;                ///< what lines executed, of a device that counts it
  std::optional<NcuReport> ncu;     ///< if it was requested
  std::vector<std::string> missing; ///< what could not be determined, by name, with the remedy
};

/// Returns a report for each selected specialization. Verifies nothing; `kopt trial` does that.
/// A version's machine code, as nvcc makes it.
struct MachineCode {
  std::string arch;            ///< "sm_90"
  Counters facts;              ///< as parsePtxasInfo() has them
  Result<SassListing> listing; ///< with the user's lines; or why nvdisasm lists nothing
  std::string symbol;          ///< of the kernel in the listing
};

/// Fails with Environment without nvcc, and with BaselineFailed, saying what nvcc says,
/// if it does not build.
Result<MachineCode> machineCode(Services &services, Workbench &bench, const ProfileRequest &request,
                                const TuneSubject &subject, const Candidate &candidate);

/// The report of a kernel, beside the original's if the request has a candidate.
Result<ProfileReport> profileKernel(Services &services, Workbench &bench,
                                    const ProfileRequest &request, const TuneSubject &subject,
                                    const Workload &workload, const Candidate &candidate);

/// Fails as runTrials(), and with BaselineFailed if the kernel does not build or its launch fails.
Result<std::vector<ProfileReport>> profileFile(Services services, const ProfileRequest &request);

} // namespace kopt
