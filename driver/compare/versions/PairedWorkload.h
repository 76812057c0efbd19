// SPDX-License-Identifier: Apache-2.0
// Makes workloads with the same work for two versions of a kernel.
#pragma once

#include "driver/model/TuneSubject.h"
#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

struct PairedWorkload {
  Workload base, head; ///< launch i of one does the same as launch i of the other
  /// True if all buffers are equal, so that the results in them can be compared.
  bool sameBuffers = false;
  std::vector<std::string> notes;
};

/// If both versions have the same parameters, both get the workload that the head declares, so that
/// a changed clause does not look like a change of time; each keeps its own geometry. Otherwise
/// each gets the workload that it declares itself. Fails as buildWorkload() if a version's launches
/// cannot be made, and with Usage if the two would not do the same work, because launches differ,
/// or sizes with the same name.
Result<PairedWorkload> pairedWorkload(const TuneSubject &base, const TuneSubject &head,
                                      DeviceKind device);

/// True if all launches have the same grid, block and shared memory.
bool sameGeometry(const Workload &base, const Workload &head);

} // namespace kopt
