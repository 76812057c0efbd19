// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/model/KernelSpec.h"

#include <string>

namespace kopt {

/// One specialization of one kernel, and the text that it is built from.
struct SlicedKernel {
  KernelSpec kernel;
  Specialization specialization;
  std::string sliceText; ///< the slice, or the whole file if the specialization's route is in-place
};

} // namespace kopt
