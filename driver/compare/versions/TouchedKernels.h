// SPDX-License-Identifier: Apache-2.0
// Finds the kernels that a change touches by comparing what they consist of, not the changed lines.
// A kernel consists of its slice (its own text and everything that it uses, through headers and
// macros) and its launches.
#pragma once

#include "driver/compare/Gate.h"
#include "driver/source/Frontend.h"
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
  /// For an absolute path, the path under which both versions know the file: for a renamed file,
  /// the new one.
  std::function<std::string(const std::filesystem::path &)> name;
};

/// A kernel that differs between the versions. At least one of `base` and `head` is set.
struct TouchedKernel {
  KernelChange change = KernelChange::Modified;
  std::optional<KernelInstance> base, head;
  bool sameLaunches = false; ///< the source launches both in the same way
};

struct TouchedKernels {
  std::vector<TouchedKernel> kernels; ///< in the order of the head, then removed ones
  std::size_t unchanged = 0;
};

/// Compares all instantiations. Kernels are matched by symbol, then by name, then by text. Fails if
/// a slice cannot be read.
Result<TouchedKernels> touchedKernels(Frontend &frontend, const ProjectVersion &base,
                                      const ProjectVersion &head);

} // namespace kopt
