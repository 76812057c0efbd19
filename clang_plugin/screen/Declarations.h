// SPDX-License-Identifier: Apache-2.0
// What a slice declares outside the kernel's body, and which of these declarations a candidate may
// change.
#pragma once

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/output/Variants.h"

namespace kopt::frontend {

enum class DeclarationRole {
  Kernel, ///< the tuned kernel: every kernel declaration with its name
  OtherKernel,
  DeviceFunction, ///< editable
  SharedFunction, ///< __host__ __device__ or constexpr: the host may call it
  HostFunction,
  Constant,       ///< editable: const and constexpr
  DeviceVariable, ///< __constant__, __device__, __managed__
  HostVariable,
  Type,
  Assembly,
  Other ///< aliases, using, static_assert: meaningful only through what uses them
};

struct Declaration {
  DeclarationRole role = DeclarationRole::Other;
  std::string key;  ///< identifies the entity: equal in both slices for the same one
  std::string text; ///< normalised tokens
  std::string name;
  unsigned line = 0;
  bool isMutable = false; ///< a variable that code can change
  bool runsCode = false;  ///< a variable whose initializer is not a constant
  bool isJudgedAlone =
      false; ///< an explicit specialization of the kernel for the template arguments being tuned
  std::string
      specialAttribute; ///< constructor, asm label, alias, section, …: has an effect without a call
};

/// True if an object of the type has mutable members and so can be written although it is const.
bool hasMutableParts(clang::QualType type);

/// The declarations of the text, including those inside namespaces and linkage specifications, and
/// the static members of types.
std::vector<Declaration> readDeclarations(const KernelView &view, const std::string &kernelName);

/// Compares the kernel's own signature and linkage.
void compareSignatures(const KernelView &baseline, const KernelView &candidate,
                       std::vector<ScreenFinding> &findings);

/// Compares everything except the kernel. An occurrence of `baselineExpression` in the baseline may
/// become `candidateExpression`: the slice's own reference to the specialization changes that way.
void compareDeclarations(const std::vector<Declaration> &baseline,
                         const std::vector<Declaration> &candidate,
                         const std::string &baselineExpression,
                         const std::string &candidateExpression,
                         std::vector<ScreenFinding> &findings);

} // namespace kopt::frontend
