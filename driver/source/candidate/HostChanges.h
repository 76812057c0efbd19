// SPDX-License-Identifier: Apache-2.0
// What a person's candidate changes of host code beside its launches: that is not taken, so it has
// to be named.
#pragma once

#include "clang_plugin/output/HostText.h"
#include "driver/model/KernelSpec.h"

#include <optional>
#include <string>

namespace kopt {

/// The first change of host code between the original's file and the candidate's, as a sentence
/// with both places. What is device code in either of them (a chunk of a slice) and the constants
/// that kernels or launches use are no host code; nor is what only one of them has, unless it
/// launches a kernel: whoever used it would be a change by itself. Nothing where there is none.
std::optional<std::string> hostChange(const HostText &before, const ExtractionResult &original,
                                      const HostText &after, const ExtractionResult &changed);

/// True where the two files have the same text outside of device code, apart from white space: then
/// no front end has to be asked.
bool sameOutsideKernels(const std::string &originalFile, const ExtractionResult &original,
                        const std::string &changedFile, const ExtractionResult &changed);

} // namespace kopt
