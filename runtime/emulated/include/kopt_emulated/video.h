// SPDX-License-Identifier: Apache-2.0
// SIMD intrinsics: two halfwords or four bytes of one word at a time, and the comparisons of the DPX family.
#pragma once

#include "qualifiers.h"

namespace kopt_emulated {
/// Applies `function` to each part of a and b, as integers that hold every intermediate value. The parts of the result
/// wrap.
template <class Part, class Function> KOPT_HD unsigned eachPart(unsigned a, unsigned b, Function function) {
  constexpr int bits = 8 * sizeof(Part);
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += bits)
    result |= ((unsigned)function((int)(Part)(a >> shift), (int)(Part)(b >> shift)) & (0xffffffffu >> (32 - bits))) << shift;
  return result;
}
template <class Part> KOPT_HD int saturated(int x) {
  constexpr bool isSigned = (Part)-1 < (Part)0;
  constexpr int bits = 8 * sizeof(Part) - (isSigned ? 1 : 0), most = (1 << bits) - 1, least = isSigned ? -most - 1 : 0;
  return x > most ? most : x < least ? least : x;
}
KOPT_HD int distance(int x, int y) { return x > y ? x - y : y - x; }
template <class T> KOPT_HD T least(T x, T y) { return y < x ? y : x; }
template <class T> KOPT_HD T most(T x, T y) { return x < y ? y : x; }
/// The sum, which wraps as on the hardware.
KOPT_HD int wrappedSum(int x, int y) { return (int)((unsigned)x + (unsigned)y); }
KOPT_HD unsigned wrappedSum(unsigned x, unsigned y) { return x + y; }
template <class Part> KOPT_HD unsigned sumOfDistances(unsigned a, unsigned b) {
  unsigned sum = 0;
  for (int shift = 0; shift < 32; shift += 8 * sizeof(Part))
    sum += (unsigned)distance((int)(Part)(a >> shift), (int)(Part)(b >> shift));
  return sum;
}
} // namespace kopt_emulated

#define KOPT_PARTS(NAME, PART, EXPRESSION)                                                         \
  KOPT_D unsigned NAME(unsigned a, unsigned b) {                                                   \
    return kopt_emulated::eachPart<PART>(a, b, [](int x, int y) { return EXPRESSION; });           \
  }
#define KOPT_PARTS_OF_ONE(NAME, PART, EXPRESSION)                                                  \
  KOPT_D unsigned NAME(unsigned a) {                                                               \
    return kopt_emulated::eachPart<PART>(a, 0, [](int x, int) { return EXPRESSION; });             \
  }
// __vcmp sets all bits of a part, __vset its lowest bit.
#define KOPT_PARTS_COMPARED(RELATION, SUFFIX, PART, OPERATOR)                                      \
  KOPT_PARTS(__vcmp##RELATION##SUFFIX, PART, x OPERATOR y ? -1 : 0)                                \
  KOPT_PARTS(__vset##RELATION##SUFFIX, PART, x OPERATOR y ? 1 : 0)
#define KOPT_PARTS_OF(N, SIGNED, UNSIGNED)                                                         \
  KOPT_PARTS_OF_ONE(__vabs##N, SIGNED, x < 0 ? -x : x)                                             \
  KOPT_PARTS_OF_ONE(__vabsss##N, SIGNED, kopt_emulated::saturated<SIGNED>(x < 0 ? -x : x))         \
  KOPT_PARTS_OF_ONE(__vneg##N, SIGNED, -x)                                                         \
  KOPT_PARTS_OF_ONE(__vnegss##N, SIGNED, kopt_emulated::saturated<SIGNED>(-x))                     \
  KOPT_PARTS(__vadd##N, UNSIGNED, x + y)                                                           \
  KOPT_PARTS(__vaddss##N, SIGNED, kopt_emulated::saturated<SIGNED>(x + y))                         \
  KOPT_PARTS(__vaddus##N, UNSIGNED, kopt_emulated::saturated<UNSIGNED>(x + y))                     \
  KOPT_PARTS(__vsub##N, UNSIGNED, x - y)                                                           \
  KOPT_PARTS(__vsubss##N, SIGNED, kopt_emulated::saturated<SIGNED>(x - y))                         \
  KOPT_PARTS(__vsubus##N, UNSIGNED, kopt_emulated::saturated<UNSIGNED>(x - y))                     \
  KOPT_PARTS(__vavgs##N, SIGNED, (x + y + (x + y >= 0)) >> 1) /* halves away from zero */          \
  KOPT_PARTS(__vavgu##N, UNSIGNED, (x + y + 1) >> 1)                                               \
  KOPT_PARTS(__vhaddu##N, UNSIGNED, (x + y) >> 1)                                                  \
  KOPT_PARTS(__vabsdiffs##N, SIGNED, kopt_emulated::distance(x, y))                                \
  KOPT_PARTS(__vabsdiffu##N, UNSIGNED, kopt_emulated::distance(x, y))                              \
  KOPT_PARTS(__vmaxs##N, SIGNED, kopt_emulated::most(x, y))                                        \
  KOPT_PARTS(__vmaxu##N, UNSIGNED, kopt_emulated::most(x, y))                                      \
  KOPT_PARTS(__vmins##N, SIGNED, kopt_emulated::least(x, y))                                       \
  KOPT_PARTS(__vminu##N, UNSIGNED, kopt_emulated::least(x, y))                                     \
  KOPT_PARTS_COMPARED(eq, N, UNSIGNED, ==)                                                         \
  KOPT_PARTS_COMPARED(ne, N, UNSIGNED, !=)                                                         \
  KOPT_PARTS_COMPARED(ges, N, SIGNED, >=)                                                          \
  KOPT_PARTS_COMPARED(gts, N, SIGNED, >)                                                           \
  KOPT_PARTS_COMPARED(les, N, SIGNED, <=)                                                          \
  KOPT_PARTS_COMPARED(lts, N, SIGNED, <)                                                           \
  KOPT_PARTS_COMPARED(geu, N, UNSIGNED, >=)                                                        \
  KOPT_PARTS_COMPARED(gtu, N, UNSIGNED, >)                                                         \
  KOPT_PARTS_COMPARED(leu, N, UNSIGNED, <=)                                                        \
  KOPT_PARTS_COMPARED(ltu, N, UNSIGNED, <)                                                         \
  KOPT_D unsigned __vsads##N(unsigned a, unsigned b) { return kopt_emulated::sumOfDistances<SIGNED>(a, b); } \
  KOPT_D unsigned __vsadu##N(unsigned a, unsigned b) { return kopt_emulated::sumOfDistances<UNSIGNED>(a, b); }
KOPT_PARTS_OF(2, short, unsigned short)
KOPT_PARTS_OF(4, signed char, unsigned char)
#undef KOPT_PARTS_OF
#undef KOPT_PARTS_COMPARED
#undef KOPT_PARTS_OF_ONE
#undef KOPT_PARTS

// DPX functions: the better of two or three values, of a sum, and which one it was. Also callable from the host.
#define KOPT_DPX(BETTER, PICK)                                                                     \
  KOPT_DPX_WORD(BETTER, PICK, s32, int)                                                            \
  KOPT_DPX_WORD(BETTER, PICK, u32, unsigned)                                                       \
  KOPT_DPX_PARTS(BETTER, PICK, s16x2, short)                                                       \
  KOPT_DPX_PARTS(BETTER, PICK, u16x2, unsigned short)                                              \
  KOPT_HD int __vi##BETTER##_s32_relu(int a, int b) { return kopt_emulated::most(PICK(a, b), 0); } \
  KOPT_HD int __vi##BETTER##3_s32_relu(int a, int b, int c) {                                      \
    return kopt_emulated::most(__vi##BETTER##3_s32(a, b, c), 0);                                   \
  }                                                                                                \
  KOPT_HD int __viadd##BETTER##_s32_relu(int a, int b, int c) {                                    \
    return kopt_emulated::most(__viadd##BETTER##_s32(a, b, c), 0);                                 \
  }                                                                                                \
  KOPT_HD unsigned __vi##BETTER##_s16x2_relu(unsigned a, unsigned b) {                             \
    return kopt_emulated::eachPart<short>(a, b, [](int x, int y) { return kopt_emulated::most(PICK(x, y), 0); }); \
  }                                                                                                \
  KOPT_HD unsigned __vi##BETTER##3_s16x2_relu(unsigned a, unsigned b, unsigned c) {                \
    return __vi##BETTER##_s16x2_relu(__vi##BETTER##3_s16x2(a, b, c), __vi##BETTER##3_s16x2(a, b, c)); \
  }                                                                                                \
  KOPT_HD unsigned __viadd##BETTER##_s16x2_relu(unsigned a, unsigned b, unsigned c) {              \
    return __vi##BETTER##_s16x2_relu(__viadd##BETTER##_s16x2(a, b, c), __viadd##BETTER##_s16x2(a, b, c)); \
  }
#define KOPT_DPX_WORD(BETTER, PICK, SUFFIX, T)                                                     \
  KOPT_HD T __vi##BETTER##3_##SUFFIX(T a, T b, T c) { return PICK(PICK(a, b), c); }                \
  KOPT_HD T __viadd##BETTER##_##SUFFIX(T a, T b, T c) { return PICK(kopt_emulated::wrappedSum(a, b), c); } \
  KOPT_HD T __vib##BETTER##_##SUFFIX(T a, T b, bool *first) { return *first = PICK(a, b) == a, PICK(a, b); }
#define KOPT_DPX_PARTS(BETTER, PICK, SUFFIX, PART)                                                 \
  KOPT_HD unsigned __vi##BETTER##3_##SUFFIX(unsigned a, unsigned b, unsigned c) {                  \
    const auto pick = [](int x, int y) { return PICK(x, y); };                                     \
    return kopt_emulated::eachPart<PART>(kopt_emulated::eachPart<PART>(a, b, pick), c, pick);      \
  }                                                                                                \
  KOPT_HD unsigned __viadd##BETTER##_##SUFFIX(unsigned a, unsigned b, unsigned c) {                \
    const unsigned sum = kopt_emulated::eachPart<PART>(a, b, [](int x, int y) { return x + y; });  \
    return kopt_emulated::eachPart<PART>(sum, c, [](int x, int y) { return PICK(x, y); });         \
  }                                                                                                \
  KOPT_HD unsigned __vib##BETTER##_##SUFFIX(unsigned a, unsigned b, bool *high, bool *low) {       \
    const unsigned best = kopt_emulated::eachPart<PART>(a, b, [](int x, int y) { return PICK(x, y); }); \
    *high = best >> 16 == a >> 16, *low = (best & 0xffffu) == (a & 0xffffu);                       \
    return best;                                                                                   \
  }
KOPT_DPX(max, kopt_emulated::most)
KOPT_DPX(min, kopt_emulated::least)
#undef KOPT_DPX
#undef KOPT_DPX_WORD
#undef KOPT_DPX_PARTS
