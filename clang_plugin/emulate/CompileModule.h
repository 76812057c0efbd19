// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clang_plugin/emulate/ModulePlan.h"
#include "clang_plugin/output/Variants.h"

namespace kopt::frontend::emulate {

/// Compiles the slice with Clang, as CUDA device code for this CPU, into an instrumented object
/// file. `plan` then describes its kernel. False, with the diagnostics in `log`, on failure.
bool compileModule(const EmulateRequest &request, const std::string &object, ModulePlan &plan,
                   std::string &log);

} // namespace kopt::frontend::emulate
