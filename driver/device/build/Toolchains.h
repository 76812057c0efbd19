// SPDX-License-Identifier: Apache-2.0
// The toolchains there are.
#pragma once

#include "driver/device/CudaToolkit.h"
#include "driver/device/Toolchain.h"
#include "driver/sandbox/CompilerSandbox.h"

#include <memory>

namespace kopt {

/// nvcc -cubin with the project's flags. Fails with Environment where nvcc is missing.
Result<std::unique_ptr<Toolchain>> makeNvccToolchain(ProcessRunner &processes,
                                                     const CudaToolkit &cuda,
                                                     CompilerSandbox sandbox = CompilerSandbox());
/// kopt-frontend emulate. Fails with Environment where the front end is missing.
Result<std::unique_ptr<Toolchain>>
makeEmulatedToolchain(ProcessRunner &processes, const std::filesystem::path &frontend,
                      CompilerSandbox sandbox = CompilerSandbox());

} // namespace kopt
