// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/app/Workbench.h"
#include "driver/search/proposers/GivenProposer.h"

namespace kopt {

/// Reads candidates' files, each as a version of the user's file that has its kernels. Returns what
/// they hold for each subject of the bench. What is wrong with a file is a note of the kernels that
/// it is for; one that is for none is a note of all. Fails with Environment.
Result<std::vector<GivenCandidates>> readGiven(Workbench &bench,
                                               const std::vector<std::filesystem::path> &files,
                                               const std::string &arch);

} // namespace kopt
