// SPDX-License-Identifier: Apache-2.0
// PTX as text: one kernel with the functions and variables it uses, in a form that two compilations
// of the same code share. Pure: no processes, no Clang.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::frontend {

/// Names of all kernels in the module, in order.
std::vector<std::string> ptxEntries(std::string_view ptx);

/// The kernel and everything it uses, with comments, line information, linkage and the numbering of
/// labels and of file-local names removed; nothing if there is no such kernel.
std::optional<std::string> normalisedKernel(std::string_view ptx, std::string_view entry);

/// The first line in which two normalised kernels differ, as one sentence; empty if they are equal.
std::string firstDifference(const std::string &original, const std::string &slice);

} // namespace kopt::frontend
