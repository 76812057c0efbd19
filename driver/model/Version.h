// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kopt {

/// The version of this build, "0.1.0": CMake's project version.
const char *koptVersion();

} // namespace kopt
