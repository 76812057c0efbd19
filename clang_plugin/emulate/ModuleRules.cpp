// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/emulate/ModuleRules.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/FileSystem.h>

namespace kopt::frontend::emulate {
namespace {

constexpr llvm::StringLiteral kReserved = "kopt_emulated_";

void refuse(ModulePlan &plan, const std::string &what) {
  if (plan.errors.size() < 20)
    plan.errors.push_back(what);
}

/// True for intrinsics that access memory but that the instrumentation handles, or that are
/// harmless.
bool isKnownIntrinsic(const llvm::IntrinsicInst &call) {
  if (call.getCalledFunction()->getName().starts_with("llvm.x86"))
    return false;
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::memcpy:
  case llvm::Intrinsic::memcpy_inline:
  case llvm::Intrinsic::memmove:
  case llvm::Intrinsic::memset:
  case llvm::Intrinsic::memset_inline:
  case llvm::Intrinsic::lifetime_start:
  case llvm::Intrinsic::lifetime_end:
  case llvm::Intrinsic::assume:
  case llvm::Intrinsic::experimental_noalias_scope_decl:
  case llvm::Intrinsic::dbg_declare:
  case llvm::Intrinsic::dbg_value:
  case llvm::Intrinsic::dbg_label:
  case llvm::Intrinsic::prefetch:
  case llvm::Intrinsic::trap:
  case llvm::Intrinsic::debugtrap:
  case llvm::Intrinsic::ubsantrap:
  case llvm::Intrinsic::sideeffect:
  case llvm::Intrinsic::invariant_start:
  case llvm::Intrinsic::invariant_end:
    return true;
  case llvm::Intrinsic::frameaddress:
  case llvm::Intrinsic::returnaddress:
  case llvm::Intrinsic::addressofreturnaddress:
    return false;
  default:
    return call.doesNotAccessMemory() || call.onlyAccessesInaccessibleMemory();
  }
}

void checkCall(const llvm::CallBase &call, ModulePlan &plan) {
  const std::string at = placeOf(call, plan);
  if (const auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    // Empty assembly is a compiler barrier and emits nothing.
    if (!assembly->getAsmString().empty())
      refuse(plan, at + ": inline assembly cannot run on the emulated device");
    return;
  }
  const auto *callee = llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
  if (!callee) {
    if (call.getFunction()->getName() != kTrampoline)
      refuse(plan, at + ": a call through a pointer or a virtual function is not emulated");
    return;
  }
  if (const auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) {
    if (!isKnownIntrinsic(*intrinsic))
      refuse(plan, at + ": " + callee->getName().str() + " is not emulated");
    return;
  }
  if (!callee->isDeclaration() || callee->getName().starts_with(kReserved) ||
      isMathFunction(callee->getName()))
    return;
  if (callee->getName() == "memcpy" || callee->getName() == "memmove" ||
      callee->getName() == "memset")
    return;
  refuse(plan, at + ": the kernel calls " + callee->getName().str() +
                   ", which does not exist on the emulated device");
}

/// Clang splits a path into a folder and a rest if it shares a folder with the working directory.
llvm::SmallString<256> pathOf(const llvm::DILocation &location) {
  llvm::SmallString<256> path = location.getFilename();
  llvm::sys::fs::make_absolute(location.getDirectory(), path);
  return path;
}

bool isOurs(const llvm::DILocation &location, const ModulePlan &plan) {
  return pathOf(location).starts_with(plan.headerDirectory);
}

/// True for headers of the system and the toolkit.
bool isOfSystem(const llvm::DILocation &location) {
  const llvm::SmallString<256> path = pathOf(location);
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") ||
         path.starts_with("/usr/local/");
}

} // namespace

bool isOfHeaders(const llvm::Instruction &instruction, const ModulePlan &plan) {
  const llvm::DILocation *location = instruction.getDebugLoc();
  return location && isOurs(*location, plan);
}

const llvm::DILocation *userLocation(const llvm::Instruction &instruction, const ModulePlan &plan) {
  const llvm::DILocation *location = instruction.getDebugLoc();
  while (location && location->getInlinedAt() && (isOurs(*location, plan) || isOfSystem(*location)))
    location = location->getInlinedAt();
  return location;
}

std::string placeOf(const llvm::Instruction &instruction, const ModulePlan &plan) {
  const llvm::DILocation *location = userLocation(instruction, plan);
  if (!location)
    return "an unknown line";
  return location->getFilename().str() + ":" + std::to_string(location->getLine());
}

bool isMathFunction(llvm::StringRef name) {
  static const llvm::StringSet<> doubles = {
      "acos",   "acosh",    "asin",      "asinh",     "atan",      "atan2", "atanh",     "cbrt",
      "ceil",   "copysign", "cos",       "cosh",      "erf",       "erfc",  "exp",       "exp10",
      "exp2",   "expm1",    "fabs",      "fdim",      "floor",     "fma",   "fmax",      "fmin",
      "fmod",   "frexp",    "hypot",     "ilogb",     "j0",        "j1",    "jn",        "ldexp",
      "lgamma", "llrint",   "llround",   "log",       "log10",     "log1p", "log2",      "logb",
      "lrint",  "lround",   "modf",      "nearbyint", "nextafter", "pow",   "remainder", "remquo",
      "rint",   "round",    "roundeven", "scalbln",   "scalbn",    "sin",   "sincos",    "sinh",
      "sqrt",   "tan",      "tanh",      "tgamma",    "trunc",     "y0",    "y1",        "yn"};
  if (doubles.contains(name) || name == "abs" || name == "labs" || name == "llabs")
    return true;
  if (name == "sinl" || name == "cosl")
    return true;
  return name.ends_with("f") && doubles.contains(name.drop_back());
}

void checkDeclarations(const llvm::Module &module, ModulePlan &plan) {
  if (!module.getModuleInlineAsm().empty())
    refuse(plan, "assembly outside of functions cannot run on the emulated device");
  for (const char *list : {"llvm.global_ctors", "llvm.global_dtors"})
    if (const llvm::GlobalVariable *constructors = module.getNamedGlobal(list))
      if (!constructors->isDeclaration())
        refuse(plan,
               "device code with constructors or destructors of global objects is not emulated");
  if (!module.ifunc_empty())
    refuse(plan, "functions resolved at load time (ifunc) are not emulated");
  for (const llvm::GlobalObject &object : module.global_objects()) {
    if (object.getName().starts_with("llvm."))
      continue;
    // Texts of annotations are in a section of LLVM, which is not written to the object.
    if (object.hasSection() && object.getSection() != "llvm.metadata")
      refuse(plan,
             object.getName().str() + ": a section attribute is not allowed in emulated code");
    if (!object.isDeclaration() && object.getName().starts_with(kReserved) &&
        object.getName() != kTrampoline)
      refuse(plan, object.getName().str() + ": names beginning with kopt_emulated_ are reserved");
    if (const auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(&object))
      if (variable->isThreadLocal())
        refuse(plan,
               object.getName().str() + ": thread_local variables do not exist in device code");
  }
}

void checkInstructions(const llvm::Module &module, ModulePlan &plan) {
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
      if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        checkCall(*call, plan);
      const auto *stack = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (stack && !stack->isStaticAlloca())
        refuse(plan, placeOf(instruction, plan) +
                         ": memory of variable size on the stack is not emulated");
      if (llvm::isa<llvm::IndirectBrInst, llvm::VAArgInst>(instruction))
        refuse(plan, placeOf(instruction, plan) +
                         ": computed jumps and variadic functions are not emulated");
    }
}

} // namespace kopt::frontend::emulate
