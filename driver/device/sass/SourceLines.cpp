// SPDX-License-Identifier: Apache-2.0
#include "driver/device/sass/SourceLines.h"

#include "driver/support/Text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace kopt {
namespace {

/// The assumed number of iterations of a loop, to sort lines.
constexpr double kTurns = 10;

bool before(const SourceFrame &a, const SourceFrame &b) {
  return a.file != b.file ? a.file < b.file : a.line < b.line;
}

struct Order {
  bool operator()(const SourceFrame &a, const SourceFrame &b) const { return before(a, b); }
};

bool isHotter(const LineUse &a, const LineUse &b) {
  const InstructionCount none, &x = a.counted ? *a.counted : none,
                               &y = b.counted ? *b.counted : none;
  if (x.samples != y.samples)
    return x.samples > y.samples;
  if (x.executed != y.executed)
    return x.executed > y.executed;
  return a.weight != b.weight ? a.weight > b.weight : before(a.place, b.place);
}

struct Named {
  SassClass kind;
  const char *one, *many;
};

/// The most interesting first: accesses that wait for memory, then slow operations.
constexpr std::array kNamed = {
    Named{SassClass::LocalLoad, "local load", "local loads"},
    Named{SassClass::LocalStore, "local store", "local stores"},
    Named{SassClass::GlobalLoad, "global load", "global loads"},
    Named{SassClass::GlobalStore, "global store", "global stores"},
    Named{SassClass::GenericLoad, "generic load", "generic loads"},
    Named{SassClass::GenericStore, "generic store", "generic stores"},
    Named{SassClass::Atomic, "atomic", "atomics"},
    Named{SassClass::SharedLoad, "shared load", "shared loads"},
    Named{SassClass::SharedStore, "shared store", "shared stores"},
    Named{SassClass::AsyncCopy, "asynchronous copy", "asynchronous copies"},
    Named{SassClass::Texture, "texture read", "texture reads"},
    Named{SassClass::Surface, "surface access", "surface accesses"},
    Named{SassClass::Fp64, "double operation", "double operations"},
    Named{SassClass::Conversion, "conversion", "conversions"},
    Named{SassClass::Special, "special function", "special functions"},
    Named{SassClass::Barrier, "barrier", "barriers"},
    Named{SassClass::Exchange, "exchange between lanes", "exchanges between lanes"},
    Named{SassClass::Tensor, "tensor operation", "tensor operations"},
    Named{SassClass::Fp32, "float operation", "float operations"},
    Named{SassClass::Fp16, "half operation", "half operations"},
    Named{SassClass::Integer, "integer operation", "integer operations"},
};

} // namespace

bool isSystemHeader(std::string_view file) {
  for (const std::string_view prefix :
       {"/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/cuda"})
    if (file.starts_with(prefix))
      return true;
  // <toolkit>/targets/x86_64-linux/include/...
  const std::size_t targets = file.find("/targets/");
  if (targets == file.npos)
    return false;
  const std::size_t machine = file.find('/', targets + 9);
  return machine != file.npos && file.substr(machine).starts_with("/include/");
}

SourceFrame ownFrame(const SassInstruction &instruction) {
  for (const SourceFrame &frame : instruction.frames)
    if (!isSystemHeader(frame.file))
      return frame;
  return instruction.frames.empty() ? SourceFrame{} : instruction.frames.back();
}

std::vector<LineUse> linesOf(const SassListing &listing, std::string_view symbol,
                             const InstructionCounts &counts) {
  std::map<SourceFrame, LineUse, Order> lines;
  const SassFunction *kernel = listing.find(symbol);
  for (const SassFunction *function : listing.reachableFrom(symbol))
    for (const SassInstruction &instruction : function->instructions) {
      const SourceFrame place = ownFrame(instruction);
      LineUse &line = lines[place];
      line.place = place;
      const SassClass kind = classOf(instruction);
      line.mix.add(kind);
      line.doubles += kind == SassClass::Conversion && instruction.has("F64");
      line.indexed += isIndexedLocal(instruction);
      line.loopDepth = std::max(line.loopDepth, instruction.loopDepth);
      line.weight += std::pow(kTurns, instruction.loopDepth);
      const auto count = function == kernel ? counts.find(instruction.offset) : counts.end();
      if (count == counts.end())
        continue;
      if (!line.counted)
        line.counted.emplace();
      line.counted->executed += count->second.executed;
      line.counted->samples += count->second.samples;
    }
  std::vector<LineUse> sorted;
  for (auto &[place, line] : lines)
    sorted.push_back(std::move(line));
  std::stable_sort(sorted.begin(), sorted.end(), isHotter);
  return sorted;
}

std::string inWords(const LineUse &line) {
  constexpr std::size_t kMost = 4;
  std::vector<std::string> parts;
  for (const Named &named : kNamed) {
    const std::uint64_t count = line.mix[named.kind];
    if (count == 0 || parts.size() == kMost)
      continue;
    std::string part = counted(count, named.one, named.many);
    if (named.kind == SassClass::Conversion && line.doubles > 0)
      part += fmt::format(" ({} of double)", line.doubles);
    parts.push_back(std::move(part));
  }
  return join(parts, ", ");
}

} // namespace kopt
