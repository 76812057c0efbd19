// SPDX-License-Identifier: Apache-2.0
// `kopt list`: the kernels of the user's files.
#pragma once

#include "driver/app/Sources.h"

namespace kopt {

/// Every kernel of the files with its specializations; no slice is proven. Fails with Usage,
/// BaselineFailed (a file does not compile) or Environment.
Result<std::vector<KernelSpec>> listKernels(Services services, const SourceSettings &sources);

} // namespace kopt
