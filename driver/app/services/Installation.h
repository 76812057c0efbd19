// SPDX-License-Identifier: Apache-2.0
// The places of kopt's own programs and data: beside the running executable, in a build tree or an
// installed package.
#pragma once

#include "driver/device/CudaToolkit.h"
#include "driver/support/Result.h"

#include <filesystem>
#include <vector>

namespace kopt {

struct Installation {
  std::filesystem::path frontend;             ///< kopt-frontend; empty if this build has none
  std::filesystem::path runner;               ///< kopt-runner
  std::filesystem::path sandbox;              ///< kopt-sandbox
  std::vector<std::filesystem::path> headers; ///< folders of headers that the front end reads
  std::filesystem::path gpuSpecs;             ///< folder with the GPU descriptions
  CudaToolkit cuda;                           ///< the CUDA programs and libraries of this machine
};

/// Fails with Environment, naming what is missing beside the executable. A missing or wrong CUDA
/// toolkit is not a failure here; the code that needs it reports it.
Result<Installation> findInstallation();

/// The user's folder for files that kopt can make again: $KOPT_CACHE_DIR, else
/// $XDG_CACHE_HOME/kopt, else ~/.cache/kopt, else one in the folder for temporary files. The front
/// end uses the same.
std::filesystem::path cacheFolder();

/// Where a BuildCache keeps builds.
std::filesystem::path buildCacheFolder();

/// The user's folder for what kopt keeps beyond a project: $KOPT_DATA_DIR, else
/// $XDG_DATA_HOME/kopt, else ~/.local/share/kopt, else cacheFolder().
std::filesystem::path userFolder();

} // namespace kopt
