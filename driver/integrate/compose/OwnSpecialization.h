// SPDX-License-Identifier: Apache-2.0
// Turns a win of one instantiation of a template into an explicit specialization with launches of
// its own, so that the template and its other instantiations do not change.
#pragma once

#include "driver/integrate/compose/Win.h"
#include "driver/support/Result.h"

namespace kopt {

/// Rewrites the kernel's definition `text`, which begins with `template <...>`, as a definition
/// that begins with `template <>`, for these arguments. `name` is the kernel's name without
/// namespaces; `arguments` is their text, for example "float, 32". With `isInline` it may be
/// defined in several translation units (nvcc warns that it ignores `inline`, but does not where
/// device code is linked). Fails with Usage, with the reason, if the text has a form that it cannot
/// handle.
Result<std::string> explicitSpecialization(const std::string &text, const std::string &name,
                                           const std::vector<TemplateArg> &templateArgs,
                                           const std::string &arguments, bool isInline = false);

/// True for the same place: a dispatch macro launches several instantiations at one.
bool sameSite(const LaunchSite &a, const LaunchSite &b);

/// The same win, but with an explicit specialization after the template instead of a change of the
/// template, and with launches that depend on the template arguments where others are launched at
/// the same place. Its trial holds the candidate to judge, which is another one if the kernel's
/// text changes. Fails as explicitSpecialization(), and if the file cannot be read.
Result<Win> withOwnSpecialization(const Win &win);

} // namespace kopt
