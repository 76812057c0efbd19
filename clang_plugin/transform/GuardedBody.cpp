// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/GuardedBody.h"

#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/transform/Transformation.h"
#include "runtime/device/GpuLimits.h"

#include <clang/AST/Attr.h>
#include <clang/AST/Mangle.h>

#include <set>

namespace kopt::frontend {

using namespace clang;

namespace {

struct TextToken {
  llvm::StringRef text;
  unsigned begin = 0;
  bool isDirective = false; ///< the name of one
  int depth = 0; ///< brackets and conditionals of the preprocessor that are open behind it
  unsigned end() const { return begin + unsigned(text.size()); }
};

/// The tokens without comments, also those that the preprocessor leaves out.
std::vector<TextToken> tokensOf(llvm::StringRef text) {
  std::vector<TextToken> tokens;
  std::vector<int> conditionals; // the brackets that are open where each begins
  int brackets = 0;
  bool isHash = false;
  for (const RawToken &token : rawTokens(text)) {
    const llvm::StringRef part = text.slice(token.begin, token.end);
    brackets += part == "(" || part == "[" || part == "{";
    brackets -= part == ")" || part == "]" || part == "}";
    const bool continues = isHash && (part.starts_with("el") || part == "endif");
    if ((isHash && part.starts_with("if")) || (continues && conditionals.empty()))
      conditionals.push_back(brackets); // one that begins before the text does not end in it
    else if (continues && part != "endif")
      brackets = conditionals.back();
    else if (continues)
      conditionals.pop_back();
    tokens.push_back({part, token.begin, isHash, brackets + int(conditionals.size())});
    isHash = part == "#" && token.startsLine;
  }
  return tokens;
}

/// A kernel's chunk of a slice. Places count from the begin of `inside`.
struct KernelText {
  const KernelView &view;
  BodyView body; ///< of the template, if it is one
  BodyText layout;
  llvm::StringRef head, inside, tail; ///< before, between and after the braces
  std::vector<TextToken> tokens{};    ///< of `inside`

  llvm::ArrayRef<Stmt *> statements() const {
    const auto *block = cast<CompoundStmt>(body.function->getBody());
    return {block->body_begin(), block->body_end()};
  }
  /// Where the token at a location is, or the macro that it comes from.
  unsigned at(SourceLocation location) const {
    const SourceManager &sources = view.context().getSourceManager();
    return sources.getFileOffset(sources.getExpansionLoc(location)) - layout.begin;
  }
  unsigned at(const Stmt *statement) const { return at(statement->getBeginLoc()); }
  unsigned endOf(const Stmt *statement) const {
    const SourceManager &sources = view.context().getSourceManager();
    const SourceLocation last = sources.getExpansionRange(statement->getEndLoc()).getEnd();
    return view.endOffset(last).value_or(layout.begin) - layout.begin;
  }
};

/// `__launch_bounds__(…)` in the tokens before a body; empty if there is none.
TextSpan boundsIn(llvm::StringRef head) {
  TextSpan bounds;
  int depth = 0;
  for (const RawToken &token : rawTokens(head)) {
    if (token.text == "__launch_bounds__")
      bounds.begin = token.begin;
    else if (bounds.begin == 0)
      continue;
    depth += token.is(tok::l_paren) - token.is(tok::r_paren);
    bounds.end = token.end;
    if (depth == 0 && token.is(tok::r_paren))
      break;
  }
  return bounds;
}

/// What has to be the same of two kernels.
std::vector<std::string> promisesOf(llvm::StringRef head) {
  const TextSpan bounds = boundsIn(head);
  std::vector<std::string> tokens;
  for (RawToken &token : rawTokens(head))
    if (!bounds.contains({token.begin, token.end}) && token.text != "__restrict__" &&
        token.text != "__restrict")
      tokens.push_back(std::move(token.text));
  return tokens;
}

/// The head of a kernel with both bodies: that of the special one, which may promise more of its
/// pointers. Its bounds hold for its own launches only.
std::string headOfBoth(const KernelText &usual, const KernelText &special) {
  if (boundsIn(usual.head).end > 0)
    return usual.head.str();
  const TextSpan bounds = boundsIn(special.head);
  const llvm::StringRef behind = special.head.drop_front(bounds.end);
  return (special.head.take_front(bounds.begin) + (bounds.end > 0 ? behind.ltrim() : behind)).str();
}

/// True if this use of a parameter may change it: assigns it, or passes it on as something that
/// others may assign.
bool mayChange(const BodyView &body, const DeclRefExpr *use) {
  const Stmt *parent = body.parentOf(use);
  if (const auto *cast = dyn_cast_or_null<CastExpr>(parent))
    return cast->isGLValue();
  if (const auto *binary = dyn_cast_or_null<BinaryOperator>(parent))
    return (binary->isAssignmentOp() && binary->getLHS()->IgnoreParens() == use) ||
           binary->isCommaOp();
  if (const auto *unary = dyn_cast_or_null<UnaryOperator>(parent))
    return unary->isIncrementDecrementOp() || unary->getOpcode() == UO_AddrOf;
  return !isa_and_nonnull<ArraySubscriptExpr, UnaryExprOrTypeTraitExpr>(parent);
}

/// The places in the body where a line begins and a statement of the body has just ended.
std::set<std::size_t> splitsOf(const KernelText &kernel) {
  std::set<std::size_t> splits;
  const llvm::ArrayRef<Stmt *> statements = kernel.statements();
  for (std::size_t i = 0; i < statements.size(); ++i) {
    unsigned end = kernel.endOf(statements[i]);
    if (i + 1 < statements.size() && kernel.at(statements[i + 1]) < end)
      continue; // one macro spells parts of both
    auto next = llvm::find_if(kernel.tokens, [&](const auto &each) { return each.begin >= end; });
    if (next != kernel.tokens.end() && next->text == ";")
      end = next++->end();
    const std::size_t newline = kernel.inside.find('\n', end);
    if (newline != llvm::StringRef::npos && std::prev(next)->depth == 0 &&
        (next == kernel.tokens.end() || next->begin > newline) &&
        !kernel.inside.slice(end, newline).contains("/*"))
      splits.insert(newline + 1);
  }
  return splits;
}

/// The bytes that both bodies begin with: whole statements and lines that change nothing in the
/// condition and use none of the constants.
std::size_t sharedBeginning(const KernelText &usual, const KernelText &special,
                            const BodyGuard &guard) {
  const llvm::StringRef a = usual.inside, b = special.inside;
  std::size_t limit = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  for (const TextToken &token : usual.tokens)
    if (llvm::is_contained(guard.constants, token.text))
      limit = std::min<std::size_t>(limit, token.begin);
  for (const Stmt *statement : usual.body.statements)
    if (const auto *use = dyn_cast<DeclRefExpr>(statement);
        use && isa<ParmVarDecl>(use->getDecl()) && use->getDecl()->getIdentifier() &&
        llvm::is_contained(guard.variables, use->getDecl()->getName()) &&
        mayChange(usual.body, use))
      limit = std::min<std::size_t>(limit, usual.at(use));
  std::size_t beginning = 0;
  const std::set<std::size_t> others = splitsOf(special);
  for (const std::size_t split : splitsOf(usual))
    if (split <= limit && others.contains(split))
      beginning = split;
  return beginning;
}

/// Bytes of static shared memory of a kernel with both bodies.
std::uint64_t sharedBytes(const KernelText &usual, const KernelText &special,
                          std::size_t beginning) {
  std::uint64_t bytes = 0;
  std::set<std::string> callees; // both bodies may call the same ones
  for (const KernelText *kernel : {&usual, &special})
    for (const BodyView &body : kernel->view.bodies()) {
      const bool isKernel = body.function == &kernel->view.kernel();
      if (!isKernel &&
          !callees.insert(ASTNameGenerator(kernel->view.context()).getName(body.function)).second)
        continue;
      for (const VarDecl *variable : staticShared(body))
        if (!isKernel || kernel == &usual || kernel->at(variable->getLocation()) >= beginning)
          bytes += kernel->view.context().getTypeSizeInChars(variable->getType()).getQuantity();
    }
  return bytes;
}

/// True if the text names something outside of the kernel's body, too, other than to declare it.
bool isNamedElsewhere(const KernelText &kernel, llvm::StringRef name) {
  const auto tokens = tokensOf(kernel.view.text());
  return llvm::count_if(tokens, [&](const TextToken &each) {
           return each.text == name && each.begin - kernel.layout.begin >= kernel.inside.size();
         }) != 1;
}

/// The declaration of a file's constant as a statement of the kernel; empty if it has no line of
/// its own.
std::string localConstant(const KernelText &kernel, const std::string &name) {
  ASTContext &context = kernel.view.context();
  const VarDecl *found = nullptr;
  for (const DeclContext *scope = kernel.body.function->getDeclContext(); scope && !found;
       scope = scope->getParent())
    for (const NamedDecl *each : scope->lookup(&context.Idents.get(name)))
      found = dyn_cast<VarDecl>(each);
  llvm::StringRef text = found ? kernel.view.text(found->getSourceRange()) : "";
  if (text.empty() || !found->isUsableInConstantExpressions(context) ||
      text.find_first_of("\n,#/") != text.npos || text.contains("__") ||
      !llvm::StringRef(text.end()).ltrim().starts_with(";"))
    return "";
  while (text.consume_front("static ") || text.consume_front("inline "))
    text = text.ltrim();
  return (text + ";").str();
}

/// True if the rest of the body is one if with blocks and a last else: `if (A) { } else if (B) { }
/// else { }`.
bool isChain(const KernelText &kernel, std::size_t beginning) {
  const Stmt *part = kernel.statements().empty() ? nullptr : kernel.statements().back();
  const std::size_t first = kernel.inside.find_first_not_of(" \t\n", beginning);
  if (!isa_and_nonnull<IfStmt>(part) || kernel.at(part) != first ||
      kernel.endOf(part) != kernel.tokens.back().end())
    return false;
  while (const auto *branch = dyn_cast_or_null<IfStmt>(part)) {
    if (branch->isConstexpr() || !isa<CompoundStmt>(branch->getThen()))
      return false;
    part = branch->getElse();
  }
  return isa_and_nonnull<CompoundStmt>(part);
}

class BodyGuarder {
public:
  explicit BodyGuarder(const GuardRequest &request) : request_(request), guard_(request.guard) {}

  ChunkReply run() {
    KernelSource source = request_.source;
    auto usualSlice = openSlice(source);
    source.slice = request_.special;
    source.expression = request_.specialExpression;
    auto specialSlice = openSlice(source);
    for (auto *slice : {&usualSlice, &specialSlice})
      if (!*slice)
        refuse(llvm::toString(slice->takeError()));
    if (!reply_.refusal.empty())
      return reply_;
    const auto usual = read(usualSlice->view, request_.chunk);
    const auto special = read(specialSlice->view, request_.specialChunk);
    if (!usual || !special || !compareHeads(*usual, *special))
      return reply_;
    const std::size_t beginning = sharedBeginning(*usual, *special, guard_);
    const std::uint64_t bytes = sharedBytes(*usual, *special, beginning);
    if (bytes > gpu::kSharedWithoutOptIn)
      refuse("both bodies together have " + llvm::Twine(bytes) + " bytes of static shared memory");
    for (const std::string &name : guard_.constants) {
      if (isNamedElsewhere(*usual, name) || isNamedElsewhere(*special, name))
        refuse("'" + name + "' is used outside of the kernel's body, too");
      const std::string declaration = localConstant(*special, name);
      constants_ += usual->layout.inner + usual->layout.step + declaration + "\n";
      if (declaration.empty())
        refuse("'" + name + "' is not declared as one constant on a line of its own");
    }
    if (checkRest(*usual, beginning) && checkRest(*special, beginning) && reply_.refusal.empty())
      reply_.text = write(*usual, *special, beginning);
    return reply_;
  }

private:
  bool refuse(const llvm::Twine &why) {
    if (reply_.refusal.empty())
      reply_.refusal = why.str();
    return false;
  }

  std::optional<KernelText> read(const KernelView &view, const TextRange &chunk) {
    const auto layout = bodyText(view, view.pattern());
    if (!layout || layout->begin <= chunk.begin || layout->end >= chunk.end ||
        chunk.end > view.text().size() ||
        !llvm::all_of(view.pattern().getBody()->children(), [&](const Stmt *statement) {
          return view.isInText(statement->getBeginLoc());
        })) {
      refuse("the kernel's body is no block of its chunk, or a macro or another file spells it");
      return std::nullopt;
    }
    KernelText kernel{view,
                      viewBody(&view.pattern()),
                      *layout,
                      view.text().slice(chunk.begin, layout->begin - 1),
                      view.text().slice(layout->begin, layout->end),
                      view.text().slice(layout->end + 1, chunk.end)};
    kernel.tokens = tokensOf(kernel.inside);
    if (kernel.tokens.empty() || kernel.tokens.back().depth == 0)
      return kernel;
    refuse("a bracket of the kernel's body is in one part of a conditional alone");
    return std::nullopt;
  }

  bool compareHeads(const KernelText &usual, const KernelText &special) {
    for (const std::string &name : guard_.variables)
      if (llvm::none_of(usual.body.function->parameters(),
                        [&](const ParmVarDecl *each) { return each->getName() == name; }))
        return refuse("the kernel has no parameter '" + name + "'");
    return (promisesOf(usual.head) == promisesOf(special.head) && usual.tail == special.tail) ||
           refuse("more than the kernel's body differs");
  }

  /// False if what follows the beginning cannot stand in a block beside another version of itself.
  bool checkRest(const KernelText &kernel, std::size_t beginning) {
    if (kernel.tokens.empty() || kernel.tokens.back().begin < beginning)
      return refuse("a body has nothing that the other does not begin with");
    for (const TextToken &token : kernel.tokens) {
      if (token.begin < beginning)
        continue;
      if (token.isDirective && token.text != "pragma" && token.text != "endif" &&
          !token.text.starts_with("if") && !token.text.starts_with("el"))
        return refuse("a body contains #" + token.text);
      if (token.text.contains('\n')) // another indentation would change it
        return refuse("a body contains a string of several lines");
      if (token.text == "goto")
        return refuse("a body contains a goto");
    }
    for (const Stmt *statement : kernel.body.statements) {
      if (isa<LabelStmt>(statement) && kernel.at(statement) >= beginning)
        return refuse("a body contains a label");
      const auto *declarations = dyn_cast<DeclStmt>(statement);
      if (!declarations || kernel.at(statement) < beginning)
        continue;
      for (const Decl *each : declarations->decls())
        if (const auto *variable = dyn_cast<VarDecl>(each); variable && variable->isStaticLocal() &&
                                                            !variable->hasAttr<CUDASharedAttr>() &&
                                                            !variable->getType().isConstQualified())
          return refuse("a body contains the static variable '" + variable->getName() + "'");
    }
    return true;
  }

  std::string write(const KernelText &usual, const KernelText &special, std::size_t beginning) {
    const BodyText &layout = usual.layout;
    const std::string shared = beginning ? usual.inside.take_front(beginning).str() : "\n";
    const auto rest = [&](const KernelText &kernel) {
      return layout.indented((beginning ? "\n" : "") + kernel.inside.drop_front(beginning).str());
    };
    std::string text = headOfBoth(usual, special) + "{" + shared + layout.inner + "if (" +
                       guard_.condition + ") {\n" + constants_ + rest(special) + layout.inner +
                       "} else ";
    if (guard_.extendsChain && isChain(usual, beginning))
      text += usual.inside.drop_front(beginning).trim().str() + "\n";
    else
      text += "{\n" + rest(usual) + layout.inner + "}\n";
    return text + layout.outer + "}" + usual.tail.str();
  }

  const GuardRequest &request_;
  const BodyGuard &guard_;
  ChunkReply reply_;
  std::string constants_; ///< declarations in the special body, one a line
};

} // namespace

llvm::Expected<ChunkReply> guardBody(const GuardRequest &request) {
  return BodyGuarder(request).run();
}

} // namespace kopt::frontend
