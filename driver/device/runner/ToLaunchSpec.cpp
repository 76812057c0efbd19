// SPDX-License-Identifier: Apache-2.0
#include "driver/device/runner/ToLaunchSpec.h"

#include <algorithm>

namespace kopt {
namespace {

runtime::BufferSpec toSpec(const Buffer &buffer) {
  runtime::BufferSpec spec;
  spec.name = buffer.name;
  spec.bytes = buffer.bytes;
  spec.scalar = buffer.scalar;
  spec.fill = buffer.fill.kind;
  if (buffer.fill.kind == FillKind::Captured) { // what Fill says of such contents
    spec.lead = buffer.fill.low >= 1 ? std::uint64_t(buffer.fill.low) : 0;
    spec.period = buffer.fill.low <= -2 ? std::uint64_t(-buffer.fill.low) : 0;
    spec.factor = buffer.fill.high != 0 ? buffer.fill.high : 1;
  } else {
    spec.low = buffer.fill.low;
    spec.high = buffer.fill.high;
  }
  spec.readOnly = buffer.readOnly;
  spec.output = buffer.output;
  spec.contents = buffer.fill.path;
  if (spec.contents.empty())
    spec.values = buffer.fill.bytes;
  spec.symbol = buffer.symbol;
  spec.address = buffer.address;
  spec.holdsPointers = buffer.holdsPointers;
  spec.drawnAs = buffer.drawnAs;
  return spec;
}

runtime::ArgumentSpec toSpec(const Argument &argument) {
  runtime::ArgumentSpec spec;
  if (const auto *whole = std::get_if<BufferArg>(&argument)) {
    spec.value.resize(sizeof(runtime::Address));
    spec.pointers = {{0, whole->buffer, whole->offset}};
    return spec;
  }
  const ValueArg &value = std::get<ValueArg>(argument);
  std::transform(value.bytes.begin(), value.bytes.end(), std::back_inserter(spec.value),
                 [](char c) { return std::byte(c); });
  for (const PointerWord &pointer : value.pointers)
    spec.pointers.push_back({pointer.at, pointer.buffer, pointer.offset});
  return spec;
}

} // namespace

runtime::LaunchSpec toLaunchSpec(std::uint32_t module, const Launch &launch) {
  runtime::LaunchSpec spec;
  spec.module = module;
  spec.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  spec.block = {launch.block.x, launch.block.y, launch.block.z};
  spec.sharedBytes = launch.sharedBytes;
  spec.cooperative = launch.cooperative;
  spec.stackBytes = launch.stackBytes;
  spec.readsUnsetShared = launch.readsUnsetShared;
  for (const Buffer &buffer : launch.buffers)
    spec.buffers.push_back(toSpec(buffer));
  for (const Argument &argument : launch.arguments)
    spec.arguments.push_back(toSpec(argument));
  return spec;
}

} // namespace kopt
