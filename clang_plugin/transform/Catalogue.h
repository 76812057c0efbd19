// SPDX-License-Identifier: Apache-2.0
// The catalogue of rewrites, and the function that answers the driver's request for offers.
#pragma once

#include "clang_plugin/transform/Transformation.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

namespace kopt::frontend {

/// What the whole catalogue offers for a kernel, and why it does not offer more. Each offer changes
/// the text or the launch, and its text parses. Fails if the slice itself does not parse or does
/// not have the kernel.
llvm::Expected<OfferList> findOffers(const TransformRequest &request);

} // namespace kopt::frontend
