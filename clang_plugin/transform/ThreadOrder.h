// SPDX-License-Identifier: Apache-2.0
// What rewrites that give the work of a kernel's threads to other threads need to know: whether the
// threads are independent of each other, and where the text says which thread it is.
#pragma once

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/transform/Transformation.h"

namespace kopt::frontend {

inline constexpr unsigned kWarp = 32;

/// True if each thread of the kernel could run alone, in any order and in any warp or block: it
/// waits for no other, shares no memory but global memory, exchanges nothing within a warp, and
/// reads no clock. Atomics that do not wait are allowed if `atomics`. What is not known counts
/// against it. The first thing in the way is refused.
bool areThreadsIndependent(const KernelView &view, bool atomics, Refusals &refusals);

/// True if a call of an atomic may be tried again until another thread has acted: its result is
/// used in a loop that does not count. An atomicCAS() that expects no constant is tried with newer
/// values until it succeeds, which it does by itself.
bool mayWait(const BodyView &body, const clang::CallExpr *atomic);

/// A place of the text where it says threadIdx.x and the like.
struct CoordinateUse {
  Coordinate coordinate;
  unsigned begin = 0, end = 0; ///< in the text
  const BodyView *body = nullptr;
  const clang::Expr *expression = nullptr;
};

/// Every such place, in order of the text, each once. Nothing, with a refusal, if one is spelled by
/// a macro, or if a whole `threadIdx` is passed on.
std::optional<std::vector<CoordinateUse>> coordinateUses(const KernelView &view,
                                                         Refusals &refusals);

/// `blockIdx.x * blockDim.x + threadIdx.x`, in any order and with casts, around a use of threadIdx;
/// null if that is not what stands there.
const clang::Expr *globalIndexAt(const CoordinateUse &use);

/// A name like `base` that occurs nowhere in the text.
std::string freshName(const KernelView &view, llvm::StringRef base);

} // namespace kopt::frontend
