// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/execute/FaultGuard.h"

#include "runtime/emulated/execute/Machine.h"

namespace kopt::runtime::emulated {

sigjmp_buf faultJump;

namespace {

volatile int lastSignal = 0;
volatile std::uint64_t lastAddress = 0;
alignas(16) char handlerStack[64 * 1024];

void onSignal(int signal, siginfo_t *info, void *) {
  lastSignal = signal;
  lastAddress = reinterpret_cast<std::uint64_t>(info->si_addr);
  siglongjmp(faultJump, 1);
}

} // namespace

std::string faultText() {
  if (lastSignal == SIGSEGV && lastAddress < machine.stackLow &&
      lastAddress + 65536 > machine.stackLow)
    return "stack overflow: more than 252 KiB of local memory in one thread";
  switch (lastSignal) {
  case SIGSEGV:
  case SIGBUS:
    return "access to an invalid address";
  case SIGFPE:
    return "arithmetic exception";
  default:
    return "illegal instruction";
  }
}

FaultGuard::FaultGuard() {
  stack_t stack{};
  stack.ss_sp = handlerStack;
  stack.ss_size = sizeof handlerStack;
  sigaltstack(&stack, &previousStack_);
  struct sigaction action{};
  action.sa_sigaction = onSignal;
  // SA_NODEFER, because the handler never returns and the signal would stay masked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 4; ++i)
    sigaction(kSignals[i], &action, &previous_[i]);
}

FaultGuard::~FaultGuard() {
  for (int i = 0; i < 4; ++i)
    sigaction(kSignals[i], &previous_[i], nullptr);
  sigaltstack(&previousStack_, nullptr);
}

} // namespace kopt::runtime::emulated
