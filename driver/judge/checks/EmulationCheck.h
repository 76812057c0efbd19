// SPDX-License-Identifier: Apache-2.0
// A second opinion on a candidate for a GPU. Two threads that meet in a word, a read of what nobody
// wrote, a result that depends on the order of blocks: a GPU shows them once in a thousand launches
// or never, the emulated device each time.
#pragma once

#include "driver/judge/checks/DerivedReplays.h"
#include "driver/source/RenderSlice.h"

namespace kopt {

/// The emulated device beside the GPU. It opens, builds and learns when it is first asked, which
/// takes a second or two of the CPU.
class Emulation {
public:
  struct Answer {
    std::string why;                ///< it can say nothing, and why; empty: it can
    std::optional<Failure> failure; ///< nothing: the kernel passed
    std::string launch;             ///< the one that stands for all
  };
  virtual ~Emulation() = default;
  /// As Check::compileAhead().
  virtual void compileAhead(const CompileAhead &ahead) = 0;
  /// The original on the first of these launches that it runs on there: that one stands for all
  /// later ones. The text is Answer::why. Later calls answer the same.
  virtual Result<std::string> learn(const std::vector<DerivedLaunch> &launches) = 0;
  /// The same launch, and others derived from it, of the kernel that `rendered` has. `freshSeed` as
  /// in Examination.
  virtual Result<Answer> judge(const RenderedSlice &rendered, const Candidate &candidate,
                               std::uint64_t freshSeed) = 0;
};

/// Asks it with a small launch, on as little of captured memory as the original needs. `emulation`
/// may be null: there is none.
std::unique_ptr<Check> makeEmulationCheck(std::shared_ptr<DerivedReplays> replays,
                                          Emulation *emulation);

} // namespace kopt
