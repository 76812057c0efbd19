// SPDX-License-Identifier: Apache-2.0
// Turns a win of one instantiation of a template into an explicit specialization with launches of
// its own, so that the template and its other instantiations do not change.
#pragma once

#include "driver/integrate/compose/Win.h"
#include "driver/model/KernelVariants.h"
#include "driver/source/RenderSlice.h"
#include "driver/support/Result.h"

#include <functional>

namespace kopt {

/// Frontend::specialize().
using Specialize = std::function<Result<ChunkReply>(const RenderedSlice &, std::size_t chunk,
                                                    const KernelSpec &, bool isInline)>;

/// True for the same place: a dispatch macro launches several instantiations at one.
bool sameSite(const LaunchSite &a, const LaunchSite &b);

/// The same win, but with an explicit specialization after the template instead of a change of the
/// template, and with launches that depend on the template arguments where others are launched at
/// the same place. Its trial holds the candidate to judge, which is another one if the kernel's
/// text changes. Fails with Usage, with the reason, if the
/// kernel or its launches have a form that it cannot handle, and if the file cannot be read.
Result<Win> withOwnSpecialization(const Win &win, const Specialize &specialize);

} // namespace kopt
