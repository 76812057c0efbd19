// SPDX-License-Identifier: Apache-2.0
// Turns the nvcc command line of the user's file into one that builds a candidate as a cubin.
#pragma once

#include <string>
#include <vector>

namespace kopt {

/// The flags that affect code, in order. Flags for outputs, dependency files, phases,
/// architectures, relocatable code and temporary files are left out, with their values.
std::vector<std::string> flagsForCubin(const std::vector<std::string> &userFlags);

/// `arch`, or its architecture- or family-specific form ("sm_90a") if the user's flags build for
/// that: a kernel with wgmma does not assemble for plain sm_90.
std::string cubinArch(const std::vector<std::string> &userFlags, const std::string &arch);

/// True if the user's flags name an architecture. If they do not, nvcc builds for the oldest GPU
/// that it supports.
bool namesArch(const std::vector<std::string> &userFlags);

} // namespace kopt
