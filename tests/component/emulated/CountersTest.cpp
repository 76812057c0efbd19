// SPDX-License-Identifier: Apache-2.0
// Counters of kernels that can be counted by hand.
#include "tests/component/emulated/EmulatedTest.h"

#include <numeric>

namespace kopt::runtime {
namespace {

constexpr const char *kLoadRatio =
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio";
constexpr const char *kStoreRatio =
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio";
constexpr const char *kStoreRequests = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum";
constexpr const char *kLoadConflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum";
constexpr const char *kLoadWavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";

/// Transposes n x n floats in blocks of 32 x 32: 0 naive, 1 through a 32 x 32 tile, 2 through a 32
/// x 33 tile.
const char *kTranspose = R"(
  template <int Kind> __global__ void transpose(const float *in, float *out, int n) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (Kind == 0) { out[x * n + y] = in[y * n + x]; return; }
    __shared__ float tile[32][Kind == 2 ? 33 : 32];
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    out[y * n + x] = tile[threadIdx.x][threadIdx.y];
  })";

class CountersTest : public EmulatedTest {
protected:
  Counters profile(LaunchRequest &request) {
    Counters counters;
    EXPECT_THAT(device_->profile(request, counters), isOk());
    return counters;
  }
  LaunchRequest transpose(int kind, int n) {
    LaunchRequest request = kernel(kTranspose, "transpose<" + std::to_string(kind) + ">");
    std::vector<float> in(std::size_t(n) * n, 1.0f);
    pass(request, upload(in)), pass(request, space<float>(in.size())), pass(request, n);
    request.grid = {unsigned(n) / 32, unsigned(n) / 32, 1};
    request.block = {32, 32, 1};
    return request;
  }
};

TEST_F(CountersTest, TransposeSectorsAndBankConflicts) {
  const int n = 128;
  const double requests = n * n / 32.0;
  LaunchRequest naive = transpose(0, n), tiled = transpose(1, n), padded = transpose(2, n);
  Counters counters = profile(naive);
  EXPECT_EQ(counters[kLoadRatio], 4);
  EXPECT_EQ(counters[kStoreRatio], 32);
  EXPECT_EQ(counters[kStoreRequests], requests);
  EXPECT_EQ(counters["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"], requests * 32);
  EXPECT_EQ(counters[kLoadConflicts], 0);
  EXPECT_EQ(counters["dram__bytes_read.sum"], n * n * 4);

  counters = profile(tiled);
  EXPECT_EQ(counters[kLoadRatio], 4);
  EXPECT_EQ(counters[kStoreRatio], 4);
  EXPECT_EQ(counters[kLoadConflicts], requests * 31);
  EXPECT_EQ(counters[kLoadWavefronts], requests * 32);
  EXPECT_EQ(counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"], 0);

  counters = profile(padded);
  EXPECT_EQ(counters[kStoreRatio], 4);
  EXPECT_EQ(counters[kLoadConflicts], 0);
  EXPECT_EQ(counters[kLoadWavefronts], requests);
  EXPECT_EQ(counters["launch__shared_mem_per_block"], 32 * 33 * 4);
}

TEST_F(CountersTest, TransposeTimesAreOrderedForTheRightReasons) {
  const int n = 1024;
  LaunchRequest naive = transpose(0, n), tiled = transpose(1, n), padded = transpose(2, n);
  double seconds[3] = {}, warm = 0;
  ASSERT_TRUE(device_->time(naive, true, seconds[0]).ok());
  ASSERT_TRUE(device_->time(tiled, true, seconds[1]).ok());
  ASSERT_TRUE(device_->time(padded, true, seconds[2]).ok());
  EXPECT_GT(seconds[0], seconds[1]);
  EXPECT_GT(seconds[1], seconds[2]);
  Counters slow = profile(naive), middle = profile(tiled);
  EXPECT_GT(slow["emulated__roofline_l2_ns"], slow["emulated__roofline_dram_ns"]);
  EXPECT_GT(middle["emulated__roofline_l1_ns"], middle["emulated__roofline_l2_ns"]);
  double again = 0;
  ASSERT_TRUE(device_->time(naive, true, again).ok());
  EXPECT_EQ(again, seconds[0]) << "the model has no noise";
  ASSERT_TRUE(device_->time(padded, false, warm).ok());
  EXPECT_LE(warm, seconds[2]);
}

TEST_F(CountersTest, ALaunchIsExecutedOnceForItsCounts) {
  LaunchRequest request = kernel("__global__ void k(int *x) { x[threadIdx.x] += 1; }");
  const std::vector<int> zeros(32), ones(32, 1);
  const Address x = upload(zeros);
  pass(request, x);
  request.block = {32, 1, 1};
  double first = 0, again = 0;
  ASSERT_TRUE(device_->time(request, true, first).ok());
  EXPECT_EQ(download<int>(x, 32), ones);
  ASSERT_TRUE(device_->write(x, zeros.data(), 32 * sizeof(int)).ok());
  ASSERT_TRUE(device_->time(request, true, again).ok());
  EXPECT_EQ(again, first);
  EXPECT_EQ(profile(request)[kStoreRequests], 1);
  EXPECT_EQ(download<int>(x, 32), zeros) << "what is known is not executed again";
  // Other data may take another path.
  ASSERT_TRUE(device_->write(x, ones.data(), 32 * sizeof(int)).ok());
  EXPECT_EQ(profile(request)[kStoreRequests], 1);
  EXPECT_EQ(download<int>(x, 32), std::vector<int>(32, 2));
}

TEST_F(CountersTest, VectorLoadsAreOneRequest) {
  LaunchRequest request = kernel(R"(
    __global__ void copy(const float4 *in, float4 *out) { out[threadIdx.x] = in[threadIdx.x]; })",
                                 "copy");
  pass(request, upload(std::vector<float>(256))), pass(request, space<float>(256));
  request.block = {64, 1, 1};
  Counters counters = profile(request);
  EXPECT_EQ(counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"], 2);
  EXPECT_EQ(counters[kLoadRatio], 16);
  EXPECT_EQ(counters[kStoreRequests], 2);
  EXPECT_EQ(counters[kStoreRatio], 16);
}

TEST_F(CountersTest, StridedLoadsTouchOneSectorEach) {
  LaunchRequest request = kernel(R"(
    __global__ void k(const float *in, float *out, int stride) { out[threadIdx.x] = in[threadIdx.x * stride]; })");
  pass(request, upload(std::vector<float>(32 * 8))), pass(request, space<float>(32)),
      pass(request, 8);
  request.block = {32, 1, 1};
  Counters counters = profile(request);
  EXPECT_EQ(counters[kLoadRatio], 32);
  EXPECT_EQ(counters["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"], 12.5);
  std::int32_t stride = 2;
  std::memcpy(request.arguments[2].data(), &stride, 4);
  EXPECT_EQ(profile(request)[kLoadRatio], 8);
  stride = 0;
  std::memcpy(request.arguments[2].data(), &stride, 4);
  EXPECT_EQ(profile(request)[kLoadRatio], 1);
}

TEST_F(CountersTest, DivergenceCountsLanesAndLoopsReconverge) {
  LaunchRequest request = kernel(R"(
    __global__ void k(const int *trips, int *out) {
      int sum = 0;
      #pragma unroll 1
      for (int i = 0; i < trips[threadIdx.x]; ++i) {
        #pragma unroll 1
        for (int j = 0; j <= i % 2; ++j) sum += trips[32 + j * 32 + threadIdx.x];
      }
      out[threadIdx.x] = sum;
    })");
  std::vector<int> trips(96, 1);
  for (int t = 0; t < 32; ++t)
    trips[t] = t % 4 + 1;
  pass(request, upload(trips)), pass(request, space<int>(32));
  request.block = {32, 1, 1};
  Counters counters = profile(request);
  EXPECT_LT(counters["smsp__thread_inst_executed_per_inst_executed.ratio"], 31);
  EXPECT_GT(counters["smsp__thread_inst_executed_per_inst_executed.ratio"], 8);
  EXPECT_GT(counters["smsp__sass_branch_targets_threads_divergent.sum"], 0);
  EXPECT_LT(counters["smsp__sass_average_branch_targets_threads_uniform.pct"], 100);
  // Outer iterations i = 0..3 with 1 + i % 2 inner ones each: 1 + 2 + 1 + 2 warp-level loads of the
  // inner array, however many lanes take part, and one of the bound for each of the outer
  // iterations (or one, where it is kept).
  const double requests = counters["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"];
  EXPECT_GE(requests, 6 + 1);
  EXPECT_LE(requests, 6 + 5);
}

TEST_F(CountersTest, FloatingPointOperationsByKind) {
  LaunchRequest request = kernel(R"(
    __global__ void k(const float *a, const double *b, float *out, double *wide) {
      int t = threadIdx.x;
      out[t] = a[t] * a[t + 64] + a[t + 128];
      wide[t] = b[t] + 1.0;
      out[t + 64] = __fmul_rn(a[t], 3.0f);
    })");
  pass(request, upload(std::vector<float>(192, 1))),
      pass(request, upload(std::vector<double>(64, 1)));
  pass(request, space<float>(128)), pass(request, space<double>(64));
  request.block = {64, 1, 1};
  Counters counters = profile(request);
  EXPECT_EQ(counters["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"], 64);
  EXPECT_EQ(counters["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"], 64);
  EXPECT_EQ(counters["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"], 0);
  EXPECT_EQ(counters["smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"], 64);
}

TEST_F(CountersTest, CachesHoldWhatIsReadAgain) {
  LaunchRequest request = kernel(R"(
    __global__ void k(const float *in, float *out) {
      float sum = 0;
      #pragma unroll 1
      for (int i = 0; i < 32; ++i) sum += in[(threadIdx.x + i * 32) % 1024] + in[(threadIdx.x + i * 32 + 512) % 1024];
      out[blockIdx.x * 32 + threadIdx.x] = sum;
    })");
  pass(request, upload(std::vector<float>(1024, 1))), pass(request, space<float>(128));
  request.grid = {4, 1, 1};
  request.block = {32, 1, 1};
  Counters counters = profile(request);
  EXPECT_EQ(counters["dram__bytes_read.sum"], 4096);
  EXPECT_EQ(counters["l1tex__t_sector_hit_rate.pct"], 50);
  EXPECT_EQ(counters["lts__t_sectors_op_read.sum"], 4 * 128);
  EXPECT_EQ(counters["launch__grid_size"], 4);
}

TEST_F(CountersTest, CostsBelongToTheirLines) {
  LaunchRequest request = kernel(R"(// line 1
    __device__ float twice(float x) {
      return x * x * x * x * x;                       // line 3
    }
    __global__ void k(const float *in, float *out) {
      float sum = 0;
      #pragma unroll 1
      for (int i = 0; i < 32; ++i)
        sum += twice(in[threadIdx.x * 8 + i * 256]);  // line 9
      out[threadIdx.x] = sum;                         // line 10
    })");
  pass(request, upload(std::vector<float>(32 * 256, 1))), pass(request, space<float>(32));
  request.block = {32, 1, 1};
  Counters counters;
  std::vector<LineCost> lines;
  ASSERT_TRUE(device_->profile(request, counters, &lines).ok());
  LineCost all, inner, callee, last;
  for (const LineCost &line : lines) {
    all.instructions += line.instructions;
    all.sectors += line.sectors;
    EXPECT_TRUE(line.file == "slice.cu" || line.file.empty()) << line.file;
    (line.line == 9 ? inner : line.line == 3 ? callee : last) = line;
    if (line.line == 10)
      EXPECT_EQ(line.sectors, 4); // 32 floats side by side
  }
  EXPECT_EQ(all.instructions, counters["smsp__inst_executed.sum"]);
  EXPECT_EQ(inner.sectors, 32 * 32); // each lane in a sector of its own
  EXPECT_EQ(all.sectors, 32 * 32 + 4);
  EXPECT_GE(inner.instructions, 2 * 32);  // load and add
  EXPECT_EQ(callee.instructions, 3 * 32); // products, inlined; the last one is fused with the sum
  EXPECT_EQ(callee.sectors, 0);

  // What was counted is answered from memory in the same way.
  std::vector<LineCost> again;
  ASSERT_TRUE(device_->profile(request, counters, &again).ok());
  ASSERT_TRUE(device_->profile(request, counters, &again).ok());
  ASSERT_EQ(again.size(), lines.size());
  EXPECT_EQ(again.front().instructions, lines.front().instructions);
}

TEST_F(CountersTest, SharesAreOfAllMultiprocessors) {
  LaunchRequest request = kernel(R"(
    __global__ void k(float *x) {
      float value = x[blockIdx.x * blockDim.x + threadIdx.x];
      for (int i = 0; i < 4096; ++i)
        value = value * value + 0.5f;
      x[blockIdx.x * blockDim.x + threadIdx.x] = value;
    })");
  pass(request, upload(std::vector<float>(2 * 1024, 0.25f)));
  request.block = {1024, 1, 1};
  request.grid = {2, 1, 1};
  Counters counters = profile(request);
  EXPECT_NEAR(counters["emulated__busy_multiprocessors.pct"], 100 * 2 / 132.0, 1e-9); // an H200
  EXPECT_GT(counters["sm__throughput.avg.pct_of_peak_sustained_elapsed"], 0.5);
  EXPECT_LT(counters["sm__throughput.avg.pct_of_peak_sustained_elapsed"], 100 * 2 / 132.0);
  EXPECT_LT(counters["l1tex__throughput.avg.pct_of_peak_sustained_elapsed"], 1);
  EXPECT_LT(counters["lts__throughput.avg.pct_of_peak_sustained_elapsed"], 1);
}

TEST_F(CountersTest, GlobalAtomicsOnOneSectorTakeTurns) {
  const auto turns = [&](int spread) {
    LaunchRequest request = kernel(R"(
      __global__ void k(int *x, int spread) { atomicAdd(&x[threadIdx.x % 32 * spread], 1); })");
    pass(request, upload(std::vector<int>(32 * 8))), pass(request, spread);
    request.block = {128, 1, 1};
    request.grid = {100, 1, 1};
    Counters counters = profile(request);
    EXPECT_EQ(counters["emulated__global_atomic_requests.sum"], 400);
    return counters["emulated__roofline_atomics_ns"] * 1.98; // clocks of an H200
  };
  EXPECT_NEAR(turns(0), 12800, 1e-6); // each lane's on one address
  EXPECT_NEAR(turns(1), 400, 1e-6);   // each warp's on the same sectors, lanes side by side
  EXPECT_NEAR(turns(8), 400, 1e-6);   // a sector for each lane
}

TEST_F(CountersTest, AHistogramInSharedMemoryIsFaster) {
  const int n = 1 << 18;
  std::vector<unsigned char> data(n);
  for (int i = 0; i < n; ++i)
    data[std::size_t(i)] = static_cast<unsigned char>((i * 2654435761u) >> 13);
  const auto seconds = [&](const char *source) {
    LaunchRequest request = kernel(source, "histogram");
    pass(request, upload(data)), pass(request, upload(std::vector<int>(256))), pass(request, n);
    request.block = {256, 1, 1};
    request.grid = {128, 1, 1};
    double time = 0;
    EXPECT_TRUE(device_->time(request, true, time).ok());
    return time;
  };
  const double global = seconds(R"(
    __global__ void histogram(const unsigned char *data, int *bins, int n) {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i]], 1);
    })");
  const double shared = seconds(R"(
    __global__ void histogram(const unsigned char *data, int *bins, int n) {
      __shared__ int own[256];
      own[threadIdx.x] = 0;
      __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[data[i]], 1);
      __syncthreads();
      atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
    })");
  EXPECT_GT(global, 1.2 * shared) << global << " and " << shared;
}

TEST_F(CountersTest, SharedAtomicsOnOneWordTakeTurns) {
  LaunchRequest request = kernel(R"(
    __global__ void k(int *out) {
      __shared__ int s[32];
      s[threadIdx.x] = 0;
      __syncthreads();
      atomicAdd(&s[0], 1);
      __syncthreads();
      out[threadIdx.x] = s[0];
    })");
  pass(request, space<int>(32));
  request.block = {32, 1, 1};
  Counters counters = profile(request);
  EXPECT_EQ(counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum"], 31);
  EXPECT_EQ(counters["emulated__inst_executed_barrier.sum"], 2);
  EXPECT_EQ(counters["emulated__atomic_operations.sum"], 32);
}

} // namespace
} // namespace kopt::runtime
