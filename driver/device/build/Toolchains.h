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

/// What it has built before it gives again, as a copy where the output is to be; and who asks for
/// what another thread is building waits for that. So what will be asked for can be built ahead.
std::unique_ptr<Toolchain> makeRememberingToolchain(std::unique_ptr<Toolchain> compiler);

} // namespace kopt
