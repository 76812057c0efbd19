// SPDX-License-Identifier: Apache-2.0
// The sum, least or greatest number (CALL is Sum, Min or Max) of all elements, or of each row, by CUB. IN and OUT are the types.
// Numbers: rows, columns.
#include "launch.h"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <type_traits>

struct Begin {
  long long columns;
  __host__ __device__ long long operator()(long long row) const { return row * columns; }
};
struct Widen {
  __host__ __device__ OUT operator()(IN value) const { return OUT(value); }
};

int main(int argc, char **argv) {
  Launch launch(argc, argv);
  const long long rows = launch.size(0), columns = launch.size(1);
  const auto reduce = [&](auto in) {
    const auto begins = thrust::make_transform_iterator(thrust::counting_iterator<long long>(0), Begin{columns});
    return runWithWorkspace(launch, [&](void *memory, std::size_t &bytes) {
      if (rows == 1)
        return cub::DeviceReduce::CALL(memory, bytes, in, launch.out<OUT>(0), columns, launch.stream());
      return cub::DeviceSegmentedReduce::CALL(memory, bytes, in, launch.out<OUT>(0), rows, begins, begins + 1, launch.stream());
    });
  };
  if constexpr (std::is_same_v<IN, OUT>)
    return reduce(launch.in<IN>(0));
  else
    return reduce(thrust::make_transform_iterator(launch.in<IN>(0), Widen()));
}
