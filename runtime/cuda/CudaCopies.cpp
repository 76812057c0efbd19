// SPDX-License-Identifier: Apache-2.0
// Copies between host and device. Large copies go through a few pieces of page-locked memory:
// several threads fill or empty one piece while the device copies the others. The caller's own
// memory is never mapped for the device.
#include "runtime/cuda/CudaDevice.h"
#include "runtime/device/Check.h"
#include "runtime/device/Parallel.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kopt::runtime::cuda {

namespace {

constexpr std::size_t kStageBytes = 8u << 20;
constexpr std::size_t kLarge = 1u << 20; ///< below this, one call of the driver is as fast

} // namespace

bool CudaDevice::stages() {
  if (!stagesTried_) {
    stagesTried_ = true;
    for (Stage &stage : stages_)
      if (api_.memAllocHost(&stage.memory, kStageBytes) != kSuccess ||
          api_.eventCreate(&stage.moved, kEventDisableTiming) != kSuccess) {
        stage.memory = nullptr; // its memory, if any, is released when the process ends
        break;
      }
  }
  return std::all_of(stages_.begin(), stages_.end(),
                     [](const Stage &stage) { return stage.memory != nullptr; });
}

/// Returns once the caller's memory has been read. The copies may still run; a later launch is in
/// the same stream and begins after them.
Status CudaDevice::write(Address to, const void *from, std::size_t bytes) {
  if (bytes < kLarge || !stages())
    return check(api_.memcpyHtoD(to, from, bytes), "cuMemcpyHtoD");
  const auto *source = static_cast<const std::byte *>(from);
  std::size_t turn = 0;
  for (std::size_t done = 0; done < bytes; done += kStageBytes) {
    const std::size_t part = std::min(kStageBytes, bytes - done);
    Stage &stage = stages_[turn++ % stages_.size()];
    KOPT_CHECK(check(api_.eventSynchronize(stage.moved), "a copy failed"));
    parallelCopy(stage.memory, source + done, part);
    if (part >= stage.results)
      stage.results = 0;
    KOPT_CHECK(
        check(api_.memcpyHtoDAsync(to + done, stage.memory, part, stream_), "cuMemcpyHtoDAsync"));
    KOPT_CHECK(check(api_.eventRecord(stage.moved, stream_), "cuEventRecord"));
  }
  return {};
}

Status CudaDevice::read(void *to, Address from, std::size_t bytes) {
  if (bytes < kLarge || !stages())
    return check(api_.memcpyDtoH(to, from, bytes), "cuMemcpyDtoH");
  auto *target = static_cast<std::byte *>(to);
  const std::size_t pieces = (bytes + kStageBytes - 1) / kStageBytes;
  const auto size = [&](std::size_t piece) {
    return std::min(kStageBytes, bytes - piece * kStageBytes);
  };
  const auto begin = [&](std::size_t piece) -> Status {
    Stage &stage = stages_[piece % stages_.size()];
    stage.results = std::max(stage.results, size(piece));
    KOPT_CHECK(
        check(api_.memcpyDtoHAsync(stage.memory, from + piece * kStageBytes, size(piece), stream_),
              "cuMemcpyDtoHAsync"));
    return check(api_.eventRecord(stage.moved, stream_), "cuEventRecord");
  };
  for (std::size_t piece = 0; piece < std::min(pieces, stages_.size()); ++piece)
    KOPT_CHECK(begin(piece));
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    const Stage &stage = stages_[piece % stages_.size()];
    KOPT_CHECK(check(api_.eventSynchronize(stage.moved), "a copy failed"));
    parallelCopy(target + piece * kStageBytes, stage.memory, size(piece));
    if (piece + stages_.size() < pieces)
      KOPT_CHECK(begin(piece + stages_.size()));
  }
  return {};
}

/// Clears results from the page-locked memory before the next launch, because that memory has an
/// address on the device. Waits for copies that still use it.
Status CudaDevice::wipeStages() {
  for (Stage &stage : stages_)
    if (const std::size_t bytes = std::exchange(stage.results, 0)) {
      KOPT_CHECK(check(api_.eventSynchronize(stage.moved), "a copy failed"));
      parallelFor(bytes, kLarge, [&](std::uint64_t begin, std::uint64_t end) {
        std::memset(static_cast<std::byte *>(stage.memory) + begin, 0, end - begin);
      });
    }
  return {};
}

} // namespace kopt::runtime::cuda
