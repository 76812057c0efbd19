// SPDX-License-Identifier: Apache-2.0
// What the functions of CUDA's headers and of the compiler do beside computing: one table that
// every reader of kernels asks.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <vector>

namespace clang {
class FunctionDecl;
class Stmt;
} // namespace clang

namespace kopt::frontend {

enum class CudaFunction {
  None, ///< of no kind below: it only computes, or is not known
  Fence,
  Barrier, ///< threads wait for each other: __syncthreads(), and those of libraries
  Lanes,   ///< lanes of a warp exchange values: shuffles, votes
  Atomic,
  CacheLoad, ///< __ldg() and its like
  CacheStore,
  CacheHint, ///< what else advises the caches
  Prefetch,
  Clock,
  Sleep,
  Heap,
  Print,
  Assert,
  Trap, ///< stops the kernel, or tells the compiler what to assume
  Launch,
  FastMath,
  ShortProduct, ///< of 24 bits
  Smaller,      ///< min, and those that return the larger of two
};

/// The kind of a function with this name, and this name with its namespaces and classes.
CudaFunction cudaFunction(llvm::StringRef name, llvm::StringRef qualified);
CudaFunction cudaFunction(const clang::FunctionDecl &function);
/// The kind of the function that a statement calls; None for what is no call of a known function.
CudaFunction cudaFunction(const clang::Stmt *statement);

/// The names that the table spells out for a kind.
std::vector<llvm::StringRef> cudaNames(CudaFunction kind);

} // namespace kopt::frontend
