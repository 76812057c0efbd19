// SPDX-License-Identifier: Apache-2.0
// The body of a kernel that becomes the body of a loop over the work of several threads.
#pragma once

#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/transform/ThreadOrder.h"

namespace kopt::frontend {

/// About what the largest GPUs have. Fewer threads than kFewThreads leave them idle: a warp for
/// each of a multiprocessor's four schedulers.
inline constexpr unsigned kMultiprocessors = 132, kFewThreads = kMultiprocessors * 4 * kWarp;

class ThreadBody : public BodyText {
public:
  ThreadBody(const KernelView &view, Refusals &refusals) : view_(view), refusals_(refusals) {}

  /// False, with a refusal, if threads depend on each other, or if something outlives the work of
  /// one: changed parameters, returns from within loops, labels.
  bool read();

  const std::vector<CoordinateUse> &uses() const { return uses_; }
  /// A `continue` in the place of each return.
  const std::vector<SliceEdit> &returns() const { return returns_; }

  /// True if a use of a variable does more than read it or a part of it, or may do.
  bool mayChange(const clang::DeclRefExpr *variable) const;

  /// A part of the text with those of the edits that lie in it.
  std::string edited(unsigned from, unsigned to, std::vector<SliceEdit> edits) const;

private:
  bool readText();
  bool readStatement(const clang::Stmt *statement);
  const BodyView &kernel() const { return view_.work(); }

  const KernelView &view_;
  Refusals &refusals_;
  std::vector<CoordinateUse> uses_;
  std::vector<SliceEdit> returns_;
};

/// False, with a refusal, if the kernel or the function that does its work is a template over
/// types: a text that names the type of one instantiation would be wrong in the others.
bool isForOneType(const KernelView &view, Refusals &refusals);

/// All threads of a launch.
std::uint64_t allThreadsOf(const LaunchShape &launch);

/// What a coordinate is multiplied by; null for another use.
const clang::Expr *otherFactor(const CoordinateUse &use);

} // namespace kopt::frontend
