// SPDX-License-Identifier: Apache-2.0
// Turns a signal that a kernel raises (for example when its stack reaches the guard page) into a
// finding.
#pragma once

#include <csetjmp>
#include <csignal>
#include <string>

namespace kopt::runtime::emulated {

/// Where the handler jumps to; set before a fiber is entered.
extern sigjmp_buf faultJump;
/// Describes the signal, for the finding.
std::string faultText();

/// Installs the handlers on a separate stack, and restores the old ones in its destructor.
class FaultGuard {
public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard &) = delete;
  FaultGuard &operator=(const FaultGuard &) = delete;

private:
  static constexpr int kSignals[4] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  struct sigaction previous_[4];
  stack_t previousStack_;
};

} // namespace kopt::runtime::emulated
