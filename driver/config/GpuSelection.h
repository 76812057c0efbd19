// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

/// Parses a selection of this machine's GPUs into CUDA ordinals: "all" (an empty list), "3" (the
/// first three), "0,2,5" (these). A single number is a count, as in `docker run --gpus` and Slurm;
/// to use a single GPU other than the first, set CUDA_VISIBLE_DEVICES. Fails with Usage for any
/// other text.
Result<std::vector<int>> parseGpuSelection(const std::string &text);

} // namespace kopt
