// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Run.h"

namespace kopt {

const char *toString(RunState state) {
  switch (state) {
  case RunState::Running:
    return "running";
  case RunState::Finished:
    return "finished";
  case RunState::Failed:
    return "failed";
  }
  return "unknown";
}

} // namespace kopt
