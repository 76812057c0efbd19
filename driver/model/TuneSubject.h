// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/model/KernelSpec.h"
#include "driver/model/TuneDeclaration.h"

#include <string>

namespace kopt {

/// One specialization of one kernel, with the user's clauses: the object that is tuned, judged or
/// profiled.
struct TuneSubject {
  KernelSpec kernel;
  Specialization specialization;
  TuneDeclaration declaration;
  std::string sliceText; ///< the slice, or the whole file if the specialization's route is in-place
  std::string label;     ///< "transpose", "stencil<float, 1>"
};

} // namespace kopt
