// SPDX-License-Identifier: Apache-2.0
// The classes of instructions.
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

/// The class by opcode, after the instruction set tables of NVIDIA's "CUDA Binary Utilities"
/// (Turing to Blackwell). An unknown opcode is Other. IMAD.MOV and HFMA2 with zero factors count as
/// moves, as compilers use them to move values.
SassClass classOf(const SassInstruction &instruction);

/// "fp32", "global_load": the last part of the counter's name.
const char *toString(SassClass kind);

/// Bytes that one thread moves with a load or store; 4 if the opcode names no width.
unsigned accessBytes(const SassInstruction &instruction);

} // namespace kopt
