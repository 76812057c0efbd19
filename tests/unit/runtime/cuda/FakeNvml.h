// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml.so.1 whose one GPU says what the state says.
#pragma once

#include <vector>

struct FakeLoad {
  unsigned pid;
  unsigned long long microseconds;
  unsigned percent;
};

struct FakeNvmlState {
  int initResult = 0;
  unsigned clock = 1755;
  std::vector<unsigned> processes = {4711};
  std::vector<FakeLoad> loads;
  unsigned instance = ~0u;
  bool knowsLoads = true, knowsProcesses = true;
  unsigned long long reasons = 0;
  bool hasMig = true;
};

FakeNvmlState &fakeNvml();
