// SPDX-License-Identifier: Apache-2.0
// What HostText is made from, collected in one walk over a file's host code.
#pragma once

#include "clang_plugin/parse/SourceIndex.h"

#include <clang/AST/ExprCXX.h>
#include <map>
#include <set>

namespace kopt::frontend {

/// Bytes of one file, half open.
struct Span {
  clang::FileID file;
  unsigned begin = 0, end = 0;
  bool contains(const Span &other) const {
    return file == other.file && begin <= other.begin && other.end <= end;
  }
};

/// The text of the file between two tokens, even if they are in a macro's arguments or call.
Span spanOf(const SourceIndex &index, clang::SourceRange range);

/// A call of a function with arguments for its parameters.
struct KnownCall {
  const clang::CallExpr *call;
  const clang::FunctionDecl *callee; ///< as written
};

/// Of the host code as written.
struct HostParts {
  std::vector<const clang::FunctionDecl *> functions;
  std::vector<const clang::VarDecl *> variables; ///< at namespace scope
  std::vector<Span> left;                        ///< always left out of the text
  std::vector<Span> launches;
  std::vector<KnownCall> calls;
  std::vector<const clang::Stmt *> statements;     ///< statements of blocks
  std::vector<const clang::CompoundStmt *> blocks; ///< those that are statements of other blocks
  std::set<const clang::VarDecl *> feeding; ///< locals and parameters that may serve launches only
  std::map<const clang::VarDecl *, std::vector<Span>> references;
  /// Constant integers, by each place where they are named.
  struct Constant {
    std::string value;
    bool isLocal = false;
  };
  std::map<std::pair<clang::FileID, unsigned>, Constant> constants;
  /// Of each function as written.
  std::map<const clang::FunctionDecl *, std::vector<Span>> mentions;
  std::vector<Span> optIns; ///< calls that opt in to large shared memory
  std::set<std::string> largeShared;
};

/// `kernels`: those whose launches are left out.
HostParts findHostParts(const SourceIndex &index, const std::vector<std::string> &kernels);

} // namespace kopt::frontend
