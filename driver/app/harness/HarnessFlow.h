// SPDX-License-Identifier: Apache-2.0
// `kopt harness`: a folder for each kernel that a person edits, builds and runs.
#pragma once

#include "driver/app/KernelRequest.h"

namespace kopt {

/// The harnesses run launches of the program or of the trace, if there is one; without either they
/// run one of declared or default values. A selection of nothing then means the kernels with most
/// of the program's time.
struct HarnessRequest : KernelRequest {
  std::filesystem::path trace{};
  std::filesystem::path output{}; ///< the folder of a harness is in it
  std::size_t launches = 3;       ///< the most for each kernel
  bool force = false;             ///< write over the files of a harness that is there
};

struct WrittenHarness {
  std::string label;
  std::filesystem::path folder;
  std::vector<std::string> launches; ///< captured ones
};

struct HarnessOutcome {
  std::vector<WrittenHarness> harnesses; ///< at least one
  std::vector<std::string> notes;        ///< kernels that have none, and why
};

/// Fails with Usage if a harness is there already, or as selectInstances(), programKernels() and
/// workloadFromTrace() do.
Result<HarnessOutcome> writeHarnesses(Services services, const HarnessRequest &request);

} // namespace kopt
