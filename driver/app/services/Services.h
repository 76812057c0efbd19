// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/app/services/Installation.h"
#include "driver/support/Clock.h"
#include "driver/support/Process.h"
#include "driver/support/Terminal.h"

#include <atomic>

namespace kopt {

/// What every flow gets from its caller to act on the outside. The caller owns it.
struct Services {
  ProcessRunner &processes;
  Clock &clock;
  Terminal &terminal;
  Installation installation;
  const std::atomic<bool> *interrupted = nullptr; ///< set by the user's ^C; null: never
};

} // namespace kopt
