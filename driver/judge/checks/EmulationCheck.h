// SPDX-License-Identifier: Apache-2.0
// Runs a candidate for a GPU on the emulated device as well. A GPU shows a race, an uninitialised
// read, or a result that depends on the order of blocks once in a thousand launches or never; the
// emulated device shows it each time.
#pragma once

#include "driver/judge/replays/DerivedReplays.h"

namespace kopt {

/// The emulated device beside the GPU, used from one thread. learn() opens the device and builds,
/// which takes a second or two of the CPU, more for long kernels.
class Emulation {
public:
  struct Answer {
    std::string why;                ///< why it cannot judge the kernel; empty if it can
    std::optional<Failure> failure; ///< nothing: the kernel passed
    std::string launch;             ///< name of the launch that was tried
  };
  virtual ~Emulation() = default;
  /// See Check::compileAhead().
  virtual void compileAhead(const CompileAhead &ahead) = 0;
  /// Finds the first of these launches that the original runs on, and uses it for all candidates.
  /// Returns Answer::why if there is none. Later calls return the same text.
  virtual Result<std::string> learn(const std::vector<DerivedLaunch> &launches) = 0;
  /// Judges a version on that launch and on others derived from it. `freshSeed` as in Examination.
  virtual Result<Answer> judge(const RenderedCandidate &candidate, std::uint64_t freshSeed) = 0;
};

/// Makes the check, which uses a small launch on as little captured memory as the original needs.
/// `emulation` is null if there is no emulated device.
std::unique_ptr<Check> makeEmulationCheck(std::shared_ptr<DerivedReplays> replays,
                                          Emulation *emulation);

} // namespace kopt
