// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/tunables/Constants.h"

#include <cctype>
#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/Lex/Lexer.h>

namespace kopt::frontend {
namespace {

/// True if the value is written in digits, without names, macros or anything that differs between
/// instantiations.
bool isWrittenOut(const clang::Stmt *statement) {
  if (statement->getBeginLoc().isMacroID() ||
      llvm::isa<clang::DeclRefExpr, clang::SubstNonTypeTemplateParmExpr,
                clang::UnaryExprOrTypeTraitExpr, clang::TypeTraitExpr>(statement))
    return false;
  for (const clang::Stmt *child : statement->children())
    if (child && !isWrittenOut(child))
      return false;
  return true;
}

std::optional<std::int64_t> evaluate(const clang::Expr *expression,
                                     const clang::ASTContext &context) {
  clang::Expr::EvalResult result;
  if (expression->isValueDependent() || !expression->EvaluateAsInt(result, context) ||
      !result.Val.getInt().isRepresentableByInt64())
    return std::nullopt;
  return result.Val.getInt().getExtValue();
}

} // namespace

std::optional<SourceRange> Constants::rangeOf(clang::SourceRange range) const {
  const clang::SourceManager &manager = index_.sources();
  if (range.isInvalid() || range.getBegin().isMacroID() || range.getEnd().isMacroID())
    return std::nullopt;
  auto [file, begin] = manager.getDecomposedLoc(range.getBegin());
  auto [endFile, last] = manager.getDecomposedLoc(range.getEnd());
  if (file != endFile || !index_.isUser(file))
    return std::nullopt;
  unsigned length =
      clang::Lexer::MeasureTokenLength(range.getEnd(), manager, index_.unit().getLangOpts());
  return SourceRange{index_.path(file), begin, last + length};
}

std::optional<NamedConstant> Constants::find(const clang::ValueDecl *declaration) const {
  const clang::ASTContext &context = index_.unit().getASTContext();
  const clang::Expr *value = nullptr;
  NamedConstant constant;
  if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration)) {
    if (!variable->getType()->isIntegralOrEnumerationType() || variable->getType()->isBooleanType())
      return std::nullopt;
    if (!variable->isConstexpr() && !variable->getType().isConstQualified())
      return std::nullopt;
    value = variable->getAnyInitializer();
    constant.kind = variable->isConstexpr() ? ConstantKind::Constexpr : ConstantKind::Const;
  } else if (const auto *enumerator = llvm::dyn_cast<clang::EnumConstantDecl>(declaration)) {
    value = enumerator->getInitExpr();
    constant.kind = ConstantKind::Enum;
  }
  if (!value)
    return std::nullopt;
  value = value->IgnoreImplicit();
  if (const auto *list = llvm::dyn_cast<clang::InitListExpr>(value);
      list && list->getNumInits() == 1)
    value = list->getInit(0)->IgnoreImplicit();
  std::optional<SourceRange> range = rangeOf(value->getSourceRange());
  std::optional<std::int64_t> number = evaluate(value, context);
  if (!range || !number || !isWrittenOut(value))
    return std::nullopt;
  constant.name = declaration->getNameAsString();
  constant.value = *number;
  constant.valueRange = *range;
  constant.line = index_.sources().getSpellingLineNumber(declaration->getLocation());
  return constant;
}

std::optional<NamedConstant> Constants::find(const Piece &macro) const {
  if (macro.kind != PieceKind::Macro)
    return std::nullopt;
  std::string text = index_.text(macro);
  std::size_t at = text.find(macro.name, text.find("define") + 6);
  if (at == std::string::npos)
    return std::nullopt;
  at += macro.name.size();
  std::size_t end = text.size();
  // The value is one integer, in any number of parentheses.
  auto skipBlanks = [&] {
    while (at < end && std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
    while (end > at && std::isspace(static_cast<unsigned char>(text[end - 1])))
      --end;
  };
  if (at < end && text[at] == '(')
    return std::nullopt; // a macro with parameters
  for (skipBlanks(); at + 1 < end && text[at] == '(' && text[end - 1] == ')'; skipBlanks()) {
    ++at;
    --end;
  }
  std::size_t digits = end;
  while (digits > at && std::string_view("uUlL").find(text[digits - 1]) != std::string_view::npos)
    --digits;
  std::int64_t value = 0;
  if (at == digits || llvm::StringRef(text).slice(at, digits).getAsInteger(0, value))
    return std::nullopt;
  NamedConstant constant;
  constant.name = macro.name;
  constant.kind = ConstantKind::Macro;
  constant.value = value;
  constant.valueRange = {macro.file, macro.begin + at, macro.begin + end};
  const auto [file, isNew] = files_.try_emplace(macro.file, index_.sources().getMainFileID());
  if (isNew)
    if (auto entry = index_.sources().getFileManager().getOptionalFileRef(macro.file))
      file->second = index_.sources().translateFile(*entry);
  constant.line = index_.sources().getLineNumber(file->second, macro.begin);
  return constant;
}

std::optional<NamedConstant> Constants::findMacroAt(clang::SourceLocation location) const {
  const clang::SourceManager &manager = index_.sources();
  while (location.isMacroID()) {
    if (manager.isMacroArgExpansion(location)) {
      location = manager.getImmediateSpellingLoc(location);
      continue;
    }
    std::string name =
        clang::Lexer::getImmediateMacroName(location, manager, index_.unit().getLangOpts()).str();
    // The definition is the one whose text spells the token.
    clang::SourceLocation spelled = manager.getSpellingLoc(location);
    auto [file, offset] = manager.getDecomposedLoc(spelled);
    for (const Piece &piece : index_.pieces())
      if (piece.kind == PieceKind::Macro && piece.name == name && piece.begin <= offset &&
          offset < piece.end && piece.file == index_.path(file))
        return find(piece);
    location = manager.getImmediateExpansionRange(location).getBegin();
  }
  return std::nullopt;
}

} // namespace kopt::frontend
