// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/analysis/BodyText.h"

namespace kopt::frontend {

using namespace clang;

std::optional<TextSpan> spanOf(const KernelView &view, SourceRange range) {
  const auto begin = view.offset(range.getBegin()), end = view.endOffset(range.getEnd());
  return begin && end ? std::optional(TextSpan{*begin, *end}) : std::nullopt;
}

/// What a loop or a test ends with; null for others.
static const Stmt *endingOf(const Stmt *statement) {
  if (const auto *test = dyn_cast<IfStmt>(statement))
    return test->getElse() ? test->getElse() : test->getThen();
  if (const auto *loop = dyn_cast<ForStmt>(statement))
    return loop->getBody();
  const auto *loop = dyn_cast<WhileStmt>(statement);
  return loop ? loop->getBody() : nullptr;
}

std::optional<unsigned> endOfStatement(const KernelView &view, const Stmt *statement) {
  const auto end = view.endOffset(statement->getEndLoc());
  if (!end)
    return std::nullopt;
  for (const Stmt *inner = statement; inner; inner = endingOf(statement))
    statement = inner;
  const char last = view.text()[*end - 1];
  if (last == ';' || (last == '}' && !isa<Expr>(statement)))
    return end;
  const llvm::StringRef rest = view.text().drop_front(*end);
  const std::size_t blanks = rest.size() - rest.ltrim().size();
  return rest.substr(blanks).starts_with(";") ? std::optional(unsigned(*end + blanks + 1))
                                              : std::nullopt;
}

unsigned lineStart(llvm::StringRef text, unsigned place) {
  return unsigned(text.take_front(place).rfind('\n') + 1); // npos + 1 is 0: the first line
}

std::string BodyText::indented(llvm::StringRef inside) const {
  const auto [first, rest] = inside.split('\n');
  std::string text; // the first line stands behind the brace
  if (!first.trim().empty())
    text = inner + step + first.trim().str() + "\n";
  llvm::StringRef lines = rest.rtrim();
  while (!lines.empty() && lines.split('\n').first.trim().empty())
    lines = lines.split('\n').second;
  while (!lines.empty()) {
    const auto [line, others] = lines.split('\n');
    text += (line.trim().empty() || line.starts_with("#") ? "" : step) + line.str() + "\n";
    lines = others;
  }
  return text;
}

std::optional<BodyText> bodyText(const KernelView &view, const FunctionDecl &function) {
  const auto *block = dyn_cast_or_null<CompoundStmt>(function.getBody());
  const auto open = block ? view.offset(block->getLBracLoc()) : std::nullopt,
             close = block ? view.offset(block->getRBracLoc()) : std::nullopt;
  if (!open || !close)
    return std::nullopt;
  BodyText body{{*open + 1, *close}, view.indentation(*close), "", ""};
  const Stmt *first = block->body_empty() ? nullptr : block->body_front();
  if (const auto *attributed = dyn_cast_or_null<AttributedStmt>(first))
    first = attributed->getSubStmt(); // a pragma may stand in the first column
  if (const auto place = first ? view.offset(first->getBeginLoc()) : std::nullopt)
    body.inner = view.indentation(*place);
  if (!llvm::StringRef(body.inner).starts_with(body.outer) || body.inner == body.outer)
    body.inner = body.outer + "  ";
  body.step = body.inner.substr(body.outer.size());
  return body;
}

} // namespace kopt::frontend
