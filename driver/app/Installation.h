// SPDX-License-Identifier: Apache-2.0
// Where kopt's own programs and data are: beside the running executable, in a build tree or an
// installed package.
#pragma once

#include "driver/device/CudaToolkit.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <vector>

namespace kopt {

struct Installation {
  std::filesystem::path frontend;             ///< kopt-frontend; empty where this build has none
  std::filesystem::path runner;               ///< kopt-runner
  std::filesystem::path sandbox;              ///< kopt-sandbox
  std::vector<std::filesystem::path> headers; ///< folders of headers that the front end reads
  std::filesystem::path gpuSpecs;             ///< folder with the GPU descriptions
  CudaToolkit cuda;                           ///< what this machine has of CUDA
};

/// Fails with Environment naming what is missing beside the executable. A missing or wrong CUDA
/// toolkit is not a failure here: those who need it report it.
Result<Installation> findInstallation();

/// The user's folder for what kopt can make again: $KOPT_CACHE_DIR, else $XDG_CACHE_HOME/kopt, else
/// ~/.cache/kopt, else one in the folder for temporary files. The front end uses the same.
std::filesystem::path cacheFolder();

} // namespace kopt
