// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clang_plugin/output/Extraction.h"

namespace kopt::frontend {

/// Adds the result of another unit. What several units found is kept once.
void merge(ExtractionResult &all, ExtractionResult unit);

} // namespace kopt::frontend
