// SPDX-License-Identifier: Apache-2.0
// Counts a kernel's instructions by class, as counters. The README of this folder lists their
// names.
#pragma once

#include "driver/device/sass/SassClass.h"
#include "driver/model/Device.h"

#include <array>

namespace kopt {

/// Numbers of instructions; each instruction counts once.
struct SassMix {
  std::array<std::uint64_t, kSassClasses> of{};
  std::uint64_t all = 0;

  void add(SassClass kind) {
    ++of[std::size_t(kind)];
    ++all;
  }
  std::uint64_t operator[](SassClass kind) const { return of[std::size_t(kind)]; }
};

/// True for a local access whose address is not the stack pointer plus a constant.
bool isIndexedLocal(const SassInstruction &instruction);

/// Counters "sass__..." of a kernel and the functions that it calls; empty if the listing does not
/// have it. Spill counters are absent if local memory may contain anything else.
Counters sassCounters(const SassListing &listing, std::string_view symbol);

} // namespace kopt
