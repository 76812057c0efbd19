// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/ApplyCandidate.h"

#include "driver/workload/WorkloadBuilder.h"

namespace kopt {

Result<Launch> applyToLaunch(const KernelSpec &kernel, const Launch &launch,
                             const Candidate &candidate) {
  KOPT_CHECK(refuseUnbuiltForms(candidate.launch));
  Launch changed = launch;
  for (const auto &[name, value] : candidate.constants)
    changed.bindings[name] = value;
  KOPT_TRY(const Geometry geometry, evaluateGeometry(launch.geometry, changed.bindings));
  changed.grid = geometry.grid;
  changed.block = geometry.block;
  changed.sharedBytes = candidate.launch.sharedBytes.value_or(geometry.sharedBytes);
  if (const auto &block = candidate.launch.block) {
    const auto cover = [](std::uint32_t grid, std::uint32_t oldBlock, std::uint32_t newBlock) {
      return std::uint32_t((std::uint64_t(grid) * oldBlock + newBlock - 1) / newBlock);
    };
    if (candidate.launch.coverGrid)
      changed.grid = {cover(changed.grid.x, changed.block.x, block->x),
                      cover(changed.grid.y, changed.block.y, block->y),
                      cover(changed.grid.z, changed.block.z, block->z)};
    changed.block = *block;
  }
  if (changed.block.count() > 1024)
    return makeError(ErrorCode::Usage,
                     fmt::format("a block of {} x {} x {} has more than 1024 threads",
                                 changed.block.x, changed.block.y, changed.block.z));
  return changed;
}

} // namespace kopt
