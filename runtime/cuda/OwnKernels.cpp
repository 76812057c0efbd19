// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/OwnKernels.h"

#include <utility>

namespace kopt::runtime::cuda {

namespace {

/// %word: the thread's number among all, %step: how many there are.
constexpr const char *kThread = R"(  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %word, %r1, %r2;
  cvt.u64.u32 %t, %r3;
  add.u64 %word, %word, %t;
  mul.wide.u32 %step, %r4, %r2;)";

// The kernels of MemoryKernels.h have the parameters base, words, key, flip, size, bits and out.
// Thread by thread they take the words %word = 0, 1, ... of the memory at %base.

constexpr const char *kBegin =
    R"(.visible .entry NAME(.param .u64 base, .param .u64 words, .param .u64 key, .param .u64 flip,
                     .param .u32 size, .param .u64 bits, .param .u64 out)
{
  .reg .pred %p<4>;
  .reg .b32 %r<12>;
  .reg .b64 %d<16>, %base, %words, %word, %key, %flip, %step, %at, %x, %t;
  ld.param.u64 %base, [base];
  ld.param.u64 %words, [words];
  ld.param.u64 %key, [key];
  ld.param.u64 %flip, [flip];
  cvta.to.global.u64 %base, %base;
THREAD
)";

/// The loop's head: %at is the address of the word, %x what drawnBits() is for it.
constexpr const char *kNext = R"(
NEXT:
  setp.ge.u64 %p1, %word, %words;
  @%p1 bra END;
  shl.b64 %at, %word, 3;
  add.u64 %at, %base, %at;
  add.u64 %x, %word, 1;
  mul.lo.u64 %x, %x, 0x9e3779b97f4a7c15;
  add.u64 %x, %x, %key;
MIX_X
)";

/// mixedBits() of a register.
constexpr const char *kMix = R"(
  shr.u64 %t, REG, 30;
  xor.b64 REG, REG, %t;
  mul.lo.u64 REG, REG, 0xbf58476d1ce4e5b9;
  shr.u64 %t, REG, 27;
  xor.b64 REG, REG, %t;
  mul.lo.u64 REG, REG, 0x94d049bb133111eb;
  shr.u64 %t, REG, 31;
  xor.b64 REG, REG, %t;
)";

constexpr const char *kLoop = R"(
  add.u64 %word, %word, %step;
  bra NEXT;
END:
)";

void replaceAll(std::string &text, const std::string &name, const std::string &by) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + by.size()))
    text.replace(at, name.size(), by);
}

std::string mixOf(const char *reg) {
  std::string text = kMix;
  replaceAll(text, "REG", reg);
  return text;
}

} // namespace

const OwnKernel kReadMemory = {"kopt_read",
                               R"(.visible .entry NAME(.param .u64 base, .param .u64 words)
{
  .reg .pred %p<3>;
  .reg .b32 %r<7>;
  .reg .b64 %word, %step, %t, %d<4>;
  ld.param.u64 %d1, [base];
  ld.param.u64 %d2, [words];
  cvta.to.global.u64 %d1, %d1;
THREAD
  mov.u32 %r5, 0;
NEXT:
  setp.ge.u64 %p1, %word, %d2;
  @%p1 bra DONE;
  shl.b64 %d3, %word, 2;
  add.u64 %d3, %d1, %d3;
  ld.global.cg.u32 %r6, [%d3];
  xor.b32 %r5, %r5, %r6;
  add.u64 %word, %word, %step;
  bra NEXT;
DONE:
  setp.ne.u32 %p2, %r5, 0x9e3779b9;
  @%p2 bra END;
  st.global.u32 [%d1], %r5;
END:
  ret;
}
)"};

const OwnKernel kDiscardMemory = {"kopt_discard",
                                  R"(.visible .entry NAME(.param .u64 base, .param .u64 lines)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %word, %step, %t, %d<4>;
  ld.param.u64 %d1, [base];
  ld.param.u64 %d2, [lines];
  cvta.to.global.u64 %d1, %d1;
THREAD
NEXT:
  setp.ge.u64 %p1, %word, %d2;
  @%p1 bra END;
  shl.b64 %d3, %word, 7;
  add.u64 %d3, %d1, %d3;
  discard.global.L2 [%d3], 128;
  add.u64 %word, %word, %step;
  bra NEXT;
END:
  ret;
}
)",
                                  ".version 7.4\n.target sm_80\n"};

const OwnKernel kFillShared = {"kopt_fill_shared", R"(.extern .shared .align 4 .b8 kopt_scratch[];
.visible .entry NAME(.param .u32 words, .param .u32 seed)
{
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  ld.param.u32 %r1, [words];
  ld.param.u32 %r2, [seed];
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %ctaid.x;
  mad.lo.u32 %r2, %r2, 0x9e3779b1, %r5;
  mov.u32 %r6, kopt_scratch;
NEXT:
  setp.ge.u32 %p1, %r3, %r1;
  @%p1 bra END;
  xor.b32 %r7, %r3, %r2;
  mul.lo.u32 %r7, %r7, 0x85ebca77;
  shr.u32 %r8, %r7, 15;
  xor.b32 %r7, %r7, %r8;
  mul.lo.u32 %r7, %r7, 0xc2b2ae3d;
  shl.b32 %r9, %r3, 2;
  add.u32 %r9, %r6, %r9;
  st.volatile.shared.u32 [%r9], %r7;
  add.u32 %r3, %r3, %r4;
  bra NEXT;
END:
  ret;
}
)"};

const OwnKernel kFillLocal = {"kopt_fill_local",
                              R"(.visible .entry NAME(.param .u32 seed, .param .u64 never)
{
  .local .align 8 .b8 depot[BYTES];
  .reg .pred %p<3>;
  .reg .b32 %r<10>;
  .reg .b64 %d<8>;
  ld.param.u32 %r1, [seed];
  ld.param.u64 %d1, [never];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mad.lo.u32 %r1, %r1, 0x9e3779b1, %r3;
  mad.lo.u32 %r1, %r2, 0x27d4eb2f, %r1;
  mov.u64 %d2, depot;
  add.u64 %d3, %d2, BYTES;
  mov.u64 %d4, %d2;
NEXT:
  add.u32 %r1, %r1, 0x165667b1;
  mul.lo.u32 %r4, %r1, 0x85ebca77;
  shr.u32 %r5, %r4, 15;
  xor.b32 %r4, %r4, %r5;
  mul.lo.u32 %r4, %r4, 0xc2b2ae3d;
  st.local.u32 [%d4], %r4;
  add.u64 %d4, %d4, 4;
  setp.lt.u64 %p1, %d4, %d3;
  @%p1 bra NEXT;
  setp.eq.u64 %p2, %d1, 0;
  @%p2 bra END;
  and.b64 %d5, %d1, 4;
  add.u64 %d5, %d2, %d5;
  ld.local.u32 %r6, [%d5];
  cvta.to.global.u64 %d6, %d1;
  st.global.u32 [%d6], %r6;
END:
  ret;
}
)"};

const OwnKernel kWait = {"kopt_wait", R"(.visible .entry NAME(.param .u64 cycles)
{
  .reg .pred %p<2>;
  .reg .b64 %d<5>;
  ld.param.u64 %d1, [cycles];
  mov.u64 %d2, %clock64;
NEXT:
  mov.u64 %d3, %clock64;
  sub.u64 %d4, %d3, %d2;
  setp.lt.u64 %p1, %d4, %d1;
  @%p1 bra NEXT;
  ret;
}
)"};

const OwnKernel kProbe = {
    "kopt_probe",
    R"(.visible .entry NAME(.param .u64 in, .param .u64 out, .param .u64 words)
{
  .reg .pred %p;
  .reg .b32 %r<7>;
  .reg .b64 %word, %step, %t, %d<6>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  ld.param.u64 %d3, [words];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
THREAD
  setp.ge.u64 %p, %word, %d3;
  @%p bra END;
  shl.b64 %d3, %word, 2;
  add.u64 %d4, %d1, %d3;
  add.u64 %d5, %d2, %d3;
  cvt.u32.u64 %r5, %word;
  ld.global.u32 %r6, [%d4];
  mul.lo.u32 %r5, %r5, 2654435761;
  xor.b32 %r5, %r5, %r6;
  st.global.u32 [%d5], %r5;
END:
  ret;
}
)"};

const OwnKernel kWritePattern = {"kopt_write", R"(BEGIN
NEXT_WORD
  xor.b64 %x, %x, %flip;
  st.global.u64 [%at], %x;
LOOP
  ret;
}
)"};

/// For each element: its bits, %d2, differ from the pattern's nowhere. %d5 is its index.
const OwnKernel kFindPattern = {"kopt_find", R"(BEGIN
  ld.param.u32 %r5, [size];
  ld.param.u64 %d8, [bits];
  ld.param.u64 %d9, [out];
  cvta.to.global.u64 %d8, %d8;
  cvta.to.global.u64 %d9, %d9;
  mov.u32 %r6, 8;
  div.u32 %r6, %r6, %r5;
  shl.b32 %r7, %r5, 3;
  mov.u32 %r8, 64;
  sub.u32 %r8, %r8, %r7;
  mov.u64 %d1, 0xffffffffffffffff;
  shr.u64 %d1, %d1, %r8;
  cvt.u64.u32 %d10, %r6;
NEXT_WORD
  xor.b64 %x, %x, %flip;
  ld.global.u64 %d2, [%at];
  xor.b64 %x, %x, %d2;
  mul.lo.u64 %d5, %word, %d10;
  mov.u32 %r9, 0;
ELEMENT:
  and.b64 %d2, %x, %d1;
  setp.ne.u64 %p2, %d2, 0;
  @%p2 bra DIFFERS;
  shr.u64 %d6, %d5, 6;
  shl.b64 %d6, %d6, 3;
  add.u64 %d6, %d8, %d6;
  cvt.u32.u64 %r10, %d5;
  and.b32 %r10, %r10, 63;
  mov.u64 %d7, 1;
  shl.b64 %d7, %d7, %r10;
  atom.global.or.b64 %d7, [%d6], %d7;
  mov.u64 %d7, 1;
  atom.global.add.u64 %d7, [%d9], %d7;
DIFFERS:
  mov.u32 %r11, %r7;
  shr.u64 %x, %x, %r11;
  add.u64 %d5, %d5, 1;
  add.u32 %r9, %r9, 1;
  setp.lt.u32 %p3, %r9, %r6;
  @%p3 bra ELEMENT;
LOOP
  ret;
}
)"};

const OwnKernel kDigest = {"kopt_digest", R"(BEGIN
  mov.u64 %d1, 0;
  mov.u64 %d2, 0;
NEXT_WORD
  ld.global.u64 %d3, [%at];
  xor.b64 %d4, %d3, %x;
MIX_D4
  add.u64 %d1, %d1, %d4;
MIX_X
  add.u64 %d4, %d3, %x;
MIX_D4
  add.u64 %d2, %d2, %d4;
LOOP
  ld.param.u64 %d5, [out];
  cvta.to.global.u64 %d5, %d5;
  atom.global.add.u64 %d1, [%d5], %d1;
  atom.global.add.u64 %d2, [%d5 + 8], %d2;
  ret;
}
)"};

std::string textOf(const OwnKernel &kernel, std::uint32_t bytes) {
  std::string text = kernel.target + std::string(".address_size 64\n") + kernel.text;
  for (const auto &[name, by] : {std::pair<const char *, std::string>("BEGIN", kBegin),
                                 {"THREAD", kThread},
                                 {"NEXT_WORD", kNext},
                                 {"LOOP", kLoop},
                                 {"MIX_X", mixOf("%x")},
                                 {"MIX_D4", mixOf("%d4")},
                                 {"BYTES", std::to_string(bytes)},
                                 {"NAME", kernel.name}})
    replaceAll(text, name, by);
  return text;
}

} // namespace kopt::runtime::cuda
