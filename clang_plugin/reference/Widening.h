// SPDX-License-Identifier: Apache-2.0
// Which types a clone widens, and which scalars they consist of.
#pragma once

#include <clang/AST/ASTContext.h>

namespace kopt::frontend {

/// "f32", "f16" or "bf16" for a scalar type that becomes double; empty for every other type.
std::string narrowScalar(clang::QualType type);

/// f16, bf16, f32, f64, i8 … u64 or bool for a scalar, the integer's name for an enumeration, "ptr"
/// for a pointer; empty for everything else.
std::string scalarName(const clang::ASTContext &context, clang::QualType type);

/// True if the clone represents a value of the type differently: a narrow scalar, a vector or array
/// of them, a user's struct that contains one, or a library's template with one as an argument. The
/// type that a pointer points to does not count.
bool isWidened(const clang::ASTContext &context, clang::QualType type);

/// The scalar that the whole type consists of ("f32" for float4 and float[2][3]); empty if it
/// consists of several, or of anything that is not a scalar.
std::string uniformScalar(const clang::ASTContext &context, clang::QualType type);

} // namespace kopt::frontend
