// SPDX-License-Identifier: Apache-2.0
// What a candidate must not change because code outside its kernel's slice depends on it, too.
#pragma once

#include "clang_plugin/output/Variants.h"
#include "driver/model/TuneDeclaration.h"
#include "driver/source/RenderSlice.h"

namespace kopt {

/// Finds the shared code of a candidate. Declared tunables may change wherever they are used,
/// because the user allowed it. A constant that the launch is computed from may change if only host
/// code uses it besides.
SharedCode sharedCode(const KernelSpec &kernel, const Specialization &specialization,
                      const Candidate &candidate, const RenderedSlice &rendered,
                      const std::vector<TunableParam> &tunables);

} // namespace kopt
