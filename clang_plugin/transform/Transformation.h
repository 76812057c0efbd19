// SPDX-License-Identifier: Apache-2.0
// What a rewrite of the catalogue is: it looks at one kernel and offers text edits of the slice,
// each of which makes another candidate. A rewrite never judges whether an offer is faster; where
// it cannot prove that an offer is also correct it says so in the offer's note, and verification
// decides.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::frontend {

class KernelView;

class Transformation {
public:
  virtual ~Transformation() = default;
  virtual std::string_view id() const = 0;
  /// One sentence for people.
  virtual std::string_view summary() const = 0;
  /// Every offer for this kernel, the most promising first; empty where the rewrite does not match.
  virtual std::vector<Offer> find(const KernelView &view) const = 0;
};

std::unique_ptr<Transformation> makeLaunchBounds();
std::unique_ptr<Transformation> makeUnroll();
std::unique_ptr<Transformation> makeReadonlyLoads();
std::unique_ptr<Transformation> makeSharedPadding();
std::unique_ptr<Transformation> makeBlockSize();

} // namespace kopt::frontend
