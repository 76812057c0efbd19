// SPDX-License-Identifier: Apache-2.0
// A win of one instantiation of a template as an explicit specialization, so that the template and
// its other instantiations stay as they are.
#pragma once

#include "driver/integrate/compose/Win.h"
#include "driver/support/Result.h"

namespace kopt {

/// The kernel's definition `text`, which begins with `template <...>`, as a definition of
/// `template <>` for these arguments. `name` is the kernel's, without its namespaces; `arguments`
/// is "float, 32". Fails with Usage, saying what it cannot do, on a form that it does not know.
Result<std::string> explicitSpecialization(const std::string &text, const std::string &name,
                                           const std::vector<TemplateArg> &templateArgs,
                                           const std::string &arguments);

/// The same win with its kernel's text as an explicit specialization behind the template; the trial
/// has the candidate to judge. Fails as explicitSpecialization(), and where the file cannot be
/// read.
Result<Win> withOwnSpecialization(const Win &win);

} // namespace kopt
