// SPDX-License-Identifier: Apache-2.0
// The files of the user's project that kopt reads. What is not there is not checked: a folder
// without a project is in order.
#pragma once

#include "driver/app/doctor/MachineCheck.h"
#include "driver/support/Process.h"

#include <filesystem>
#include <vector>

namespace kopt {

struct ProjectPlaces {
  std::filesystem::path root;        ///< where .kopt/ is
  std::filesystem::path lockFolder;  ///< where kopt.lock would be
  std::filesystem::path buildFolder; ///< empty: none is known, and the usual places are tried
  bool buildGiven = false;           ///< the user named it, so it must be right
};

/// Looks at the recorded runs, the compile database, the tuned kernels and the git repository.
/// Changes nothing.
std::vector<MachineCheck> checkProject(ProcessRunner &processes, const ProjectPlaces &places);

} // namespace kopt
