// SPDX-License-Identifier: Apache-2.0
// The part of a harness that is the same for all kernels.
#pragma once

namespace kopt::frontend {

/// The headers that kHarnessSupport needs.
extern const char *const kHarnessHeaders;

/// C++ text, for nvcc: namespace kopt_harness, with all that a harness does but what depends on its
/// kernel. It needs the CUDA runtime, POSIX and C++11. driver/workload/observed/HarnessData.cpp
/// writes the launches that its load() reads.
extern const char *const kHarnessSupport;

/// The rest of the namespace: runs the unedited kernel, compares, and times.
extern const char *const kHarnessComparison;

} // namespace kopt::frontend
