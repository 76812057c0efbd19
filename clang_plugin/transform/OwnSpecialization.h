// SPDX-License-Identifier: Apache-2.0
// The text of a template's kernel as an explicit specialization.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

namespace kopt::frontend {

/// The definition of the request's kernel, which is a template, as one that begins with
/// `template <>`, for the arguments of the request's specialization. Text is copied as it is
/// spelled. Refuses if the template or its text has a form that it cannot handle.
llvm::Expected<ChunkReply> specializeKernel(const SpecializeRequest &request);

} // namespace kopt::frontend
