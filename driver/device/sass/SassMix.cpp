// SPDX-License-Identifier: Apache-2.0
#include "driver/device/sass/SassMix.h"

namespace kopt {
namespace {

bool isLocal(SassClass kind) {
  return kind == SassClass::LocalLoad || kind == SassClass::LocalStore;
}

bool isGeneric(SassClass kind) {
  return kind == SassClass::GenericLoad || kind == SassClass::GenericStore;
}

/// True for a conversion to or from double: F2F.F64.F32, I2F.F64, F2I.S64.F64.TRUNC.
bool convertsDouble(const SassInstruction &instruction) { return instruction.has("F64"); }

std::string counterName(SassClass kind) { return std::string("sass__inst_") + toString(kind); }

} // namespace

bool isIndexedLocal(const SassInstruction &instruction) {
  if (!isLocal(classOf(instruction)))
    return false;
  // LDL R2, [R1+0x10] ;  STL.64 [R1], R2 ;  LDL R2, [R5+UR4]
  const std::size_t open = instruction.operands.find('['),
                    close = instruction.operands.find(']', open);
  if (open == std::string::npos || close == std::string::npos)
    return true;
  const std::string address = instruction.operands.substr(open + 1, close - open - 1);
  if (address == "R1")
    return false;
  constexpr std::string_view kFromStack = "R1+0x", kBelowStack = "R1+-0x";
  for (const std::string_view prefix : {kFromStack, kBelowStack})
    if (address.starts_with(prefix))
      return address.find_first_not_of("0123456789abcdef", prefix.size()) != std::string::npos;
  return true;
}

Counters sassCounters(const SassListing &listing, std::string_view symbol) {
  SassMix mix;
  std::uint64_t indexed = 0, doubles = 0, inLoops = 0, loaded = 0, stored = 0;
  bool onlySpills = true;
  const std::vector<const SassFunction *> functions = listing.reachableFrom(symbol);
  for (const SassFunction *function : functions)
    for (const SassInstruction &instruction : function->instructions) {
      const SassClass kind = classOf(instruction);
      mix.add(kind);
      inLoops += instruction.loopDepth > 0;
      doubles += kind == SassClass::Conversion && convertsDouble(instruction);
      indexed += isIndexedLocal(instruction);
      // Generic accesses may reach an array whose address was taken.
      onlySpills &= !isIndexedLocal(instruction) && !isGeneric(kind);
      loaded += kind == SassClass::LocalLoad ? accessBytes(instruction) : 0;
      stored += kind == SassClass::LocalStore ? accessBytes(instruction) : 0;
    }
  Counters counters;
  if (functions.empty())
    return counters;
  counters["sass__inst"] = double(mix.all);
  for (int kind = 0; kind < kSassClasses; ++kind)
    counters[counterName(SassClass(kind))] = double(mix[SassClass(kind)]);
  counters["sass__inst_conversion_fp64"] = double(doubles);
  counters["sass__inst_local_indexed"] = double(indexed);
  counters["sass__loop_inst"] = double(inLoops);
  if (onlySpills) {
    counters["sass__spill_load_bytes"] = double(loaded);
    counters["sass__spill_store_bytes"] = double(stored);
  }
  return counters;
}

} // namespace kopt
