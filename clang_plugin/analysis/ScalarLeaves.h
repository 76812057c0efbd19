// SPDX-License-Identifier: Apache-2.0
// Lists the scalars that arrays and structs consist of.
#pragma once

#include <clang/AST/ASTContext.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <string>
#include <vector>

namespace kopt::frontend {

struct ScalarLeaf {
  std::string scalar;
  std::uint64_t offset = 0, bytes = 0;
  std::string name; ///< its path: "origin.x", "weights[2]"
};

/// Adds every scalar of a type, in order, for an object at `offset`. `nameOf` returns the name of a
/// scalar type, or an empty text for a type whose members are to be visited. False, with the reason
/// in `why`, if the type contains anything else, such as a union or a bit-field, or more than
/// `most` scalars. `within` is the path of the object.
bool addScalarLeaves(const clang::ASTContext &context, clang::QualType type, std::uint64_t offset,
                     std::size_t most, llvm::function_ref<std::string(clang::QualType)> nameOf,
                     std::vector<ScalarLeaf> &out, std::string &why,
                     const std::string &within = {});

} // namespace kopt::frontend
