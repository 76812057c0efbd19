// SPDX-License-Identifier: Apache-2.0
// The scalars that arrays and structs come down to.
#pragma once

#include <clang/AST/ASTContext.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <string>
#include <vector>

namespace kopt::frontend {

struct ScalarLeaf {
  std::string scalar;
  std::uint64_t offset = 0, bytes = 0;
  std::string name; ///< the way to it: "origin.x", "weights[2]"
};

/// Adds every scalar of a type that lies at `offset`, in order. `nameOf` names a scalar; empty: a
/// type to look into. False with the reason where there is something else in it, such as a union or
/// a bit-field, or more than `most` scalars. `within` is the name of what lies there.
bool addScalarLeaves(const clang::ASTContext &context, clang::QualType type, std::uint64_t offset,
                     std::size_t most, llvm::function_ref<std::string(clang::QualType)> nameOf,
                     std::vector<ScalarLeaf> &out, std::string &why,
                     const std::string &within = {});

} // namespace kopt::frontend
