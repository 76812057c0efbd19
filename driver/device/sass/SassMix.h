// SPDX-License-Identifier: Apache-2.0
// The instructions of a kernel by class, as counters. Their names are in the README of this folder.
#pragma once

#include "driver/device/sass/SassClass.h"
#include "driver/model/Device.h"

#include <array>

namespace kopt {

/// Instructions of some code, each counted once.
struct SassMix {
  std::array<std::uint64_t, kSassClasses> of{};
  std::uint64_t all = 0;

  void add(SassClass kind) {
    ++of[std::size_t(kind)];
    ++all;
  }
  std::uint64_t operator[](SassClass kind) const { return of[std::size_t(kind)]; }
};

/// A local access whose address is more than the stack pointer and a constant.
bool isIndexedLocal(const SassInstruction &instruction);

/// Counters "sass__..." of a kernel and what it calls; empty where the listing does not have it.
/// Spills are absent where local memory may hold anything else.
Counters sassCounters(const SassListing &listing, std::string_view symbol);

/// Every name that sassCounters() may give, sorted.
std::vector<std::string> sassCounterNames();

} // namespace kopt
