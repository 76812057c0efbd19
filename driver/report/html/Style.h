// SPDX-License-Identifier: Apache-2.0
// How pages look, in light, in dark and in print; and the one script, which sorts tables.
#pragma once

#include "driver/report/html/Writer.h"

namespace kopt::html {

extern const Literal kStyle, kScript;
/// Of the script, for the page's Content-Security-Policy: a test computes it anew.
extern const char *const kScriptHash;

} // namespace kopt::html
