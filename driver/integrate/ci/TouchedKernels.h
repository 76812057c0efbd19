// SPDX-License-Identifier: Apache-2.0
// Which kernels a change touches, told by what they consist of and not by the lines that changed: a
// kernel is its slice (its own text and all that it uses, through headers and macros) and how it is
// launched.
#pragma once

#include "driver/model/Gate.h"
#include "driver/source/Subjects.h"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kopt {

/// One version of the project.
struct ProjectVersion {
  const ExtractionResult &extraction;
  /// Of an absolute path, the path by which both versions know the file: a renamed one has its new
  /// path in both.
  std::function<std::string(const std::filesystem::path &)> name;
};

/// A kernel that is not the same in both versions. At least one of the two is there.
struct TouchedKernel {
  KernelChange change = KernelChange::Modified;
  std::optional<KernelInstance> base, head;
  bool sameLaunches = false; ///< the source launches both in the same way
};

struct TouchedKernels {
  std::vector<TouchedKernel> kernels; ///< in the order of the head, then those that are gone
  std::size_t unchanged = 0;
};

/// Compares all instantiations. A kernel is recognized by its symbol, then by its name, then by its
/// text. Fails where a slice cannot be read.
Result<TouchedKernels> touchedKernels(const ProjectVersion &base, const ProjectVersion &head);

/// The text without comments, and with one space in the place of each run of white space; lines of
/// the preprocessor stay lines. Equal results are the same code.
std::string codeOf(const std::string &text);

} // namespace kopt
