// SPDX-License-Identifier: Apache-2.0
// The counters of a kernel's code beside those of its launch.
#pragma once

#include "driver/device/sass/Disassembler.h"
#include "driver/device/sass/SassMix.h"

namespace kopt {

class CodeCounter {
public:
  explicit CodeCounter(Disassembler disassembler) : disassembler_(std::move(disassembler)) {}

  /// Adds sassCounters() of `symbol` (or of the only function there is) in a cubin, and the stage
  /// "disassemble". Where there are none the reason is added to `detail`; that there is no nvdisasm
  /// is said once, and nothing is tried after it.
  void addTo(ProfileOutcome &outcome, const std::filesystem::path &cubin,
             const std::string &symbol);

private:
  Disassembler disassembler_;
  bool unavailable_ = false;
};

/// The name under which the listing has the kernel; empty where it does not.
std::string symbolIn(const SassListing &listing, const std::string &symbol);

} // namespace kopt
