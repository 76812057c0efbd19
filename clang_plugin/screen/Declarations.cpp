// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/screen/Declarations.h"

#include "clang_plugin/analysis/RawTokens.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>

#include <set>

namespace kopt::frontend {

using namespace clang;

bool hasMutableParts(QualType type) {
  const CXXRecordDecl *record = type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  if (!record || !record->hasDefinition())
    return false;
  return llvm::any_of(record->fields(),
                      [](const FieldDecl *field) {
                        return field->isMutable() || hasMutableParts(field->getType());
                      }) ||
         llvm::any_of(record->bases(),
                      [](const CXXBaseSpecifier &base) { return hasMutableParts(base.getType()); });
}

namespace {

template <typename Attribute> bool isWritten(const Decl &decl) {
  const auto *attribute = decl.getAttr<Attribute>();
  return attribute && !attribute->isImplicit();
}

std::string specialAttribute(const Decl &decl) {
  for (const Attr *attribute : decl.attrs())
    if (isa<ConstructorAttr, DestructorAttr, AsmLabelAttr, AliasAttr, IFuncAttr, SectionAttr,
            InitPriorityAttr, WeakAttr, WeakRefAttr, CleanupAttr>(attribute) &&
        !attribute->isInherited())
      return attribute->getSpelling();
  return "";
}

class Collector {
public:
  Collector(const KernelView &view, std::string kernelName)
      : view_(view), kernelName_(std::move(kernelName)) {}

  void read(const DeclContext &context) {
    for (const Decl *decl : context.noload_decls()) {
      if (decl->isImplicit() || !view_.isInText(decl->getLocation()))
        continue;
      if (isa<NamespaceDecl>(decl) || isa<LinkageSpecDecl>(decl) || isa<ExportDecl>(decl))
        read(*cast<DeclContext>(decl));
      else
        add(*decl);
    }
  }

  std::vector<Declaration> declarations;

private:
  void add(const Decl &decl) {
    Declaration result;
    const auto *named = dyn_cast<NamedDecl>(&decl);
    result.name = named ? named->getQualifiedNameAsString() : decl.getDeclKindName();
    result.key = std::string(decl.getDeclKindName()) + " " + result.name;
    result.text = textOf(decl);
    result.line = view_.context().getSourceManager().getExpansionLineNumber(decl.getLocation());
    const Decl *templated = &decl;
    if (const auto *pattern = dyn_cast<TemplateDecl>(&decl); pattern && pattern->getTemplatedDecl())
      templated = pattern->getTemplatedDecl();
    result.specialAttribute = specialAttribute(*templated);

    if (const auto *function = dyn_cast<FunctionDecl>(templated)) {
      result.key += " " + function->getType().getCanonicalType().getAsString();
      result.role = roleOf(*function);
      result.isJudgedAlone =
          function->getTemplateSpecializationKind() == TSK_ExplicitSpecialization &&
          function->getCanonicalDecl() == view_.kernel().getCanonicalDecl();
    } else if (const auto *variable = dyn_cast<VarDecl>(templated)) {
      readVariable(*variable, result);
    } else if (isa<TagDecl>(templated)) {
      result.role = DeclarationRole::Type;
      if (const auto *record = dyn_cast<CXXRecordDecl>(templated))
        for (const Decl *member : record->decls())
          if (const auto *variable = dyn_cast<VarDecl>(member))
            add(*variable);
    } else if (isa<FileScopeAsmDecl>(templated)) {
      result.role = DeclarationRole::Assembly;
    } else if (isa<TopLevelStmtDecl>(templated)) {
      result.role = DeclarationRole::HostFunction;
    }
    declarations.push_back(std::move(result));
  }

  DeclarationRole roleOf(const FunctionDecl &function) const {
    if (function.hasAttr<CUDAGlobalAttr>())
      return function.getQualifiedNameAsString() == view_.kernel().getQualifiedNameAsString()
                 ? DeclarationRole::Kernel
                 : DeclarationRole::OtherKernel;
    const bool device = isWritten<CUDADeviceAttr>(function),
               host = isWritten<CUDAHostAttr>(function);
    if (device && !host)
      return DeclarationRole::DeviceFunction;
    return device || function.isConstexpr() ? DeclarationRole::SharedFunction
                                            : DeclarationRole::HostFunction;
  }

  void readVariable(const VarDecl &variable, Declaration &result) const {
    const QualType type = view_.context().getBaseElementType(variable.getType());
    const bool isConst =
        (variable.isConstexpr() || (type.isConstQualified() && !type.isVolatileQualified())) &&
        !hasMutableParts(type);
    const bool onDevice =
        variable.hasAttr<CUDADeviceAttr>() || variable.hasAttr<HIPManagedAttr>() ||
        variable.hasAttr<CUDAConstantAttr>() || variable.hasAttr<CUDASharedAttr>();
    // Clang makes const host variables visible to the device by implicit attributes; only written
    // ones count.
    const bool isDeviceWritten =
        isWritten<CUDADeviceAttr>(variable) || isWritten<CUDAConstantAttr>(variable) ||
        isWritten<HIPManagedAttr>(variable) || isWritten<CUDASharedAttr>(variable) ||
        view_.text(variable.getSourceRange()).contains("__managed__");
    // Clang adds the attribute of __constant__ variables to const device variables.
    result.isMutable =
        hasMutableParts(type) ||
        (!isConst && !variable.hasAttr<CUDAConstantAttr>() && !variable.hasAttr<CUDASharedAttr>());
    result.runsCode =
        variable.getInit() && !variable.getInit()->isValueDependent() &&
        !variable.getInit()->isConstantInitializer(const_cast<ASTContext &>(view_.context()),
                                                   variable.getType()->isReferenceType());
    if (onDevice && isDeviceWritten)
      result.role = DeclarationRole::DeviceVariable;
    else
      result.role = isConst ? DeclarationRole::Constant : DeclarationRole::HostVariable;
  }

  std::string textOf(const Decl &decl) const {
    const SourceManager &sources = view_.context().getSourceManager();
    const CharSourceRange range = sources.getExpansionRange(decl.getSourceRange());
    const auto begin = view_.offset(range.getBegin()), end = view_.endOffset(range.getEnd());
    return begin && end && *begin <= *end ? normalizedTokens(view_.text().slice(*begin, *end))
                                          : std::string();
  }

  const KernelView &view_;
  std::string kernelName_;
};

const char *const kTouchedHost =
    "a candidate changes device code and launch parameters, never host code";

/// Reports a declaration of the baseline that is gone (`now` is null) or has another text.
void judgeChanged(const Declaration &old, const Declaration *now,
                  std::vector<ScreenFinding> &findings) {
  const std::string what = "'" + old.name + (now ? "' changed: " : "' is gone: ");
  const unsigned line = now ? now->line : 0;
  switch (old.role) {
  case DeclarationRole::OtherKernel:
    findings.push_back({"other-kernel", ScreenSeverity::Reject,
                        what + "it is another kernel than the one tuned", line});
    break;
  case DeclarationRole::HostFunction:
  case DeclarationRole::HostVariable:
    findings.push_back({"host-code", ScreenSeverity::Reject, what + kTouchedHost, line});
    break;
  case DeclarationRole::DeviceVariable:
    findings.push_back({"device-variable", ScreenSeverity::Reject,
                        what + "the host program fills or reads it", line});
    break;
  case DeclarationRole::SharedFunction:
    findings.push_back(
        {"shared-function", ScreenSeverity::Flag, what + "the host may call it, too", line});
    break;
  case DeclarationRole::Type:
    findings.push_back(
        {"type-changed", ScreenSeverity::Flag, what + "the host may rely on its layout", line});
    break;
  default:
    break;
  }
}

void judgeAdded(const Declaration &now, std::vector<ScreenFinding> &findings) {
  const std::string what = "'" + now.name + "' is new: ";
  switch (now.role) {
  case DeclarationRole::OtherKernel:
    findings.push_back({"other-kernel", ScreenSeverity::Reject,
                        what + "the program would not launch a second kernel", now.line});
    break;
  case DeclarationRole::HostFunction:
    findings.push_back({"host-code", ScreenSeverity::Reject, what + kTouchedHost, now.line});
    break;
  case DeclarationRole::HostVariable:
  case DeclarationRole::DeviceVariable:
  case DeclarationRole::Constant:
    if (now.isMutable)
      findings.push_back({"mutable-global", ScreenSeverity::Reject,
                          what + "it would keep state between launches", now.line});
    else if (now.runsCode)
      findings.push_back({"host-code", ScreenSeverity::Reject,
                          what + "its initializer runs on the host before main()", now.line});
    break;
  case DeclarationRole::Assembly:
    findings.push_back(
        {"inline-asm", ScreenSeverity::Reject, "new assembly outside of functions", now.line});
    break;
  default:
    break;
  }
}

std::string plainType(QualType type) {
  return type.getCanonicalType().getUnqualifiedType().withoutLocalFastQualifiers().getAsString();
}

} // namespace

std::vector<Declaration> readDeclarations(const KernelView &view, const std::string &kernelName) {
  Collector collector(view, kernelName);
  collector.read(*view.context().getTranslationUnitDecl());
  return std::move(collector.declarations);
}

void compareSignatures(const KernelView &baselineView, const KernelView &candidateView,
                       std::vector<ScreenFinding> &findings) {
  // An explicit specialization in the candidate replaces the template's instantiation for the tuned
  // arguments; the template stays for all others.
  const FunctionTemplateDecl *primary = candidateView.kernel().getPrimaryTemplate();
  const bool isSpecialized =
      primary && baselineView.pattern().getDescribedFunctionTemplate() &&
      candidateView.kernel().getTemplateSpecializationKind() == TSK_ExplicitSpecialization;
  const FunctionDecl &old = isSpecialized ? baselineView.kernel() : baselineView.pattern(),
                     &now = isSpecialized ? candidateView.kernel() : candidateView.pattern();
  const unsigned line =
      candidateView.context().getSourceManager().getExpansionLineNumber(now.getLocation());
  const auto reject = [&](const std::string &message) {
    findings.push_back({"signature", ScreenSeverity::Reject,
                        message + ": call sites and declarations elsewhere depend on it", line});
  };
  if (old.getNumParams() != now.getNumParams())
    return reject("the kernel has " + std::to_string(now.getNumParams()) +
                  " parameters instead of " + std::to_string(old.getNumParams()));
  for (unsigned i = 0; i < old.getNumParams(); ++i) {
    const ParmVarDecl &before = *old.getParamDecl(i), &after = *now.getParamDecl(i);
    if (plainType(before.getType()) != plainType(after.getType()))
      reject("parameter '" + after.getNameAsString() + "' is '" + after.getType().getAsString() +
             "' instead of '" + before.getType().getAsString() + "'");
    if (!isSpecialized && before.hasDefaultArg() != after.hasDefaultArg())
      reject("the default argument of '" + before.getNameAsString() + "' changed");
    // Swapping two parameters of the same type does not change the list of types.
    for (unsigned j = 0; j < old.getNumParams(); ++j)
      if (i < j && before.getIdentifier() && before.getName() == now.getParamDecl(j)->getName() &&
          old.getParamDecl(j)->getName() == after.getName())
        reject("parameters '" + before.getNameAsString() + "' and '" + after.getNameAsString() +
               "' changed places");
  }
  const FunctionTemplateDecl *oldTemplate = baselineView.pattern().getDescribedFunctionTemplate(),
                             *newTemplate =
                                 isSpecialized ? primary : now.getDescribedFunctionTemplate();
  if (!oldTemplate != !newTemplate) {
    reject(oldTemplate ? "the kernel is no longer a template" : "the kernel became a template");
  } else if (oldTemplate) {
    const auto *before = oldTemplate->getTemplateParameters(),
               *after = newTemplate->getTemplateParameters();
    bool same = before->size() == after->size();
    for (unsigned i = 0; same && i < before->size(); ++i) {
      same = before->getParam(i)->getKind() == after->getParam(i)->getKind();
      const auto *value = dyn_cast<NonTypeTemplateParmDecl>(before->getParam(i));
      if (same && value)
        same = plainType(value->getType()) ==
               plainType(cast<NonTypeTemplateParmDecl>(after->getParam(i))->getType());
    }
    if (!same)
      reject("the kernel's template parameters changed");
  }
  if (old.isExternC() != now.isExternC())
    reject(old.isExternC() ? "extern \"C\" is gone" : "extern \"C\" is new");
  // An explicit specialization has the linkage of its template.
  if (!isSpecialized && (old.getStorageClass() != now.getStorageClass() ||
                         old.isInlineSpecified() != now.isInlineSpecified()))
    reject("the kernel's linkage changed");
}

void compareDeclarations(const std::vector<Declaration> &baseline,
                         const std::vector<Declaration> &candidate,
                         const std::string &baselineExpression,
                         const std::string &candidateExpression,
                         std::vector<ScreenFinding> &findings) {
  const std::string from = normalizedTokens(baselineExpression),
                    to = normalizedTokens(candidateExpression);
  const auto expected = [&](std::string text) {
    if (from != to)
      for (std::size_t at = text.find(from); at != std::string::npos;
           at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
  };
  std::set<std::pair<std::string, std::string>> oldTexts, newTexts;
  unsigned oldKernels = 0, newKernels = 0;
  for (const Declaration &old : baseline) {
    oldTexts.emplace(old.key, expected(old.text));
    oldKernels += old.role == DeclarationRole::Kernel && !old.isJudgedAlone;
  }
  for (const Declaration &now : candidate) {
    newTexts.emplace(now.key, now.text);
    newKernels += now.role == DeclarationRole::Kernel && !now.isJudgedAlone;
    if (!now.specialAttribute.empty() && llvm::none_of(baseline, [&](const Declaration &old) {
          return old.key == now.key && old.specialAttribute == now.specialAttribute;
        }))
      findings.push_back({"attribute", ScreenSeverity::Reject,
                          "'" + now.name + "' has the attribute '" + now.specialAttribute +
                              "', which acts outside of calls to it",
                          now.line});
    // A declaration that keeps its key and role is judged below, as a change.
    const bool isKnown = llvm::any_of(baseline, [&](const Declaration &old) {
      return old.key == now.key && old.role == now.role && (old.runsCode || !now.runsCode);
    });
    if (now.role != DeclarationRole::Kernel && !isKnown)
      judgeAdded(now, findings);
  }
  for (const Declaration &old : baseline) {
    if (old.role == DeclarationRole::Kernel || newTexts.count({old.key, expected(old.text)}))
      continue;
    const auto now =
        llvm::find_if(candidate, [&](const Declaration &other) { return other.key == old.key; });
    judgeChanged(old, now == candidate.end() ? nullptr : &*now, findings);
  }
  if (oldKernels != newKernels)
    findings.push_back({"signature", ScreenSeverity::Reject,
                        "the kernel is declared " + std::to_string(newKernels) +
                            " times instead of " + std::to_string(oldKernels),
                        0});
}

} // namespace kopt::frontend
