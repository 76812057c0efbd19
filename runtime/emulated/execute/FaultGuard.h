// SPDX-License-Identifier: Apache-2.0
// Turns a signal raised inside a kernel (a stack that ran into its guard page) into a finding.
#pragma once

#include <csetjmp>
#include <csignal>
#include <string>

namespace kopt::runtime::emulated {

/// Where the handler jumps; set before a fiber is entered.
extern sigjmp_buf faultJump;
/// What the signal was, for the finding.
std::string faultText();

/// Installs the handlers for its lifetime, on a separate stack, and puts the old ones back.
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
