// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/parse/SourceIndex.h"

#include <algorithm>
#include <clang/AST/ASTContext.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/PreprocessingRecord.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/Path.h>

namespace kopt::frontend {
namespace {

using clang::SourceLocation;

/// Calls `visit(token)` for each raw token of text[begin, end) until it returns false.
template <class Visit>
void lexRaw(llvm::StringRef text, unsigned begin, unsigned end, Visit visit) {
  static const clang::LangOptions kOptions = [] {
    clang::LangOptions options;
    options.CPlusPlus = options.CPlusPlus11 = options.CPlusPlus14 = options.CPlusPlus17 = true;
    options.LineComment = true;
    return options;
  }();
  clang::Lexer lexer(SourceLocation(), kOptions, text.data(), text.data() + begin,
                     text.data() + text.size());
  lexer.SetKeepWhitespaceMode(false);
  for (clang::Token token;;) {
    bool atEnd = lexer.LexFromRawLexer(token);
    unsigned offset =
        static_cast<unsigned>(lexer.getBufferLocation() - text.data()) - token.getLength();
    if (token.is(clang::tok::eof) || offset >= end || !visit(token, offset))
      return;
    if (atEnd)
      return;
  }
}

/// The end of the declaration whose last token ends at `end`: past the ';' that closes it.
unsigned endOfDeclaration(llvm::StringRef text, unsigned end) {
  unsigned result = end;
  int depth = 0;
  lexRaw(text, end, text.size(), [&](const clang::Token &token, unsigned offset) {
    if (token.isOneOf(clang::tok::l_brace, clang::tok::l_paren, clang::tok::l_square))
      ++depth;
    // `int n(3);` ends for Clang before its ')'; a '}' too many closes the namespace around.
    if (token.isOneOf(clang::tok::r_brace, clang::tok::r_paren, clang::tok::r_square))
      depth = token.is(clang::tok::r_brace) || depth > 0 ? depth - 1 : 0;
    if (depth < 0)
      return false;
    if (token.is(clang::tok::semi) && depth == 0) {
      result = offset + token.getLength();
      return false;
    }
    return true;
  });
  return result;
}

/// The ';' only if it is the very next token, as after a macro that expands to a declaration.
unsigned endAfterMacro(llvm::StringRef text, unsigned end) {
  unsigned result = end;
  lexRaw(text, end, text.size(), [&](const clang::Token &token, unsigned offset) {
    if (token.is(clang::tok::semi))
      result = offset + token.getLength();
    return false;
  });
  return result;
}

/// Attributes in [[ ]] stand before what Clang calls the begin of a declaration. kopt's own stay
/// behind: they are read.
unsigned beginWithAttributes(llvm::StringRef text, unsigned begin) {
  llvm::StringRef before = text.take_front(begin).rtrim();
  while (before.ends_with("]]")) {
    std::size_t open = before.rfind("[[");
    if (open == llvm::StringRef::npos || before.substr(open + 2).ltrim().starts_with("kopt"))
      break;
    begin = static_cast<unsigned>(open);
    before = before.take_front(open).rtrim();
  }
  return begin;
}

/// The #if groups of a file, each from its first directive to the end of its #endif's line.
std::vector<Conditional> conditionalsIn(llvm::StringRef text) {
  std::vector<Conditional> groups;
  std::vector<std::size_t> open;
  std::optional<unsigned> hash;
  lexRaw(text, 0, text.size(), [&](const clang::Token &token, unsigned offset) {
    if (token.is(clang::tok::hash) && token.isAtStartOfLine()) {
      hash = offset;
      return true;
    }
    llvm::StringRef word =
        hash && token.is(clang::tok::raw_identifier) ? token.getRawIdentifier() : "";
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      open.push_back(groups.size());
      groups.push_back({{*hash}, 0});
    } else if ((word == "else" || word.starts_with("elif") || word == "endif") && !open.empty()) {
      Conditional &group = groups[open.back()];
      group.directives.push_back(*hash);
      if (word == "endif") {
        std::size_t line = text.find('\n', offset);
        group.end = static_cast<unsigned>(line == llvm::StringRef::npos ? text.size() : line);
        open.pop_back();
      }
    }
    hash.reset();
    return true;
  });
  std::erase_if(groups, [](const Conditional &group) { return group.end == 0; });
  return groups;
}

/// A text with some of an #if group's directives takes in the whole group.
void takeWholeConditionals(const std::vector<Conditional> &groups, unsigned &begin, unsigned &end) {
  for (bool grown = true; grown;) {
    grown = false;
    for (const Conditional &group : groups) {
      unsigned first = group.directives.front();
      bool inside = first >= begin && group.end <= end;
      bool touches = std::any_of(group.directives.begin(), group.directives.end(),
                                 [&](unsigned at) { return at >= begin && at < end; });
      if (inside || !touches)
        continue;
      begin = std::min(begin, first);
      end = std::max(end, group.end);
      grown = true;
    }
  }
}

bool hasBody(const clang::Decl *declaration) {
  if (const auto *function = declaration->getAsFunction())
    return function->doesThisDeclarationHaveABody() && !function->isDefaulted();
  return false;
}

std::string scopeText(const clang::NamespaceDecl &space) {
  std::string name =
      space.isAnonymousNamespace() ? "namespace {" : "namespace " + space.getNameAsString() + " {";
  return space.isInline() ? "inline " + name : name;
}

/// The namespace that a using directive or an alias names; null for other declarations.
const clang::NamespaceDecl *namedSpace(const clang::Decl *declaration) {
  if (const auto *directive = llvm::dyn_cast<clang::UsingDirectiveDecl>(declaration))
    return directive->getNominatedNamespace();
  const auto *alias = llvm::dyn_cast<clang::NamespaceAliasDecl>(declaration);
  return alias ? alias->getNamespace() : nullptr;
}

std::string nameOf(const clang::Decl *declaration) {
  const auto *named = llvm::dyn_cast<clang::NamedDecl>(declaration);
  if (!named)
    return "";
  // What has no name is called the same in a copy of its file, some lines further down.
  const auto *enumeration = llvm::dyn_cast<clang::EnumDecl>(named);
  if (enumeration && !enumeration->getDeclName() && !enumeration->enumerators().empty())
    return "(enum of " + enumeration->enumerator_begin()->getQualifiedNameAsString() + ")";
  clang::PrintingPolicy policy(named->getASTContext().getPrintingPolicy());
  policy.AnonymousTagLocations = false;
  std::string name;
  llvm::raw_string_ostream stream(name);
  named->printQualifiedName(stream, policy);
  return name;
}

std::vector<std::string> identifiersIn(llvm::StringRef text, unsigned begin, unsigned end) {
  std::set<std::string> names;
  lexRaw(text, begin, end, [&](const clang::Token &token, unsigned) {
    if (token.is(clang::tok::raw_identifier))
      names.insert(token.getRawIdentifier().str());
    return true;
  });
  return {names.begin(), names.end()};
}

/// The file with that name, whichever file includes it: cub and cublas include cuda_runtime.h as
/// well.
std::optional<FileUid> fileNamed(clang::ASTUnit &unit, llvm::StringRef name) {
  const clang::SourceManager &manager = unit.getSourceManager();
  for (unsigned i = 0, n = manager.local_sloc_entry_size(); i < n; ++i)
    if (const clang::SrcMgr::SLocEntry &entry = manager.getLocalSLocEntry(i); entry.isFile())
      if (const auto file = entry.getFile().getContentCache().OrigEntry;
          file && llvm::sys::path::filename(file->getName()) == name)
        return file->getFileEntry().getUID();
  return std::nullopt;
}

} // namespace

SourceIndex::SourceIndex(clang::ASTUnit &unit) : unit_(unit) {
  addDeclarations(unit.getASTContext().getTranslationUnitDecl(), {});
  mergeOverlaps();
  addPreprocessing();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    Piece &piece = pieces_[i];
    llvm::StringRef text = sources().getBufferData(fileOf_[i]);
    piece.identifiers = identifiersIn(text, piece.begin, piece.end);
    piece.position = positionOf(fileOf_[i], piece.begin);
  }
}

std::pair<std::string, unsigned> SourceIndex::presumedPlace(const Piece &piece) const {
  std::size_t index = static_cast<std::size_t>(&piece - pieces_.data());
  SourceLocation start = sources()
                             .getLocForStartOfFile(fileOf_[index])
                             .getLocWithOffset(static_cast<int>(piece.begin));
  clang::PresumedLoc place = sources().getPresumedLoc(start);
  return {place.getFilename(), place.getLine()};
}

bool SourceIndex::isUser(clang::FileID file) const {
  if (auto known = isUser_.find(file); known != isUser_.end())
    return known->second;
  const clang::SourceManager &manager = sources();
  bool user = false;
  if (file.isValid() && manager.getFileEntryRefForID(file)) {
    SourceLocation start = manager.getLocForStartOfFile(file);
    SourceLocation includedAt = manager.getIncludeLoc(file);
    if (file == manager.getMainFileID())
      user = true;
    else if (!manager.isInSystemHeader(start) && includedAt.isValid() &&
             !llvm::StringRef(path(file)).ends_with("/kopt/kopt.h"))
      user = isUser(
          manager.getFileID(includedAt)); // files forced in by a flag come in by that flag again
  }
  isUser_[file] = user;
  return user;
}

std::string SourceIndex::path(clang::FileID file) const {
  auto entry = sources().getFileEntryRefForID(file);
  if (!entry)
    return "";
  llvm::SmallString<256> name(entry->getFileEntry().tryGetRealPathName());
  if (name.empty())
    name = entry->getName();
  sources().getFileManager().makeAbsolutePath(name);
  llvm::sys::path::remove_dots(name, /*remove_dot_dot=*/true);
  return std::string(name);
}

std::string SourceIndex::text(const Piece &piece) const {
  std::size_t index = static_cast<std::size_t>(&piece - pieces_.data());
  return sources().getBufferData(fileOf_[index]).substr(piece.begin, piece.end - piece.begin).str();
}

std::map<std::string, bool> SourceIndex::files() const {
  std::map<std::string, bool> files;
  for (unsigned i = 0, n = sources().local_sloc_entry_size(); i < n; ++i)
    if (const clang::SrcMgr::SLocEntry &entry = sources().getLocalSLocEntry(i); entry.isFile()) {
      clang::FileID file =
          sources().getFileID(SourceLocation::getFromRawEncoding(entry.getOffset()));
      files[path(file)] |= isUser(file);
    }
  return files;
}

Position SourceIndex::positionOf(clang::FileID file, unsigned offset) const {
  Position position = {offset};
  while (file != sources().getMainFileID()) {
    SourceLocation includedAt = sources().getIncludeLoc(file);
    if (includedAt.isInvalid())
      break;
    auto [parent, at] = sources().getDecomposedLoc(includedAt);
    position.push_back(at);
    file = parent;
  }
  std::reverse(position.begin(), position.end());
  return position;
}

void SourceIndex::addDeclarations(const clang::DeclContext *context,
                                  std::vector<std::string> scopes) {
  for (const clang::Decl *declaration : context->decls()) {
    if (declaration->isImplicit() || declaration->getLocation().isInvalid())
      continue;
    if (const auto *space = llvm::dyn_cast<clang::NamespaceDecl>(declaration)) {
      std::vector<std::string> inner = scopes;
      inner.push_back(scopeText(*space));
      addDeclarations(space, inner);
    } else if (const auto *linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(declaration);
               linkage && linkage->hasBraces()) {
      std::vector<std::string> inner = scopes;
      inner.push_back(linkage->getLanguage() == clang::LinkageSpecLanguageIDs::C
                          ? "extern \"C\" {"
                          : "extern \"C++\" {");
      addDeclarations(linkage, inner);
    } else {
      addDeclaration(declaration, scopes);
    }
  }
}

void SourceIndex::addDeclaration(const clang::Decl *declaration,
                                 const std::vector<std::string> &scopes) {
  if (llvm::isa<clang::EmptyDecl, clang::StaticAssertDecl, clang::FileScopeAsmDecl>(declaration))
    return;
  const clang::SourceManager &manager = sources();
  clang::CharSourceRange range = manager.getExpansionRange(declaration->getSourceRange());
  if (range.isInvalid())
    return;
  auto [file, begin] = manager.getDecomposedLoc(range.getBegin());
  auto [endFile, last] = manager.getDecomposedLoc(range.getEnd());
  if (file != endFile || !isUser(file))
    return;
  llvm::StringRef text = manager.getBufferData(file);
  unsigned end =
      last + clang::Lexer::MeasureTokenLength(range.getEnd(), manager, unit_.getLangOpts());
  bool endsInMacro = declaration->getEndLoc().isMacroID();
  const clang::Decl *inner = declaration;
  if (const auto *linkage = llvm::dyn_cast<clang::LinkageSpecDecl>(declaration);
      linkage && !linkage->decls_empty())
    inner = *linkage->decls_begin();
  if (endsInMacro && declaration->getBeginLoc().isMacroID() && begin == last)
    end = endAfterMacro(text, end);
  else if (!hasBody(inner))
    end = endOfDeclaration(text, end);

  Piece piece;
  if (llvm::isa<clang::UsingDirectiveDecl>(declaration))
    piece.kind = PieceKind::UsingDirective;
  else if (llvm::isa<clang::UsingDecl>(declaration))
    piece.kind = PieceKind::Using;
  piece.file = path(file);
  piece.begin = beginWithAttributes(text, begin);
  piece.end = end;
  auto conditionals = conditionals_.find(file);
  if (conditionals == conditionals_.end())
    conditionals = conditionals_.emplace(file, conditionalsIn(text)).first;
  takeWholeConditionals(conditionals->second, piece.begin, piece.end);
  piece.scopes = scopes;
  const auto *space = namedSpace(declaration);
  if (space && isUser(manager.getFileID(manager.getExpansionLoc(space->getLocation()))))
    for (; space; space = llvm::dyn_cast<clang::NamespaceDecl>(space->getParent()))
      piece.names.insert(piece.names.begin(), scopeText(*space));
  piece.decls = {declaration};
  piece.name = nameOf(inner);
  pieces_.push_back(std::move(piece));
  fileOf_.push_back(file);
}

/// `typedef struct S { } T;` and `int a, b;` are several declarations and one text.
void SourceIndex::mergeOverlaps() {
  std::vector<std::size_t> order(pieces_.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return std::tuple(fileOf_[a], pieces_[a].begin, a) <
           std::tuple(fileOf_[b], pieces_[b].begin, b);
  });
  std::vector<Piece> merged;
  std::vector<clang::FileID> files;
  for (std::size_t i : order) {
    Piece &piece = pieces_[i];
    if (!merged.empty() && files.back() == fileOf_[i] && piece.begin < merged.back().end) {
      merged.back().end = std::max(merged.back().end, piece.end);
      merged.back().decls.insert(merged.back().decls.end(), piece.decls.begin(), piece.decls.end());
      continue;
    }
    merged.push_back(std::move(piece));
    files.push_back(fileOf_[i]);
  }
  pieces_ = std::move(merged);
  fileOf_ = std::move(files);
  for (std::size_t i = 0; i < pieces_.size(); ++i)
    declarationByBegin_[{fileOf_[i], pieces_[i].begin}] = i;
}

void SourceIndex::addPreprocessing() {
  const clang::SourceManager &manager = sources();
  clang::PreprocessingRecord *record = unit_.getPreprocessor().getPreprocessingRecord();
  if (!record)
    return;
  // SourceManager::translateFile() searches all files and expansions, for each directive again.
  std::map<FileUid, clang::FileID> firstOf;
  for (unsigned i = 0, n = manager.local_sloc_entry_size(); i < n; ++i)
    if (const clang::SrcMgr::SLocEntry &entry = manager.getLocalSLocEntry(i); entry.isFile())
      if (const auto file = entry.getFile().getContentCache().OrigEntry)
        firstOf.try_emplace(
            file->getFileEntry().getUID(),
            manager.getFileID(SourceLocation::getFromRawEncoding(entry.getOffset())));
  for (clang::PreprocessedEntity *entity : *record) {
    auto *definition = llvm::dyn_cast_or_null<clang::MacroDefinitionRecord>(entity);
    auto *inclusion = llvm::dyn_cast_or_null<clang::InclusionDirective>(entity);
    if ((!definition && !inclusion) || entity->getSourceRange().isInvalid())
      continue;
    auto [file, begin] = manager.getDecomposedLoc(entity->getSourceRange().getBegin());
    auto [endFile, last] = manager.getDecomposedLoc(entity->getSourceRange().getEnd());
    auto entry = manager.getFileEntryRefForID(file);
    if (!entry || file != endFile)
      continue;
    bool user = isUser(file);
    if (definition && !user) {
      systemMacros_.try_emplace(definition->getName()->getName().str(),
                                entry->getFileEntry().getUID());
      continue;
    }
    if (inclusion && inclusion->getFile())
      includeGraph_[entry->getFileEntry().getUID()].insert(
          inclusion->getFile()->getFileEntry().getUID());
    if (!user)
      continue;
    llvm::StringRef text = manager.getBufferData(file);
    Piece piece;
    piece.file = path(file);
    piece.end = last + clang::Lexer::MeasureTokenLength(entity->getSourceRange().getEnd(), manager,
                                                        unit_.getLangOpts());
    piece.begin = static_cast<unsigned>(text.take_front(begin + 1).rfind('#'));
    if (definition) {
      piece.kind = PieceKind::Macro;
      piece.name = definition->getName()->getName().str();
      userMacros_[piece.name].push_back(pieces_.size());
    } else {
      if (auto inside = declarationAt(entity->getSourceRange().getBegin()))
        pieces_[*inside].containsInclude = true;
      clang::FileID target;
      if (const auto named = inclusion->getFile()) {
        const auto known = firstOf.find(named->getFileEntry().getUID());
        target = known != firstOf.end() ? known->second : manager.translateFile(*named);
      }
      if (target.isValid() && isUser(target))
        continue;
      piece.kind = PieceKind::Include;
      piece.name = inclusion->getFileName().str();
      std::size_t line = text.find('\n', piece.begin);
      piece.end = static_cast<unsigned>(line == llvm::StringRef::npos ? text.size() : line);
      if (inclusion->getFile())
        includeTargets_[pieces_.size()] = inclusion->getFile()->getFileEntry().getUID();
    }
    pieces_.push_back(std::move(piece));
    fileOf_.push_back(file);
  }
}

std::optional<std::size_t> SourceIndex::declarationAt(SourceLocation location) const {
  if (location.isInvalid())
    return std::nullopt;
  auto [file, offset] = sources().getDecomposedLoc(sources().getExpansionLoc(location));
  auto after = declarationByBegin_.upper_bound({file, offset});
  if (after == declarationByBegin_.begin())
    return std::nullopt;
  --after;
  if (after->first.first != file || offset >= pieces_[after->second].end)
    return std::nullopt;
  return after->second;
}

std::optional<std::size_t> SourceIndex::macroAt(const std::string &name,
                                                const Position &position) const {
  auto found = userMacros_.find(name);
  if (found == userMacros_.end())
    return std::nullopt;
  // In the order of the preprocessor: the last one before, or else (a macro used in another macro)
  // the first.
  std::size_t best = found->second.front();
  for (std::size_t candidate : found->second)
    if (pieces_[candidate].position < position)
      best = candidate;
  return best;
}

std::optional<FileUid> SourceIndex::systemMacro(const std::string &name) const {
  auto found = systemMacros_.find(name);
  if (found == systemMacros_.end())
    return std::nullopt;
  return found->second;
}

std::set<FileUid> SourceIndex::reachableFrom(FileUid start) const {
  std::set<FileUid> reached;
  std::vector<FileUid> open = {start};
  while (!open.empty()) {
    FileUid file = open.back();
    open.pop_back();
    if (!reached.insert(file).second)
      continue;
    if (auto next = includeGraph_.find(file); next != includeGraph_.end())
      open.insert(open.end(), next->second.begin(), next->second.end());
  }
  return reached;
}

std::set<std::size_t> SourceIndex::includesFor(const std::set<FileUid> &files) const {
  std::map<FileUid, std::set<FileUid>> reach; // of each target
  // What every CUDA compiler includes by itself; what of it comes from the C library is included
  // all the same where the user names it.
  std::set<FileUid> unasked, library;
  if (const std::optional<FileUid> runtime = fileNamed(unit_, "cuda_runtime.h"))
    unasked = reachableFrom(*runtime);
  if (const std::optional<FileUid> shim = fileNamed(unit_, "kopt_parse_shim.h"))
    library = reachableFrom(*shim);
  for (const char *ofToolkit : {"vector_types.h", "surface_types.h"})
    if (const std::optional<FileUid> types = fileNamed(unit_, ofToolkit))
      for (FileUid file : reachableFrom(*types))
        library.erase(file);
  for (const auto &[piece, target] : includeTargets_)
    if (const auto [at, isNew] = reach.try_emplace(target); isNew)
      at->second = reachableFrom(target);
  // <cstdio> is equivalent to <stdio.h>.
  const auto isOrIncludes = [&](FileUid target, FileUid file) {
    const auto includes = includeGraph_.find(target);
    return target == file || (includes != includeGraph_.end() && includes->second.count(file) > 0);
  };
  std::set<std::size_t> chosen;
  for (FileUid file : files) {
    if (unasked.count(file) && !library.count(file))
      continue;
    // The header that brings the least beside what is needed: <stdint.h> rather than <vector>.
    const std::set<FileUid> *least = nullptr;
    std::size_t best = 0;
    for (const auto &[piece, target] : includeTargets_)
      if (const std::set<FileUid> &reached = reach[target];
          (!least || reached.size() < least->size()) && reached.count(file) &&
          (!library.count(file) || isOrIncludes(target, file))) {
        least = &reached;
        best = piece;
      }
    if (least)
      chosen.insert(best);
  }
  return chosen;
}

} // namespace kopt::frontend
