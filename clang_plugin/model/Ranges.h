// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "clang_plugin/model/KernelModel.h"

namespace kopt::frontend::model {

/// All values of an integer type.
Range rangeOfType(unsigned bits, bool isSigned);

} // namespace kopt::frontend::model
