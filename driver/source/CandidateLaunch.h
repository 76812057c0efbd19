// SPDX-License-Identifier: Apache-2.0
// How a person's candidate launches its kernel: the instantiation that its launch sites name, and
// their grid, block and dynamic shared memory where those differ from the original's.
#pragma once

#include "driver/model/Candidate.h"
#include "driver/model/TuneSubject.h"

#include <map>
#include <optional>
#include <string>

namespace kopt {

/// The specialization that stands for the subject's in the candidate's file: the one that is
/// launched in its place, which may have other template arguments. Where the file has no launch, as
/// a slice has none: by its symbol or expression, else by its place. Null where the kernel has no
/// specialization.
const Specialization *counterpart(const TuneSubject &subject, const KernelSpec &changed);

/// Sets what `changed` launches differently in `candidate`: integral template arguments as
/// constants, and the geometry of its launch sites as expressions. A variable that a launch site
/// passes for a kernel parameter goes by the parameter's name there, and a constant of the
/// candidate's file alone by its value, so that the expressions mean the same at every launch.
/// `candidate.constants` has the changed constants already. Returns why the launch cannot be taken,
/// with its place; nothing where it is taken.
std::optional<std::string> takeLaunch(const TuneSubject &subject, const KernelSpec &changed,
                                      const Specialization &other, Candidate &candidate);

/// The expression with other texts in the place of the names that `names` has.
std::string renamed(const std::string &expression, const std::map<std::string, std::string> &names);

} // namespace kopt
