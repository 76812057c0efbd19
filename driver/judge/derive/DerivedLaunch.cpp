// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/DerivedLaunch.h"

#include "driver/support/ElementType.h"

#include <algorithm>

namespace kopt {

DerivedLaunch derivedFrom(const Launch &from, Derivation kind, std::string title, Launch made) {
  made.name = fmt::format("{} ({})", from.name, title);
  return {{}, kind, std::move(title), std::move(made)};
}

std::uint64_t costOf(const Launch &launch) {
  std::uint64_t elements = 0;
  for (const Buffer &buffer : launch.buffers)
    elements += buffer.bytes / elementBytes(buffer.scalar);
  return std::max(elements, launch.grid.count() * launch.block.count());
}

std::uint64_t memoryOf(const Launch &launch) {
  std::uint64_t bytes = 0;
  for (const Buffer &buffer : launch.buffers)
    bytes += buffer.bytes;
  return bytes;
}

std::optional<Launch> withFirstBlocks(Launch launch, std::uint64_t blocks) {
  if (launch.cooperative || launch.grid.count() <= blocks)
    return std::nullopt;
  std::uint32_t *const extents[] = {&launch.grid.x, &launch.grid.y, &launch.grid.z};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t extent =
        std::uint32_t(std::min<std::uint64_t>(*extents[i], std::max<std::uint64_t>(1, blocks)));
    blocks /= extent;
    if (extent < *extents[i])
      launch.geometry.grid[i] = fmt::format("min({}, {})", launch.geometry.grid[i], extent);
    *extents[i] = extent;
  }
  return launch;
}

Launch withLessMemory(Launch launch, std::uint64_t least, double share) {
  std::vector<std::uint64_t> last(launch.buffers.size(), 0);
  for (const Argument &argument : launch.arguments) {
    if (const auto *pointer = std::get_if<BufferArg>(&argument))
      last[pointer->buffer] = std::max(last[pointer->buffer], pointer->offset);
    else
      for (const PointerWord &word : std::get<ValueArg>(argument).pointers)
        last[word.buffer] = std::max(last[word.buffer], word.offset);
  }
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    Buffer &buffer = launch.buffers[b];
    if (buffer.symbol.empty() && !buffer.holdsPointers)
      buffer.bytes =
          std::min(buffer.bytes,
                   (last[b] + std::max(least, std::uint64_t(share * double(buffer.bytes))) + 255) /
                       256 * 256);
  }
  return launch;
}

} // namespace kopt
