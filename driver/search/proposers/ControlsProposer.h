// SPDX-License-Identifier: Apache-2.0
// Proposes options of the compiler that the user's file does not set: a limit of registers, the
// caches that loads are kept in, fast math, files for --apply-controls.
#pragma once

#include "driver/search/Proposer.h"

namespace kopt {

/// `controls` are `registers`, `load-cache`, `fast-math`, `file:PATH` or `none`; `toolchain` is the
/// name of the compiler. Fails with Usage if it has no --apply-controls for a file, and with
/// Environment if that cannot be read.
Status checkControls(const std::vector<std::string> &controls, const std::string &toolchain);

class ControlsProposer final : public ReadyProposer {
public:
  static constexpr const char *kName = "controls";
  static constexpr const char *kTechniques[] = {"register-limit", "load-cache", "fast-math",
                                                "apply-controls"};

  /// As checkControls() has checked them.
  ControlsProposer(std::vector<std::string> controls, std::string toolchain)
      : controls_(std::move(controls)), toolchain_(std::move(toolchain)) {}
  std::string name() const override { return kName; }

  /// One more option for the parent. A limit of registers stands before the kernel in its text
  /// (__maxnreg__) where the toolkit knows that, and is an option of the compiler otherwise.
  Status propose(const ProposalContext &context, Offers &offers) override;

private:
  bool allows(const char *control) const;

  std::vector<std::string> controls_;
  std::string toolchain_;
};

} // namespace kopt
