// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/slice/Slice.h"

#include "clang_plugin/analysis/Types.h"
#include "clang_plugin/slice/Closure.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>

namespace kopt::frontend {
namespace {

struct Entry {
  const Piece *piece = nullptr;
  const SourceIndex *index = nullptr;
  bool isNeeded = true;                  ///< false: a header that came along with the file's others
  bool inHost = false, inDevice = false; ///< in which pass the text exists at all
};

using Entries = std::map<std::pair<Position, unsigned>, Entry>;

std::pair<Position, unsigned> keyOf(const Piece &piece) { return {piece.position, piece.end}; }

std::set<std::pair<Position, unsigned>> keysOf(const SourceIndex *index) {
  std::set<std::pair<Position, unsigned>> keys;
  if (index)
    for (const Piece &piece : index->pieces())
      keys.insert(keyOf(piece));
  return keys;
}

const clang::Decl *described(const Piece &piece) {
  if (piece.decls.empty())
    return nullptr;
  const clang::Decl *declaration = piece.decls.front();
  if (const auto *linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(declaration);
      linkage && !linkage->decls_empty())
    declaration = *linkage->decls_begin();
  if (const auto *pattern = llvm::dyn_cast<clang::TemplateDecl>(declaration);
      pattern && pattern->getTemplatedDecl())
    declaration = pattern->getTemplatedDecl();
  return declaration;
}

template <class Attribute> bool isWritten(const clang::Decl &declaration) {
  const auto *attribute = declaration.getAttr<Attribute>();
  return attribute && !attribute->isImplicit();
}

ChunkRole roleOf(const Piece &piece) {
  if (piece.kind == PieceKind::Macro)
    return ChunkRole::Macro;
  if (piece.kind == PieceKind::Include)
    return ChunkRole::Include;
  const clang::Decl *declaration = described(piece);
  if (!declaration || piece.kind != PieceKind::Declaration)
    return ChunkRole::Other;
  if (llvm::isa<clang::FunctionDecl>(declaration))
    return ChunkRole::Function;
  if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
    // Clang also marks constexpr variables used on the device as __constant__: only attributes that
    // the user wrote count.
    bool onDevice = isWritten<clang::CUDADeviceAttr>(*variable) ||
                    isWritten<clang::CUDAConstantAttr>(*variable) ||
                    isWritten<clang::CUDASharedAttr>(*variable);
    bool constant = variable->isConstexpr() || variable->getType().isConstQualified();
    return constant && !onDevice ? ChunkRole::Constant : ChunkRole::Variable;
  }
  if (llvm::isa<clang::EnumDecl>(declaration))
    return ChunkRole::Constant;
  if (llvm::isa<clang::TagDecl>(declaration))
    return ChunkRole::Type;
  if (llvm::isa<clang::TypedefNameDecl, clang::NamespaceAliasDecl>(declaration))
    return ChunkRole::Alias;
  return ChunkRole::Other;
}

bool isEditable(const Piece &piece, ChunkRole role) {
  if (role == ChunkRole::Kernel || role == ChunkRole::Macro || role == ChunkRole::Constant)
    return true;
  const clang::Decl *declaration = described(piece);
  return role == ChunkRole::Function && declaration &&
         declaration->hasAttr<clang::CUDADeviceAttr>();
}

/// Appends user text and glue, and keeps the namespaces open as long as consecutive pieces share
/// them.
class Writer {
public:
  Writer(SliceText &out, bool withLines) : out_(out), withLines_(withLines) {}

  void glue(const std::string &text) { out_.text += text; }

  void enter(const std::vector<std::string> &scopes) {
    std::size_t shared = 0;
    while (shared < open_.size() && shared < scopes.size() && open_[shared] == scopes[shared])
      ++shared;
    for (; open_.size() > shared; open_.pop_back())
      glue("}\n");
    for (; open_.size() < scopes.size(); open_.push_back(scopes[open_.size()]))
      glue(scopes[open_.size()] + "\n");
  }

  void piece(const Entry &entry, ChunkRole role) {
    bool guarded = entry.inHost != entry.inDevice;
    if (guarded)
      glue(entry.inDevice ? "#ifdef __CUDA_ARCH__\n" : "#ifndef __CUDA_ARCH__\n");
    if (entry.piece->kind == PieceKind::Macro && !macros_.insert(entry.piece->name).second)
      glue("#undef " + entry.piece->name + "\n");
    SliceChunk chunk;
    chunk.source = {entry.piece->file, entry.piece->begin, entry.piece->end};
    if (auto [file, line] = entry.index->presumedPlace(*entry.piece); withLines_)
      glue("#line " + std::to_string(line) + " \"" + file + "\"\n");
    chunk.sliceBegin = out_.text.size();
    glue(entry.index->text(*entry.piece));
    chunk.sliceEnd = out_.text.size();
    chunk.role = role;
    chunk.name = entry.piece->name;
    chunk.editable = isEditable(*entry.piece, role);
    chunk.needed = entry.isNeeded;
    out_.chunks.push_back(chunk);
    glue(guarded ? "\n#endif\n" : "\n");
  }

private:
  SliceText &out_;
  const bool withLines_;
  std::vector<std::string> open_;
  std::set<std::string> macros_; ///< defined so far
};

/// The pieces that `roots` need, and why one of them cannot be copied.
std::string collect(const SourceIndex &index, const std::vector<const clang::Decl *> &roots,
                    Entries &entries) {
  if (roots.empty())
    return "";
  Closure closure = closureOf(index, roots);
  for (std::size_t i : closure.pieces)
    entries.try_emplace(keyOf(index.pieces()[i]), Entry{&index.pieces()[i], &index});
  return closure.badText.empty() ? "" : *closure.badText.begin();
}

void addIncludes(const SourceIndex &index, Entries &entries) {
  for (const Piece &piece : index.pieces())
    if (piece.kind == PieceKind::Include)
      entries.try_emplace(keyOf(piece), Entry{&piece, &index, /*isNeeded=*/false});
}

/// The declarations of the other pass at the places of `roots`; empty if it does not see them.
std::vector<const clang::Decl *> counterparts(const SourceIndex &index,
                                              const std::vector<const clang::Decl *> &roots,
                                              const SourceIndex &other) {
  std::set<std::pair<Position, unsigned>> wanted;
  for (const clang::Decl *root : roots)
    if (std::optional<std::size_t> piece = index.declarationAt(root->getLocation()))
      wanted.insert(keyOf(index.pieces()[*piece]));
  std::vector<const clang::Decl *> found;
  for (const Piece &piece : other.pieces())
    if (wanted.count(keyOf(piece)))
      found.insert(found.end(), piece.decls.begin(), piece.decls.end());
  return found;
}

std::optional<Position> placeOf(const SourceIndex &index, const clang::FunctionDecl &kernel) {
  if (std::optional<std::size_t> piece = index.declarationAt(kernel.getLocation()))
    return index.pieces()[*piece].position;
  return std::nullopt;
}

/// True for a kernel with internal linkage: it is not emitted unless something refers to it.
bool needsReference(const clang::FunctionDecl &kernel) {
  return kernel.getFormalLinkage() == clang::Linkage::Internal || kernel.isInAnonymousNamespace();
}

SliceText write(const SliceRequest &request, const Entries &entries, bool withLines) {
  SliceText out;
  out.withLines = withLines;
  Writer writer(out, withLines);
  std::optional<Position> kernelPlace = placeOf(*request.host, *request.kernel);
  bool usesTune = false;
  for (const auto &[key, entry] : entries)
    for (const std::string &identifier : entry.piece->identifiers)
      usesTune |= identifier == "KOPT_TUNE";
  if (usesTune)
    writer.glue("#ifndef KOPT_TUNE\n#define KOPT_TUNE(...)\n#endif\n");
  for (const auto &[key, entry] : entries) {
    const Piece &piece = *entry.piece;
    if (piece.kind == PieceKind::Include && llvm::StringRef(piece.name).ends_with("kopt/kopt.h"))
      continue;
    // Includes must be outside all namespaces; macros may be anywhere.
    if (piece.kind == PieceKind::Include)
      writer.enter({});
    else if (piece.kind != PieceKind::Macro) {
      if (!piece.names.empty())
        writer.enter(piece.names); // what declares it may not be in the slice, or be further down
      writer.enter(piece.scopes);
    }
    bool isKernel = kernelPlace && piece.position == *kernelPlace;
    if (isKernel)
      out.kernelChunk = out.chunks.size();
    writer.piece(entry, isKernel ? ChunkRole::Kernel : roleOf(piece));
  }
  writer.enter({});
  if (!request.kernel->isTemplated() && needsReference(*request.kernel))
    writer.glue("const void *koptReference() { return (const void *)" +
                writtenName(*request.kernel) + "; }\n");
  return out;
}

} // namespace

std::vector<SliceText> buildSlices(const SliceRequest &request) {
  std::vector<const clang::Decl *> roots = {request.kernel};
  if (request.enclosing)
    roots.push_back(request.enclosing);
  Entries needed;
  std::string problem;
  if (request.device)
    problem = collect(*request.device, counterparts(*request.host, roots, *request.device), needed);
  if (std::string other = collect(*request.host, roots, needed); problem.empty())
    problem = other;
  Entries withAll = needed;
  if (request.device)
    addIncludes(*request.device, withAll);
  addIncludes(*request.host, withAll);
  std::vector<Entries> choices = {needed};
  if (withAll.size() != needed.size())
    choices.push_back(withAll);

  auto hostKeys = keysOf(request.host), deviceKeys = keysOf(request.device);
  std::vector<SliceText> slices;
  for (Entries &entries : choices) {
    for (auto &[key, entry] : entries) {
      entry.inHost = hostKeys.count(key);
      entry.inDevice = deviceKeys.count(key) || !request.device;
    }
    for (bool withLines : {false, true}) {
      slices.push_back(write(request, entries, withLines));
      slices.back().problem = problem;
      slices.back().withAllHeaders = entries.size() == withAll.size();
    }
  }
  return slices;
}

std::vector<SliceChunk> unusedBefore(const SliceRequest &request, const SliceText &slice) {
  const std::optional<Position> kernel = placeOf(*request.host, *request.kernel);
  if (!kernel)
    return {};
  std::set<std::pair<std::string, std::uint64_t>> sliced;
  for (const SliceChunk &chunk : slice.chunks)
    sliced.emplace(chunk.source.file, chunk.source.begin);
  std::map<std::pair<Position, unsigned>, SliceChunk> found;
  std::map<std::string, std::pair<Position, unsigned>> macros; ///< the last definition of each
  const std::vector<Piece> kNone;
  for (const SourceIndex *index : {request.host, request.device})
    for (const Piece &piece : index ? index->pieces() : kNone) {
      const ChunkRole role = roleOf(piece);
      const bool isForDevice =
          role == ChunkRole::Function ? isEditable(piece, role) : role != ChunkRole::Include;
      if (!isForDevice || !(piece.position < *kernel) || piece.containsInclude ||
          sliced.count({piece.file, piece.begin}))
        continue;
      SliceChunk chunk;
      chunk.source = {piece.file, piece.begin, piece.end};
      chunk.role = role;
      chunk.name = piece.name;
      chunk.editable = isEditable(piece, role);
      found.try_emplace(keyOf(piece), std::move(chunk));
      if (role != ChunkRole::Macro)
        continue;
      const auto [last, isFirst] = macros.try_emplace(piece.name, keyOf(piece));
      if (!isFirst && last->second < keyOf(piece)) {
        found.erase(last->second);
        last->second = keyOf(piece);
      } else if (last->second != keyOf(piece)) {
        found.erase(keyOf(piece));
      }
    }
  std::vector<SliceChunk> unused;
  for (auto &[place, chunk] : found)
    unused.push_back(std::move(chunk));
  return unused;
}

void instantiate(SliceText &slice, const std::vector<std::string> &expressions) {
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    SliceChunk chunk;
    std::string text = "const void *koptInstantiation" + (i ? std::to_string(i) : "") +
                       "() { return (const void *)" + expressions[i] + "; }";
    chunk.sliceBegin = slice.text.size();
    slice.text += text + "\n";
    chunk.sliceEnd = chunk.sliceBegin + text.size();
    chunk.role = ChunkRole::Instantiation;
    chunk.name = expressions[i];
    slice.chunks.push_back(chunk);
  }
}

} // namespace kopt::frontend
