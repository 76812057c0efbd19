// SPDX-License-Identifier: Apache-2.0
// What a slice declares outside the kernel's body, and which of it a candidate may touch.
#pragma once

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/screen/Screen.h"

namespace kopt::frontend {

enum class DeclarationRole {
  Kernel, ///< the one that is tuned, every declaration of its name
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
  std::string key;  ///< what it declares: equal in both slices for the same entity
  std::string text; ///< normalised tokens
  std::string name;
  unsigned line = 0;
  bool isMutable = false; ///< a variable that code can change
  bool runsCode = false;  ///< a variable whose initializer is no constant
  bool isJudgedAlone =
      false; ///< an explicit specialization of the kernel for the very arguments that are judged
  std::string
      specialAttribute; ///< constructor, asm label, alias, section, …: it works outside of calls
};

/// Whether an object of the type can be written although it is const.
bool hasMutableParts(clang::QualType type);

/// Declarations of the text, those inside namespaces, linkage specifications and the static members
/// of types included.
std::vector<Declaration> readDeclarations(const KernelView &view, const std::string &kernelName);

/// The kernel's own signature and linkage.
void compareSignatures(const KernelView &baseline, const KernelView &candidate,
                       std::vector<ScreenFinding> &findings);

/// Everything beside the kernel. `baselineExpression` in host text stands for
/// `candidateExpression`: the slice's own reference to the specialization changes with it.
void compareDeclarations(const std::vector<Declaration> &baseline,
                         const std::vector<Declaration> &candidate,
                         const std::string &baselineExpression,
                         const std::string &candidateExpression,
                         std::vector<ScreenFinding> &findings);

} // namespace kopt::frontend
