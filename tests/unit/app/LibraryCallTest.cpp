// SPDX-License-Identifier: Apache-2.0
// What launches computed is told by their memory alone: each job in its forms, and what is nearly
// one.
#include "driver/app/library/LibraryCall.h"

#include <algorithm>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace kopt {
namespace library_calls {
namespace {

using testing::ElementsAre;

/// Buffers of one type, and a launch over them.
template <class T> struct Memory {
  std::string type;
  std::vector<std::vector<T>> before, after;
  LaunchRecord launch;

  explicit Memory(std::string scalar, std::vector<std::int64_t> sizes = {})
      : type(std::move(scalar)) {
    launch.sizes = std::move(sizes);
  }
  Memory &buffer(std::size_t count) {
    std::mt19937 random(unsigned(before.size() + 7));
    before.emplace_back();
    for (std::size_t i = 0; i < count; ++i)
      before.back().push_back(T(int(random() % 2000) - 1000) / T(std::is_integral_v<T> ? 1 : 1000));
    return *this;
  }
  using Kernel = std::function<void(std::vector<std::vector<T>> &)>;
  std::optional<LibraryCall> run(const Kernel &kernel) {
    after = before;
    kernel(after);
    launch.operands.clear();
    const auto bytes = [](const std::vector<T> &of) {
      return std::string_view(reinterpret_cast<const char *>(of.data()), of.size() * sizeof(T));
    };
    for (std::size_t i = 0; i < before.size(); ++i)
      launch.operands.push_back({type, bytes(before[i]), bytes(after[i])});
    return libraryCallOf(launch);
  }
};

/// C = alpha A B + beta C of floats, in the order of the buffers.
Memory<float>::Kernel product(int m, int n, int k, bool isColumnMajor = false, float alpha = 1,
                              float beta = 0) {
  return [=](auto &memory) {
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int l = 0; l < k; ++l)
          sum += isColumnMajor ? memory[0][l * m + i] * memory[1][j * k + l]
                               : memory[0][i * k + l] * memory[1][l * n + j];
        float &to = memory[2][isColumnMajor ? j * m + i : i * n + j];
        to = alpha * sum + (beta == 0 ? 0 : beta * to);
      }
  };
}

std::string nameOf(const std::optional<LibraryCall> &call) { return call ? call->name : "none"; }

TEST(LibraryCall, FindsAProductByTheSizesOfItsBuffersAlone) {
  Memory<float> memory("f32");
  const auto call = memory.buffer(20 * 30).buffer(30 * 40).buffer(20 * 40).run(product(20, 40, 30));
  ASSERT_EQ(nameOf(call), "cublasSgemm");
  EXPECT_EQ(call->program, "product.cu");
  EXPECT_THAT(call->macros, ElementsAre("IN=f32", "OUT=f32"));
  EXPECT_THAT(call->numbers, ElementsAre(1, 20, 40, 30, 0, 0, 1, 0));
  EXPECT_THAT(call->in, ElementsAre(0, 1));
  EXPECT_THAT(call->out, ElementsAre(2));
}

TEST(LibraryCall, FindsAProductInLargerBuffersByItsArguments) {
  Memory<float> memory("f32", {20, 40, 30});
  const auto call = memory.buffer(5000).buffer(5000).buffer(5000).run(product(20, 40, 30));
  ASSERT_EQ(nameOf(call), "cublasSgemm");
  EXPECT_THAT(call->numbers, ElementsAre(1, 20, 40, 30, 0, 0, 1, 0));
}

TEST(LibraryCall, ColumnMajorIsTheProductOfTheOtherOrder) {
  Memory<float> memory("f32", {20, 40, 30});
  const auto call =
      memory.buffer(20 * 30).buffer(30 * 40).buffer(20 * 40).run(product(20, 40, 30, true));
  ASSERT_EQ(nameOf(call), "cublasSgemm");
  EXPECT_THAT(call->in, ElementsAre(1, 0));
  EXPECT_THAT(call->numbers, ElementsAre(1, 40, 20, 30, 0, 0, 1, 0));
}

TEST(LibraryCall, FindsTransposedOperandsAndScales) {
  Memory<float> memory("f32", {32});
  memory.launch.reals = {1.5, -0.5};
  memory.buffer(32 * 32).buffer(32 * 32).buffer(32 * 32);
  auto call = memory.run(product(32, 32, 32, false, 1.5f, -0.5f));
  ASSERT_EQ(nameOf(call), "cublasSgemm");
  EXPECT_THAT(call->numbers, ElementsAre(1, 32, 32, 32, 0, 0, 1.5, -0.5));
  call = memory.run([](auto &buffers) {
    for (int i = 0; i < 32; ++i)
      for (int j = 0; j < 32; ++j) {
        buffers[2][i * 32 + j] = 0;
        for (int l = 0; l < 32; ++l)
          buffers[2][i * 32 + j] += buffers[0][i * 32 + l] * buffers[1][j * 32 + l];
      }
  });
  ASSERT_EQ(nameOf(call), "cublasSgemm");
  EXPECT_THAT(call->numbers, ElementsAre(1, 32, 32, 32, 0, 1, 1, 0));
}

TEST(LibraryCall, FindsABatchOfProducts) {
  Memory<float> memory("f32", {16, 8, 4, 3});
  memory.buffer(3 * 16 * 4).buffer(3 * 4 * 8).buffer(3 * 16 * 8);
  const auto call = memory.run([](auto &buffers) {
    for (int batch = 0; batch < 3; ++batch)
      for (int i = 0; i < 16; ++i)
        for (int j = 0; j < 8; ++j) {
          float sum = 0;
          for (int l = 0; l < 4; ++l)
            sum += buffers[0][(batch * 16 + i) * 4 + l] * buffers[1][(batch * 4 + l) * 8 + j];
          buffers[2][(batch * 16 + i) * 8 + j] = sum;
        }
  });
  ASSERT_EQ(nameOf(call), "cublasGemmStridedBatchedEx");
  EXPECT_THAT(call->numbers, ElementsAre(3, 16, 8, 4, 0, 0, 1, 0));
}

TEST(LibraryCall, WhatIsNearlyAProductIsNone) {
  Memory<float> memory("f32", {20, 40, 30});
  memory.buffer(20 * 30).buffer(30 * 40).buffer(20 * 40);
  const auto with = [&](const std::function<float(float)> &change) {
    return nameOf(memory.run([&](auto &buffers) {
      product(20, 40, 30)(buffers);
      for (float &each : buffers[2])
        each = change(each);
    }));
  };
  EXPECT_EQ(with([](float x) { return x; }), "cublasSgemm");
  EXPECT_EQ(with([](float x) { return std::max(x, 0.0f); }), "none"); // an epilogue
  EXPECT_EQ(with([](float x) { return 1.01f * x; }), "none");         // a scale that is no argument
  EXPECT_EQ(nameOf(memory.run([](auto &buffers) { // one that writes something else, too
              product(20, 40, 30)(buffers);
              buffers[0][5] = 1;
            })),
            "none");
}

TEST(LibraryCall, FindsATranspose) {
  Memory<float> memory("f32", {24, 56});
  memory.buffer(24 * 56).buffer(24 * 56);
  const auto transpose = [](auto &buffers) {
    for (int i = 0; i < 56; ++i)
      for (int j = 0; j < 24; ++j)
        buffers[1][j * 56 + i] = buffers[0][i * 24 + j];
  };
  const auto call = memory.run(transpose);
  ASSERT_EQ(nameOf(call), "cublasSgeam");
  EXPECT_THAT(call->numbers, ElementsAre(56, 24));
  EXPECT_EQ(nameOf(memory.run([](auto &buffers) { buffers[1] = buffers[0]; })), "none");
  EXPECT_EQ(nameOf(memory.run([&](auto &buffers) {
              transpose(buffers);
              for (float &each : buffers[1])
                each *= 2;
            })),
            "none");
}

TEST(LibraryCall, FindsReductions) {
  Memory<float> memory("f32", {30, 100});
  memory.buffer(3000).buffer(30);
  const auto rows = [&](const std::function<float(float, float)> &add, float first) {
    return memory.run([&](auto &buffers) {
      for (int row = 0; row < 30; ++row)
        buffers[1][row] = std::accumulate(buffers[0].begin() + row * 100,
                                          buffers[0].begin() + (row + 1) * 100, first, add);
    });
  };
  const auto sums = rows(std::plus<float>(), 0);
  ASSERT_EQ(nameOf(sums), "cub::DeviceSegmentedReduce::Sum");
  EXPECT_THAT(sums->macros, ElementsAre("IN=f32", "OUT=f32", "CALL=Sum"));
  EXPECT_THAT(sums->numbers, ElementsAre(30, 100));
  EXPECT_EQ(nameOf(rows([](float a, float b) { return std::max(a, b); }, -1e9f)),
            "cub::DeviceSegmentedReduce::Max");
  EXPECT_EQ(nameOf(rows([](float a, float b) { return a + b * b; }, 0)), "none");
  EXPECT_EQ(nameOf(rows(std::plus<float>(), 5)), "none");

  Memory<int> whole("i32");
  const auto least = whole.buffer(5000).buffer(1).run(
      [](auto &buffers) { buffers[1][0] = *std::ranges::min_element(buffers[0]); });
  ASSERT_EQ(nameOf(least), "cub::DeviceReduce::Min");
  EXPECT_THAT(least->numbers, ElementsAre(1, 5000));
}

TEST(LibraryCall, FindsScansOfAllAndOfBlocks) {
  Memory<float> memory("f32", {1000});
  memory.launch.shapes = {256, 4, 1024};
  memory.buffer(1024).buffer(1024);
  const auto scan = [&](int width, bool isInclusive, int to, int size = 1000) {
    return memory.run([=](auto &buffers) {
      float sum = 0;
      for (int i = 0; i < size; ++i) {
        sum = i % width == 0 ? 0 : sum;
        const float own = buffers[0][i];
        buffers[to][i] = isInclusive ? sum + own : sum;
        sum += own;
      }
    });
  };
  const auto all = scan(1024, true, 1);
  ASSERT_EQ(nameOf(all), "cub::DeviceScan::InclusiveSum");
  EXPECT_THAT(all->macros, ElementsAre("IN=f32", "CALL=InclusiveSum"));
  EXPECT_THAT(all->numbers, ElementsAre(1000, 1000));
  EXPECT_EQ(nameOf(scan(1024, false, 0)), "cub::DeviceScan::ExclusiveSum"); // in place
  const auto blocks = scan(256, true, 1);
  ASSERT_EQ(nameOf(blocks), "cub::DeviceScan::InclusiveSumByKey");
  EXPECT_THAT(blocks->numbers, ElementsAre(1000, 256));
  EXPECT_EQ(nameOf(scan(250, true, 1)), "none"); // of a width that nothing tells
  EXPECT_EQ(nameOf(scan(1024, true, 1, 900)), "none");
}

TEST(LibraryCall, FindsSortsOfKeysAndOfPairs) {
  Memory<int> memory("i32", {500});
  memory.buffer(500).buffer(500);
  const auto keys = memory.run([](auto &buffers) { std::ranges::sort(buffers[0]); });
  ASSERT_EQ(nameOf(keys), "cub::DeviceRadixSort::SortKeys");
  EXPECT_THAT(keys->macros, ElementsAre("IN=i32", "CALL=SortKeys"));
  EXPECT_THAT(keys->numbers, ElementsAre(500));
  EXPECT_THAT(keys->in, ElementsAre(0));
  EXPECT_THAT(keys->out, ElementsAre(0));
  const auto other = memory.run([](auto &buffers) {
    buffers[1] = buffers[0];
    std::ranges::sort(buffers[1], std::greater());
  });
  ASSERT_EQ(nameOf(other), "cub::DeviceRadixSort::SortKeysDescending");
  EXPECT_THAT(other->in, ElementsAre(0));
  EXPECT_THAT(other->out, ElementsAre(1));
  const auto pairs = memory.run([](auto &buffers) {
    std::vector<std::pair<int, int>> both;
    for (int i = 0; i < 500; ++i)
      both.emplace_back(buffers[0][i], buffers[1][i]);
    std::ranges::sort(both);
    for (int i = 0; i < 500; ++i)
      std::tie(buffers[0][i], buffers[1][i]) = both[i];
  });
  ASSERT_EQ(nameOf(pairs), "cub::DeviceRadixSort::SortPairs");
  EXPECT_THAT(pairs->macros, ElementsAre("IN=i32", "CALL=SortPairs", "VALUE=i32"));
  EXPECT_THAT(pairs->out, ElementsAre(0, 1));
}

TEST(LibraryCall, WhatIsNearlySortedIsNone) {
  Memory<int> memory("i32", {500});
  memory.buffer(500);
  EXPECT_EQ(nameOf(memory.run([](auto &buffers) { // one pass of a network
              for (int i = 0; i + 1 < 500; i += 2)
                if (buffers[0][i] > buffers[0][i + 1])
                  std::swap(buffers[0][i], buffers[0][i + 1]);
            })),
            "none");
  EXPECT_EQ(nameOf(memory.run([](auto &buffers) { // in order, but of other numbers
              for (int i = 0; i < 500; ++i)
                buffers[0][i] = i;
            })),
            "none");
}

TEST(LibraryCall, WhatWritesNothingIsNone) {
  Memory<float> memory("f32", {10});
  EXPECT_EQ(nameOf(memory.buffer(100).buffer(100).run([](auto &) {})), "none");
}

} // namespace
} // namespace library_calls
} // namespace kopt
