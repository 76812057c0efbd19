// SPDX-License-Identifier: Apache-2.0
// A program around one slice that a person can edit, build and run: kopt's folder for people.
#pragma once

#include "clang_plugin/output/Extraction.h"

namespace kopt::frontend {

/// "stencil_float_4": a name that is safe for a folder, from an expression such as "stencil<float,
/// 4>".
std::string folderName(const Specialization &specialization);

/// The editable kernel section, then the frozen part with a main() that allocates, fills, launches
/// and times.
std::string harnessText(const KernelSpec &kernel, const Specialization &specialization);

/// One line that builds harness.cu beside it.
std::string buildCommand(const KernelSpec &kernel);

} // namespace kopt::frontend
