// SPDX-License-Identifier: Apache-2.0
// Finds the tunables of a kernel in its own text and in that of its launches.
#pragma once

#include "driver/model/KernelSpec.h"
#include "driver/model/TuneDeclaration.h"

namespace kopt {

struct InferredTunable {
  std::string name;
  std::vector<std::int64_t> values;
  std::string reason; ///< "the block of the launch at app.cu:7"
  std::string doubt;  ///< why another value may break the program; empty if nothing speaks for that
  /// Only the kernel and the geometry of its launches depend on it, so far as kopt sees all code
  /// that may name it.
  bool isProven = false;
};

struct InferredTunables {
  std::vector<InferredTunable> tunables;
  std::vector<std::string> requirements; ///< of the tunables without a doubt
};

/// The named constants and template arguments that are sizes of the kernel's own: its block, its
/// tiles, the steps of its loops; without those of `known`.
InferredTunables inferTunables(const KernelSpec &kernel, const Specialization &specialization,
                               const TuneDeclaration &known);

/// The declaration with the proven tunables, if it has none of its own and each of the launches
/// tells what their requirements name.
TuneDeclaration withProvenTunables(TuneDeclaration declaration, const KernelSpec &kernel,
                                   const Specialization &specialization,
                                   const std::vector<Launch> &launches);

} // namespace kopt
