// SPDX-License-Identifier: Apache-2.0
// Running sums (CALL is InclusiveSum or ExclusiveSum) of all elements, or anew for each row, by CUB. IN is the type. Numbers:
// elements, elements of a row.
#include "launch.h"

#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#define KOPT_JOINED(a, b) a##b
#define KOPT_JOIN(a, b) KOPT_JOINED(a, b)

struct Row {
  long long columns;
  __host__ __device__ long long operator()(long long element) const { return element / columns; }
};

int main(int argc, char **argv) {
  Launch launch(argc, argv);
  const long long size = launch.size(0), columns = launch.size(1);
  const IN *in = launch.in<IN>(0);
  IN *out = launch.out<IN>(0);
  const auto rows = thrust::make_transform_iterator(thrust::counting_iterator<long long>(0), Row{columns});
  return runWithWorkspace(launch, [&](void *memory, std::size_t &bytes) {
    if (columns >= size)
      return cub::DeviceScan::CALL(memory, bytes, in, out, size, launch.stream());
    return cub::DeviceScan::KOPT_JOIN(CALL, ByKey)(memory, bytes, rows, in, out, size, cuda::std::equal_to<>(), launch.stream());
  });
}
