// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/emulate/AccessGroups.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

namespace kopt::frontend::emulate {
namespace {

using runtime::emulated::SiteKind;

constexpr unsigned kWidestAccess = 16; ///< bytes, LDG.128

/// An access as base + constant offset.
struct Placed {
  AccessGroup group;
  const llvm::Value *base = nullptr;
  std::int64_t offset = 0;
};

/// The type of an object in memory that belongs to the thread alone or is constant; null for
/// anything else.
llvm::Type *privateType(const llvm::Value *object) {
  if (const auto *variable = llvm::dyn_cast<llvm::AllocaInst>(object))
    return variable->isArrayAllocation() ? nullptr : variable->getAllocatedType();
  if (const auto *argument = llvm::dyn_cast<llvm::Argument>(object))
    return argument->hasByValAttr()       ? argument->getParamByValType()
           : argument->hasStructRetAttr() ? argument->getParamStructRetType()
                                          : nullptr;
  if (const auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(object))
    return variable->isConstant() ? variable->getValueType() : nullptr;
  return nullptr;
}

class Grouper {
public:
  Grouper(llvm::BasicBlock &block, const llvm::DenseSet<llvm::Value *> &ignored)
      : block_(block), layout_(block.getModule()->getDataLayout()), ignored_(ignored) {}

  std::vector<AccessGroup> run() {
    for (llvm::Instruction &instruction : block_) {
      if (auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
        if (!ignored_.contains(load))
          add(instruction, load->getPointerOperand(), load->getType(), load->getAlign(),
              SiteKind::Load, load->isVolatile() || load->isAtomic());
      } else if (auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
        add(instruction, store->getPointerOperand(), store->getValueOperand()->getType(),
            store->getAlign(), SiteKind::Store, store->isVolatile() || store->isAtomic());
      } else if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
        addAtomic(instruction, update->getPointerOperand(), update->getType());
      } else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
        addAtomic(instruction, exchange->getPointerOperand(),
                  exchange->getCompareOperand()->getType());
      } else if (llvm::isa<llvm::CallBase>(instruction) && instruction.mayReadOrWriteMemory()) {
        openLoads_.clear();
        openStores_.clear();
      }
    }
    std::vector<AccessGroup> groups;
    for (const Placed &placed : all_)
      groups.push_back(placed.group);
    return groups;
  }

private:
  void addAtomic(llvm::Instruction &instruction, llvm::Value *address, llvm::Type *type) {
    openLoads_.clear();
    openStores_.clear();
    Placed placed;
    placed.group.first = &instruction;
    placed.group.address = address;
    placed.group.bytes = unsigned(layout_.getTypeStoreSize(type));
    placed.group.kind = SiteKind::Atomic;
    all_.push_back(placed);
  }

  void add(llvm::Instruction &instruction, llvm::Value *address, llvm::Type *type,
           llvm::Align alignment, SiteKind kind, bool isVolatile) {
    // Parts of a read-modify-write, which were announced.
    if (instruction.getMetadata(llvm::LLVMContext::MD_nontemporal))
      return;
    const unsigned bytes = unsigned(layout_.getTypeStoreSize(type));
    if (bytes == 0)
      return;
    llvm::Value *object = llvm::getUnderlyingObject(address);
    if (auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(object))
      if (variable->getName().starts_with("kopt_emulated_"))
        return;

    Placed placed;
    placed.group.first = &instruction;
    placed.group.address = address;
    placed.group.bytes = bytes;
    placed.group.kind = kind;
    placed.group.alignment = alignment.value();
    if (isVolatile)
      placed.group.flags |= runtime::emulated::kVolatile;
    if (kind == SiteKind::Load && type->isIntegerTy() && bytes > 1)
      placed.group.flags |= runtime::emulated::kMayBePadded;
    llvm::APInt offset(64, 0);
    placed.base =
        address->stripAndAccumulateConstantOffsets(layout_, offset, /*AllowNonInbounds=*/true);
    placed.offset = offset.getSExtValue();

    if (llvm::Type *owned = privateType(object)) {
      const std::uint64_t size = layout_.getTypeAllocSize(owned);
      if (placed.base == object && placed.offset >= 0 &&
          std::uint64_t(placed.offset) + bytes <= size)
        return;
      placed.group.local = object;
      placed.group.localBytes = size;
      all_.push_back(placed);
      return;
    }
    if (kind == SiteKind::Store)
      openLoads_.clear();
    std::vector<unsigned> &open = kind == SiteKind::Load ? openLoads_ : openStores_;
    if (kind == SiteKind::Load)
      openStores_.clear();
    if (!isVolatile) {
      for (unsigned index : open)
        if (extend(all_[index], placed))
          return;
      // Only neighbours in program order are combined: a store in between ends the group.
      if (kind == SiteKind::Store)
        openStores_.clear();
      open.push_back(unsigned(all_.size()));
    }
    all_.push_back(placed);
  }

  /// Adds `next` to the group if it is adjacent in memory and the hardware could access both at
  /// once.
  static bool extend(Placed &group, const Placed &next) {
    if (group.base != next.base || group.offset + std::int64_t(group.group.bytes) != next.offset)
      return false;
    const unsigned total = group.group.bytes + next.group.bytes;
    // Only three of four components may be used; the access is as wide as the alignment allows.
    const unsigned access = unsigned(llvm::PowerOf2Ceil(total));
    if (access > kWidestAccess || group.group.alignment < access)
      return false;
    group.group.bytes = total;
    group.group.flags &= ~runtime::emulated::kMayBePadded;
    return true;
  }

  llvm::BasicBlock &block_;
  const llvm::DataLayout &layout_;
  const llvm::DenseSet<llvm::Value *> &ignored_;
  std::vector<Placed> all_;
  /// Indices into all_ of groups that may still grow.
  std::vector<unsigned> openLoads_, openStores_;
};

} // namespace

std::vector<AccessGroup> groupAccesses(llvm::BasicBlock &block,
                                       const llvm::DenseSet<llvm::Value *> &ignored) {
  return Grouper(block, ignored).run();
}

} // namespace kopt::frontend::emulate
