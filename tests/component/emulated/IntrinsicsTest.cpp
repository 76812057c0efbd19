// SPDX-License-Identifier: Apache-2.0
// Intrinsics give what CUDA's documentation says of them. A kernel stores the values of
// expressions, in their order.
#include "tests/component/emulated/EmulatedTest.h"

namespace kopt::runtime {
namespace {

class IntrinsicsTest : public EmulatedTest {
protected:
  struct Case {
    const char *expression;
    unsigned expected;
  };
  void expectAll(const std::vector<Case> &cases, const std::string &headers = "") {
    std::string source =
        headers + "\n__global__ void values(unsigned *out, unsigned a, unsigned b) {\n";
    for (std::size_t i = 0; i < cases.size(); ++i)
      source += "  out[" + std::to_string(i) + "] = " + cases[i].expression + ";\n";
    LaunchRequest request = kernel(source + "}\n", "values");
    Address out = space<unsigned>(cases.size());
    Status status = launch(request, 1, 1, out, 0x80ff017fu, 0x7f01ff80u);
    ASSERT_TRUE(status.ok()) << status.detail;
    const std::vector<unsigned> values = download<unsigned>(out, cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i)
      EXPECT_EQ(values[i], cases[i].expected)
          << cases[i].expression << " is 0x" << std::hex << values[i];
  }
};

// The bytes of a are -128, -1, 1, 127 from the top, those of b 127, 1, -1, -128.
TEST_F(IntrinsicsTest, FourBytesAtATime) {
  expectAll({
      {"__vadd4(a, b)", 0xff0000ffu},
      {"__vaddss4(a, b)", 0xff0000ffu},
      {"__vaddss4(a, a)", 0x80fe027fu},
      {"__vaddus4(a, a)", 0xffff02feu},
      {"__vsub4(a, b)", 0x01fe02ffu},
      {"__vsubss4(a, b)", 0x80fe027fu},
      {"__vsubus4(a, b)", 0x01fe0000u},
      {"__vabs4(a)", 0x8001017fu},
      {"__vabsss4(a)", 0x7f01017fu},
      {"__vneg4(a)", 0x8001ff81u},
      {"__vnegss4(a)", 0x7f01ff81u},
      {"__vabsdiffs4(a, b)", 0xff0202ffu},
      {"__vabsdiffu4(a, b)", 0x01fefe01u},
      {"__vsads4(a, b)", 255u + 2 + 2 + 255},
      {"__vsadu4(a, b)", 1u + 254 + 254 + 1},
      {"__vavgu4(a, b)", 0x80808080u},
      {"__vhaddu4(a, b)", 0x7f80807fu},
      {"__vavgs4(0x01ff0280u, 0x02fe0180u)",
       0x02fe0280u}, // 1.5, -1.5, 1.5, -128: halves go away from zero
      {"__vmaxs4(a, b)", 0x7f01017fu},
      {"__vmaxu4(a, b)", 0x80ffff80u},
      {"__vmins4(a, b)", 0x80ffff80u},
      {"__vminu4(a, b)", 0x7f01017fu},
      {"__vcmpeq4(0x02030204u, 0x02020202u)", 0xff00ff00u},
      {"__vcmpne4(0x02030204u, 0x02020202u)", 0x00ff00ffu},
      {"__vcmpgts4(a, b)", 0x0000ffffu},
      {"__vcmpgtu4(a, b)", 0xffff0000u},
      {"__vcmpges4(a, a)", 0xffffffffu},
      {"__vcmpltu4(a, b)", 0x0000ffffu},
      {"__vcmples4(a, b)", 0xffff0000u},
      {"__vseteq4(0x02030204u, 0x02020202u)", 0x01000100u},
      {"__vsetlts4(a, b)", 0x01010000u},
      {"__vsetleu4(a, b)", 0x00000101u},
  });
}

TEST_F(IntrinsicsTest, TwoHalfwordsAtATime) {
  expectAll({
      {"__vadd2(0xffff7fffu, 0x00010001u)", 0x00008000u},
      {"__vaddss2(0xffff7fffu, 0x00010001u)", 0x00007fffu},
      {"__vaddus2(0xffff7fffu, 0x00010001u)", 0xffff8000u},
      {"__vsub2(0x00008000u, 0x00010001u)", 0xffff7fffu},
      {"__vsubss2(0x00008000u, 0x00010001u)", 0xffff8000u},
      {"__vsubus2(0x00008000u, 0x00010001u)", 0x00007fffu},
      {"__vabs2(0x8000ffffu)", 0x80000001u},
      {"__vabsss2(0x8000ffffu)", 0x7fff0001u},
      {"__vneg2(0x80000001u)", 0x8000ffffu},
      {"__vnegss2(0x80000001u)", 0x7fffffffu},
      {"__vabsdiffs2(0x80000003u, 0x7fff0005u)", 0xffff0002u},
      {"__vabsdiffu2(0x80000003u, 0x7fff0005u)", 0x00010002u},
      {"__vsads2(0x80000003u, 0x7fff0005u)", 0x10001u},
      {"__vsadu2(0x80000003u, 0x7fff0005u)", 3u},
      {"__vavgs2(0x0001ffffu, 0x0002fffeu)", 0x0002fffeu},
      {"__vavgu2(0xffff0001u, 0xffff0002u)", 0xffff0002u},
      {"__vhaddu2(0xffff0001u, 0xffff0002u)", 0xffff0001u},
      {"__vmaxs2(0x80000001u, 0x00000002u)", 0x00000002u},
      {"__vminu2(0x80000001u, 0x00000002u)", 0x00000001u},
      {"__vcmpgeu2(0x80000001u, 0x00000002u)", 0xffff0000u},
      {"__vsetges2(0x80000001u, 0x00000001u)", 0x00000001u},
  });
}

TEST_F(IntrinsicsTest, TheBetterOfSeveral) {
  expectAll({
      {"__vimax3_s32(-3, 5, 4)", 5u},
      {"__vimin3_u32(0xffffffffu, 7u, 8u)", 7u},
      {"__vimax_s32_relu(-3, -5)", 0u},
      {"__vimin3_s32_relu(3, 5, -1)", 0u},
      {"__viaddmax_s32(2, 3, 4)", 5u},
      {"__viaddmin_u32(0xffffffffu, 2u, 4u)", 1u},
      {"__viaddmax_s32_relu(-2, -3, -4)", 0u},
      {"__vimax3_s16x2(0x00018000u, 0xffff0002u, 0x00037fffu)", 0x00037fffu},
      {"__vimin3_u16x2(0x00018000u, 0xffff0002u, 0x00037fffu)", 0x00010002u},
      {"__vimax_s16x2_relu(0xffff0001u, 0xfffe0002u)", 0x00000002u},
      {"__viaddmax_s16x2(0x00010002u, 0x00010002u, 0x00050003u)", 0x00050004u},
      {"__viaddmin_s16x2_relu(0x0001ffffu, 0x00010000u, 0x00050003u)", 0x00020000u},
      {"[&] { bool first; unsigned m = __vibmax_s32(4, 4, &first); return m * 2 + first; }()", 9u},
      {"[&] { bool first; unsigned m = __vibmin_u32(5, 4, &first); return m * 2 + first; }()", 8u},
      {"[&] { bool high, low; unsigned m = __vibmax_s16x2(0x00010003u, 0x00020003u, &high, &low);"
       " return m == 0x00020003u ? high * 2 + low : 9; }()",
       1u},
  });
}

TEST_F(IntrinsicsTest, DotProductsBitsAndConstants) {
  expectAll({
      {"__dp4a(0x01020304, 0x01ff0201, 10)", 10u + 1 - 2 + 6 + 4},
      {"__dp4a(0x01020304u, 0x01ff0201u, 10u)", 10u + 1 + 510 + 6 + 4},
      {"__dp4a(char4{1, -2, 3, 4}, char4{5, 6, -7, 8}, 1)", 1u + 5 - 12 - 21 + 32},
      {"__dp2a_lo(0x0002fffd, 0x04030201, 1)", 1u + 4 - 3},
      {"__dp2a_hi(0x0002fffd, 0x04030201, 1)", 1u + 8 - 9},
      {"__dp2a_lo(0x0002fffdu, 0x040302ffu, 1u)", 1u + 4 + 65533 * 255},
      {"__dp2a_hi(short2{-3, 2}, char4{1, 2, 3, 4}, 1)", 1u + 8 - 9},
      {"__fns(0x0000f0f0u, 0, 1)", 4u},
      {"__fns(0x0000f0f0u, 5, 4)", 12u},
      {"__fns(0x0000f0f0u, 12, -2)", 7u},
      {"__fns(0x0000f0f0u, 3, 0)", 0xffffffffu},
      {"__fns(0x0000f0f0u, 4, 0)", 4u},
      {"__fns(0x0000f0f0u, 0, 9)", 0xffffffffu},
      {"__float_as_uint(CUDART_ZERO_F + CUDART_NEG_ZERO_F)",
       0u}, // nvcc has <math_constants.h> unasked
      {"__float_as_uint(CUDART_INF_F)", 0x7f800000u},
  });
}

TEST_F(IntrinsicsTest, SmallFloatsBecomeIntegersInFourDirections) {
  expectAll({{"__bfloat162int_rn(__float2bfloat16(2.5f))", 2},
             {"__bfloat162int_rz(__float2bfloat16(-2.5f))", 0xfffffffeu},
             {"__half2int_ru(__float2half(2.25f))", 3},
             {"__half2uint_rd(__float2half(7.75f))", 7},
             {"(unsigned)__half2ull_rn(__float2half(1024.f))", 1024}},
            "#include <cuda_bf16.h>\n#include <cuda_fp16.h>");
}

} // namespace
} // namespace kopt::runtime
