// SPDX-License-Identifier: Apache-2.0
// Kernels in which a thread gets several elements that it computes in step: what of the text
// differs from element to element, and the text in which one loop, or one statement behind the
// other, does the work of all of them. Threads are independent, so any order of their statements is
// one that the kernel may have had.
#pragma once

#include "clang_plugin/transform/remap/IndexGuard.h"
#include "clang_plugin/transform/remap/ThreadBody.h"

namespace kopt::frontend {

using Axes = unsigned; ///< bit d: along axis d

enum class ElementOrder {
  BlocksApart, ///< those of neighbouring blocks
  Adjacent,    ///< those of neighbouring threads along x
};

/// A place `p[i]` of each element of which wide loads and stores take several at once.
struct WideAccess {
  const clang::VarDecl *pointer = nullptr;
  std::string element, type;                              ///< "unsigned int"; "uint" of uint4
  std::string name;                                       ///< of the array that holds them
  bool isLoad = false, isStore = false, isAlways = false; ///< whatever values a statement meets
  std::vector<TextRange> places;                          ///< the whole expression
};

/// One statement: what every element does by itself, or a loop that they run together.
struct Unit {
  const clang::Stmt *statement = nullptr;
  const clang::ForStmt *loop = nullptr; ///< run together; null otherwise
  std::vector<Unit> inside;             ///< of the loop
  std::vector<const clang::Stmt *> parts;
  Axes axes = 0;      ///< along which its elements differ
  unsigned group = 0; ///< neighbours with the same axes have the same
  unsigned begin = 0, end = 0;
  std::string lead; ///< comments and directives before it
  std::vector<WideAccess> wide;
};

/// A kernel that begins with a guard.
struct Elements {
  Axes merged = 0; ///< along which a thread gets several elements
  ElementOrder order = ElementOrder::BlocksApart;
  IndexGuard guard;
  std::vector<Unit> before, work; ///< before the guard; behind it or in it
  llvm::DenseMap<const clang::VarDecl *, Axes> axes;

  /// Along which what stands in these parts differs.
  Axes axesOf(llvm::ArrayRef<const clang::Stmt *> parts) const;
};

/// The elements; nothing, with a refusal, for kernels of another form, for those that return beyond
/// the guard, and for those with a launch of fewer threads than elements.
std::optional<Elements> readElements(const KernelView &view, const ThreadBody &body, Axes merged,
                                     ElementOrder order, Refusals &refusals);

/// Writes the body in which a thread computes its elements in step.
class ElementWriter {
public:
  /// `factors`: how many elements along each axis, as text.
  ElementWriter(const KernelView &view, const ThreadBody &body, Elements elements,
                std::array<std::string, 3> factors, Refusals &refusals);

  /// Empty, with a refusal, if variables cannot be arrays or a macro is in the way. `comment` says
  /// what was done; `condition` is asked beside the guard, and may be empty.
  std::string write(const std::string &comment, const std::string &condition);
  /// The text has ${UNROLL}.
  bool writesUnroll() const { return writesUnroll_; }

private:
  bool findArrays();
  bool addArrays(const clang::DeclStmt &declaration);
  std::optional<TextSpan> initialValue(const clang::VarDecl &variable) const;
  bool findCoordinates();
  bool findUses();
  enum Which { Each, First, Last }; ///< element
  std::string index(Axes axes, Which which) const;
  std::string at(unsigned axis, Which which) const;
  std::string head(unsigned axis) const;
  std::string openLoops(Axes axes, const std::string &margin, bool isUnrolled,
                        std::string &text) const;
  void writeUnits(const std::vector<Unit> &units, const std::string &margin, std::string &text);
  void writeLoop(const Unit &unit, const std::string &margin, std::string &text);
  void writeGroup(llvm::ArrayRef<Unit> units, const std::string &margin, std::string &text) const;
  void writeArray(const clang::VarDecl &variable, const std::string &margin,
                  const std::string &inner, std::string &declared, std::string &done) const;
  void writeWide(const WideAccess &wide, const std::string &margin, std::string &loads,
                 std::string &stores) const;

  const KernelView &view_;
  const ThreadBody &body_;
  Elements elements_;
  Refusals &refusals_;
  std::array<std::string, 3> factors_, names_;
  llvm::DenseMap<const clang::VarDecl *, std::string> arrays_; ///< with their types
  std::array<std::vector<SliceEdit>, 3> edits_;                ///< by which element
  std::vector<SliceEdit> coordinates_;                         ///< those of Each that are no names
  bool writesUnroll_ = false;
};

} // namespace kopt::frontend
