// SPDX-License-Identifier: Apache-2.0
// A kernel's model in words.
#pragma once

#include "clang_plugin/model/KernelModel.h"
#include "clang_plugin/output/ModelText.h"

namespace kopt::frontend::model {

/// How many 32-byte sectors a warp's request touches, and how often it passes over the banks of
/// shared memory, if its lanes are so many bytes behind an aligned address.
unsigned sectorsOf(llvm::ArrayRef<std::int64_t> lanes, unsigned bytes);
unsigned bankPassesOf(llvm::ArrayRef<std::int64_t> lanes, unsigned bytes);

llvm::Expected<ModelReply> describeModel(const ModelRequest &request);

} // namespace kopt::frontend::model
