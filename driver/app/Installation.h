// SPDX-License-Identifier: Apache-2.0
// Where kopt's own programs and data are: beside the running executable, in a build tree or an installed package.
#pragma once

#include "driver/support/Result.h"

#include <filesystem>

namespace kopt {

struct Installation {
  std::filesystem::path frontend; ///< kopt-frontend; empty where this build has none
  std::filesystem::path runner;   ///< kopt-runner
  std::filesystem::path gpuSpecs; ///< folder with the GPU descriptions
};

/// Fails with Environment naming what is missing beside the executable.
Result<Installation> findInstallation();

} // namespace kopt
