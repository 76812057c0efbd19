// SPDX-License-Identifier: Apache-2.0
// Smooths an image with a star-shaped stencil whose arms are RADIUS long, in float with radius 1 and in double with
// radius 2, and compares every pixel with the CPU's. Pixels beyond the edge count as the nearest one inside.
//
//   stencil [width height]          exit status: 0 PASS, 1 FAIL, 2 usage, 77 no CUDA device
#include <kopt/kopt.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

namespace smooth {

// Nearer pixels weigh more; the weights of a whole star of radius R sum to 1.
template <typename T, int RADIUS> __host__ __device__ constexpr T weight(int distance) {
  T sum = RADIUS + 1;
  for (int i = 1; i <= RADIUS; ++i)
    sum += T(4) * T(RADIUS + 1 - i);
  return T(RADIUS + 1 - distance) / sum;
}

__host__ __device__ constexpr int clamp(int value, int count) {
  return value < 0 ? 0 : value >= count ? count - 1 : value;
}

template <typename T, int RADIUS, int UNROLL>
KOPT_TUNE("param UNROLL in {1, 2, 4}",
          "extent in = width * height",
          "extent out = width * height",
          "fill in = uniform(0, 1)",
          "launch 4096x4096: width=4096, height=4096 on cuda",
          "launch 1920x1080: width=1920, height=1080 weight 0.25 on cuda",
          "launch 256x256: width=256, height=256 on emulated",
          "launch 250x70: width=250, height=70 weight 0.25 on emulated")
__global__ void stencil(const T *in, T *out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= width)
    return;
  const int step = gridDim.y * blockDim.y;
#pragma unroll UNROLL
  for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += step) {
    T sum = weight<T, RADIUS>(0) * in[y * width + x];
    for (int distance = 1; distance <= RADIUS; ++distance) {
      const T around = in[y * width + clamp(x - distance, width)] + in[y * width + clamp(x + distance, width)] +
                       in[clamp(y - distance, height) * width + x] + in[clamp(y + distance, height) * width + x];
      sum += weight<T, RADIUS>(distance) * around;
    }
    out[y * width + x] = sum;
  }
}

void launchFloat(const float *in, float *out, int width, int height) {
  const dim3 block(16, 16);
  const dim3 grid((width + 15) / 16, (height + 63) / 64);
  stencil<float, 1, 1><<<grid, block>>>(in, out, width, height);
}

void launchDouble(const double *in, double *out, int width, int height) {
  const dim3 block(16, 16);
  const dim3 grid((width + 15) / 16, (height + 63) / 64);
  stencil<double, 2, 1><<<grid, block>>>(in, out, width, height);
}

} // namespace smooth

static void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "stencil: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

template <typename T, int RADIUS> static T smoothPixel(const std::vector<T> &in, int x, int y, int width, int height) {
  const auto at = [&](int column, int row) {
    return in[static_cast<std::size_t>(smooth::clamp(row, height)) * width + smooth::clamp(column, width)];
  };
  T sum = smooth::weight<T, RADIUS>(0) * at(x, y);
  for (int distance = 1; distance <= RADIUS; ++distance)
    sum += smooth::weight<T, RADIUS>(distance) *
           (at(x - distance, y) + at(x + distance, y) + at(x, y - distance) + at(x, y + distance));
  return sum;
}

// Runs one specialization; returns the number of wrong pixels.
template <typename T, int RADIUS> static std::size_t countWrong(int width, int height) {
  const std::size_t count = static_cast<std::size_t>(width) * height;
  std::vector<T> input(count), output(count);
  for (std::size_t i = 0; i < count; ++i)
    input[i] = static_cast<T>((i * 2654435761u) % 1009) / T(1009);

  T *in = nullptr, *out = nullptr;
  check(cudaMalloc(&in, count * sizeof(T)), "allocating the input");
  check(cudaMalloc(&out, count * sizeof(T)), "allocating the output");
  check(cudaMemcpy(in, input.data(), count * sizeof(T), cudaMemcpyHostToDevice), "copying the input");
  check(cudaMemset(out, 0xff, count * sizeof(T)), "clearing the output");
  if constexpr (std::is_same_v<T, float>)
    smooth::launchFloat(in, out, width, height);
  else
    smooth::launchDouble(in, out, width, height);
  check(cudaGetLastError(), "launching the kernel");
  check(cudaDeviceSynchronize(), "running the kernel");
  check(cudaMemcpy(output.data(), out, count * sizeof(T), cudaMemcpyDeviceToHost), "copying the output");
  check(cudaFree(in), "freeing the input");
  check(cudaFree(out), "freeing the output");

  // The GPU may fuse multiplications and additions: a few units in the last place of a value below 1.
  const T tolerance = std::is_same_v<T, float> ? T(1e-6) : T(1e-14);
  std::size_t wrong = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      wrong += !(std::fabs(output[static_cast<std::size_t>(y) * width + x] -
                           smoothPixel<T, RADIUS>(input, x, y, width, height)) <= tolerance);
  std::printf("stencil<%s, %d> %dx%d: %zu of %zu pixels wrong\n", std::is_same_v<T, float> ? "float" : "double",
              RADIUS, width, height, wrong, count);
  return wrong;
}

int main(int argc, char **argv) {
  const int width = argc == 3 ? std::atoi(argv[1]) : 1001;
  const int height = argc == 3 ? std::atoi(argv[2]) : 777;
  if ((argc != 1 && argc != 3) || width <= 0 || height <= 0 || width > 32768 || height > 32768) {
    std::fprintf(stderr, "usage: stencil [width height], each from 1 to 32768\n");
    return 2;
  }
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "stencil: no CUDA device answers\n");
    return 77;
  }
  const std::size_t wrong = countWrong<float, 1>(width, height) + countWrong<double, 2>(width, height);
  std::printf("%s\n", wrong == 0 ? "PASS" : "FAIL");
  return wrong == 0 ? 0 : 1;
}
