// SPDX-License-Identifier: Apache-2.0
// A parsed translation unit as pieces of the user's text: declarations at namespace scope, macro
// definitions and includes, each a byte range that can be copied as it stands. Pieces of the host
// and the device pass are comparable.
#pragma once

#include <clang/AST/Decl.h>
#include <clang/AST/DeclCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/ASTUnit.h>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kopt::frontend {

/// Where a piece stands in the preprocessed order: the offsets of the includes that lead to its
/// file, then its own. Equal in both passes of one translation unit, and ordered like the text the
/// compiler sees.
using Position = std::vector<unsigned>;

enum class PieceKind { Declaration, UsingDirective, Using, Macro, Include };

struct Piece {
  PieceKind kind = PieceKind::Declaration;
  std::string file; ///< absolute
  unsigned begin = 0, end = 0;
  Position position;
  std::vector<std::string>
      scopes; ///< how to reopen what encloses it: "namespace a {", "extern \"C\" {"
  std::vector<std::string> names; ///< the scopes of the user's namespace that a using directive or
                                  ///< an alias names: it must be declared before
  std::vector<const clang::Decl *> decls;
  std::string name;
  std::vector<std::string>
      identifiers;              ///< every identifier in the text, once: candidates for macros
  bool containsInclude = false; ///< has an #include inside, so the text cannot be moved
};

/// An #if with its #elif, #else and #endif: the offset of each '#', and the end of the last line.
struct Conditional {
  std::vector<unsigned> directives;
  unsigned end = 0;
};

/// Clang's number of a file: an order that does not depend on addresses.
using FileUid = unsigned;

class SourceIndex {
public:
  explicit SourceIndex(clang::ASTUnit &unit);

  const std::vector<Piece> &pieces() const { return pieces_; }
  clang::ASTUnit &unit() const { return unit_; }
  const clang::SourceManager &sources() const { return unit_.getSourceManager(); }

  /// The declaration that contains this place (in the expansion of macros), or nothing.
  std::optional<std::size_t> declarationAt(clang::SourceLocation location) const;
  /// The definition of a macro that holds at `position`: a piece of the user's text.
  std::optional<std::size_t> macroAt(const std::string &name, const Position &position) const;
  /// The system header that defines the macro, if the user's files do not.
  std::optional<FileUid> systemMacro(const std::string &name) const;
  /// A small set of the user's include directives that covers all `files` that any directive
  /// covers.
  std::set<std::size_t> includesFor(const std::set<FileUid> &files) const;

  /// True for the user's files: reached from the main file, not a system header and not kopt's own.
  bool isUser(clang::FileID file) const;
  std::string path(clang::FileID file) const;
  std::string text(const Piece &piece) const;
  /// The values of __FILE__ and __LINE__ where the piece begins.
  std::pair<std::string, unsigned> presumedPlace(const Piece &piece) const;
  /// Absolute paths of all files that were read, and whether each counts as the user's.
  std::map<std::string, bool> files() const;

private:
  void addDeclarations(const clang::DeclContext *context, std::vector<std::string> scopes);
  void addDeclaration(const clang::Decl *declaration, const std::vector<std::string> &scopes);
  void addPreprocessing();
  void mergeOverlaps();
  std::set<FileUid> reachableFrom(FileUid start) const;
  Position positionOf(clang::FileID file, unsigned offset) const;

  clang::ASTUnit &unit_;
  std::vector<Piece> pieces_;
  std::vector<clang::FileID> fileOf_; ///< of each piece
  std::map<std::pair<clang::FileID, unsigned>, std::size_t> declarationByBegin_;
  std::map<std::string, std::vector<std::size_t>> userMacros_;
  std::map<std::string, FileUid> systemMacros_;
  std::map<std::size_t, FileUid> includeTargets_;
  std::map<FileUid, std::set<FileUid>> includeGraph_;
  std::map<clang::FileID, std::vector<Conditional>> conditionals_;
  mutable std::map<clang::FileID, bool> isUser_;
};

} // namespace kopt::frontend
