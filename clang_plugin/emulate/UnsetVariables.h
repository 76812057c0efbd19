// SPDX-License-Identifier: Apache-2.0
// Gives local variables that were never set different values in different launches.
#pragma once

namespace llvm {
class Function;
}

namespace kopt::frontend::emulate {

/// Clang's -ftrivial-auto-var-init=pattern gives such variables a value that is rarely correct:
/// NaN, or a negative integer. But a search for a maximum or minimum may start from it and still be
/// correct. Therefore the launch chooses the value (setUnset() in runtime/emulated): the pattern;
/// the largest floating-point number and integer 0; or the lowest floating-point number and the
/// largest integer. Must run before the optimiser.
void chooseUnset(llvm::Function &function);

} // namespace kopt::frontend::emulate
