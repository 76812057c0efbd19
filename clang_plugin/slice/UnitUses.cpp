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
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].isUser)
      order_.push_back(i);
    names_[lastPart(nodes_[i].user.name)].declaring.push_back(i);
  }
  for (auto &[name, naming] : names_)
    for (std::vector<std::size_t> *named : {&naming.declaring, &naming.spelling}) {
      std::sort(named->begin(), named->end());
      named->erase(std::unique(named->begin(), named->end()), named->end());
    }
  std::sort(order_.begin(), order_.end(), [this](std::size_t one, std::size_t other) {
    const OutsideUser &a = nodes_[one].user, &b = nodes_[other].user;
    return std::tie(a.host, a.file, a.line, a.name, one) <
           std::tie(b.host, b.file, b.line, b.name, other);
  });
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
    const std::vector<std::string> &words = index.pieces()[i].identifiers;
    for (const std::string &call : uses.calls)
      names_[call].declaring.push_back(*nodeOf[i]);
    for (const std::string &word : words)
      names_[word].spelling.push_back(*nodeOf[i]);
    // A host function may contain a device lambda.
    node.user.host = !isOnDevice(index.pieces()[i]) &&
                     !std::binary_search(words.begin(), words.end(), "__device__");
    for (std::size_t used : uses.pieces)
      if (nodeOf[used] && *nodeOf[used] != *nodeOf[i])
        node.uses.insert(*nodeOf[used]);
  }
}

std::set<std::size_t> UnitUses::nodesOf(const SliceText &slice) const {
  std::set<std::size_t> nodes;
  for (const SliceChunk &chunk : slice.chunks)
    if (const auto at = nodeAt_.find({chunk.source.file, chunk.source.begin}); at != nodeAt_.end())
      nodes.insert(at->second);
  return nodes;
}

/// The first users of each node. Each user in turn goes down to all that it uses, and no further
/// than to what has its number already: that has passed its users on.
std::vector<std::vector<std::size_t>>
UnitUses::firstUsers(const std::set<std::size_t> &slice,
                     const std::set<std::size_t> &closed) const {
  std::vector<std::vector<std::size_t>> first(nodes_.size());
  for (std::size_t user : order_) {
    if (slice.count(user) || closed.count(user))
      continue;
    std::vector<std::size_t> open = {user};
    while (!open.empty()) {
      const std::size_t by = open.back();
      open.pop_back();
      for (std::size_t used : nodes_[by].uses) {
        std::vector<std::size_t> &users = first[used];
        if (users.size() == kUsersNamed || (!users.empty() && users.back() == user))
          continue;
        users.push_back(user);
        if (!closed.count(used) && (!nodes_[used].isUser || slice.count(used)))
          open.push_back(used);
      }
    }
  }
  return first;
}

std::vector<OutsideUser> UnitUses::usersOf(std::size_t node,
                                           const std::vector<std::size_t> &first) const {
  std::vector<OutsideUser> users;
  for (std::size_t user : first)
    // Host code that names a class does not run what its methods call on the device.
    if (user != node && !(nodes_[node].isForDevice && nodes_[user].user.host))
      users.push_back(nodes_[user].user);
  return users;
}

void UnitUses::findUsers(std::vector<SliceText> &slices,
                         const clang::FunctionDecl *enclosing) const {
  // The texts differ in includes and line directives alone: what uses them is the same.
  const SliceText &slice = slices.front();
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
  const std::vector<std::vector<std::size_t>> first = firstUsers(own, closed);
  for (SliceText &text : slices)
    for (std::size_t i = 0; i < text.chunks.size(); ++i) {
      SliceChunk &chunk = text.chunks[i];
      if (const auto at = nodeAt(chunk.source.file, chunk.source.begin);
          i != text.kernelChunk && at != nodeAt_.end())
        chunk.users = usersOf(at->second, first[at->second]);
    }
}

void UnitUses::findUsersOfVariables(std::vector<SliceChunk> &unused) const {
  const std::vector<std::vector<std::size_t>> first = firstUsers({}, {});
  for (SliceChunk &chunk : unused)
    if (const auto at = nodeAt_.find({chunk.source.file, chunk.source.begin});
        chunk.role == ChunkRole::Variable && at != nodeAt_.end())
      chunk.users = usersOf(at->second, first[at->second]);
}

std::vector<OutsideNamed> UnitUses::namesOutside(const SliceText &slice) const {
  const std::set<std::size_t> own = nodesOf(slice);
  // To specialize a shared template is equivalent to changing it.
  std::map<std::string, OutsideUser> specialized;
  for (const SliceChunk &chunk : slice.chunks)
    if (!chunk.users.empty())
      specialized.try_emplace(lastPart(chunk.name), chunk.users.front());
  std::vector<OutsideNamed> result;
  for (const auto &[name, naming] : names_) {
    const auto isOutside = [&](std::size_t node) { return !own.count(node); };
    const auto declared = llvm::find_if(naming.declaring, isOutside);
    const auto spelled = llvm::find_if(naming.spelling, isOutside);
    const auto shared = specialized.find(name);
    if (name.empty())
      continue;
    if (declared != naming.declaring.end())
      result.push_back({name, true, nodes_[*declared].user});
    else if (shared != specialized.end())
      result.push_back({name, true, shared->second});
    else if (spelled != naming.spelling.end())
      result.push_back({name, false, nodes_[*spelled].user});
  }
  return result;
}

} // namespace kopt::frontend
