// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/emulate/CompileModule.h"

#include "clang_plugin/analysis/Types.h"
#include "clang_plugin/args/NvccToClangArgs.h"
#include "clang_plugin/emulate/Instrument.h"
#include "clang_plugin/parse/ParseCuda.h"
#include "clang_plugin/parse/Preamble.h"
#include "clang_plugin/parse/Toolkit.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/DiagnosticLex.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar/LoopIdiomRecognize.h>

namespace kopt::frontend::emulate {
namespace {

/// Calls the kernel through a pointer, with the types of its parameters taken from the compiler.
/// `reference` makes Clang emit a template's specialization and identifies the function that the
/// expression names. No name hides the kernel's name there.
constexpr const char *kGlue = R"glue(
#line 1 "kopt-emulated-call"
namespace kopt_emulated_glue {
template <class Kernel> struct KoptCall;
template <class... Parameters> struct KoptCall<void (*)(Parameters...)> {
  template <unsigned long... Index>
  static __device__ void run(void *kernel, void **arguments, std::integer_sequence<unsigned long, Index...>) {
    reinterpret_cast<void (*)(Parameters...)>(kernel)(*static_cast<Parameters *>(arguments[Index])...);
  }
  static __device__ void all(void *kernel, void **arguments) {
    run(kernel, arguments, std::make_integer_sequence<unsigned long, sizeof...(Parameters)>());
  }
};
inline void kopt_reference() { (void)(&KOPT_EXPRESSION); }
} // namespace kopt_emulated_glue
extern "C" __device__ void kopt_emulated_call(void *kopt_kernel, void **kopt_arguments) {
  kopt_emulated_glue::KoptCall<decltype(&KOPT_EXPRESSION)>::all(kopt_kernel, kopt_arguments);
}
)glue";

std::string withGlue(const std::string &slice, const std::string &expression) {
  std::string glue = kGlue;
  const std::string mark = "KOPT_EXPRESSION";
  for (std::size_t at = glue.find(mark); at != std::string::npos;
       at = glue.find(mark, at + expression.size()))
    glue.replace(at, mark.size(), expression);
  return slice + "\n" + glue;
}

/// Finds the kernel that the glue refers to.
class KernelFinder : public clang::ASTConsumer, public clang::RecursiveASTVisitor<KernelFinder> {
public:
  explicit KernelFinder(ModulePlan &plan) : plan_(plan) {}

  void HandleTranslationUnit(clang::ASTContext &context) override {
    for (clang::Decl *declaration : context.getTranslationUnitDecl()->noload_decls())
      if (auto *space = llvm::dyn_cast<clang::NamespaceDecl>(declaration))
        if (space->getName() == "kopt_emulated_glue")
          for (clang::Decl *member : space->decls())
            if (auto *function = llvm::dyn_cast<clang::FunctionDecl>(member))
              if (function->getName() == "kopt_reference")
                TraverseDecl(function);
    if (!kernel_)
      return;
    plan_.kernel = clang::ASTNameGenerator(context).getName(kernel_);
    for (const clang::ParmVarDecl *parameter : kernel_->parameters()) {
      const ParamLayout layout = layoutOf(*parameter);
      plan_.parameters.push_back({layout.size, layout.align});
    }
    if (const auto *bounds = kernel_->getAttr<clang::CUDALaunchBoundsAttr>())
      if (const clang::Expr *threads = bounds->getMaxThreads();
          threads && !threads->isValueDependent())
        plan_.maxThreads = unsigned(threads->EvaluateKnownConstInt(context).getZExtValue());
  }

  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    if (auto *function = llvm::dyn_cast<clang::FunctionDecl>(reference->getDecl()))
      kernel_ = function->getDefinition() ? function->getDefinition() : function;
    return true;
  }

private:
  ModulePlan &plan_;
  clang::FunctionDecl *kernel_ = nullptr;
};

class EmulateAction : public clang::EmitObjAction {
public:
  explicit EmulateAction(ModulePlan &plan) : plan_(plan) {}

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &compiler,
                                                        llvm::StringRef file) override {
    std::vector<std::unique_ptr<clang::ASTConsumer>> consumers;
    // Must come first, so that the kernel is known when code generation runs the optimiser at its
    // end.
    consumers.push_back(std::make_unique<KernelFinder>(plan_));
    std::unique_ptr<clang::ASTConsumer> emitter =
        clang::EmitObjAction::CreateASTConsumer(compiler, file);
    if (!emitter)
      return nullptr; // the object file cannot be written; Clang has reported why
    consumers.push_back(std::move(emitter));
    return std::make_unique<clang::MultiplexConsumer>(std::move(consumers));
  }

private:
  ModulePlan &plan_;
};

void addPasses(llvm::PassBuilder &builder, ModulePlan &plan) {
  struct Prepare : llvm::PassInfoMixin<Prepare> {
    ModulePlan *plan;
    explicit Prepare(ModulePlan *plan) : plan(plan) {}
    llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
      prepareModule(module, *plan);
      return llvm::PreservedAnalyses::none();
    }
  };
  struct Instrument : llvm::PassInfoMixin<Instrument> {
    ModulePlan *plan;
    explicit Instrument(ModulePlan *plan) : plan(plan) {}
    llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &) {
      if (plan->errors.empty())
        instrumentModule(module, *plan);
      std::string broken;
      llvm::raw_string_ostream stream(broken);
      if (llvm::verifyModule(module, &stream))
        plan->errors.push_back("internal error: the instrumented module is broken: " + broken);
      return llvm::PreservedAnalyses::none();
    }
  };
  builder.registerPipelineStartEPCallback(
      [&plan](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(Prepare(&plan));
      });
  builder.registerOptimizerLastEPCallback(
      [&plan](llvm::ModulePassManager &passes, llvm::OptimizationLevel) {
        passes.addPass(Instrument(&plan));
      });
}

void initialiseTarget() {
  static const bool once = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmParser();
    LLVMInitializeX86AsmPrinter();
    // Keep copying loops as loops, because their accesses are those that a GPU would issue.
    llvm::DisableLIRP::All = true;
    return true;
  }();
  (void)once;
}

/// The Clang driver's command line for a host compilation of CUDA. Device mode is set later, in the
/// arguments of the compiler itself.
std::vector<std::string> driverArguments(const EmulateRequest &request, const std::string &file,
                                         const std::string &object, std::string &log) {
  auto readFile = [&request](const std::string &path) -> std::optional<std::string> {
    llvm::SmallString<256> absolute(path);
    if (!llvm::sys::path::is_absolute(absolute)) {
      absolute = request.directory;
      llvm::sys::path::append(absolute, path);
    }
    auto buffer = llvm::MemoryBuffer::getFile(absolute);
    if (!buffer)
      return std::nullopt;
    return (*buffer)->getBuffer().str();
  };
  NvccCommand command = translateNvcc(request.flags, readFile);
  for (const std::string &note : command.notes)
    log += "note: " + note + "\n";

  bool standard = false, contract = true;
  for (const std::string &flag : command.clang)
    standard |= flag.rfind("-std=", 0) == 0;
  for (std::size_t i = 0; i < request.flags.size(); ++i) {
    const std::string &flag = request.flags[i];
    if (flag == "-fmad=false" || flag == "--fmad=false" ||
        ((flag == "-fmad" || flag == "--fmad") && i + 1 < request.flags.size() &&
         request.flags[i + 1] == "false"))
      contract = false;
  }
  std::string architecture = command.architectures.empty() ? "sm_90" : command.architectures.back();
  std::string number;
  for (char c : architecture)
    if (c >= '0' && c <= '9')
      number += c;
  const std::string headers = emulatedIncludeDirectory();
  if (command.architectures.empty())
    command.architectures.push_back(architecture);

  std::vector<std::string> arguments = {
      clangProgramName(), "--target=x86_64-linux-gnu", "-x", "cuda", "--cuda-host-only",
      "-nocudainc", "-nocudalib", "--cuda-path=/kopt-virtual/no-toolkit", "-resource-dir",
      clangResourceDirectory(),
      // Before the user's paths, which may contain a toolkit's headers, and forced headers.
      "-I" + headers, "-include", "cuda_runtime.h",
      // As without flags of the user's: -O2 below defines it.
      "-U__OPTIMIZE__", "-march=x86-64-v2"};
  if (!standard)
    arguments.push_back("-std=gnu++17");
  arguments.insert(arguments.end(), command.clang.begin(), command.clang.end());
  // For headers that kopt does not replace: types and inline functions of libraries.
  if (const std::optional<std::string> toolkit = findCudaToolkit())
    for (const char *folder : {"/include/cccl", "/include"})
      arguments.insert(arguments.end(), {"-idirafter", *toolkit + folder});
  // Disable the parts of libcu++ that need types that kopt's headers lack.
  for (const char *type : {"FP8", "FP16", "BF16", "NVFP4", "NVFP6", "NVFP8"})
    arguments.push_back(std::string("-DCCCL_DISABLE_") + type + "_SUPPORT");
  for (const std::string &macro : nvccMacros(command.architectures, architecture))
    arguments.push_back(macro);
  for (const std::string &argument :
       {std::string("-isystem"), runtimeIncludeDirectory(), std::string("-DKOPT_EMULATED=1"),
        std::string("-DKOPT_FRONTEND=1"), std::string("-U__CUDA_ARCH__"),
        "-D__CUDA_ARCH__=" + number + "0",
        // So that results do not depend on the machine. The CPU converts half; products are not
        // fused.
        std::string("-mno-fma"), std::string("-mno-avx512f"), std::string("-mf16c"),
        std::string("-O2"), std::string("-fno-vectorize"), std::string("-fno-slp-vectorize"),
        std::string(contract ? "-ffp-contract=fast" : "-ffp-contract=off"),
        std::string("-fno-math-errno"), std::string("-fno-trapping-math"),
        std::string("-fno-threadsafe-statics"), std::string("-fno-stack-protector"),
        std::string("-U_FORTIFY_SOURCE"), std::string("-fcf-protection=none"), std::string("-fPIC"),
        std::string("-gline-tables-only"), std::string("-w"), std::string("-Wno-register"),
        std::string("-ferror-limit=20"), std::string("-c"), file, std::string("-o"), object})
    arguments.push_back(argument);
  if (request.unoptimized)
    arguments.insert(arguments.end(), {"-O1", "-ftrivial-auto-var-init=pattern"});
  return arguments;
}

using FileSystem = llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>;

constexpr const char *kFile = "slice.cu";

/// The file system of the disk, with `text` as the file to compile.
FileSystem filesWith(const std::string &text, llvm::StringRef directory) {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, kFile);
  auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, kFile));
  auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>(
          llvm::vfs::createPhysicalFileSystem().release()));
  files->pushOverlay(memory);
  files->setCurrentWorkingDirectory(directory);
  return files;
}

/// Prints diagnostics, and says in kopt's words what is not wrong, but cannot be emulated: PTX
/// constraints such as "=f", which this CPU does not have, and `extern __shared__ S s;`, which
/// Clang does not take. Headers that are not emulated say so themselves.
class LimitPrinter final : public clang::TextDiagnosticPrinter {
public:
  LimitPrinter(llvm::raw_ostream &out, clang::DiagnosticOptions &options, ModulePlan &plan)
      : TextDiagnosticPrinter(out, &options), plan_(plan) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic &info) override {
    llvm::StringRef limit;
    if (info.getID() == clang::diag::err_asm_invalid_input_constraint ||
        info.getID() == clang::diag::err_asm_invalid_output_constraint)
      limit = "inline assembly cannot run on the emulated device";
    if (info.getID() == clang::diag::err_cuda_extern_shared)
      limit = "the emulated device takes dynamic shared memory as an array alone";
    const bool isOfHeader =
        info.getID() == clang::diag::err_pp_hash_error &&
        info.getSourceManager().getFilename(info.getLocation()).starts_with(plan_.headerDirectory);
    plan_.isLimit |= isOfHeader || !limit.empty();
    TextDiagnosticPrinter::HandleDiagnostic(
        level, limit.empty() ? info : clang::Diagnostic(info.getDiags(), limit));
  }

private:
  ModulePlan &plan_;
};

/// The compiler's own arguments, for device code on this CPU.
std::vector<const char *> deviceArguments(const clang::driver::Command &job) {
  std::vector<const char *> arguments;
  const llvm::opt::ArgStringList &all = job.getArguments();
  for (std::size_t i = 1; i < all.size(); ++i) {
    // Remove the second target, whose builtins would shadow kopt's own functions.
    if (llvm::StringRef(all[i]) == "-aux-triple") {
      ++i;
      continue;
    }
    arguments.push_back(all[i]);
  }
  // Initialise variables with a pattern, so that a read before the first write does not see
  // leftovers in a register.
  for (const char *argument : {"-fcuda-is-device", "-fcuda-allow-variadic-functions",
                               "-target-sdk-version=12.5", "-ftrivial-auto-var-init=pattern"})
    arguments.push_back(argument);
  return arguments;
}

/// Notes every file, also those of a precompiled header.
class ReadFiles final : public clang::DependencyCollector {
  bool needSystemDependencies() override { return true; }
};

/// Compiles once. If `preamble` is not null, begins with a precompiled header if possible;
/// `preamble` then receives the invocation that did so, or nothing.
bool compileOnce(const EmulateRequest &request, const std::string &object,
                 std::shared_ptr<clang::CompilerInvocation> *preamble, ModulePlan &plan,
                 std::string &log) {
  plan.headerDirectory = emulatedIncludeDirectory();
  llvm::SmallString<256> directory(request.directory.empty() ? "/" : request.directory);
  llvm::sys::fs::make_absolute(directory);
  // Not visible in the sandbox, so nothing is read from it.
  if (!llvm::sys::fs::is_directory(directory))
    directory = "/";
  const std::string source = withGlue(request.slice, request.expression);
  FileSystem files = filesWith(source, directory);

  llvm::raw_string_ostream text(log);
  auto options = llvm::makeIntrusiveRefCnt<clang::DiagnosticOptions>();
  options->ShowColors = 0;
  auto printer = std::make_unique<LimitPrinter>(text, *options, plan);
  auto diagnostics = clang::CompilerInstance::createDiagnostics(options.get(), printer.get(),
                                                                /*ShouldOwnClient=*/false);
  diagnostics->setSeverityForGroup(clang::diag::Flavor::WarningOrError, "unknown-cuda-version",
                                   clang::diag::Severity::Ignored);

  std::vector<std::string> arguments = driverArguments(request, kFile, object, log);
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  clang::driver::Driver driver(pointers[0], "x86_64-linux-gnu", *diagnostics, "kopt", files);
  driver.setCheckInputsExist(false);
  std::unique_ptr<clang::driver::Compilation> compilation(driver.BuildCompilation(pointers));
  const clang::driver::Command *job = nullptr;
  if (compilation)
    for (const clang::driver::Command &command : compilation->getJobs())
      if (!command.getArguments().empty() &&
          llvm::StringRef(command.getArguments().front()) == "-cc1")
        job = &command;
  if (!job || diagnostics->hasErrorOccurred()) {
    text << "Clang could not turn the flags of this kernel into a compilation\n";
    return false;
  }
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, deviceArguments(*job), *diagnostics))
    return false;
  if (preamble)
    if (auto rest = usePreamble(*invocation, source, files)) {
      files = filesWith(*rest, directory);
      *preamble = invocation;
    }
  invocation->getCodeGenOpts().PassBuilderCallbacks.push_back(
      [&plan](llvm::PassBuilder &builder) { addPasses(builder, plan); });

  clang::CompilerInstance compiler;
  compiler.setInvocation(invocation);
  compiler.setDiagnostics(diagnostics.get());
  // "1 error generated" would go to this process's standard error.
  compiler.setVerboseOutputStream(std::make_unique<llvm::raw_null_ostream>());
  compiler.createFileManager(files);
  const auto reads = std::make_shared<ReadFiles>();
  compiler.addDependencyCollector(reads);
  EmulateAction action(plan);
  const bool compiled = compiler.ExecuteAction(action);
  for (const std::string &file : reads->getDependencies())
    if (file != kFile && file != invocation->getPreprocessorOpts().ImplicitPCHInclude)
      plan.reads.push_back(file);
  for (const std::string &error : plan.errors)
    text << "error: " << error << "\n";
  if (compiled && plan.kernel.empty())
    text << "error: '" << request.expression << "' names no kernel of the slice\n";
  text.flush();
  return compiled && plan.errors.empty() && !plan.kernel.empty();
}

} // namespace

bool compileModule(const EmulateRequest &request, const std::string &object, ModulePlan &plan,
                   std::string &log) {
  initialiseTarget();
  std::shared_ptr<clang::CompilerInvocation> preamble;
  ModulePlan first;
  std::string firstLog;
  bool compiled = compileOnce(request, object, &preamble, first, firstLog);
  if (compiled || !preamble) {
    plan = std::move(first);
    log += firstLog;
    return compiled;
  }
  // Compile again without the precompiled header, for complete diagnostics.
  compiled = compileOnce(request, object, nullptr, plan, log);
  if (compiled)
    dropPreamble(*preamble);
  return compiled;
}

} // namespace kopt::frontend::emulate
