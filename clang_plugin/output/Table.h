// SPDX-License-Identifier: Apache-2.0
// `kopt-extract --list`: an extraction as readable text.
#pragma once

#include "clang_plugin/output/Extraction.h"

namespace kopt::frontend {

/// One block of lines per kernel: its place, its specializations with their route, and its launches
/// with their geometry.
std::string listText(const ExtractionResult &extraction);

} // namespace kopt::frontend
