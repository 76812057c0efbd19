// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/CudaFunctions.h"

#include <gtest/gtest.h>

namespace kopt::frontend {
namespace {

TEST(CudaFunctions, EachNameHasOneKind) {
  struct Case {
    const char *qualified;
    CudaFunction kind;
  };
  for (const auto &[qualified, kind] :
       {Case{"__threadfence_block", CudaFunction::Fence},
        {"cuda::std::atomic_thread_fence", CudaFunction::Fence},
        {"__syncthreads_or", CudaFunction::Barrier},
        {"__nvvm_bar_sync", CudaFunction::Barrier},
        {"__builtin_nvvm_bar0", CudaFunction::Barrier},
        {"cooperative_groups::thread_block::sync", CudaFunction::Barrier},
        {"cuda::pipeline::consumer_wait", CudaFunction::Barrier},
        {"cuda::pipeline::producer_commit", CudaFunction::Barrier},
        {"cuda::barrier::arrive_and_wait", CudaFunction::Barrier},
        {"cuda::atomic::wait", CudaFunction::Barrier},
        {"mine::sync", CudaFunction::None},
        {"mine::Queue::consumer_wait", CudaFunction::None},
        {"__shfl_xor_sync", CudaFunction::Lanes},
        {"cooperative_groups::tile::shfl_down", CudaFunction::Lanes},
        {"__activemask", CudaFunction::Lanes},
        {"atomicAdd_block", CudaFunction::Atomic},
        {"__nv_atomic_fetch_add", CudaFunction::Atomic},
        {"cuda::atomic_ref::fetch_add", CudaFunction::Atomic},
        {"mine::atomic_ref::fetch_add", CudaFunction::None},
        {"__ldcs", CudaFunction::CacheLoad},
        {"__stwt", CudaFunction::CacheStore},
        {"__builtin_nvvm_ldg_f", CudaFunction::CacheHint},
        {"__prefetch_global_l1", CudaFunction::Prefetch},
        {"clock64", CudaFunction::Clock},
        {"cuda::std::chrono::steady_clock::now", CudaFunction::Clock},
        {"__nanosleep", CudaFunction::Sleep},
        {"malloc", CudaFunction::Heap},
        {"cudaMallocAsync", CudaFunction::Heap},
        {"printf", CudaFunction::Print},
        {"__assert_fail", CudaFunction::Assert},
        {"__builtin_assume", CudaFunction::Trap},
        {"cudaLaunchDevice", CudaFunction::Launch},
        {"__frsqrt_rn", CudaFunction::FastMath},
        {"__umul24", CudaFunction::ShortProduct},
        {"fmaxf", CudaFunction::Smaller},
        {"sqrtf", CudaFunction::None},
        {"clockwise", CudaFunction::None},
        {"", CudaFunction::None}}) {
    const std::size_t colons = llvm::StringRef(qualified).rfind("::");
    const llvm::StringRef name =
        llvm::StringRef(qualified).substr(colons == llvm::StringRef::npos ? 0 : colons + 2);
    EXPECT_EQ(cudaFunction(name, qualified), kind) << qualified;
  }
}

TEST(CudaFunctions, ListsTheNamesOfAKind) {
  EXPECT_EQ(cudaNames(CudaFunction::CacheStore),
            (std::vector<llvm::StringRef>{"__stwb", "__stcg", "__stcs", "__stwt"}));
  EXPECT_TRUE(cudaNames(CudaFunction::Assert).empty()) << "only what begins so";
}

} // namespace
} // namespace kopt::frontend
