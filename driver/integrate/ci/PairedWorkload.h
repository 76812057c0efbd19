// SPDX-License-Identifier: Apache-2.0
// The same work for two versions of a kernel.
#pragma once

#include "driver/model/TuneSubject.h"
#include "driver/model/Workload.h"
#include "driver/support/Result.h"

#include <string>
#include <vector>

namespace kopt {

struct PairedWorkload {
  Workload base, head; ///< launch i of one does the same as launch i of the other
  /// All buffers are alike, so that what the two leave in them can be compared.
  bool sameBuffers = false;
  std::vector<std::string> notes;
};

/// Versions with the same parameters both get what the head declares, so that a changed clause is
/// no change of time; each keeps its own geometry. Others get what each declares itself. Fails with
/// Usage, as buildWorkload() does, where a version's launches cannot be made, and where the two
/// would not do the same work: other launches, or other sizes under one name.
Result<PairedWorkload> pairedWorkload(const TuneSubject &base, const TuneSubject &head,
                                      DeviceKind device);

/// Whether all launches have the same grid, block and shared memory.
bool sameGeometry(const Workload &base, const Workload &head);

} // namespace kopt
