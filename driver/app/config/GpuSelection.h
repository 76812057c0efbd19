// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

/// GPUs of this machine, by the numbers that CUDA gives them: "all" (none), "3" (the first three),
/// "0,2,5" (these). A single number is a count, as in `docker run --gpus` and Slurm: for one other
/// GPU there is CUDA_VISIBLE_DEVICES. Fails with Usage where a text is none of these.
Result<std::vector<int>> parseGpuSelection(const std::string &text);

} // namespace kopt
