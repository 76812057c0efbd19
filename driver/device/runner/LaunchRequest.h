// SPDX-License-Identifier: Apache-2.0
// A launch in the words of kopt-runner's protocol (runtime/runner/README.md).
#pragma once

#include "driver/model/Workload.h"
#include "runtime/runner/Protocol.h"

namespace kopt {

/// Adds the launch's fields, each with its prefix ("a."), for the module that the runner knows by
/// that number.
void addLaunch(runtime::protocol::Message &request, const std::string &prefix, std::uint32_t module,
               const Launch &launch);

} // namespace kopt
