// SPDX-License-Identifier: Apache-2.0
// Which types a clone widens, and what they are made of.
#pragma once

#include <clang/AST/ASTContext.h>

namespace kopt::frontend {

/// "f32", "f16" or "bf16" of a type that becomes double by itself; empty for every other type.
std::string narrowScalar(clang::QualType type);

/// f16 bf16 f32 f64 i8 … u64 bool of a scalar, enumerations as their integers, "ptr" of a pointer;
/// empty for everything else.
std::string scalarName(const clang::ASTContext &context, clang::QualType type);

/// Whether a value of the type looks different in the clone: it is a narrow scalar, a vector or an
/// array of them, a user's struct with one inside, or a library's template made of one. What a
/// pointer points to does not count.
bool isWidened(const clang::ASTContext &context, clang::QualType type);

/// The one scalar that the whole type consists of ("f32" of float4 and of float[2][3]); empty where
/// there are several, or something else.
std::string uniformScalar(const clang::ASTContext &context, clang::QualType type);

} // namespace kopt::frontend
