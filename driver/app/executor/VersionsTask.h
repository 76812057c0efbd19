// SPDX-License-Identifier: Apache-2.0
// Two versions of a kernel for a worker to compare.
#pragma once

#include "driver/compare/Gate.h"
#include "driver/judge/remote/JudgeTask.h"

namespace kopt {

/// As VersionBench::compare() is asked. The base's task has the files of both; their workloads are
/// empty.
struct VersionsTask {
  JudgeTask base, head;
  std::string baseLabel, headLabel;
  bool sameLaunches = false;
  GateKernel kernel;
};
KOPT_FIELDS(VersionsTask, base, head, baseLabel, headLabel, sameLaunches, kernel)

} // namespace kopt
