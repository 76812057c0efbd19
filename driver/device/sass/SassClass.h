// SPDX-License-Identifier: Apache-2.0
// What kind an instruction is.
#pragma once

#include "driver/device/sass/SassListing.h"

namespace kopt {

enum class SassClass {
  Fp32,
  Fp64,
  Fp16,
  Tensor,
  Special,
  Integer,
  Conversion,
  GlobalLoad,
  GlobalStore,
  SharedLoad,
  SharedStore,
  LocalLoad,
  LocalStore,
  GenericLoad,
  GenericStore,
  ConstantLoad,
  Atomic,
  AsyncCopy,
  Texture,
  Surface,
  Control,
  Barrier,
  Exchange,
  Movement,
  Other,
};
inline constexpr int kSassClasses = int(SassClass::Other) + 1;

/// By the opcode, after the instruction set tables of NVIDIA's "CUDA Binary Utilities" (Turing to
/// Blackwell). An opcode that they do not have is Other. IMAD.MOV and HFMA2 with zero factors only
/// move a value, as compilers use them.
SassClass classOf(const SassInstruction &instruction);

/// "fp32", "global_load": the end of the counter's name.
const char *toString(SassClass kind);

/// Bytes that one thread moves by a load or store; 4 where the opcode names no width.
unsigned accessBytes(const SassInstruction &instruction);

} // namespace kopt
