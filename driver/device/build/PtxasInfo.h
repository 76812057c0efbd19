// SPDX-License-Identifier: Apache-2.0
// Reads what ptxas prints about a kernel with -Xptxas=-v.
#pragma once

#include "driver/model/Device.h"

#include <string_view>

namespace kopt {

/// Counters of an entry function from nvcc's messages: ptxas__registers, ptxas__stack_bytes,
/// ptxas__spill_store_bytes and ptxas__spill_load_bytes (each for one thread), and
/// ptxas__shared_bytes (static bytes of a block). Values that are not printed are absent; empty if
/// the function is not mentioned.
Counters parsePtxasInfo(std::string_view log, std::string_view symbol);

} // namespace kopt
