// SPDX-License-Identifier: Apache-2.0
// The style of pages on screen (light and dark) and in print, and the only script, which sorts
// tables.
#pragma once

#include "driver/report/html/Writer.h"

namespace kopt::html {

extern const Literal kStyle, kScript;
/// Hash of the script, for the page's Content-Security-Policy; a test computes it again.
extern const char *const kScriptHash;

} // namespace kopt::html
