// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/emulate/ModuleTables.h"

#include "clang_plugin/emulate/ModuleRules.h"

#include <llvm/IR/DebugInfoMetadata.h>

#include <map>
#include <utility>

namespace kopt::frontend::emulate {

using namespace runtime::emulated;

llvm::Constant *ModuleTables::number(std::uint32_t value) {
  return llvm::ConstantInt::get(llvm::Type::getInt32Ty(module_.getContext()), value);
}

llvm::Constant *ModuleTables::wide(std::uint64_t value) {
  return llvm::ConstantInt::get(llvm::Type::getInt64Ty(module_.getContext()), value);
}

llvm::Constant *ModuleTables::text(llvm::StringRef text) {
  llvm::Constant *&known = texts_[text];
  if (!known) {
    llvm::Constant *bytes = llvm::ConstantDataArray::getString(module_.getContext(), text);
    known = new llvm::GlobalVariable(module_, bytes->getType(), true,
                                     llvm::GlobalValue::PrivateLinkage, bytes);
  }
  return known;
}

llvm::Constant *ModuleTables::array(llvm::ArrayRef<llvm::Constant *> elements) {
  if (elements.empty())
    return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(module_.getContext()));
  auto *type = llvm::ArrayType::get(elements.front()->getType(), elements.size());
  return new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage,
                                  llvm::ConstantArray::get(type, elements));
}

unsigned ModuleTables::addSite(const llvm::Instruction &at, SiteKind kind, unsigned bytes,
                               unsigned flags, unsigned block) {
  const llvm::DILocation *location = userLocation(at, plan_);
  sites_.push_back(llvm::ConstantStruct::getAnon(
      {text(location ? location->getFilename() : ""), number(location ? location->getLine() : 0),
       number(location ? location->getColumn() : 0), number(static_cast<std::uint32_t>(kind)),
       number(bytes), number(flags), number(block)}));
  return sites_.size() - 1;
}

unsigned ModuleTables::addBlock(const BlockCount &count) {
  llvm::SmallVector<llvm::Constant *> counts;
  for (std::uint32_t instructions : count.info.instructions)
    counts.push_back(number(instructions));
  counts.push_back(number(count.info.endsInConditionalBranch));
  blocks_.push_back(llvm::ConstantStruct::getAnon(counts));
  const unsigned block = blocks_.size() - 1;
  std::map<std::pair<llvm::StringRef, unsigned>, unsigned> lines;
  for (const auto &[location, instructions] : count.locations) {
    // A location that the optimiser merged from several has line 0.
    const bool isKnown = location && location->getLine() > 0;
    lines[{isKnown ? location->getFilename() : "", isKnown ? location->getLine() : 0}] +=
        instructions;
  }
  for (const auto &[place, instructions] : lines)
    lines_.push_back(llvm::ConstantStruct::getAnon(
        {text(place.first), number(place.second), number(block), number(instructions)}));
  return block;
}

llvm::GlobalVariable *ModuleTables::addGlobal(llvm::GlobalVariable &variable) {
  auto *pointer = llvm::PointerType::getUnqual(module_.getContext());
  auto *slot = new llvm::GlobalVariable(module_, pointer, false, llvm::GlobalValue::InternalLinkage,
                                        llvm::ConstantPointerNull::get(pointer), "kopt.slot");
  const llvm::DataLayout &layout = module_.getDataLayout();
  auto *initial =
      new llvm::GlobalVariable(module_, variable.getValueType(), true,
                               llvm::GlobalValue::PrivateLinkage, variable.getInitializer());
  globals_.push_back(llvm::ConstantStruct::getAnon(
      {text(variable.getName()), initial, wide(layout.getTypeAllocSize(variable.getValueType())),
       wide(layout.getPreferredAlign(&variable).value()), slot}));
  return slot;
}

void ModuleTables::emit(llvm::Function &kernel, llvm::Function &trampoline,
                        unsigned staticSharedBytes, unsigned dynamicSharedOffset) {
  std::vector<llvm::Constant *> parameters;
  for (const ModulePlan::Parameter &parameter : plan_.parameters)
    parameters.push_back(
        llvm::ConstantStruct::getAnon({wide(parameter.bytes), wide(parameter.alignment)}));
  llvm::Constant *module = llvm::ConstantStruct::getAnon(
      {number(kModuleVersion), number(parameters.size()), array(parameters), text(kernel.getName()),
       &trampoline, &kernel, number(staticSharedBytes), number(dynamicSharedOffset),
       number(sites_.size()), number(blocks_.size()), number(globals_.size()),
       number(plan_.maxThreads), array(sites_), array(blocks_), array(globals_),
       number(lines_.size()), array(lines_)});
  new llvm::GlobalVariable(module_, module->getType(), true, llvm::GlobalValue::ExternalLinkage,
                           module, kModuleSymbol);
}

} // namespace kopt::frontend::emulate
