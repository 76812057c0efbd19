// SPDX-License-Identifier: Apache-2.0
// What ptxas says of a kernel where it is asked to (-Xptxas=-v).
#pragma once

#include "driver/model/Device.h"

#include <string_view>

namespace kopt {

/// Counters of an entry function from nvcc's messages: ptxas__registers, ptxas__stack_bytes,
/// ptxas__spill_store_bytes, ptxas__spill_load_bytes (each of a thread) and ptxas__shared_bytes (of
/// a block, without the dynamic ones). What is not said is absent; empty where the function is not
/// spoken of.
Counters parsePtxasInfo(std::string_view log, std::string_view symbol);

} // namespace kopt
