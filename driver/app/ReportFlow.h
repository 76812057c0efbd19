// SPDX-License-Identifier: Apache-2.0
// `kopt report`: what a recorded run found.
#pragma once

#include "driver/report/Report.h"

#include <filesystem>
#include <string>

namespace kopt {

/// The run of that name recorded below `root`; "latest" is the last one that finished. Fails with
/// Usage where there is none, listing those there are, and with Environment where the database
/// cannot be read.
Result<RunHistory> findRun(const std::filesystem::path &root, const std::string &name);

} // namespace kopt
