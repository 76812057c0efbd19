// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/model/SlicedKernel.h"
#include "driver/model/TuneDeclaration.h"

#include <string>

namespace kopt {

/// A kernel with the user's clauses: the object that is tuned, judged or profiled.
struct TuneSubject : SlicedKernel {
  TuneDeclaration declaration;
  std::string label; ///< "transpose", "stencil<float, 1>"
};

} // namespace kopt
