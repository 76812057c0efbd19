// SPDX-License-Identifier: Apache-2.0
// Which buffers a kernel only writes.
#pragma once

#include "driver/judge/context/CheckContext.h"

#include <set>
#include <string>

namespace kopt {

/// Sets Buffer::output of the buffers of a launch of the baseline. A buffer is a pure output if
/// poison in place of its old contents changes no result and every element of it is written. All
/// other buffers hold their drawn contents before each launch, so a partial write is compared in
/// full, too. `reference` are the launch's results, and no buffer may be marked as an output when
/// it is called. It poisons all buffers at once, and halves of them only if that changes a result:
/// a run on gigabytes takes seconds, and a fault costs the runner's process. For the same reason a
/// buffer with one of the names in `read` is not tried; names of buffers whose old contents showed
/// are added to it, for the kernel's next launch. Returns false if the launch uses none of its
/// buffers.
Result<bool> findPureOutputs(CheckContext &context, std::size_t launch, const Expected &reference,
                             std::set<std::string> &read);

} // namespace kopt
