// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/app/Installation.h"
#include "driver/support/Clock.h"
#include "driver/support/Process.h"
#include "driver/support/Terminal.h"

#include <atomic>

namespace kopt {

/// The effects that every flow gets from its caller, who owns them.
struct Services {
  ProcessRunner &processes;
  Clock &clock;
  Terminal &terminal;
  Installation installation;
  const std::atomic<bool> *interrupted = nullptr; ///< set by the user's ^C; null: never
};

} // namespace kopt
