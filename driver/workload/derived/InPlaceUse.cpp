// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/derived/InPlaceUse.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

/// The argument, if it is a pointer to memory that no other argument points into.
const BufferArg *pointerAlone(const Launch &launch, std::size_t argument) {
  const auto *pointer = std::get_if<BufferArg>(&launch.arguments[argument]);
  const auto isInto = [&](const Argument &other) {
    const auto *also = std::get_if<BufferArg>(&other);
    return also && pointer && also->buffer == pointer->buffer;
  };
  return std::ranges::count_if(launch.arguments, isInto) == 1 ? pointer : nullptr;
}

bool canBeOne(const KernelParam &in, const KernelParam &out) {
  return in.kind == ParamKind::Pointer && out.kind == ParamKind::Pointer && in.pointeeConst &&
         !out.pointeeConst && !in.restrictQualified && !out.restrictQualified &&
         in.scalar == out.scalar && in.pointeeSize == out.pointeeSize;
}

bool isCaptured(const Buffer &buffer) { return buffer.fill.kind == FillKind::Captured; }

bool canBeOne(const Buffer &in, const Buffer &out) {
  return in.bytes == out.bytes && (out.output || (isCaptured(in) && isCaptured(out))) &&
         !in.holdsPointers && in.symbol.empty() && out.symbol.empty();
}

} // namespace

std::optional<DerivedLaunch> usedInPlace(const Specialization &specialization,
                                         const Launch &launch) {
  const std::vector<KernelParam> &params = specialization.params;
  const std::size_t count = std::min(launch.arguments.size(), params.size());
  for (std::size_t in = 0; in < count; ++in)
    for (std::size_t out = 0; out < count; ++out) {
      const BufferArg *from = pointerAlone(launch, in), *to = pointerAlone(launch, out);
      if (!from || !to || from->offset != to->offset || !canBeOne(params[in], params[out]) ||
          !canBeOne(launch.buffers[from->buffer], launch.buffers[to->buffer]))
        continue;
      DerivedLaunch made;
      made.kind = Derivation::Alignment;
      made.title = fmt::format("'{}' and '{}' one buffer", params[in].name, params[out].name);
      made.launch = launch;
      made.inPlace = {from->buffer, to->buffer, launch};
      if (Buffer &output = made.inPlace->apart.buffers[to->buffer]; !output.output)
        output.fill = launch.buffers[from->buffer].fill; // what is not written is the same, too
      made.launch.arguments[out] = *from;
      made.launch.buffers[from->buffer].readOnly = false;
      made.launch.buffers[to->buffer].output = false; // nothing points to it
      made.launch.buffers[to->buffer].readOnly = true;
      return made;
    }
  return std::nullopt;
}

} // namespace kopt
