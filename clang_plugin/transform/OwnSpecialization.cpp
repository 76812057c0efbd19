// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/transform/OwnSpecialization.h"

#include "clang_plugin/analysis/KernelView.h"
#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/analysis/Types.h"

#include <clang/Frontend/ASTUnit.h>

#include <map>
#include <set>

namespace kopt::frontend {

using namespace clang;

namespace {

/// A definition between its template parameters and the brace of its body.
struct Signature {
  llvm::StringRef text;
  unsigned name = 0; ///< where the kernel's name is
  std::vector<RawToken> tokens = rawTokens(text);

  bool is(std::size_t token, llvm::StringRef text) const {
    return token < tokens.size() && tokens[token].text == text;
  }
  bool isBeforeName(std::size_t token, std::initializer_list<llvm::StringRef> words) const {
    return tokens[token].begin < name && llvm::is_contained(words, tokens[token].text);
  }
  /// The token behind the bracket that opens at a token.
  std::size_t behind(std::size_t open) const {
    for (int depth = 0; open < tokens.size(); ++open) {
      depth += tokens[open].is(tok::l_paren) || tokens[open].is(tok::l_square);
      depth -= tokens[open].is(tok::r_paren) || tokens[open].is(tok::r_square);
      if (depth == 0)
        return open + 1;
    }
    return open;
  }
};

/// The head of the specialization: with the values in the place of the parameters' names, and
/// without the markers of kopt and a storage class, which the template gives its specializations.
std::string signatureWith(const Signature &signature,
                          const std::map<std::string, std::string> &values,
                          llvm::StringRef arguments) {
  std::vector<SliceEdit> edits;
  const auto &tokens = signature.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::size_t next = i;
    if (signature.isBeforeName(i, {"static", "extern"}))
      next = i + 1;
    else if (signature.is(i, "KOPT_TUNE") && signature.is(i + 1, "("))
      next = signature.behind(i + 1);
    else if (signature.is(i, "[") && signature.is(i + 1, "[") && signature.is(i + 2, "kopt"))
      next = signature.behind(i);
    const bool isMember = i > 0 && llvm::is_contained({".", "->", "::"}, tokens[i - 1].text);
    const auto value = values.find(tokens[i].text);
    if (next > i) {
      const unsigned end =
          next < tokens.size() ? tokens[next].begin : unsigned(signature.text.size());
      edits.push_back({tokens[i].begin, end, ""});
      i = next - 1;
    } else if (tokens[i].begin == signature.name) {
      edits.push_back({tokens[i].end, tokens[i].end, ("<" + arguments + ">").str()});
    } else if (value != values.end() && !isMember) {
      edits.push_back({tokens[i].begin, tokens[i].end, value->second});
    }
  }
  return llvm::StringRef(applyEdits(signature.text.str(), edits)).ltrim().str();
}

} // namespace

llvm::Expected<ChunkReply> specializeKernel(const SpecializeRequest &request) {
  const auto refuse = [](const llvm::Twine &why) { return ChunkReply{"", why.str()}; };
  auto slice = openSlice(request.source);
  if (!slice)
    return refuse(llvm::toString(slice.takeError()));
  const KernelView &view = slice->view;
  const FunctionTemplateDecl *generic = view.pattern().getDescribedFunctionTemplate();
  const auto *block = dyn_cast_or_null<CompoundStmt>(view.pattern().getBody());
  if (!generic || !block)
    return refuse("it is not a template with a body");
  const TemplateParameterList &parameters = *generic->getTemplateParameters();
  const std::vector<TemplateArg> arguments = templateArgsOf(view.kernel());
  if (parameters.hasParameterPack() || generic->hasAssociatedConstraints() ||
      parameters.size() != arguments.size())
    return refuse("its template has a parameter pack or constraints");
  const auto angle = view.offset(parameters.getRAngleLoc()),
             name = view.offset(view.pattern().getLocation()),
             open = view.offset(block->getLBracLoc());
  if (!angle || !name || !open || *angle < request.chunk.begin || *open >= request.chunk.end)
    return refuse("a macro or another file spells a part of it");
  const Signature signature{view.text().slice(*angle + 1, *open), *name - *angle - 1};
  const llvm::StringRef rest = view.text().slice(*open + 1, request.chunk.end);

  std::set<std::string> used;
  for (const RawToken &token : rawTokens(rest))
    used.insert(token.text);
  std::map<std::string, std::string> values;
  std::string names;
  for (unsigned i = 0; i < parameters.size(); ++i) {
    const NamedDecl &parameter = *parameters.getParam(i);
    const auto begin = view.offset(parameter.getBeginLoc()),
               end = view.offset(parameter.getLocation());
    const std::string own = parameter.getNameAsString();
    if (own.empty() || isa<TemplateTemplateParmDecl>(parameter) || !begin || !end)
      return refuse("its template has a parameter without a name, or one that is a template");
    values[own] = arguments[i].value;
    if (used.contains(own))
      names += "\n  " +
               (isa<NonTypeTemplateParmDecl>(parameter)
                    ? "constexpr " + view.text().slice(*begin, *end).trim().str() + " " + own
                    : "using " + own) +
               " = " + arguments[i].value + ";";
  }
  bool isPlain = true;
  for (std::size_t i = 0; i < signature.tokens.size(); ++i)
    isPlain &= !signature.isBeforeName(i, {"static", "inline"});
  const llvm::StringRef expression = request.source.expression;
  const llvm::StringRef spelled = expression.slice(expression.find('<') + 1, expression.rfind('>'));
  return ChunkReply{("template <>\n" + llvm::Twine(request.isInline && isPlain ? "inline " : "") +
                     signatureWith(signature, values, spelled) + "{" + names + rest)
                        .str(),
                    ""};
}

} // namespace kopt::frontend
