// SPDX-License-Identifier: Apache-2.0
// Clones compute what their originals do, but for the originals' rounding.
#include "Samples.h"

#include "clang_plugin/parse/ParseCuda.h"
#include "clang_plugin/parse/Toolkit.h"
#include "tests/fakes/Results.h"

#include <fstream>
#include <gmock/gmock.h>

namespace kopt::frontend::test {
namespace {

/// The same numbers in the layout of the clone.
Bytes converted(const Bytes &bytes, const ElementLayout &element) {
  if (element.fields.empty())
    return bytes;
  Bytes result(bytes.size() / element.size * element.newSize);
  for (std::size_t i = 0; i < bytes.size() / element.size; ++i)
    for (const ElementField &field : element.fields) {
      const std::byte *from = bytes.data() + i * element.size + field.offset;
      std::byte *to = result.data() + i * element.newSize + field.newOffset;
      const double number = numberAt(from, field.scalar).value();
      if (field.newScalar == "f64")
        std::memcpy(to, &number, sizeof number);
      else
        std::memcpy(to, from, 4);
    }
  return result;
}

class PreciseTest : public VariantsTest {
protected:
  std::optional<ReferenceClone> cloneOf(const Sample &sample) {
    auto clone = makeReferenceClone(sourceOf(sample));
    if (!clone) {
      ADD_FAILURE() << llvm::toString(clone.takeError());
      return std::nullopt;
    }
    return std::move(*clone);
  }

  static Sample exampleOf(const std::string &file, const std::string &kernel,
                          const std::string &expression) {
    Sample sample;
    sample.slice = extract(file, expression);
    sample.kernel = kernel;
    sample.expression = expression;
    return sample;
  }

  /// Runs both. `roundings`: how many of the original's, of numbers as large as the largest, are
  /// allowed.
  void expectSameNumbers(const Sample &sample, double roundings) {
    const auto clone = must(cloneOf(sample));
    ASSERT_TRUE(clone.refusals.empty()) << clone.refusals.front().message;
    ASSERT_EQ(clone.params.size(), sample.arguments.size());
    const Outcome original = run(sample);
    ASSERT_TRUE(original.status.ok()) << original.status.detail;
    std::vector<Bytes> arguments;
    for (std::size_t i = 0; i < sample.arguments.size(); ++i)
      arguments.push_back(converted(sample.arguments[i].bytes, clone.params[i].element));
    const Outcome precise = run(clone.slice, clone.expression, sample, arguments,
                                sample.sharedBytes * clone.sharedFactor);
    ASSERT_TRUE(precise.status.ok()) << precise.status.detail << clone.slice;

    bool differs = false, writes = false;
    for (std::size_t i = 0; i < original.buffers.size(); ++i) {
      const ElementLayout &element = clone.params[i].element;
      if (element.fields.empty()) {
        EXPECT_EQ(original.buffers[i], precise.buffers[i]) << "argument " << i;
        continue;
      }
      writes |= original.buffers[i] != sample.arguments[i].bytes;
      double largest = 0;
      const auto eachNumber = [&](auto &&visit) {
        for (std::size_t at = 0; at < original.buffers[i].size() / element.size; ++at)
          for (const ElementField &field : element.fields)
            visit(*numberAt(original.buffers[i].data() + at * element.size + field.offset,
                            field.scalar),
                  *numberAt(precise.buffers[i].data() + at * element.newSize + field.newOffset,
                            field.newScalar),
                  at, field);
      };
      if (!sample.arguments[i].isBuffer)
        continue;
      eachNumber([&](double, double exact, auto, const auto &) {
        largest = std::max(largest, std::fabs(exact));
      });
      eachNumber([&](double narrow, double exact, std::size_t at, const ElementField &field) {
        const double unit = field.scalar == "f16" ? 0x1p-11 : 0x1p-24;
        EXPECT_NEAR(narrow, exact, roundings * unit * largest)
            << "argument " << i << ", element " << at;
        differs |= narrow != exact;
      });
    }
    EXPECT_TRUE(writes) << "the launch computes nothing";
    EXPECT_TRUE(differs) << "no rounding is seen: is the clone in double precision?";
  }
};

TEST_F(PreciseTest, Saxpy) { expectSameNumbers(samples().at("saxpy"), 2); }
TEST_F(PreciseTest, ReductionWithShuffles) { expectSameNumbers(samples().at("reduction"), 16); }
TEST_F(PreciseTest, SoftmaxOfRowsInDynamicSharedMemory) {
  expectSameNumbers(samples().at("softmax"), 32);
}
TEST_F(PreciseTest, TiledGemmOfATemplate) { expectSameNumbers(samples().at("gemm"), 16); }
TEST_F(PreciseTest, StencilWithConstantMemory) { expectSameNumbers(samples().at("stencil"), 8); }
TEST_F(PreciseTest, SpmvOfCompressedRows) { expectSameNumbers(samples().at("spmv"), 8); }
TEST_F(PreciseTest, ScanInCarvedSharedMemory) { expectSameNumbers(samples().at("scan"), 128); }
TEST_F(PreciseTest, JacobiSweeps) { expectSameNumbers(samples().at("jacobi"), 64); }
TEST_F(PreciseTest, HalfGemmInPairs) { expectSameNumbers(samples().at("halfGemm"), 32); }
TEST_F(PreciseTest, StructByValueAndVectors) { expectSameNumbers(samples().at("planes"), 16); }

TEST_F(PreciseTest, RefusesWhatWorksOnIntegersOrBits) {
  const auto histogram = cloneOf(samples().at("histogram")),
             philox = cloneOf(samples().at("philox"));
  ASSERT_TRUE(histogram && philox);
  ASSERT_EQ(histogram->refusals.size(), 1u);
  EXPECT_EQ(histogram->refusals[0].id, "integers");
  ASSERT_FALSE(philox->refusals.empty());
  EXPECT_EQ(philox->refusals[0].id, "bits");
  EXPECT_EQ(philox->refusals[0].line, 10u);
  EXPECT_EQ(philox->slice, "");
}

TEST_F(PreciseTest, TheExamples) {
  Sample sum = exampleOf("reduction/reduction.cu", "sumSegments", "sumSegments");
  sum.grid = {5, 1, 1};
  sum.block = {64, 1, 1};
  sum.arguments = {numbers("f32", 5 * 300, [](auto i) { return wave(i); }),
                   numbers("f32", 5, [](auto) { return 0; }), value(5), value(300)};
  expectSameNumbers(sum, 64);

  Sample smooth =
      exampleOf("stencil/stencil.cu", "smooth::stencil", "smooth::stencil<float, 1, 1>");
  smooth.grid = {3, 1, 1};
  smooth.block = {16, 16, 1};
  smooth.arguments = {numbers("f32", 40 * 30, [](auto i) { return wave(i); }),
                      numbers("f32", 40 * 30, [](auto) { return 0; }), value(40), value(30)};
  expectSameNumbers(smooth, 16);

  // Moves numbers and computes with none: the clone's are the very same.
  const Sample turn = exampleOf("transpose/transpose.cu", "transpose", "transpose");
  const auto clone = must(cloneOf(turn));
  EXPECT_TRUE(clone.refusals.empty());
  EXPECT_EQ(clone.params.at(0).element.newSize, 8u);
}

TEST_F(PreciseTest, MacrosOfTheCommandLineAreRedefined) {
  KernelSource source{"__global__ void k(REAL *x) { x[threadIdx.x] *= ONE; }\n",
                      "k",
                      "k",
                      {"-DREAL=float", "-DONE=1.5f"},
                      "/tmp",
                      "sm_90"};
  auto clone = makeReferenceClone(source);
  ASSERT_TRUE(static_cast<bool>(clone));
  ASSERT_TRUE(clone->refusals.empty()) << clone->refusals.front().message;
  EXPECT_THAT(clone->slice, testing::StartsWith(
                                "#undef REAL\n#define REAL double\n#undef ONE\n#define ONE 1.5\n"));
  EXPECT_EQ(clone->params.at(0).element.newSize, 8u);
}

TEST_F(PreciseTest, NvccTakesTheClones) {
  unsetenv("KOPT_CUDA_PATH");
  const auto toolkit = findCudaToolkit();
  if (!toolkit || !std::filesystem::exists(*toolkit + "/bin/nvcc"))
    GTEST_SKIP() << "no nvcc here";
  // Each in a namespace of its own; includes cannot stand in one.
  std::string program = "#include <cuda_fp16.h>\n";
  for (const auto &[name, sample] : samples()) {
    const auto clone = must(cloneOf(sample));
    if (!clone.refusals.empty())
      continue;
    std::string text = clone.slice;
    if (const std::size_t include = text.find("#include <cuda_fp16.h>"); include != text.npos)
      text.erase(include, 22);
    program += "namespace v_" + name + " {\n" + text + "}\n";
  }
  const auto folder =
      std::filesystem::temp_directory_path() / ("kopt-clones-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "clones.cu") << program;
  const std::string command = *toolkit + "/bin/nvcc -arch=sm_90 -cubin -o " +
                              (folder / "clones.cubin").string() + " " +
                              (folder / "clones.cu").string() + " 2> " + (folder / "log").string();
  const int status = std::system(command.c_str());
  std::ifstream log(folder / "log");
  EXPECT_EQ(status, 0) << std::string(std::istreambuf_iterator<char>(log), {}) << program;
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace kopt::frontend::test
