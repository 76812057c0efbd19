// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/DeviceModule.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Mangle.h>
#include <clang/Basic/CodeGenOptions.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/TextDiagnosticBuffer.h>
#include <clang/Lex/HeaderSearchOptions.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <map>

namespace kopt::frontend::model {
namespace {

/// Instructions of a kernel with everything inlined, beyond which there is no model.
constexpr unsigned kMostInstructions = 60000;

llvm::Error failure(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

/// Calls of these stay calls, because their names say more than the code in the headers.
bool staysCall(CudaFunction kind) {
  switch (kind) {
  case CudaFunction::None:
  case CudaFunction::FastMath:
  case CudaFunction::ShortProduct:
  case CudaFunction::Smaller:
  case CudaFunction::Trap:
    return false;
  default:
    return true;
  }
}

/// Finds all functions that run in a kernel, also in headers.
class Reachable {
public:
  Reachable(const KernelView &view, llvm::StringMap<CudaFunction> &library)
      : view_(view), names_(view.context()), library_(library) {}

  llvm::Error walk() {
    add(&view_.kernel());
    for (std::size_t i = 0; i < definitions.size(); ++i) {
      const clang::FunctionDecl *function = definitions[i];
      if (const auto *constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(function))
        for (const clang::CXXCtorInitializer *initializer : constructor->inits())
          visit(initializer->getInit());
      visit(function->getBody());
    }
    return damage_.empty() ? llvm::Error::success() : failure(damage_);
  }

  std::vector<const clang::FunctionDecl *> definitions;

private:
  void add(const clang::Decl *named) {
    const auto *function = llvm::dyn_cast_or_null<clang::FunctionDecl>(named);
    if (!function || function->isDependentContext())
      return;
    const clang::FunctionDecl *definition = function->getDefinition();
    if (!seen_.insert(definition ? definition : function->getCanonicalDecl()).second)
      return;
    const CudaFunction kind =
        view_.isInText(function->getLocation()) ? CudaFunction::None : cudaFunction(*function);
    if (staysCall(kind))
      library_[names_.getName(function)] = kind;
    else if (definition && definition->hasBody())
      definitions.push_back(definition);
    if (definition && definition->isInvalidDecl())
      damage_ = "Clang cannot compile " + definition->getQualifiedNameAsString();
  }

  void visit(const clang::Stmt *statement) {
    if (!statement)
      return;
    if (const auto *expression = llvm::dyn_cast<clang::Expr>(statement);
        expression && (expression->containsErrors() || expression->isInstantiationDependent()))
      damage_ = "Clang does not understand an expression of the kernel";
    if (const auto *reference = llvm::dyn_cast<clang::DeclRefExpr>(statement))
      add(reference->getDecl());
    else if (const auto *member = llvm::dyn_cast<clang::MemberExpr>(statement))
      add(member->getMemberDecl());
    else if (const auto *construct = llvm::dyn_cast<clang::CXXConstructExpr>(statement))
      add(construct->getConstructor());
    else if (const auto *inherited = llvm::dyn_cast<clang::CXXInheritedCtorInitExpr>(statement))
      add(inherited->getConstructor());
    else if (const auto *argument = llvm::dyn_cast<clang::CXXDefaultArgExpr>(statement))
      visit(argument->getExpr());
    else if (const auto *initial = llvm::dyn_cast<clang::CXXDefaultInitExpr>(statement))
      visit(initial->getExpr());
    else if (const auto *temporary = llvm::dyn_cast<clang::CXXBindTemporaryExpr>(statement))
      add(temporary->getTemporary()->getDestructor());
    else if (const auto *opaque = llvm::dyn_cast<clang::OpaqueValueExpr>(statement))
      visit(opaque->getSourceExpr());
    else if (const auto *declarations = llvm::dyn_cast<clang::DeclStmt>(statement))
      for (const clang::Decl *declared : declarations->decls())
        visitVariable(declared);
    for (const clang::Stmt *child : statement->children())
      visit(child);
  }

  void visitVariable(const clang::Decl *declared) {
    const auto *variable = llvm::dyn_cast<clang::VarDecl>(declared);
    if (!variable)
      return;
    if (variable->isInvalidDecl())
      damage_ = "Clang cannot compile the variable " + variable->getNameAsString();
    const clang::CXXRecordDecl *type =
        variable->getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
    if (type && type->hasDefinition() && !type->hasTrivialDestructor())
      add(type->getDestructor());
  }

  const KernelView &view_;
  clang::ASTNameGenerator names_;
  llvm::DenseSet<const clang::FunctionDecl *> seen_;
  llvm::StringMap<CudaFunction> &library_;
  std::string damage_;
};

clang::CodeGenOptions codeGenOptions() {
  clang::CodeGenOptions options;
  options.DisableO0ImplyOptNone = true;
  options.setInlining(clang::CodeGenOptions::NormalInlining);
  options.setDebugInfo(llvm::codegenoptions::LimitedDebugInfo); // for the names of variables
  options.DebugColumnInfo = true;
  options.DwarfVersion = 4;
  options.DebugCompilationDir = kRelativeTo;
  return options;
}

llvm::Error generate(const KernelView &view, Reachable &reachable, DeviceModule &device) {
  clang::ASTContext &context = view.context();
  auto *refusals = new clang::TextDiagnosticBuffer;
  clang::DiagnosticsEngine diagnostics(new clang::DiagnosticIDs, new clang::DiagnosticOptions,
                                       refusals);
  diagnostics.setSourceManager(&context.getSourceManager());
  const clang::HeaderSearchOptions headers;
  const clang::PreprocessorOptions preprocessor;
  const clang::CodeGenOptions options = codeGenOptions();
  const std::unique_ptr<clang::CodeGenerator> generator(clang::CreateLLVMCodeGen(
      diagnostics, "slice.cu", &context.getSourceManager().getFileManager().getVirtualFileSystem(),
      headers, preprocessor, options, *device.context));
  generator->Initialize(context);
  for (const clang::FunctionDecl *definition : reachable.definitions) {
    auto *const function = const_cast<clang::FunctionDecl *>(definition);
    // KOPT_TUNE's, which only the parser reads: Clang cannot generate code for it.
    function->dropAttr<clang::AnnotateAttr>();
    generator->HandleTopLevelDecl(clang::DeclGroupRef(function));
  }
  generator->HandleTranslationUnit(context);
  device.module.reset(generator->ReleaseModule());
  if (!device.module || diagnostics.hasErrorOccurred())
    return failure("Clang generates no code for the kernel" +
                   (refusals->err_begin() == refusals->err_end()
                        ? std::string()
                        : ": " + refusals->err_begin()->second));
  device.kernel =
      device.module->getFunction(clang::ASTNameGenerator(context).getName(&view.kernel()));
  if (!device.kernel || device.kernel->isDeclaration())
    return failure("Clang generates no code for the kernel");
  return llvm::Error::success();
}

/// Reads coordinates, and parameters that are passed by value, once at the beginning: analyses of
/// loops then see that they do not change. kopt's own headers have threadIdx and its like as
/// variables.
void readInputsFirst(llvm::Function &kernel) {
  using namespace llvm;
  const DataLayout &layout = kernel.getParent()->getDataLayout();
  IRBuilder<> builder(&*kernel.getEntryBlock().getFirstInsertionPt());
  std::map<std::tuple<const Value *, std::uint64_t, Type *>, Value *> inputs;
  std::map<std::pair<SymbolKind, unsigned>, Value *> registers;
  const auto registerOf = [&](SymbolKind kind, unsigned axis) {
    Value *&read = registers[{kind, axis}];
    if (!read)
      read = builder.CreateCall(kernel.getParent()->getOrInsertFunction(
          "llvm.nvvm.read.ptx.sreg." + kRegisters[unsigned(kind)].str() + "." + "xyz"[axis],
          builder.getInt32Ty()));
    return read;
  };
  std::vector<std::pair<Instruction *, Value *>> replaced;
  for (Instruction &instruction : instructions(kernel)) {
    if (const auto read = registerRead(instruction))
      replaced.emplace_back(&instruction, registerOf(read->first, read->second));
    const auto *load = dyn_cast<LoadInst>(&instruction);
    if (!load)
      continue;
    APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
    Value *object = const_cast<Value *>(
        load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true));
    const std::uint64_t at = offset.getZExtValue();
    StringRef name = isa<GlobalVariable>(object) ? object->getName() : "";
    const auto *known = find(kCoordinates, name.consume_front("kopt_emulated_") ? name : "");
    if (known != std::end(kCoordinates) && at < 12 && at % 4 == 0)
      replaced.emplace_back(&instruction,
                            registerOf(SymbolKind(known - kCoordinates), unsigned(at / 4)));
    const auto *parameter = dyn_cast<Argument>(object);
    if (parameter && parameter->hasByValAttr() && isOnlyRead(*parameter)) {
      Value *&read = inputs[{parameter, at, load->getType()}];
      if (!read)
        read = builder.CreateAlignedLoad(
            load->getType(), builder.CreatePtrAdd(object, builder.getInt64(at)), load->getAlign());
      replaced.emplace_back(&instruction, read);
    }
  }
  for (const auto &[instruction, value] : replaced)
    if (instruction != value) {
      instruction->replaceAllUsesWith(value);
      instruction->eraseFromParent();
    }
}

/// Mathematical functions of libdevice and the C library, as far as they only compute.
void describeMath(llvm::Module &module) {
  const llvm::TargetLibraryInfoImpl library(llvm::Triple("x86_64-linux-gnu"));
  for (llvm::Function &function : module) {
    const bool hasPointers = llvm::any_of(
        function.args(), [](const llvm::Argument &each) { return each.getType()->isPointerTy(); });
    llvm::LibFunc known;
    const bool isMath =
        function.getName().starts_with("__nv_") ||
        (function.getReturnType()->isFloatingPointTy() && library.getLibFunc(function, known));
    if (function.isDeclaration() && !function.isIntrinsic() && isMath && !hasPointers) {
      function.setDoesNotAccessMemory();
      function.setDoesNotThrow();
      function.setWillReturn();
      function.setNotConvergent(); // as Clang marks all calls in CUDA
      for (llvm::User *user : function.users())
        if (auto *call = llvm::dyn_cast<llvm::CallBase>(user))
          call->setNotConvergent();
    }
  }
}

llvm::Error simplify(DeviceModule &device) {
  llvm::Module &module = *device.module;
  describeMath(module);
  for (const auto &each : device.library)
    if (llvm::Function *function = module.getFunction(each.getKey());
        function && !function->isDeclaration() && function != device.kernel)
      function->deleteBody();
  for (llvm::Function &function : module) {
    function.removeFnAttr(llvm::Attribute::NoInline);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    if (!function.isDeclaration() && &function != device.kernel)
      function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::AlwaysInlinerPass(/*InsertLifetime=*/false).run(module, modules);
  functions.clear();
  if (device.kernel->getInstructionCount() > kMostInstructions)
    return failure("the kernel is too large with its calls inlined");

  llvm::Function &kernel = *device.kernel;
  const auto run = [&](auto pass) { functions.invalidate(kernel, pass.run(kernel, functions)); };
  run(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  run(llvm::InstSimplifyPass());
  readInputsFirst(kernel);
  for (bool changed = true; changed;) {
    changed = false;
    for (llvm::BasicBlock &block : kernel)
      changed |= llvm::ConstantFoldTerminator(&block, /*DeleteDeadConditions=*/true);
    changed |= llvm::removeUnreachableBlocks(kernel);
    functions.clear();
    run(llvm::InstSimplifyPass());
  }
  run(llvm::LoopSimplifyPass());
  run(llvm::LCSSAPass());
  return llvm::Error::success();
}

} // namespace

std::optional<std::pair<SymbolKind, unsigned>> registerRead(const llvm::Value &value) {
  const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&value);
  llvm::StringRef name = call ? call->getCalledFunction()->getName() : "";
  if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return std::nullopt;
  const auto [variable, axis] = name.split('.');
  const auto *known = llvm::find(kRegisters, variable);
  if (known == std::end(kRegisters) || axis.size() != 1 || axis[0] < 'x' || axis[0] > 'z')
    return std::nullopt;
  return std::pair(SymbolKind(known - kRegisters), unsigned(axis[0] - 'x'));
}

bool isOnlyRead(const llvm::Value &pointer) {
  return llvm::all_of(pointer.users(), [&](const llvm::User *user) {
    if (llvm::isa<llvm::GEPOperator, llvm::AddrSpaceCastOperator>(user))
      return isOnlyRead(*user);
    const auto *copy = llvm::dyn_cast<llvm::MemTransferInst>(user);
    return llvm::isa<llvm::LoadInst>(user) || (copy && copy->getRawDest() != &pointer);
  });
}

llvm::Expected<DeviceModule> emitDevice(const KernelView &view) {
  DeviceModule device;
  Reachable reachable(view, device.library);
  if (llvm::Error error = reachable.walk())
    return error;
  device.context = std::make_unique<llvm::LLVMContext>();
  device.context->setDiscardValueNames(false);
  if (llvm::Error error = generate(view, reachable, device))
    return error;
  if (llvm::Error error = simplify(device))
    return error;
  return device;
}

} // namespace kopt::frontend::model
