// SPDX-License-Identifier: Apache-2.0
// Analyses how a kernel depends on the shape of its block: which dimensions it reads, whether the
// grid depends on the block, and what ties it to one size. Code that is not understood counts as a
// tie.
#pragma once

#include "clang_plugin/analysis/KernelView.h"

namespace kopt::frontend {

class BlockGeometry {
public:
  explicit BlockGeometry(const KernelView &view);

  struct Rule {
    bool plane = false;      ///< blocks have two dimensions
    bool coverGrid = false;  ///< the grid must shrink and grow with the block; otherwise it stays
    bool squareOnly = false; ///< x and y change roles, as in a transpose
  };
  /// How the block may change; nothing if it is tied to its size.
  std::optional<Rule> rule() const;

  /// True if every static shared array that threads index is large enough for this block.
  bool sharedArraysHold(const std::array<unsigned, 3> &block) const;

private:
  struct Interval {
    long long low, high;
  };
  struct Dimension {
    bool readsThread = false, readsBlockDim = false;
    unsigned blockIndexCovered = 0, blockIndexPlain = 0, gridPlain = 0;
    bool strides = false; ///< a loop steps by blockDim
  };
  void readCoordinates(const BodyView &body);
  void readTies(const BodyView &body);
  /// True if every launch passes an extent of its block for it.
  bool hasExtentIn(const clang::ParmVarDecl &parameter) const;
  void readSharedArrays(const BodyView &body);
  bool mentions(const clang::Expr *expression, llvm::StringRef variable,
                std::optional<unsigned> dimension, unsigned depth = 0) const;
  /// The block's size, or a product with it.
  bool isMultiple(const clang::Expr *expression, unsigned dimension, unsigned depth = 0) const;
  std::optional<Interval> range(const clang::Expr *expression, const std::array<unsigned, 3> &block,
                                unsigned depth = 0) const;
  /// The initializer of a local that never changes, or null.
  const clang::Expr *definition(const clang::Expr *expression) const;

  struct SharedIndex {
    const clang::Expr *index; ///< null: the array is used in a way that is not understood
    std::uint64_t extent;
  };
  const KernelView &view_;
  /// Locals that are changed after their initialisation.
  llvm::DenseSet<const clang::VarDecl *> changing_;
  std::array<Dimension, 3> dimensions_;
  std::vector<SharedIndex> indices_;
  bool tied_ = false, crossed_ = false, sharesMemory_ = false, takesExtent_ = false;
};

} // namespace kopt::frontend
