// SPDX-License-Identifier: Apache-2.0
// A libnvidia-ml.so.1 whose one GPU says what the state says.
#pragma once

struct FakeNvmlState {
  int initResult = 0;
  unsigned clock = 1755, processes = 1;
  unsigned long long reasons = 0;
  bool hasMig = true;
};

FakeNvmlState &fakeNvml();
