// SPDX-License-Identifier: Apache-2.0
// A radix sort by CUB of keys, or of keys with values. IN is the keys' type, VALUE that of values, if there are any; CALL is
// SortKeys, SortKeysDescending, SortPairs or SortPairsDescending. Numbers: elements.
#include "launch.h"

#include <cub/device/device_radix_sort.cuh>

int main(int argc, char **argv) {
  Launch launch(argc, argv);
  const long long size = launch.size(0);
  return runWithWorkspace(launch, [&](void *memory, std::size_t &bytes) {
#ifdef VALUE
    return cub::DeviceRadixSort::CALL(memory, bytes, launch.in<IN>(0), launch.out<IN>(0), launch.in<VALUE>(1), launch.out<VALUE>(1),
                                      size, 0, int(8 * sizeof(IN)), launch.stream());
#else
    return cub::DeviceRadixSort::CALL(memory, bytes, launch.in<IN>(0), launch.out<IN>(0), size, 0, int(8 * sizeof(IN)),
                                      launch.stream());
#endif
  });
}
