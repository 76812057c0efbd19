// SPDX-License-Identifier: Apache-2.0
// Finds the changes of host code in a person's candidate, other than its launches: kopt does not
// take them over, so it has to refuse them by name.
#pragma once

#include "clang_plugin/output/HostText.h"
#include "driver/model/KernelSpec.h"

#include <optional>
#include <string>

namespace kopt {

/// The first change of host code between the original's file and the candidate's, as a sentence
/// with both places; nothing if there is none. Device code in either file (a chunk of a slice) and
/// constants that kernels or launches use do not count as host code. Code that only one file has
/// does not count either, unless it launches a kernel, because its use would be a change by itself.
std::optional<std::string> hostChange(const HostText &before, const ExtractionResult &original,
                                      const HostText &after, const ExtractionResult &changed);

/// True if the two files have the same text outside device code, apart from white space: then the
/// front end need not be asked.
bool sameOutsideKernels(const std::string &originalFile, const ExtractionResult &original,
                        const std::string &changedFile, const ExtractionResult &changed);

} // namespace kopt
