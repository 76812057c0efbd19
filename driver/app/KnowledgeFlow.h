// SPDX-License-Identifier: Apache-2.0
// What `kopt kb` works on.
#pragma once

#include "driver/knowledge/Passages.h"

namespace kopt {

/// The user's passages, with kopt's own skills as the source "kopt". Fails as Passages::open()
/// does.
Result<Passages> openPassages();

} // namespace kopt
