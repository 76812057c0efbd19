// SPDX-License-Identifier: Apache-2.0
// specialise: scalars that the workload's launches share become constants, behind a condition. The
// body becomes a function that the kernel calls with the constants where the condition holds, and
// with its own parameters elsewhere. nvcc inlines both calls, so loops get trip counts, local
// arrays become registers, and powf(x, 2.0f) becomes a product. A call that is not inlined would
// save nothing: a kernel needs the registers of what it calls, and the stacks of both add up, which
// they do not when both are inlined (measured: nvcc 13.0). Matches scalars and members of structs
// that the kernel reads and that take few values. Refuses members of classes, parameters without a
// name or with attributes, and kernels that macros spell or that were specialised already.
#include "clang_plugin/analysis/BodyText.h"
#include "clang_plugin/analysis/RawTokens.h"
#include "clang_plugin/transform/ThreadOrder.h"

#include <clang/AST/Attr.h>
#include <clang/AST/TypeLoc.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include <set>

namespace kopt::frontend {

using namespace clang;

namespace {

constexpr std::size_t kMostTuples = 4, kMostConditions = 12, kColumns = 100;

/// A scalar of the launches that the kernel reads.
struct Scalar {
  std::string name; ///< "n", "size.x"
  bool isInteger = false, isBool = false;
  std::vector<std::string> literals{}; ///< one a launch

  /// The structure that it is a member of; itself if it is no member.
  llvm::StringRef parameter() const { return llvm::StringRef(name).split('.').first; }
  llvm::StringRef member() const { return llvm::StringRef(name).split('.').second; }
};

/// Values of the scalars of an offer, in their order, which some launches pass.
struct Tuple {
  std::vector<std::string> values;
  double weight = 0;
};

/// Where the definition begins, as chunks of slices do; nothing if a macro spells that, or if an
/// attribute stands before it that is not kopt's.
std::optional<unsigned> definitionBegin(const KernelView &view) {
  const Decl *whole = &view.pattern();
  if (const FunctionTemplateDecl *generic = view.pattern().getDescribedFunctionTemplate())
    whole = generic;
  if (const auto *linkage = dyn_cast<LinkageSpecDecl>(whole->getLexicalDeclContext());
      linkage && !linkage->hasBraces())
    whole = linkage;
  const SourceManager &sources = view.context().getSourceManager();
  const auto begin = view.offset(sources.getExpansionLoc(whole->getBeginLoc()));
  const llvm::StringRef before = view.text().take_front(begin.value_or(0)).rtrim();
  const bool isFree =
      !before.ends_with("]]") || before.substr(before.rfind("[[") + 2).ltrim().starts_with("kopt");
  return isFree ? begin : std::nullopt;
}

class Specialiser {
public:
  Specialiser(const KernelView &view, Refusals &refusals)
      : view_(view), pattern_(view.pattern()), refusals_(refusals) {}

  std::vector<Offer> run() {
    if (!readForm() || !readParameters() || !readTemplate())
      return {};
    readScalars();
    std::vector<const Scalar *> fixed, few, integers;
    for (const Scalar &scalar : scalars_)
      if (llvm::all_equal(scalar.literals)) {
        fixed.push_back(&scalar);
        if (scalar.isInteger)
          integers.push_back(&scalar);
      }
    few = withFewValues(fixed);
    if (few.empty())
      refusals_.add(scalars_.empty() ? "it reads no scalar whose values are known"
                                     : "each scalar that it reads takes many values");
    std::vector<Offer> offers;
    std::set<std::vector<const Scalar *>> seen = {{}};
    for (const auto &chosen : {few, fixed, integers})
      if (seen.insert(chosen).second)
        offers.push_back(offerFor(chosen));
    return offers;
  }

private:
  /// False if a macro spells the value.
  bool dropDefault(clang::SourceRange value) {
    const auto span = spanOf(view_, value);
    if (span)
      defaults_.push_back(
          {unsigned(view_.text().take_front(span->begin).rtrim(" \t\n=").size()), span->end, ""});
    return span.has_value();
  }

  std::string withoutDefaults(const TextSpan &span) const {
    std::vector<SliceEdit> edits;
    for (const SliceEdit &edit : defaults_)
      if (span.contains({edit.begin, edit.end}))
        edits.push_back({edit.begin - span.begin, edit.end - span.begin, ""});
    return applyEdits(view_.text().slice(span.begin, span.end).str(), edits);
  }

  bool readForm() {
    if (isa<CXXMethodDecl>(pattern_) || pattern_.getQualifierLoc())
      return refusals_.add(pattern_.getLocation(),
                           "it is a member, or is defined outside its namespace");
    const FunctionTypeLoc type = pattern_.getFunctionTypeLoc();
    const auto begin = definitionBegin(view_);
    const auto body = bodyText(view_, pattern_);
    const auto parameters = type ? spanOf(view_, type.getParensRange()) : std::nullopt;
    if (!begin || !view_.offset(pattern_.getLocation()) || !body || !parameters ||
        !rawTokens(view_.text().slice(parameters->end, body->begin - 1)).empty())
      return refusals_.add(pattern_.getLocation(),
                           "a macro spells a part of it, or it is no plain function");
    begin_ = *begin;
    parameters_ = *parameters;
    body_ = *body;
    const std::string kernel = pattern_.getNameAsString();
    const bool isCamel = !llvm::StringRef(kernel).contains('_') &&
                         llvm::any_of(kernel, [](char c) { return llvm::isLower(c); }) &&
                         llvm::any_of(kernel, [](char c) { return llvm::isUpper(c); });
    helper_ = kernel + (isCamel ? "Body" : "_body");
    for (const BodyView &body : view_.bodies())
      if (body.function->getNameAsString() == helper_)
        return refusals_.add(body.function->getLocation(), "it was specialised already");
    for (const Stmt *statement : view_.bodies().front().statements)
      if (const auto *assembly = dyn_cast<GCCAsmStmt>(statement);
          assembly && assembly->getAsmString()->getString().contains(".reg"))
        return refusals_.add(statement->getBeginLoc(),
                             "its assembly declares registers, which it may "
                             "only once");
    helper_ = freshName(view_, helper_);
    return true;
  }

  bool readParameters() {
    const llvm::StringRef all = view_.text().slice(parameters_.begin, parameters_.end);
    if (all.contains("__grid_constant__")) // Clang does not know it
      return refusals_.add(pattern_.getLocation(), "a parameter is a __grid_constant__");
    if (pattern_.getNumParams() != view_.kernel().getNumParams())
      return refusals_.add(pattern_.getLocation(), "it has a parameter pack");
    for (const ParmVarDecl *parameter : pattern_.parameters()) {
      if (!parameter->getIdentifier())
        return refusals_.add(parameter->getLocation(), "a parameter has no name");
      for (const Attr *attribute : parameter->attrs())
        if (!isa<UnusedAttr>(attribute))
          return refusals_.add(parameter->getLocation(), "'" + parameter->getName() +
                                                             "' has the attribute " +
                                                             attribute->getSpelling());
      if (parameter->hasDefaultArg() && !dropDefault(parameter->getDefaultArgRange()))
        return refusals_.add(parameter->getLocation(), "a macro spells a default argument");
    }
    return true;
  }

  bool readTemplate() {
    const FunctionTemplateDecl *generic = pattern_.getDescribedFunctionTemplate();
    if (!generic)
      return pattern_.getTemplateSpecializationKind() != TSK_ExplicitSpecialization ||
             refusals_.add(pattern_.getLocation(), "it is a specialization of a template");
    const TemplateParameterList &parameters = *generic->getTemplateParameters();
    const auto span = spanOf(view_, {parameters.getTemplateLoc(), parameters.getRAngleLoc()});
    if (!span || generic->hasAssociatedConstraints() || parameters.hasParameterPack())
      return refusals_.add(generic->getLocation(),
                           "its template has constraints or a parameter pack");
    template_ = *span;
    for (const NamedDecl *parameter : parameters) {
      if (!parameter->getIdentifier())
        return refusals_.add(parameter->getLocation(), "a parameter of its template has no name");
      arguments_ += (arguments_.empty() ? "<" : ", ") + parameter->getName().str();
      const auto *type = dyn_cast<TemplateTypeParmDecl>(parameter);
      const auto *value = dyn_cast<NonTypeTemplateParmDecl>(parameter);
      const TemplateArgumentLoc *given = nullptr;
      if (type && type->hasDefaultArgument())
        given = &type->getDefaultArgument();
      else if (value && value->hasDefaultArgument())
        given = &value->getDefaultArgument();
      if (isa<TemplateTemplateParmDecl>(parameter) ||
          (given && !dropDefault(given->getSourceRange())))
        return refusals_.add(parameter->getLocation(), "a parameter of its template is not plain");
    }
    arguments_ += ">";
    return true;
  }

  /// True if the kernel reads the member of the parameter, or the whole.
  bool isRead(const ParmVarDecl *parameter, llvm::StringRef name) const {
    const BodyView &body = view_.bodies().front();
    return llvm::any_of(body.statements, [&](const Stmt *statement) {
      const auto *use = dyn_cast<DeclRefExpr>(statement);
      if (!use || use->getDecl() != parameter)
        return false;
      const Stmt *outer = body.parentOf(use);
      while (isa_and_nonnull<ImplicitCastExpr>(outer))
        outer = body.parentOf(outer);
      const auto *cast = dyn_cast_or_null<ExplicitCastExpr>(outer);
      const auto *member = dyn_cast_or_null<MemberExpr>(outer);
      return !(cast && cast->getCastKind() == CK_ToVoid) &&
             !(member && isa<FieldDecl>(member->getMemberDecl()) &&
               member->getMemberDecl()->getName() != name);
    });
  }

  /// True if the scalar, or the member of the structure at this path, is a number whose value can
  /// be spelled and set.
  static bool isPlain(QualType type, llvm::StringRef path) {
    const bool isMember = !path.empty();
    while (!path.empty()) {
      const auto [name, rest] = path.split('.');
      const auto *record = type->getAsCXXRecordDecl();
      const FieldDecl *found = nullptr;
      for (const FieldDecl *field : record ? record->fields() : RecordDecl::field_range({}, {}))
        if (field->getName() == name && field->getAccess() == AS_public)
          found = field;
      if (!found)
        return false;
      type = found->getType();
      path = rest;
    }
    return type->getAs<BuiltinType>() && !type.isVolatileQualified() &&
           !(isMember && type.isConstQualified());
  }

  /// The scalars that each launch gives a value and that the kernel reads.
  void readScalars() {
    if (view_.launches.empty())
      return;
    for (const ScalarValue &value : view_.launches.front().scalars) {
      Scalar scalar{value.name};
      const auto parameter = llvm::find_if(view_.kernel().parameters(), [&](const auto *each) {
        return each->getName() == scalar.parameter();
      });
      if (parameter == view_.kernel().param_end() || value.name.find('[') != std::string::npos)
        continue;
      if (!isRead(*parameter, scalar.member().split('.').first) ||
          !isPlain((*parameter)->getType(), scalar.member()))
        continue;
      scalar.isBool = value.literal == "true" || value.literal == "false";
      scalar.isInteger = value.literal.find_first_of(".fe") == std::string::npos || scalar.isBool;
      for (const LaunchShape &launch : view_.launches)
        for (const ScalarValue &each : launch.scalars)
          if (each.name == scalar.name)
            scalar.literals.push_back(each.literal);
      if (scalar.literals.size() == view_.launches.size())
        scalars_.push_back(std::move(scalar));
    }
  }

  /// The tuples of values that launches pass, those with the most weight first.
  std::vector<Tuple> tuplesOf(const std::vector<const Scalar *> &chosen) const {
    std::vector<Tuple> tuples;
    for (std::size_t i = 0; i < view_.launches.size(); ++i) {
      Tuple own;
      for (const Scalar *scalar : chosen)
        own.values.push_back(scalar->literals[i]);
      auto known = llvm::find_if(tuples, [&](const Tuple &t) { return t.values == own.values; });
      if (known == tuples.end())
        known = tuples.insert(known, own);
      known->weight += view_.launches[i].weight;
    }
    llvm::stable_sort(tuples, [](const Tuple &a, const Tuple &b) { return a.weight > b.weight; });
    return tuples;
  }

  /// Adds, in the order of the parameters, those with which there are still few tuples.
  std::vector<const Scalar *> withFewValues(std::vector<const Scalar *> &fixed) const {
    if (fixed.size() > kMostConditions)
      fixed.resize(kMostConditions);
    std::vector<const Scalar *> few = fixed;
    for (const Scalar &scalar : scalars_) {
      if (llvm::all_equal(scalar.literals) || few.size() == kMostConditions)
        continue;
      few.push_back(&scalar);
      if (tuplesOf(few).size() > kMostTuples)
        few.pop_back();
    }
    llvm::sort(few); // they are elements of one list
    return few;
  }

  std::vector<std::string> conditionsOf(const std::vector<const Scalar *> &chosen,
                                        const Tuple &tuple) const {
    std::vector<std::string> parts;
    for (const auto &[scalar, value] : llvm::zip(chosen, tuple.values)) {
      parts.push_back(!scalar->isBool   ? scalar->name + " == " + value
                      : value == "true" ? scalar->name
                                        : "!" + scalar->name);
      // Both zeros are equal, and a quotient by them is not.
      if (!scalar->isInteger && std::strtod(value.c_str(), nullptr) == 0)
        parts.push_back((value.front() == '-' ? "signbit(" : "!signbit(") + scalar->name + ")");
    }
    return parts;
  }

  /// A list in brackets, broken where a line would become too long.
  static std::string broken(std::string begin, llvm::ArrayRef<std::string> parts,
                            llvm::StringRef separator, llvm::StringRef end) {
    const std::string below = "\n" + std::string(begin.find('(') + 1, ' ');
    std::size_t column = begin.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string part = parts[i] + (i + 1 < parts.size() ? separator : end).str();
      const bool isLong = i > 0 && column + part.size() >= kColumns;
      column = (isLong ? below.size() - 1 : column + (i > 0)) + part.size();
      begin += (isLong ? below : i > 0 ? " " : "") + part;
    }
    return parts.empty() ? begin + end.str() : begin;
  }

  /// The statements that call the function; `tuple` null: with the kernel's own parameters.
  std::string callOf(const std::vector<const Scalar *> &chosen, const Tuple *tuple,
                     const std::string &inner) const {
    std::vector<std::string> arguments;
    std::string copies;
    for (const ParmVarDecl *parameter : pattern_.parameters()) {
      std::string argument = parameter->getName().str(), copy;
      for (std::size_t i = 0; tuple && i < chosen.size(); ++i) {
        if (chosen[i]->parameter() != parameter->getName())
          continue;
        if (chosen[i]->member().empty()) {
          argument = tuple->values[i];
          continue;
        }
        if (copy.empty()) {
          copy = freshName(view_, argument + "2");
          copies += inner + "auto " + copy + " = " + argument + ";\n";
          argument = copy;
        }
        copies += inner + copy + "." + chosen[i]->member().str() + " = " + tuple->values[i] + ";\n";
      }
      arguments.push_back(std::move(argument));
    }
    return copies + broken(inner + helper_ + arguments_ + "(", arguments, ",", ");") + "\n";
  }

  /// The kernel's new body.
  std::string bodyOf(const std::vector<const Scalar *> &chosen,
                     const std::vector<Tuple> &tuples) const {
    const std::string &inner = body_.inner, deeper = inner + body_.step;
    const bool isBlock =
        llvm::any_of(chosen, [](const Scalar *each) { return !each->member().empty(); });
    std::string text =
        "{\n" + inner +
        "// The values of the measured launches, as constants; others take the general path.\n";
    std::string before = inner;
    for (const Tuple &tuple : tuples) {
      text += broken(before + "if (", conditionsOf(chosen, tuple), " &&", isBlock ? ") {" : ")") +
              "\n" + callOf(chosen, &tuple, deeper);
      before = inner + (isBlock ? "} else " : "else ");
    }
    text += before + (isBlock ? "{\n" : "");
    if (!isBlock)
      text = llvm::StringRef(text).rtrim().str() + "\n";
    return text + callOf(chosen, nullptr, deeper) + (isBlock ? inner + "}\n" : "") + body_.outer +
           "}";
  }

  /// The function with the kernel's parameters and body.
  std::string function() const {
    const std::string &outer = body_.outer;
    std::string text;
    if (template_.end > 0)
      text = withoutDefaults(template_) + "\n" + outer;
    const std::string head = "static __device__ __forceinline__ void " + helper_;
    // Parameters below each other stay so. The first line of a chunk has lost its indentation.
    const unsigned line = lineStart(view_.text(), parameters_.begin);
    const bool isFirst = view_.indentation(parameters_.begin).size() < outer.size();
    const std::string column(parameters_.begin - line + 1 + (isFirst ? outer.size() : 0), ' ');
    llvm::SmallVector<llvm::StringRef> lines;
    const std::string parameters = withoutDefaults(parameters_);
    llvm::StringRef(parameters).split(lines, '\n');
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool isBelow = i > 0 && lines[i].consume_front(column);
      text += (i == 0 ? head : "\n") +
              (isBelow ? std::string(outer.size() + head.size() + 1, ' ') : "") + lines[i].str();
    }
    return text + view_.text().slice(parameters_.end, body_.end + 1).str() + "\n\n" +
           view_.indentation(begin_);
  }

  Offer offerFor(const std::vector<const Scalar *> &chosen) const {
    const std::vector<Tuple> tuples = tuplesOf(chosen);
    std::vector<std::string> conditions, names;
    for (const Tuple &tuple : tuples)
      conditions.push_back(llvm::join(conditionsOf(chosen, tuple), " && "));
    for (const Scalar *scalar : chosen)
      names.push_back(scalar->name);
    Offer offer;
    offer.title = tuples.size() == 1 ? "specialise for " + conditions.front()
                                     : "specialise for " + std::to_string(tuples.size()) +
                                           " values of " + llvm::join(names, ", ");
    offer.note = "faster only where " + llvm::join(conditions, ", or ") +
                 "; all other launches run the original body";
    offer.edits = {{begin_, begin_, function()},
                   {body_.begin - 1, body_.end + 1, bodyOf(chosen, tuples)}};
    offer.legality = Legality::Guarded;
    return offer;
  }

  const KernelView &view_;
  const FunctionDecl &pattern_;
  Refusals &refusals_;
  unsigned begin_ = 0;             ///< of the definition, with its attributes
  TextSpan template_, parameters_; ///< `template <…>`, if it is one; `(…)`
  BodyText body_;
  std::vector<SliceEdit> defaults_; ///< removes the default values from the text
  std::string helper_, arguments_;  ///< the function's name, and its template arguments
  std::vector<Scalar> scalars_;
};

} // namespace

std::vector<Offer> specialiseOffers(const KernelView &view, Refusals &refusals) {
  return Specialiser(view, refusals).run();
}

} // namespace kopt::frontend
