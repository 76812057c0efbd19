// SPDX-License-Identifier: Apache-2.0
// For the sources of the runtime alone: what includes their headers may have a KOPT_CHECK of its
// own, as the driver does.
#pragma once

#include "runtime/device/Status.h"

/// `KOPT_CHECK(mayFail());` returns the Status if it is a failure.
#define KOPT_CHECK(...)                                                                            \
  do {                                                                                             \
    if (::kopt::runtime::Status koptStatus = (__VA_ARGS__); !koptStatus.ok())                      \
      return koptStatus;                                                                           \
  } while (false)
