// SPDX-License-Identifier: Apache-2.0
// The interface of a rewrite in the catalogue: it reads one kernel and offers text edits of the
// slice, each of which makes one candidate. A rewrite never judges whether an offer is faster. If
// it cannot prove that an offer is correct, it says so in the offer's note, and verification
// decides.
#pragma once

#include "clang_plugin/analysis/KernelSource.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace clang {
class VarDecl;
}

namespace kopt::frontend {

struct BodyView;
class KernelView;

/// What the static shared memory of a block may have.
inline constexpr std::uint64_t kStaticSharedLimit = 48 * 1024;
/// The static shared variables that a body declares.
std::vector<const clang::VarDecl *> staticShared(const BodyView &body);

class Transformation {
public:
  virtual ~Transformation() = default;
  virtual std::string_view id() const = 0;
  /// One sentence for the user.
  virtual std::string_view summary() const = 0;
  /// Every offer for this kernel, the most promising first; empty if the rewrite does not match.
  virtual std::vector<Offer> find(const KernelView &view) const = 0;
};

std::unique_ptr<Transformation> makeLaunchBounds();
std::unique_ptr<Transformation> makeUnroll();
std::unique_ptr<Transformation> makeReadonlyLoads();
std::unique_ptr<Transformation> makeSharedPadding();
std::unique_ptr<Transformation> makeBlockSize();

} // namespace kopt::frontend
