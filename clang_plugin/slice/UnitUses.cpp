// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/slice/UnitUses.h"

#include "clang_plugin/slice/Closure.h"

#include <algorithm>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>

namespace kopt::frontend {
namespace {

constexpr std::size_t kUsersNamed = 3;

bool isCode(const Piece &piece) {
  return piece.kind == PieceKind::Declaration || piece.kind == PieceKind::Macro;
}

const clang::Decl *templated(const clang::Decl *declaration) {
  if (const auto *linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(declaration);
      linkage && !linkage->decls_empty())
    declaration = *linkage->decls_begin();
  const auto *pattern = llvm::dyn_cast<clang::TemplateDecl>(declaration);
  return pattern && pattern->getTemplatedDecl() ? pattern->getTemplatedDecl() : declaration;
}

bool isFunctionOrVariable(const Piece &piece) {
  return llvm::any_of(piece.decls, [](const clang::Decl *declaration) {
    const clang::Decl *inner = templated(declaration);
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(inner);
    return llvm::isa<clang::FunctionDecl>(inner) ||
           (variable && !variable->isConstexpr() && !variable->getType().isConstQualified());
  });
}

bool isOnDevice(const Piece &piece) {
  return llvm::any_of(piece.decls, [](const clang::Decl *declaration) {
    const clang::Decl *inner = templated(declaration);
    return inner->hasAttr<clang::CUDAGlobalAttr>() || inner->hasAttr<clang::CUDADeviceAttr>() ||
           inner->hasAttr<clang::CUDAConstantAttr>() || inner->hasAttr<clang::CUDASharedAttr>();
  });
}

bool isFunctionForDevice(const Piece &piece) {
  return !piece.decls.empty() && llvm::all_of(piece.decls, [](const clang::Decl *declaration) {
    const clang::Decl *inner = templated(declaration);
    return llvm::isa<clang::FunctionDecl>(inner) && inner->hasAttr<clang::CUDADeviceAttr>() &&
           !inner->hasAttr<clang::CUDAHostAttr>();
  });
}

std::string lastPart(const std::string &name) {
  const std::size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

} // namespace

UnitUses::UnitUses(const SourceIndex &host, const SourceIndex &device) : host_(host) {
  add(host);
  add(device);
}

void UnitUses::add(const SourceIndex &index) {
  std::vector<std::optional<std::size_t>> nodeOf(index.pieces().size());
  for (std::size_t i = 0; i < index.pieces().size(); ++i) {
    const Piece &piece = index.pieces()[i];
    if (!isCode(piece))
      continue;
    const auto [at, isNew] = nodeAt_.try_emplace({piece.file, piece.begin}, nodes_.size());
    nodeOf[i] = at->second;
    if (!isNew)
      continue;
    Node node;
    const clang::SourceManager &sources = index.sources();
    node.user.name = piece.name;
    node.user.file = piece.file;
    node.user.line = index.presumedPlace(piece).second;
    if (!piece.decls.empty()) {
      const clang::SourceLocation name =
          sources.getExpansionLoc(templated(piece.decls.front())->getLocation());
      node.user.line = sources.getSpellingLineNumber(name);
    }
    node.isForDevice = isFunctionForDevice(piece);
    node.isUser = piece.kind == PieceKind::Declaration && isFunctionOrVariable(piece);
    nodes_.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < index.pieces().size(); ++i) {
    if (!nodeOf[i])
      continue;
    const DirectUses uses = usesOf(index, i);
    Node &node = nodes_[*nodeOf[i]];
    node.calls.insert(uses.calls.begin(), uses.calls.end());
    node.words.insert(index.pieces()[i].identifiers.begin(), index.pieces()[i].identifiers.end());
    // A host function may contain a device lambda.
    node.user.onHostAlone = !isOnDevice(index.pieces()[i]) && !node.words.count("__device__");
    for (std::size_t used : uses.pieces)
      if (nodeOf[used] && *nodeOf[used] != *nodeOf[i])
        nodes_[*nodeOf[used]].usedBy.insert(*nodeOf[i]);
  }
}

std::set<std::size_t> UnitUses::nodesOf(const SliceText &slice) const {
  std::set<std::size_t> nodes;
  for (const SliceChunk &chunk : slice.chunks)
    if (const auto at = nodeAt_.find({chunk.source.file, chunk.source.begin}); at != nodeAt_.end())
      nodes.insert(at->second);
  return nodes;
}

std::vector<OutsideUser> UnitUses::usersOf(std::size_t node, const std::set<std::size_t> &slice,
                                           const std::set<std::size_t> &closed) const {
  std::vector<OutsideUser> users;
  std::set<std::size_t> seen = {node};
  std::vector<std::size_t> open = {node};
  while (!open.empty()) {
    const std::size_t used = open.back();
    open.pop_back();
    for (std::size_t by : nodes_[used].usedBy) {
      if (closed.count(by) || !seen.insert(by).second)
        continue;
      if (nodes_[by].isUser && !slice.count(by))
        users.push_back(nodes_[by].user);
      else
        open.push_back(by);
    }
  }
  // Host code that names a class does not run what its methods call on the device.
  if (nodes_[node].isForDevice)
    std::erase_if(users, [](const OutsideUser &user) { return user.onHostAlone; });
  std::sort(users.begin(), users.end(), [](const OutsideUser &a, const OutsideUser &b) {
    return std::tie(a.onHostAlone, a.file, a.line, a.name) <
           std::tie(b.onHostAlone, b.file, b.line, b.name);
  });
  if (users.size() > kUsersNamed)
    users.resize(kUsersNamed);
  return users;
}

void UnitUses::findUsers(SliceText &slice, const clang::FunctionDecl *enclosing) const {
  const std::set<std::size_t> own = nodesOf(slice);
  const auto nodeAt = [&](const std::string &file, std::uint64_t begin) {
    return nodeAt_.find({file, begin});
  };
  std::set<std::size_t> closed;
  const SourceRange kernel =
      slice.chunks.empty() ? SourceRange() : slice.chunks[slice.kernelChunk].source;
  if (const auto at = nodeAt(kernel.file, kernel.begin); at != nodeAt_.end())
    closed.insert(at->second);
  if (const auto piece = enclosing ? host_.declarationAt(enclosing->getLocation()) : std::nullopt)
    if (const auto at = nodeAt(host_.pieces()[*piece].file, host_.pieces()[*piece].begin);
        at != nodeAt_.end())
      closed.insert(at->second);
  for (std::size_t i = 0; i < slice.chunks.size(); ++i) {
    SliceChunk &chunk = slice.chunks[i];
    if (const auto at = nodeAt(chunk.source.file, chunk.source.begin);
        i != slice.kernelChunk && at != nodeAt_.end())
      chunk.users = usersOf(at->second, own, closed);
  }
}

void UnitUses::findUsersOfVariables(std::vector<SliceChunk> &unused) const {
  for (SliceChunk &chunk : unused)
    if (const auto at = nodeAt_.find({chunk.source.file, chunk.source.begin});
        chunk.role == ChunkRole::Variable && at != nodeAt_.end())
      chunk.users = usersOf(at->second, {at->second}, {});
}

std::vector<OutsideNamed> UnitUses::namesOutside(const SliceText &slice) const {
  const std::set<std::size_t> own = nodesOf(slice);
  std::map<std::string, OutsideNamed> names;
  const auto note = [&](const std::string &name, bool isDeclared, const OutsideUser &user) {
    const auto [at, isNew] = names.try_emplace(name, OutsideNamed{name, isDeclared, user});
    if (!isNew && isDeclared && !at->second.isDeclared)
      at->second = {name, true, user};
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node &node = nodes_[i];
    if (own.count(i))
      continue;
    for (const std::string &word : node.words)
      note(word, false, node.user);
    for (const std::string &call : node.calls)
      note(call, true, node.user);
    note(lastPart(node.user.name), true, node.user);
  }
  // To specialize a shared template is equivalent to changing it.
  for (const SliceChunk &chunk : slice.chunks)
    if (!chunk.users.empty())
      note(lastPart(chunk.name), true, chunk.users.front());
  std::vector<OutsideNamed> result;
  for (auto &[name, outside] : names)
    if (!name.empty())
      result.push_back(std::move(outside));
  return result;
}

} // namespace kopt::frontend
