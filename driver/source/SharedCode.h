// SPDX-License-Identifier: Apache-2.0
// What a candidate has to leave alone because code that is no part of its kernel's slice stands on
// it, too.
#pragma once

#include "clang_plugin/output/Variants.h"
#include "driver/model/TuneDeclaration.h"
#include "driver/source/RenderSlice.h"

namespace kopt {

/// Declared tunables may change wherever they are used: the user said so. A constant that the
/// launch is computed from may have another value for the candidate's launches, so host code alone
/// does not forbid that.
SharedCode sharedCode(const KernelSpec &kernel, const Specialization &specialization,
                      const Candidate &candidate, const RenderedSlice &rendered,
                      const std::vector<TunableParam> &tunables);

} // namespace kopt
