// SPDX-License-Identifier: Apache-2.0
// Whether the language model of the configuration can be asked: its key, its endpoint or its
// command. Nothing here asks a model, so nothing costs money.
#pragma once

#include "driver/app/doctor/MachineCheck.h"
#include "driver/config/Config.h"
#include "driver/llm/Provider.h"
#include "driver/support/Process.h"

#include <vector>

namespace kopt {

/// Speaks to the provider of the configured model, and to those with a key or an address of the
/// user's, for at most three seconds each. Without any of them, says that none is needed.
std::vector<MachineCheck> checkModels(const ResolvedOptions &options,
                                      const std::vector<Provider> &providers, HttpClient &http,
                                      ProcessRunner &processes);

} // namespace kopt
