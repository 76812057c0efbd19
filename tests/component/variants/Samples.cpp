// SPDX-License-Identifier: Apache-2.0
#include "Samples.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace kopt::frontend::test {

float halfToFloat(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const float magnitude = exponent == 0 ? std::ldexp(float(mantissa), -24)
                                        : std::ldexp(float(mantissa + 1024), exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

std::uint16_t floatToHalf(float value) {
  const std::uint16_t sign = value < 0 ? 0x8000 : 0;
  const float magnitude = std::fabs(value);
  if (magnitude < 6.2e-5f)
    return sign;
  int exponent = 0;
  const float mantissa = std::frexp(magnitude, &exponent); // [0.5, 1)
  return std::uint16_t(sign | ((exponent + 14) << 10) | (int(mantissa * 2048) & 1023));
}

std::optional<double> numberAt(const std::byte *at, const std::string &scalar) {
  if (scalar == "f16") {
    std::uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return halfToFloat(bits);
  }
  if (scalar == "f32") {
    float number;
    std::memcpy(&number, at, sizeof number);
    return number;
  }
  if (scalar == "f64") {
    double number;
    std::memcpy(&number, at, sizeof number);
    return number;
  }
  if (scalar == "i32" || scalar == "u32") {
    std::int32_t number;
    std::memcpy(&number, at, sizeof number);
    return number;
  }
  return std::nullopt;
}

Outcome VariantsTest::run(const std::string &slice, const std::string &expression,
                          const Sample &sample, const std::vector<Bytes> &arguments,
                          std::uint32_t sharedBytes) {
  Outcome outcome;
  const EmulateReply reply = compile(slice, expression);
  EXPECT_TRUE(reply.ok) << reply.log << slice;
  outcome.status.code = runtime::StatusCode::DeviceError;
  if (!reply.ok)
    return outcome;
  runtime::ModuleProperties module;
  outcome.status = device_->load(files_.back(), reply.symbol, module);
  if (!outcome.status.ok())
    return outcome;
  runtime::LaunchRequest request;
  request.module = module.module;
  request.grid = sample.grid;
  request.block = sample.block;
  request.sharedBytes = sharedBytes;
  request.instructionLimit = 50'000'000;
  std::vector<runtime::Address> addresses;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!sample.arguments[i].isBuffer) {
      request.arguments.push_back(arguments[i]);
      addresses.push_back(0);
      continue;
    }
    addresses.push_back(upload(arguments[i]));
    pass(request, addresses.back());
  }
  outcome.status = device_->launch(request);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    outcome.buffers.emplace_back();
    if (!sample.arguments[i].isBuffer)
      continue;
    outcome.buffers.back() = download<std::byte>(addresses[i], arguments[i].size());
    device_->release(addresses[i]);
  }
  device_->unload(module.module);
  return outcome;
}

Outcome VariantsTest::run(const Sample &sample) {
  std::vector<Bytes> arguments;
  for (const Argument &argument : sample.arguments)
    arguments.push_back(argument.bytes);
  return run(sample.slice, sample.expression, sample, arguments, sample.sharedBytes);
}

std::string VariantsTest::extract(const std::string &file, const std::string &expression) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("kopt-variants-" + std::to_string(::getpid()) + expression.substr(0, 4));
  const std::string command = std::string(KOPT_EXTRACT) + " " + KOPT_SOURCE_DIR + "/examples/" +
                              file + " --json --no-proof -o " + folder.string() +
                              " -- -std=c++17 > " + folder.string() + ".json";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream reply(folder.string() + ".json");
  const auto document = nlohmann::json::parse(reply, nullptr, false);
  std::string slice;
  for (const auto &kernel : document.value("kernels", nlohmann::json::array()))
    for (const auto &specialization : kernel["specializations"])
      if (specialization["expression"] == expression) {
        std::stringstream text;
        text << std::ifstream(specialization["slice"].get<std::string>()).rdbuf();
        slice = text.str();
      }
  EXPECT_FALSE(slice.empty()) << document.dump();
  std::filesystem::remove_all(folder);
  std::filesystem::remove(folder.string() + ".json");
  return slice;
}

namespace {

const auto kWave = [](std::size_t i) { return wave(i); };
const auto kOther = [](std::size_t i) { return wave(3 * i + 501); };
const auto kZero = [](std::size_t) { return 0; };

struct PlaneOptions {
  float scale;
  int rows, columns;
  float offset[2];
};

std::map<std::string, Sample> makeSamples() {
  std::map<std::string, Sample> all;
  all["saxpy"] = {R"(
__global__ void saxpy(const float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + y[i];
}
)",
                  "saxpy",
                  "saxpy",
                  {4, 1, 1},
                  {64, 1, 1},
                  0,
                  {numbers("f32", 250, kWave),
                   numbers("f32", 250, [](auto i) { return wave(i + 999); }), value(2.37f),
                   value(250)}};

  all["reduction"] = {R"(
__inline__ __device__ float warpSum(float value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}
__global__ void reduce(const float *x, float *sums, int n) {
  __shared__ float partial[32];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i] * x[i];
  sum = warpSum(sum);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warpSum(threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0)
      atomicAdd(sums, sum);
  }
}
)",
                      "reduce",
                      "reduce",
                      {3, 1, 1},
                      {128, 1, 1},
                      0,
                      {numbers("f32", 1000, kWave), numbers("f32", 1, kZero), value(1000)}};

  all["softmax"] = {R"(
__global__ void softmax(const float *in, float *out, int columns) {
  extern __shared__ float scratch[];
  const float *row = in + blockIdx.x * columns;
  float most = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    most = fmaxf(most, row[i]);
  scratch[threadIdx.x] = most;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + s]);
    __syncthreads();
  }
  most = scratch[0];
  __syncthreads();
  float sum = 0.f;
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    sum += __expf(row[i] - most);
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s)
      scratch[threadIdx.x] += scratch[threadIdx.x + s];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < columns; i += blockDim.x)
    out[blockIdx.x * columns + i] = __fdividef(__expf(row[i] - most), scratch[0]);
}
)",
                    "softmax",
                    "softmax",
                    {3, 1, 1},
                    {64, 1, 1},
                    256,
                    {numbers("f32", 300, [](auto i) { return 4 * wave(i); }),
                     numbers("f32", 300, kZero), value(100)}};

  all["gemm"] = {R"(
#define TILE 8
template <typename T, int N>
__global__ void __launch_bounds__(N * N) gemm(const T *__restrict__ A, const T *__restrict__ B, T *__restrict__ C,
                                              int m, int n, int k, T alpha, T beta) {
  __shared__ T a[N][N], b[N][N + 1];
  int row = blockIdx.y * N + threadIdx.y, column = blockIdx.x * N + threadIdx.x;
  T sum = T(0);
  for (int tile = 0; tile < (k + N - 1) / N; ++tile) {
    int inner = tile * N;
    a[threadIdx.y][threadIdx.x] = row < m && inner + threadIdx.x < k ? A[row * k + inner + threadIdx.x] : T(0);
    b[threadIdx.y][threadIdx.x] = column < n && inner + threadIdx.y < k ? B[(inner + threadIdx.y) * n + column] : T(0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; ++i)
      sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n)
    C[row * n + column] = alpha * sum + beta * C[row * n + column];
}
template __global__ void gemm<float, TILE>(const float *, const float *, float *, int, int, int, float, float);
)",
                 "gemm",
                 "gemm<float, 8>",
                 {3, 2, 1},
                 {8, 8, 1},
                 0,
                 {numbers("f32", 15 * 19, kWave), numbers("f32", 19 * 21, kOther),
                  numbers("f32", 15 * 21, kWave), value(15), value(21), value(19), value(1.25f),
                  value(0.3f)}};

  all["stencil"] = {
      R"(
__constant__ float weights[5] = {0.5f, 0.1f, 0.15f, 0.12f, 0.13f};
__global__ void stencil(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
    return;
  const float *p = in + y * width + x;
  out[y * width + x] = weights[0] * p[0] + weights[1] * p[-1] + weights[2] * p[1] + weights[3] * p[-width] + weights[4] * p[width];
}
)",
      "stencil",
      "stencil",
      {3, 4, 1},
      {16, 8, 1},
      0,
      {numbers("f32", 41 * 29, kWave), numbers("f32", 41 * 29, kZero), value(41), value(29)}};

  all["spmv"] = {R"(
__global__ void spmv(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float sum = 0;
  for (int j = starts[row]; j < starts[row + 1]; ++j)
    sum += values[j] * __ldg(&x[columns[j]]);
  y[row] = sum;
}
)",
                 "spmv",
                 "spmv",
                 {2, 1, 1},
                 {32, 1, 1},
                 0,
                 {numbers("i32", 51, [](auto i) { return 3 * i; }),
                  numbers("i32", 150, [](auto i) { return (i * 7) % 50; }),
                  numbers("f32", 150, kWave), numbers("f32", 50, kOther), numbers("f32", 50, kZero),
                  value(50)}};

  all["scan"] = {R"(
__global__ void scan(const float *in, float *out, int n) {
  extern __shared__ char raw[];
  float *ping = (float *)raw, *pong = (float *)(raw + blockDim.x * sizeof(float));
  int i = threadIdx.x;
  ping[i] = i < n ? in[i] : 0.0f;
  __syncthreads();
  for (int step = 1; step < blockDim.x; step *= 2) {
    pong[i] = i >= step ? ping[i] + ping[i - step] : ping[i];
    __syncthreads();
    float *swap = ping;
    ping = pong;
    pong = swap;
  }
  if (i < n)
    out[i] = ping[i];
}
)",
                 "scan",
                 "scan",
                 {1, 1, 1},
                 {128, 1, 1},
                 1024,
                 {numbers("f32", 120, kWave), numbers("f32", 120, kZero), value(120)}};

  all["jacobi"] = {
      R"(
__global__ void jacobi(float *u, const float *f, int n, int sweeps, double h) {
  __shared__ float old[66];
  int i = threadIdx.x + 1;
  old[i] = u[i];
  if (i == 1) {
    old[0] = u[0];
    old[n + 1] = u[n + 1];
  }
  for (int sweep = 0; sweep < sweeps; sweep++) {
    __syncthreads();
    float next = 0.5f * (old[i - 1] + old[i + 1] - (float)(h * h) * f[i]);
    __syncthreads();
    old[i] = next;
  }
  u[i] = old[i];
}
)",
      "jacobi",
      "jacobi",
      {1, 1, 1},
      {64, 1, 1},
      0,
      {numbers("f32", 66, kWave), numbers("f32", 66, kOther), value(64), value(20), value(0.1)}};

  all["histogram"] = {R"(
__global__ void histogram(const int *x, int *bins, int n) {
  __shared__ int local[16];
  if (threadIdx.x < 16)
    local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&local[x[i] & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16)
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
)",
                      "histogram",
                      "histogram",
                      {2, 1, 1},
                      {64, 1, 1},
                      0,
                      {numbers("i32", 500, [](auto i) { return (i * i) % 37; }),
                       numbers("i32", 16, kZero), value(500)}};

  all["halfGemm"] = {R"(
#include <cuda_fp16.h>
__global__ void halfGemm(const __half *A, const __half *B, __half *C, int n, float scale) {
  int row = threadIdx.y + blockIdx.y * blockDim.y, column = threadIdx.x + blockIdx.x * blockDim.x;
  __half2 sum = __float2half2_rn(0.0f);
  for (int i = 0; i < n; i += 2)
    sum = __hfma2(__halves2half2(A[row * n + i], A[row * n + i + 1]),
                  __halves2half2(B[i * n + column], B[(i + 1) * n + column]), sum);
  C[row * n + column] = __hmul(__hadd(__low2half(sum), __high2half(sum)), __float2half(scale));
}
)",
                     "halfGemm",
                     "halfGemm",
                     {2, 2, 1},
                     {8, 8, 1},
                     0,
                     {numbers("f16", 256, kWave), numbers("f16", 256, kOther),
                      numbers("f16", 256, kZero), value(16), value(0.5f)}};

  all["philox"] = {R"(
__device__ uint2 philoxRound(uint2 c, unsigned key) {
  unsigned high = __umulhi(0xD256D193u, c.x), low = 0xD256D193u * c.x;
  return make_uint2(high ^ key ^ c.y, low);
}
__global__ void philox(float *out, unsigned seed) {
  uint2 c = make_uint2(threadIdx.x, blockIdx.x);
  for (int i = 0; i < 10; ++i, seed += 0x9E3779B9u)
    c = philoxRound(c, seed);
  out[threadIdx.x] = __uint_as_float((c.x >> 9) | 0x3f800000u) - 1.0f;
}
)", "philox", "philox", {1, 1, 1}, {64, 1, 1}, 0, {numbers("f32", 64, kZero), value(7u)}};

  all["planes"] = {R"(
struct Options {
  float scale;
  int rows, columns;
  float offset[2];
};
__global__ void planes(const float4 *in, float4 *out, Options options) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= options.rows * options.columns)
    return;
  float4 v = in[i];
  float length = sqrtf(v.x * v.x + v.y * v.y + v.z * v.z) + 1e-3f;
  out[i] = make_float4(v.x / length, v.y * options.scale, v.z + options.offset[1], rsqrtf(length));
}
)",
                   "planes",
                   "planes",
                   {2, 1, 1},
                   {32, 1, 1},
                   0,
                   {numbers("f32", 4 * 60, kWave), numbers("f32", 4 * 60, kZero),
                    value(PlaneOptions{1.7f, 6, 10, {0.1f, 0.2f}})}};
  return all;
}

} // namespace

const std::map<std::string, Sample> &samples() {
  static const auto *all = new std::map<std::string, Sample>(makeSamples());
  return *all;
}

} // namespace kopt::frontend::test
