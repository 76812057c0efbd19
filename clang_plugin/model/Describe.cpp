// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/model/Describe.h"

#include <llvm/ADT/StringExtras.h>

#include <map>
#include <set>

namespace kopt::frontend::model {
namespace {

constexpr std::uint32_t kLanes = 32;

class Describer {
public:
  Describer(const KernelModel &model, const LaunchShape *launch) : model_(model), launch_(launch) {}

  ModelReply describe() const {
    ModelReply reply;
    for (std::size_t i = 0; i < model_.loops.size(); ++i)
      reply.facts.push_back(at(model_.loops[i].place, loopText(model_.loops[i])));
    for (const Access &access : model_.accesses) {
      reply.facts.push_back(at(access.place, accessText(access)));
      if (access.space != MemorySpace::Local)
        reply.accesses.push_back(at(access.place, words(access)));
    }
    for (const Barrier &barrier : model_.barriers)
      reply.facts.push_back(at(barrier.place, std::string("barrier of ") + toString(barrier.kind) +
                                                  (barrier.isUniform ? "" : ", maybe not uniform") +
                                                  loopsText(barrier.loops)));
    for (const Condition &condition : model_.conditions)
      reply.facts.push_back(at(condition.place, conditionText(condition)));
    for (const Blind &blind : model_.blind)
      reply.facts.push_back(at(blind.place, "unknown: " + blind.what));
    reply.readAcross = readAcross();
    llvm::stable_sort(reply.facts, [](const ModelLine &a, const ModelLine &b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    return reply;
  }

private:
  /// A load that all threads make at the places of a loop, where a store's place differs from
  /// thread to thread; or one a fixed distance from what the thread itself stores.
  bool isAcross(const Access &load, const Access &store) const {
    const auto apart = difference(*load.offset, *store.offset);
    if (!apart || apart->isZero())
      return false;
    if (apart->constant())
      return true;
    const auto is = [](const std::optional<Polynomial> &stride, bool zero) {
      return stride && stride->isZero() == zero;
    };
    return !load.loops.empty() && is(load.strides[0], true) && is(store.strides[0], false);
  }

  std::vector<std::string> readAcross() const {
    std::set<std::string> names;
    std::vector<const Access *> stores;
    for (const Access &access : model_.accesses)
      if (access.kind != AccessKind::Load && access.isParameter)
        stores.push_back(&access);
    if (!model_.barriers.empty() || !model_.blind.empty() ||
        !llvm::all_of(stores, [](const Access *store) { return store->offset.has_value(); }))
      return {};
    for (const Access &load : model_.accesses)
      if (load.kind == AccessKind::Load && load.isParameter && load.offset &&
          llvm::any_of(stores, [&](const Access *store) { return isAcross(load, *store); }) &&
          llvm::none_of(stores,
                        [&](const Access *store) { return *store->offset == *load.offset; }))
        names.insert(load.root);
    return {names.begin(), names.end()};
  }

  static ModelLine at(const Place &place, std::string text) {
    return {place.line, place.column, std::move(text)};
  }
  std::string text(const Polynomial &value) const { return value.text(model_.symbols); }
  std::string text(const std::optional<Polynomial> &value) const {
    return value ? text(*value) : "?";
  }

  std::string assumed(const std::set<unsigned> &assumptions) const {
    std::string result;
    for (unsigned number : assumptions) {
      const Assumption &each = model_.assumptions[number];
      result += (result.empty() ? ", if " : " and ") + text(each.value) + " fits " +
                (each.isSigned ? "int" : "uint") + std::to_string(each.bits);
    }
    return result;
  }

  std::string loopName(unsigned number) const {
    const LoopFacts &loop = model_.loops[number];
    return loop.counter.empty() ? "line " + std::to_string(loop.place.line) : loop.counter;
  }

  std::string loopsText(const std::vector<unsigned> &loops) const {
    std::string result;
    for (unsigned loop : loops)
      result += (result.empty() ? ", in " : ", ") + loopName(loop);
    return result;
  }

  std::string loopText(const LoopFacts &loop) const {
    std::string result = "loop";
    if (loop.first) {
      const std::string name = loop.counter.empty() ? "?" : loop.counter;
      result +=
          " (" + name + " = " + text(loop.first) + "; " +
          (loop.bound ? name + " " + toString(loop.relation) + " " + text(*loop.bound) : "?") +
          "; " + name + " += " + text(loop.step) + ")";
    }
    if (loop.trips)
      result += ", " + std::to_string(*loop.trips) + " times";
    result += loop.isUniform ? "" : ", not uniform";
    for (const auto &[is, what] : {std::pair(loop.hasStores, "stores"),
                                   {loop.hasAtomics, "atomics"},
                                   {loop.hasBarriers, "barriers"},
                                   {loop.hasCalls, "unknown calls"},
                                   {loop.otherExit.has_value(), "other exits"}})
      if (is)
        result += std::string(", ") + what;
    for (const Reduction &reduction : loop.reductions)
      result += std::string(", ") + (reduction.isConditional ? "conditional " : "") +
                toString(reduction.kind) + " into " +
                (reduction.name.empty() ? "?" : reduction.name);
    return result + assumed(loop.assumptions);
  }

  std::string accessText(const Access &access) const {
    std::string result = std::string(toString(access.kind)) + " " +
                         (access.text.empty() ? "?" : access.text) + ": " + toString(access.space) +
                         " " + (access.root.empty() ? "?" : access.root) + ", " +
                         std::to_string(access.bytes) + " bytes";
    if (!access.offset)
      return result + ", " + access.whyUnknown;
    result += " at " + text(*access.offset) + ", lanes (" + text(access.strides[0]) + ", " +
              text(access.strides[1]) + ", " + text(access.strides[2]) + ")";
    for (std::size_t i = 0; i < access.loops.size(); ++i)
      result += ", " + loopName(access.loops[i]) + " " + text(access.loopStrides[i]);
    for (const Reached &each : access.reached)
      if (const std::string &condition = model_.conditions[each.condition].text; !condition.empty())
        result += std::string(each.when ? ", where " : ", where not ") + condition;
    return result + assumed(access.assumptions);
  }

  std::string conditionText(const Condition &condition) const {
    std::string result = "condition " + (condition.text.empty() ? "?" : condition.text);
    const auto &compared = condition.compared;
    if (compared)
      result += ": " + text(compared->left) + " " + toString(compared->relation) + " " +
                text(compared->right);
    result += condition.isUniform ? ", uniform" : "";
    result += condition.isGuard ? ", guard" : "";
    if (condition.endsKernel)
      result +=
          std::string(", the kernel ends where it is ") + (condition.endsWhen ? "true" : "false");
    return compared ? result + assumed(compared->assumptions) : result;
  }

  /// The value in the launch, if there is only one.
  std::optional<std::int64_t> number(const Polynomial &value) const {
    return valueOf(value, model_, launch_);
  }

  std::string bytes(const Polynomial &value) const {
    const auto known = number(value);
    return (known ? std::to_string(*known) : text(value)) + " bytes";
  }

  /// The values that make the lanes of a warp differ in an unknown way.
  std::string causes(const Access &access) const {
    std::set<std::string> names;
    if (access.offset)
      for (unsigned symbol : access.offset->symbols())
        if (model_.symbols[symbol].kind == SymbolKind::Unknown && model_.symbols[symbol].varies[0])
          names.insert(model_.symbols[symbol].name);
    if (names.empty())
      return access.whyUnknown.empty() ? "the pointer differs between lanes" : access.whyUnknown;
    return "it depends on " + llvm::join(names, " and ");
  }

  std::string lanes(const Access &access) const {
    if (!access.strides[0])
      return "how far lanes are apart is not known: " + causes(access);
    if (launch_ && !hold(access.assumptions, model_, *launch_))
      return "how far lanes are apart is not known: the subscript may wrap";
    if (number(*access.strides[0]) == 0 && (!launch_ || launch_->block[0] >= kLanes))
      return "all lanes take the same place";
    std::string result = "lanes are " + bytes(*access.strides[0]) + " apart";
    if (launch_ && launch_->block[0] < kLanes && access.strides[1])
      result +=
          ", rows of " + std::to_string(launch_->block[0]) + " lanes " + bytes(*access.strides[1]);
    const std::vector<std::int64_t> offsets = laneOffsets(access);
    if (offsets.empty() || access.bytes == 0)
      return result;
    const bool isShared = access.space == MemorySpace::Shared;
    const unsigned count =
        isShared ? bankPassesOf(offsets, access.bytes) : sectorsOf(offsets, access.bytes);
    const std::set<std::int64_t> places(offsets.begin(), offsets.end());
    const auto needed = unsigned(places.size()) * access.bytes;
    if (isShared)
      return result + (count > (needed + 127) / 128
                           ? ", banks are passed " + std::to_string(count) + " times a request"
                           : ", no bank conflict");
    return result + ", " + std::to_string(count) + " sectors a request" +
           (count > (needed + 31) / 32
                ? " where " + std::to_string((needed + 31) / 32) + " would do"
                : "");
  }

  /// Where the lanes of the first warp are, from the first; empty if not known.
  std::vector<std::int64_t> laneOffsets(const Access &access) const {
    std::vector<std::int64_t> offsets;
    const std::array<std::uint32_t, 3> block =
        launch_ ? launch_->block : std::array<std::uint32_t, 3>{kLanes, 1, 1};
    for (std::uint32_t lane = 0; lane < std::min(kLanes, block[0] * block[1] * block[2]); ++lane) {
      std::int64_t offset = 0;
      std::uint32_t rest = lane;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::uint32_t coordinate = rest % block[axis];
        rest /= block[axis];
        const auto stride = access.strides[axis] ? number(*access.strides[axis]) : std::nullopt;
        if (coordinate && !stride)
          return {};
        offset += coordinate ? coordinate * *stride : 0;
      }
      offsets.push_back(offset);
    }
    return offsets;
  }

  std::string words(const Access &access) const {
    std::string result = (access.text.empty() ? access.root + "[?]" : access.text) + ": " +
                         toString(access.kind) + " of " + std::to_string(access.bytes) +
                         " bytes from " + toString(access.space) + " memory, ";
    if (access.kind != AccessKind::Load)
      result.replace(result.find(" from "), 6, " in ");
    result += lanes(access);
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (access.strides[axis] && access.strides[axis]->isZero() &&
          access.kind == AccessKind::Load && launch_ && launch_->block[axis] > 1)
        result += std::string("; the ") + std::to_string(launch_->block[axis]) + " threads along " +
                  "xyz"[axis] + " read the same";
    for (std::size_t i = 0; i < access.loops.size(); ++i) {
      const LoopFacts &loop = model_.loops[access.loops[i]];
      const std::string over = loop.counter.empty()
                                   ? "the loop at line " + std::to_string(loop.place.line)
                                   : "the loop over " + loop.counter;
      const auto &stride = access.loopStrides[i];
      result += "; " + over +
                (!stride                ? " has no known stride"
                 : number(*stride) == 0 ? " does not move it"
                                        : " moves it by " + bytes(*stride));
    }
    return result;
  }

  const KernelModel &model_;
  const LaunchShape *launch_;
};

} // namespace

unsigned sectorsOf(llvm::ArrayRef<std::int64_t> lanes, unsigned bytes) {
  std::set<std::int64_t> sectors;
  for (const std::int64_t lane : lanes)
    for (std::int64_t at = lane >> 5; at <= (lane + bytes - 1) >> 5; ++at)
      sectors.insert(at);
  return unsigned(sectors.size());
}

unsigned bankPassesOf(llvm::ArrayRef<std::int64_t> lanes, unsigned bytes) {
  std::map<std::int64_t, std::set<std::int64_t>> banks;
  for (const std::int64_t lane : lanes)
    for (std::int64_t word = lane >> 2; word <= (lane + bytes - 1) >> 2; ++word)
      banks[word & 31].insert(word);
  std::size_t most = 0;
  for (const auto &[bank, words] : banks)
    most = std::max(most, words.size());
  return unsigned(most);
}

llvm::Expected<ModelReply> describeModel(const ModelRequest &request) {
  llvm::Expected<KernelModel> model = makeModel(request.source);
  if (!model)
    return model.takeError();
  const auto heaviest = std::max_element(
      request.launches.begin(), request.launches.end(),
      [](const LaunchShape &a, const LaunchShape &b) { return a.weight < b.weight; });
  return Describer(*model, heaviest == request.launches.end() ? nullptr : &*heaviest).describe();
}

} // namespace kopt::frontend::model
