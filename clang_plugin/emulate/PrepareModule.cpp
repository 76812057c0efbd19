// SPDX-License-Identifier: Apache-2.0
// The pass before the optimiser.
#include "clang_plugin/emulate/GpuArithmetic.h"
#include "clang_plugin/emulate/Instrument.h"
#include "clang_plugin/emulate/ModuleRules.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

namespace kopt::frontend::emulate {
namespace {

/// Makes a variable externally visible, so that the optimiser does not assume to know all of its
/// uses: other threads write it too.
void expose(llvm::GlobalVariable &variable, llvm::StringRef role) {
  if (!variable.isDeclaration()) {
    variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
    variable.setVisibility(llvm::GlobalValue::HiddenVisibility);
    variable.setComdat(nullptr);
  }
  variable.addAttribute(role);
}

void markSharedVariables(llvm::Module &module) {
  llvm::GlobalVariable *annotations = module.getNamedGlobal("llvm.global.annotations");
  if (!annotations)
    return;
  const auto *entries = llvm::dyn_cast<llvm::ConstantArray>(annotations->getInitializer());
  for (unsigned i = 0; entries && i < entries->getNumOperands(); ++i) {
    const auto *entry = llvm::cast<llvm::ConstantStruct>(entries->getOperand(i));
    auto *variable =
        llvm::dyn_cast<llvm::GlobalVariable>(entry->getOperand(0)->stripPointerCasts());
    const auto *text =
        llvm::dyn_cast<llvm::GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
    if (!variable || !text || !text->hasInitializer())
      continue;
    const auto *bytes = llvm::dyn_cast<llvm::ConstantDataArray>(text->getInitializer());
    if (bytes && bytes->isCString() && bytes->getAsCString() == "kopt.shared")
      expose(*variable, "kopt-shared");
  }
  annotations->eraseFromParent();
}

void markOtherVariables(llvm::Module &module, ModulePlan &plan) {
  for (llvm::GlobalVariable &variable : module.globals()) {
    llvm::StringRef name = variable.getName();
    if (name.starts_with("llvm.") || name.starts_with("kopt_emulated_") ||
        variable.hasAttribute("kopt-shared"))
      continue;
    if (variable.isDeclaration()) {
      // Without relocatable device code, only `extern __shared__` arrays are declared but not
      // defined.
      const auto *array = llvm::dyn_cast<llvm::ArrayType>(variable.getValueType());
      if (array && array->getNumElements() == 0)
        expose(variable, "kopt-dynamic-shared");
      else if (!variable.use_empty())
        plan.errors.push_back(name.str() +
                              ": the variable is declared here and defined elsewhere; the emulated "
                              "device needs its definition in the slice");
      continue;
    }
    if (!variable.isConstant() || variable.isExternallyInitialized())
      expose(variable, "kopt-global");
  }
}

void rename(llvm::Module &module, llvm::StringRef from, llvm::StringRef to) {
  llvm::Function *function = module.getFunction(from);
  if (function && function->isDeclaration())
    function->setName(to);
}

/// Removes non-temporal hints of the user's code, because kopt's own headers use them to mark
/// announced accesses.
void dropHints(llvm::Function &function, const ModulePlan &plan) {
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (instruction.getMetadata(llvm::LLVMContext::MD_nontemporal) &&
        !isOfHeaders(instruction, plan))
      instruction.setMetadata(llvm::LLVMContext::MD_nontemporal, nullptr);
}

/// The condition that an assumption promises. Null if it cannot be checked.
llvm::Value *promiseOf(llvm::AssumeInst &assumption) {
  llvm::IRBuilder<> builder(&assumption);
  llvm::Value *promise = assumption.getArgOperand(0);
  for (unsigned i = 0; i < assumption.getNumOperandBundles(); ++i) {
    const llvm::OperandBundleUse bundle = assumption.getOperandBundleAt(i);
    if (bundle.getTagName() != "align" || bundle.Inputs.size() < 2)
      continue;
    llvm::Type *const word = builder.getInt64Ty();
    llvm::Value *address = builder.CreatePtrToInt(bundle.Inputs[0], word);
    if (bundle.Inputs.size() > 2)
      address = builder.CreateSub(address, builder.CreateZExtOrTrunc(bundle.Inputs[2], word));
    llvm::Value *const mask = builder.CreateSub(builder.CreateZExtOrTrunc(bundle.Inputs[1], word),
                                                llvm::ConstantInt::get(word, 1));
    promise = builder.CreateAnd(promise, builder.CreateICmpEQ(builder.CreateAnd(address, mask),
                                                              llvm::ConstantInt::get(word, 0)));
  }
  const auto *constant = llvm::dyn_cast<llvm::ConstantInt>(promise);
  return constant && constant->isOne() ? nullptr : promise;
}

/// Turns promises to the compiler (__builtin_assume, __builtin_assume_aligned) into checks: a
/// broken promise is undefined behaviour, which each compiler treats differently.
void checkAssumptions(llvm::Function &function, const ModulePlan &plan) {
  std::vector<llvm::AssumeInst *> assumptions;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *assumption = llvm::dyn_cast<llvm::AssumeInst>(&instruction);
        assumption && !isOfHeaders(instruction, plan))
      assumptions.push_back(assumption);
  for (llvm::AssumeInst *assumption : assumptions) {
    if (llvm::Value *promise = promiseOf(*assumption)) {
      llvm::IRBuilder<> builder(assumption);
      llvm::Instruction *broken = llvm::SplitBlockAndInsertIfThen(
          builder.CreateNot(builder.CreateFreeze(promise)), assumption, /*Unreachable=*/true);
      builder.SetInsertPoint(broken);
      builder.SetCurrentDebugLocation(assumption->getDebugLoc());
      llvm::Type *const pointer = builder.getPtrTy();
      const llvm::DILocation *location = userLocation(*assumption, plan);
      const llvm::FunctionCallee report = function.getParent()->getOrInsertFunction(
          "kopt_emulated_assert", builder.getVoidTy(), pointer, pointer, builder.getInt32Ty(),
          pointer);
      builder.CreateCall(
          report,
          {builder.CreateGlobalStringPtr("what the compiler was told to assume"),
           builder.CreateGlobalStringPtr(location ? location->getFilename() : "an unknown file"),
           builder.getInt32(location ? location->getLine() : 0),
           llvm::Constant::getNullValue(pointer)});
    }
    assumption->eraseFromParent();
  }
}

/// Removes waits for the previous kernel (programmatic dependent launch), which has ended already.
void dropGridDependencies(llvm::Function &function) {
  std::vector<llvm::CallBase *> waits;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      if (const auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()))
        if (const llvm::StringRef text = llvm::StringRef(assembly->getAsmString()).trim(" \t\n;");
            call->getType()->isVoidTy() &&
            (text == "griddepcontrol.wait" || text == "griddepcontrol.launch_dependents"))
          waits.push_back(call);
  for (llvm::CallBase *wait : waits)
    wait->eraseFromParent();
}

struct Choice {
  llvm::Constant *first, *second;
};

/// The other values for a type; null members if it has none (pointers, structs).
Choice choiceOf(llvm::Type *type) {
  llvm::Type *const scalar = type->getScalarType();
  if (scalar->isFloatingPointTy()) {
    const llvm::fltSemantics &semantics = scalar->getFltSemantics();
    return {llvm::ConstantFP::get(type, llvm::APFloat::getLargest(semantics)),
            llvm::ConstantFP::get(type, llvm::APFloat::getLargest(semantics, /*Negative=*/true))};
  }
  if (scalar->isIntegerTy())
    return {
        llvm::ConstantInt::get(type, 0),
        llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(scalar->getIntegerBitWidth()))};
  return {};
}

/// The other values for the bytes of an array. Clang's pattern is all ones for floating-point
/// numbers. 0x7f7f7f7f is 3.4e38, 0xfefefefe -1.7e38.
Choice choiceOfBytes(const llvm::ConstantInt &pattern) {
  llvm::Type *const byte = pattern.getType();
  const bool isFloatingPoint = pattern.isMinusOne();
  return {llvm::ConstantInt::get(byte, isFloatingPoint ? 0x7f : 0),
          llvm::ConstantInt::get(byte, isFloatingPoint ? 0xfe : 0x7f)};
}

/// Clang's -ftrivial-auto-var-init=pattern gives such variables a value that is rarely correct:
/// NaN, or a negative integer. But a search for a maximum or minimum may start from it and still be
/// correct. Therefore the launch chooses the value (setUnset() in runtime/emulated): the pattern;
/// the largest floating-point number and integer 0; or the lowest floating-point number and the
/// largest integer. Must run before the optimiser.
void chooseUnset(llvm::Function &function) {
  std::vector<llvm::Instruction *> stores;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (hasAnnotation(instruction, "auto-init")) // for a variable without an initialiser
      stores.push_back(&instruction);
  llvm::Value *unset = nullptr;
  for (llvm::Instruction *instruction : stores) {
    auto *const fill = llvm::dyn_cast<llvm::MemSetInst>(instruction);
    auto *const store = llvm::dyn_cast<llvm::StoreInst>(instruction);
    if (!fill && !store)
      continue;
    llvm::Value *const pattern = fill ? fill->getValue() : store->getValueOperand();
    const auto *const byte = fill ? llvm::dyn_cast<llvm::ConstantInt>(pattern) : nullptr;
    const Choice choice = byte   ? choiceOfBytes(*byte)
                          : fill ? Choice()
                                 : choiceOf(pattern->getType());
    if (!choice.first)
      continue;
    if (!unset) {
      llvm::IRBuilder<> entry(&*function.getEntryBlock().getFirstInsertionPt());
      auto *const variable = llvm::cast<llvm::GlobalVariable>(
          function.getParent()->getOrInsertGlobal("kopt_emulated_unset", entry.getInt32Ty()));
      variable->setConstant(true); // constant while a kernel runs
      unset = entry.CreateLoad(entry.getInt32Ty(), variable);
    }
    llvm::IRBuilder<> builder(instruction);
    llvm::Value *const value =
        builder.CreateSelect(builder.CreateICmpEQ(unset, builder.getInt32(1)), choice.first,
                             builder.CreateSelect(builder.CreateICmpEQ(unset, builder.getInt32(2)),
                                                  choice.second, pattern));
    if (fill)
      fill->setValue(value);
    else
      store->setOperand(0, value);
  }
}

} // namespace

void prepareModule(llvm::Module &module, ModulePlan &plan) {
  for (llvm::Function &function : module)
    dropGridDependencies(function);
  checkDeclarations(module, plan);
  markSharedVariables(module);
  for (const char *list : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable *used = module.getNamedGlobal(list))
      used->eraseFromParent();
  markOtherVariables(module, plan);

  // Must run before the optimiser turns printf("x\n") into puts().
  rename(module, "printf", "kopt_emulated_printf");
  rename(module, "__assert_fail", "kopt_emulated_assert");

  llvm::Function *kernel = module.getFunction(plan.kernel);
  if (!kernel || kernel->isDeclaration()) {
    plan.errors.push_back("the kernel " + plan.kernel + " is not defined in the slice");
    return;
  }
  llvm::Function *trampoline = module.getFunction("kopt_emulated_call");
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    dropHints(function, plan);
    checkAssumptions(function, plan);
    chooseUnset(function);
    defineArithmetic(function);
    function.setComdat(nullptr);
    // A large frame must hit the guard page below a thread's stack and not skip it.
    function.addFnAttr("probe-stack", "inline-asm");
    if (&function == kernel || &function == trampoline) {
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
      function.setVisibility(llvm::GlobalValue::HiddenVisibility);
      continue;
    }
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setVisibility(llvm::GlobalValue::DefaultVisibility);
    // Inline nearly everything, as nvcc does; this also keeps loop iterations attributable to the
    // kernel.
    if (!function.hasFnAttribute(llvm::Attribute::NoInline) &&
        !function.hasFnAttribute(llvm::Attribute::OptimizeNone))
      function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  // The tables of the instrumentation will refer to these; until then, this list keeps them.
  llvm::SmallVector<llvm::GlobalValue *, 2> kept = {kernel};
  if (trampoline)
    kept.push_back(trampoline);
  llvm::appendToCompilerUsed(module, kept);
}

} // namespace kopt::frontend::emulate
