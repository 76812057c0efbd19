// SPDX-License-Identifier: Apache-2.0
// The host code of a file as text that can be compared with that of another version.
#pragma once

#include "clang_plugin/output/HostText.h"

#include <llvm/Support/Error.h>

namespace kopt::frontend {

/// Fails if the file does not parse.
llvm::Expected<HostText> readHostText(const HostRequest &request);

} // namespace kopt::frontend
