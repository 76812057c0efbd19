// SPDX-License-Identifier: Apache-2.0
// What a rewrite of the catalogue is: it looks at one kernel and offers text edits of the slice,
// each of which makes another candidate. A rewrite never judges whether an offer is faster; where
// it cannot prove that an offer is also correct it says so in the offer's note, and verification
// decides.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kopt::frontend {

class KernelView;

/// How the candidate is launched differently.
struct LaunchChange {
  std::array<unsigned, 3> block = {1, 1, 1};
  bool coverGrid = false; ///< grid = ceil(old grid * old block / new block) in each dimension
  std::optional<unsigned> sharedBytes; ///< dynamic shared memory, where it follows the block
};

struct Offer {
  std::string technique; ///< id of the transformation
  std::string title;     ///< one line: "pad tile[32][32] to tile[32][32 + 1]"
  std::string
      note; ///< what verification must judge; empty where the rewrite keeps the meaning by itself
  std::vector<Edit> edits; ///< sorted, not overlapping
  std::optional<LaunchChange> launch;
};

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
