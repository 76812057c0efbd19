// SPDX-License-Identifier: Apache-2.0
// `kopt profile`: what one launch of a kernel does, and which of its lines cost most.
#pragma once

#include "driver/app/Workbench.h"
#include "driver/device/sass/SourceLines.h"
#include "driver/model/Diagnosis.h"

namespace kopt {

struct ProfileRequest {
  SourceSettings sources; ///< of the baseline
  SelectionRequest selection;
  std::filesystem::path candidate; ///< the file, or its slice, with the kernel's device code
                                   ///< changed; empty: the baseline is profiled
  DeviceConfig device;
  SandboxMode sandbox = SandboxMode::Auto;
  std::string arch; ///< empty: the device's
  std::string
      program; ///< command whose launches are the workload; empty: the declared launches are
  std::filesystem::path root; ///< .kopt/ lives here
  std::string launch; ///< name of the launch of the workload; empty: the one with most weight
  bool ncu = false;   ///< Nsight Compute's sections and advice too
  std::vector<std::string> sections; ///< of Nsight Compute; empty: its set "detailed"
};

struct ProfileReport {
  std::string label, file;
  unsigned line = 0;
  DeviceInfo device;
  std::vector<SandboxLayer> sandbox;
  Launch launch;                     ///< as it was profiled
  std::vector<std::string> launches; ///< names of all that the workload has
  ProfileOutcome profile;            ///< counters of the launch and of the code, ptxas's facts
  Diagnosis diagnosis;
  std::string codeArch;             ///< of the machine code that was read; empty: none was
  std::vector<LineUse> lines;       ///< hottest first
  std::optional<NcuReport> ncu;     ///< where it was asked for
  std::vector<std::string> missing; ///< what could not be had, by name, with its remedy
};

/// One report per selected specialization. Nothing is verified: `kopt trial` does that. Fails as
/// runTrials() does, and with BaselineFailed where the kernel does not build, or its launch does
/// not run through.
Result<std::vector<ProfileReport>> profileFile(Services services, const ProfileRequest &request);

} // namespace kopt
