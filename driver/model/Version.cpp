// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Version.h"

namespace kopt {

const char *koptVersion() { return KOPT_VERSION; }

} // namespace kopt
