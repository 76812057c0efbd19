// SPDX-License-Identifier: Apache-2.0
// Makes the toolchains.
#pragma once

#include "driver/device/CudaToolkit.h"
#include "driver/device/Toolchain.h"
#include "driver/sandbox/CompilerSandbox.h"

#include <memory>

namespace kopt {

class BuildCache;

/// nvcc -cubin with the project's flags. Fails with Environment if nvcc is missing.
Result<std::unique_ptr<Toolchain>> makeNvccToolchain(ProcessRunner &processes,
                                                     const CudaToolkit &cuda,
                                                     CompilerSandbox sandbox = CompilerSandbox());
/// kopt-frontend emulate. Fails with Environment if the front end is missing.
Result<std::unique_ptr<Toolchain>>
makeEmulatedToolchain(ProcessRunner &processes, const std::filesystem::path &frontend,
                      CompilerSandbox sandbox = CompilerSandbox());

/// Caches builds: a request that was built before gets a copy of the module at its own output path,
/// and a request that another thread is building waits for it. So modules can be built ahead. What
/// earlier runs built comes from `cache`, which must outlive the toolchain; null: there is none.
std::unique_ptr<Toolchain> makeRememberingToolchain(std::unique_ptr<Toolchain> compiler,
                                                    BuildCache *cache = nullptr);

} // namespace kopt
