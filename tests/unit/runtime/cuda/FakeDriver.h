// SPDX-License-Identifier: Apache-2.0
// A libcuda.so.1 in host memory. A module's image is the ELF magic, padding, and from byte 64 the
// names of its kernels, one a line; every kernel takes one pointer and one unsigned. What a launch
// does is the state's to say.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

struct FakeDriverState {
  int initResult = 0, devices = 1, nextLaunchResult = 0, nextSyncResult = 0, moduleLoadResult = 0;
  int occupancy = 4, dynamicSharedLimit = 228 * 1024;
  std::size_t largestAllocation = 1ull << 32; ///< bytes
  std::size_t pageLockedLeft = 1u << 30;      ///< bytes
  std::vector<std::pair<void *, std::size_t>> pageLocked;
  bool sticky = false; ///< a fault has happened: everything fails with it
  /// Stream operations in order: memset N, record, stack N, launch NAME, graph N, copy, read N,
  /// write N, sync.
  std::vector<std::string> calls;
  /// What two events measure of the call between them; empty: half a millisecond.
  std::function<float(const std::string &)> milliseconds;
  std::function<void(const std::string &kernel, void **arguments)> kernel;
  std::map<std::string, std::string> variables; ///< of every module: contents by name
  std::size_t stackBytes = 1024; ///< the limit, of each thread; more than 64 KiB is refused
  int dynamicSharedSet = 0, contextsReleased = 0;
  int allocations = 0, frees = 0;
};

FakeDriverState &fakeDriver();
