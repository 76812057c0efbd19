// SPDX-License-Identifier: Apache-2.0
// Writes a unified diff with line numbers, and marks changes within lines.
#pragma once

#include "driver/report/html/Writer.h"

namespace kopt::html {

void writeDiff(Writer &writer, const std::string &diff);

} // namespace kopt::html
