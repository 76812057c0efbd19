// SPDX-License-Identifier: Apache-2.0
// What C++ leaves undefined and PTX does not: shifts by the width and more, conversions of what an
// integer cannot hold.
#include "EmulatedTest.h"

#include <cmath>
#include <limits>

namespace kopt::runtime {
namespace {

class GpuArithmeticTest : public EmulatedTest {
protected:
  /// `expression` of a and b for each pair.
  template <class R, class A, class B>
  std::vector<R> compute(const std::string &types, const std::string &expression,
                         const std::vector<A> &a, const std::vector<B> &b) {
    LaunchRequest request = kernel(
        "template <class R, class A, class B> __global__ void k(R *out, const A *as, const B *bs) {"
        "  A a = as[threadIdx.x]; B b = bs[threadIdx.x]; out[threadIdx.x] = " +
            expression + "; }",
        "k<" + types + ">");
    Address out = space<R>(a.size());
    EXPECT_THAT(launch(request, 1, unsigned(a.size()), out, upload(a), upload(b)), isOk());
    return download<R>(out, a.size());
  }
  template <class R, class F>
  std::vector<R> convert(const std::string &types, const std::vector<F> &from,
                         const std::string &expression = "(R)a") {
    return compute<R>(types, expression, from, from);
  }
};

TEST_F(GpuArithmeticTest, ShiftsCountUpToTheWidth) {
  const std::vector<unsigned> words(6, 0x80000401u);
  const std::vector<int> counts = {0, 4, 31, 32, 40, -1};
  EXPECT_EQ(compute<unsigned>("unsigned, unsigned, int", "a << b", words, counts),
            (std::vector<unsigned>{0x80000401u, 0x4010u, 0x80000000u, 0, 0, 0}));
  EXPECT_EQ(compute<unsigned>("unsigned, unsigned, int", "a >> b", words, counts),
            (std::vector<unsigned>{0x80000401u, 0x08000040u, 1, 0, 0, 0}));
  EXPECT_EQ(compute<unsigned>("unsigned, unsigned, int", "(int)a >> b", words, counts),
            (std::vector<unsigned>{0x80000401u, 0xf8000040u, ~0u, ~0u, ~0u, ~0u}));
  using Wide = unsigned long long;
  EXPECT_EQ(compute<Wide>("unsigned long long, unsigned, int", "(R)a << b", words,
                          std::vector<int>{0, 40, 63, 64, 72, -5}),
            (std::vector<Wide>{0x80000401u, 0x0004010000000000u, 1ull << 63, 0, 0, 0}));
  // Where the compiler knows the count to be too large.
  EXPECT_EQ(compute<unsigned>("unsigned, unsigned, int", "a << (b | 32) | a >> (64 + 0 * b)", words,
                              counts),
            std::vector<unsigned>(6, 0));
}

TEST_F(GpuArithmeticTest, ConversionsAreClamped) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  const std::vector<float> floats = {-1.5f, 300.7f, 3e9f, -3e9f, 1e20f, -1e20f, infinity, nan};
  using Ints = std::vector<int>;
  using Words = std::vector<unsigned>;
  constexpr int most = INT32_MAX, least = INT32_MIN;
  EXPECT_EQ(convert<int>("int, float, float", floats),
            (Ints{-1, 300, most, least, most, least, most, 0}));
  EXPECT_EQ(convert<unsigned>("unsigned, float, float", floats),
            (Words{0, 300, 3000000000u, 0, ~0u, 0, ~0u, 0}));
  // Smaller ones are the low bits of a conversion to 32.
  EXPECT_EQ(convert<int>("int, float, float", floats, "(unsigned char)a"),
            (Ints{0, 44, 3000000000u & 255, 0, 255, 0, 255, 0}));
  EXPECT_EQ(convert<int>("int, float, float", floats, "(signed char)a"),
            (Ints{-1, 44, -1, 0, -1, 0, -1, 0}));
  EXPECT_EQ(convert<int>("int, float, float", floats, "(short)a"),
            (Ints{-1, 300, -1, 0, -1, 0, -1, 0}));
  using Wide = std::vector<long long>;
  EXPECT_EQ(convert<long long>("long long, float, float", floats),
            (Wide{-1, 300, 3000000000, -3000000000, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN}));
  const std::vector<double> doubles(floats.begin(), floats.end());
  EXPECT_EQ(convert<int>("int, double, double", doubles),
            (Ints{-1, 300, most, least, most, least, most, least}));
  EXPECT_EQ(convert<unsigned>("unsigned, double, double", doubles),
            (Words{0, 300, 3000000000u, 0, ~0u, 0, ~0u, 1u << 31}));
  EXPECT_EQ(convert<int>("int, float, float", floats, "__float2int_ru(a)"),
            (Ints{-1, 301, most, least, most, least, most, 0}));
  EXPECT_EQ(convert<int>("int, double, double", doubles, "__double2int_rn(a)"),
            (Ints{-2, 301, most, least, most, least, most, least}));
  EXPECT_EQ(convert<long long>("long long, float, float", floats, "__float2ll_rd(a)"),
            (Wide{-2, 300, 3000000000, -3000000000, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN}));
}

TEST_F(GpuArithmeticTest, ApproximationsFailWhereAGpusDo) {
  auto of = [this](const std::string &expression, std::vector<float> a, std::vector<float> b) {
    return compute<float>("float, float, float", expression, a, b);
  };
  std::vector<float> values = of("__powf(a, b)", {2, 1.5f, -2, 0, 0}, {3, 2, 3, 2, -1});
  EXPECT_FLOAT_EQ(values[0], 8);
  EXPECT_FLOAT_EQ(values[1], 2.25f);
  EXPECT_TRUE(std::isnan(values[2])) << "the logarithm of a negative number";
  EXPECT_EQ(values[3], 0);
  EXPECT_TRUE(std::isinf(values[4]));
  values = of("__fdividef(a, b)", {6, 1e38f, 1e38f, INFINITY, 1},
              {3, 0x1p125f, 0x1.8p126f, 0x1p127f, INFINITY});
  EXPECT_EQ(values[0], 2);
  EXPECT_NEAR(values[1], 1e38f / 0x1p125f, 1e-5);
  EXPECT_EQ(values[2], 0);
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_EQ(values[4], 0);
  const std::vector<float> angles = {0, 0.5f, -3, 3.1f, 12345.678f, -1e6f};
  const std::vector<float> sines = of("__sinf(a)", angles, angles),
                           cosines = of("__cosf(a)", angles, angles);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(sines[i], std::sin(double(angles[i])), 0x1p-21) << angles[i];
    EXPECT_NEAR(cosines[i], std::cos(double(angles[i])), 0x1p-21) << angles[i];
  }
  for (std::size_t i = 4; i < angles.size(); ++i) {
    const double off = std::fabs(sines[i] - std::sin(double(angles[i])));
    EXPECT_GT(off, 1e-6) << angles[i];
    EXPECT_LT(off, std::fabs(angles[i]) * 0x1p-22) << angles[i];
  }
  values = of("__expf(a) + 0 * __logf(b)", {0, 1, -10, 80}, {1, 1, 1, 1});
  for (std::size_t i = 0; i < 4; ++i) {
    const double exact = std::exp(double(std::vector<float>{0, 1, -10, 80}[i]));
    EXPECT_NEAR(values[i] / exact, 1, 1e-5);
  }
  EXPECT_NE(values[3], std::exp(80.0f)) << "the product with log2(e) is rounded";
}

TEST_F(GpuArithmeticTest, AreOneInstructionEach) {
  auto instructions = [this](const std::string &expression) {
    LaunchRequest request = kernel("__global__ void k(int *out, const int *in, const float *f) { "
                                   "int a = in[threadIdx.x], b = in[threadIdx.x + 32];"
                                   " float c = f[threadIdx.x]; out[threadIdx.x] = " +
                                   expression + "; }");
    request.block = {32, 1, 1};
    pass(request, space<int>(32)), pass(request, upload(std::vector<int>(64, 3))),
        pass(request, upload(std::vector<float>(32, 3)));
    Counters counters;
    EXPECT_TRUE(device_->profile(request, counters).ok());
    return counters["smsp__inst_executed.sum"];
  };
  const double sum = instructions("a + b + (c < 7.0f)");
  ASSERT_GT(sum, 0);
  for (const char *shift :
       {"(a << b) + (c < 7.0f)", "(a >> b) + (c < 7.0f)", "(int)((unsigned)a >> b) + (c < 7.0f)"})
    EXPECT_EQ(instructions(shift), sum) << shift;
  EXPECT_EQ(instructions("a + b + (int)c"), instructions("a + b + __float_as_int(c)") + 1);
}

} // namespace
} // namespace kopt::runtime
