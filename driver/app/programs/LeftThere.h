// SPDX-License-Identifier: Apache-2.0
// The contents of a trace that stayed on the host where the program ran.
#pragma once

#include "driver/device/worker/WorkerLink.h"

#include <filesystem>
#include <vector>

namespace kopt {

/// Files that belong into the trace's folder but are not there; none if the program ran here.
std::vector<WorkerFile> filesLeftThere(const std::filesystem::path &trace);
/// Records them in the trace's folder. Fails with Environment.
Status leaveThere(const std::filesystem::path &trace, const std::vector<WorkerFile> &files);

} // namespace kopt
