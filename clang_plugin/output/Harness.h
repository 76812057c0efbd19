// SPDX-License-Identifier: Apache-2.0
// A program around one slice that the user can edit, build and run.
#pragma once

#include "clang_plugin/output/Extraction.h"

namespace kopt::frontend {

/// A safe name for a folder, such as "stencil_float_4", from an expression such as "stencil<float,
/// 4>".
std::string folderName(const Specialization &specialization);

/// The editable kernel section, then the frozen part with a main() that allocates, fills, launches
/// and times.
std::string harnessText(const KernelSpec &kernel, const Specialization &specialization);

/// The command line that builds harness.cu in its folder.
std::string buildCommand(const KernelSpec &kernel);

} // namespace kopt::frontend
