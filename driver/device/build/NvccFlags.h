// SPDX-License-Identifier: Apache-2.0
// From the nvcc command line of the user's file to one that builds a candidate as a cubin.
#pragma once

#include <string>
#include <vector>

namespace kopt {

/// The flags that shape code, kept in order: flags for outputs, dependency files, phases,
/// architectures, relocatable code and temporary files is left out, with its values.
std::vector<std::string> flagsForCubin(const std::vector<std::string> &userFlags);

/// `arch`, or its architecture- or family-specific form ("sm_90a") where the user's flags build
/// that: a kernel with wgmma does not assemble for plain sm_90.
std::string cubinArch(const std::vector<std::string> &userFlags, const std::string &arch);

/// Whether the user's flags say what to build for. Where they do not, nvcc takes the oldest GPU it
/// knows.
bool namesArch(const std::vector<std::string> &userFlags);

} // namespace kopt
