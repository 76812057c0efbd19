// SPDX-License-Identifier: Apache-2.0
// `kopt-extract --list`: an extraction for people.
#pragma once

#include "clang_plugin/output/Extraction.h"

namespace kopt::frontend {

/// One block a kernel: where it is, its specializations with their route, its launches with their
/// geometry.
std::string listText(const ExtractionResult &extraction);

} // namespace kopt::frontend
