// SPDX-License-Identifier: Apache-2.0
// The rewrites of the catalogue: each reads one kernel and offers text edits of the slice, each of
// which makes one candidate. A rewrite never judges whether an offer is faster. If
// it cannot prove that an offer is correct, it says so in the offer's note, and verification
// decides.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <cstdint>
#include <vector>

namespace clang {
class VarDecl;
}

namespace kopt::frontend {

struct BodyView;
class KernelView;

/// The static shared variables that a body declares.
std::vector<const clang::VarDecl *> staticShared(const BodyView &body);

// Every offer of a rewrite for this kernel, the most promising first; empty if the rewrite does not
// match. Their techniques are set by findOffers().
std::vector<Offer> launchBoundsOffers(const KernelView &view);
std::vector<Offer> unrollOffers(const KernelView &view);
std::vector<Offer> readonlyLoadsOffers(const KernelView &view);
std::vector<Offer> sharedPaddingOffers(const KernelView &view);
std::vector<Offer> blockSizeOffers(const KernelView &view);

} // namespace kopt::frontend
