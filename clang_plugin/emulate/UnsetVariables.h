// SPDX-License-Identifier: Apache-2.0
// Local variables that nobody has set.
#pragma once

namespace llvm {
class Function;
}

namespace kopt::frontend::emulate {

/// Clang's -ftrivial-auto-var-init=pattern gives such variables a value that is seldom right: NaN,
/// a negative integer. A largest or smallest number may begin with it and be right all the same. So
/// what is stored there is made a choice of the launch (runtime/emulated: setUnset): that pattern;
/// the largest floating-point number and integers of 0; the lowest floating-point number and the
/// largest integer. Before the optimiser.
void chooseUnset(llvm::Function &function);

} // namespace kopt::frontend::emulate
