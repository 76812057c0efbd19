// SPDX-License-Identifier: Apache-2.0
// A program around one slice that the user can edit, build and run.
#pragma once

#include "clang_plugin/output/Extraction.h"

namespace kopt::frontend {

/// A safe name for a folder, such as "stencil_float_4", from an expression such as "stencil<float,
/// 4>".
std::string folderName(const Specialization &specialization);

/// The editable kernel section, then the frozen part with a main() that runs the launches of the
/// folder data/ or, without them, one of declared or default values, compares the results with
/// those of the unedited kernel, and times.
std::string harnessText(const KernelSpec &kernel, const Specialization &specialization);

/// The shell script that builds harness.cu and, from the unedited text, original.cu in its folder.
std::string buildScript(const KernelSpec &kernel);

} // namespace kopt::frontend
