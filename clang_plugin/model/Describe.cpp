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
    const auto add = [&](const Place &place, std::string text) {
      reply.facts.push_back({place.line, place.column, std::move(text)});
    };
    for (const LoopFacts &loop : model_.loops)
      add(loop.place, loopText(loop));
    for (const Access &access : model_.accesses) {
      add(access.place, accessText(access));
      if (access.space != MemorySpace::Local)
        reply.accesses.push_back({access.place.line, access.place.column, words(access)});
    }
    for (const Barrier &barrier : model_.barriers) {
      std::vector<std::string> loops;
      for (unsigned loop : barrier.loops)
        loops.push_back(loopName(loop));
      add(barrier.place, std::string("barrier of ") + toString(barrier.kind) +
                             (barrier.isUniform ? "" : ", maybe not uniform") +
                             (loops.empty() ? "" : ", in " + llvm::join(loops, ", ")));
    }
    for (const Condition &condition : model_.conditions)
      add(condition.place, conditionText(condition));
    for (const Blind &blind : model_.blind)
      add(blind.place, "unknown: " + blind.what);
    reply.readAcross = readAcross();
    reply.uses = uses();
    reply.counts = counts();
    llvm::stable_sort(reply.facts, [](const ModelLine &a, const ModelLine &b) {
      return std::pair(a.line, a.column) < std::pair(b.line, b.column);
    });
    return reply;
  }

private:
  /// A load that all threads make at the places of a loop, where a store's place differs from
  /// thread to thread; or one a fixed distance from what the thread itself stores.
  static bool isAcross(const Access &load, const Access &store) {
    const auto apart = difference(*load.offset, *store.offset);
    const auto &read = load.strides[0], &written = store.strides[0];
    return apart && !apart->isZero() &&
           (apart->constant() ||
            (!load.loops.empty() && read && read->isZero() && written && !written->isZero()));
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

  std::optional<ParameterUses> uses() const {
    std::set<std::string> read, written;
    if (!model_.blind.empty())
      return std::nullopt;
    for (const Access &access : model_.accesses) {
      if (access.space != MemorySpace::Global && access.space != MemorySpace::Unknown)
        continue;
      if (!access.isParameter)
        return std::nullopt;
      if (access.kind != AccessKind::Store)
        read.insert(access.root);
      if (access.kind != AccessKind::Load)
        written.insert(access.root);
    }
    return ParameterUses{{read.begin(), read.end()}, {written.begin(), written.end()}};
  }

  static const char *pattern(const Access &access) {
    const auto &stride = access.strides[0];
    if (!stride)
      return "unknown";
    const auto bytes = stride->constant();
    return stride->isZero()                                 ? "same"
           : bytes && std::uint64_t(*bytes) == access.bytes ? "adjacent"
                                                            : "apart";
  }

  std::map<std::string, double> counts() const {
    std::map<std::string, double> counts;
    for (const LoopFacts &loop : model_.loops) {
      ++counts[loop.gridAxis ? "loop over the grid" : loop.trips ? "loop of known length" : "loop"];
      for (const Reduction &reduction : loop.reductions)
        ++counts[std::string("reduction by ") + toString(reduction.kind)];
    }
    for (const Access &access : model_.accesses)
      ++counts[std::string(toString(access.space)) + " " + toString(access.kind) + ", lanes " +
               pattern(access)];
    for (const Barrier &barrier : model_.barriers)
      ++counts[std::string("barrier of ") + toString(barrier.kind)];
    for (const Condition &condition : model_.conditions)
      ++counts[condition.isGuard     ? "guard"
               : condition.isUniform ? "uniform condition"
                                     : "condition that parts lanes"];
    return counts;
  }

  std::string text(const std::optional<Polynomial> &value) const {
    return value ? value->text(model_.symbols) : "?";
  }
  static std::string orUnknown(const std::string &text) { return text.empty() ? "?" : text; }

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

  std::string loopText(const LoopFacts &loop) const {
    std::string result = "loop";
    const std::string name = orUnknown(loop.counter);
    if (loop.first)
      result += " (" + name + " = " + text(loop.first) + "; " +
                (loop.bound ? name + " " + toString(loop.relation) + " " + text(loop.bound) : "?") +
                "; " + name + " += " + text(loop.step) + ")";
    if (loop.trips)
      result += ", " + std::to_string(*loop.trips) + " times";
    for (const auto &[is, what] : {std::pair(!loop.isUniform, "not uniform"),
                                   {loop.hasStores, "stores"},
                                   {loop.hasAtomics, "atomics"},
                                   {loop.hasBarriers, "barriers"},
                                   {loop.hasCalls, "unknown calls"},
                                   {loop.otherExit.has_value(), "other exits"}})
      if (is)
        result += std::string(", ") + what;
    for (const Reduction &reduction : loop.reductions)
      result += std::string(", ") + (reduction.isConditional ? "conditional " : "") +
                toString(reduction.kind) + " into " + orUnknown(reduction.name);
    return result + assumed(loop.assumptions);
  }

  std::string accessText(const Access &access) const {
    std::string result = std::string(toString(access.kind)) + " " + orUnknown(access.text) + ": " +
                         toString(access.space) + " " + orUnknown(access.root) + ", " +
                         std::to_string(access.bytes) + " bytes";
    if (!access.offset)
      return result + ", " + access.whyUnknown;
    result += " at " + text(access.offset) + ", lanes (" + text(access.strides[0]) + ", " +
              text(access.strides[1]) + ", " + text(access.strides[2]) + ")";
    for (std::size_t i = 0; i < access.loops.size(); ++i)
      result += ", " + loopName(access.loops[i]) + " " + text(access.loopStrides[i]);
    for (const Reached &each : access.reached)
      if (const std::string &condition = model_.conditions[each.condition].text; !condition.empty())
        result += std::string(each.when ? ", where " : ", where not ") + condition;
    return result + assumed(access.assumptions);
  }

  std::string conditionText(const Condition &condition) const {
    std::string result = "condition " + orUnknown(condition.text);
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
    for (unsigned each : access.offset.value_or(Polynomial()).symbols())
      if (const Symbol &symbol = model_.symbols[each];
          symbol.kind == SymbolKind::Unknown && symbol.varies[0])
        names.insert(symbol.name);
    if (!names.empty())
      return "it depends on " + llvm::join(names, " and ");
    return access.whyUnknown.empty() ? "the pointer differs between lanes" : access.whyUnknown;
  }

  std::string lanes(const Access &access) const {
    if (!access.strides[0])
      return "how far lanes are apart is not known: " + causes(access);
    if (launch_ && !hold(access.assumptions, model_, *launch_))
      return "how far lanes are apart is not known: the subscript may wrap";
    if (number(*access.strides[0]) == 0 && block()[0] >= kLanes)
      return "all lanes take the same place";
    std::string result = "lanes are " + bytes(*access.strides[0]) + " apart";
    if (block()[0] < kLanes && access.strides[1])
      result += ", rows of " + std::to_string(block()[0]) + " lanes " + bytes(*access.strides[1]);
    const std::vector<std::int64_t> offsets = laneOffsets(access);
    if (offsets.empty() || access.bytes == 0)
      return result;
    const std::set<std::int64_t> places(offsets.begin(), offsets.end());
    const auto needed = unsigned(places.size()) * access.bytes;
    if (access.space == MemorySpace::Shared) {
      const unsigned passes = bankPassesOf(offsets, access.bytes);
      return result + (passes > (needed + 127) / 128
                           ? ", banks are passed " + std::to_string(passes) + " times a request"
                           : ", no bank conflict");
    }
    const unsigned sectors = sectorsOf(offsets, access.bytes), least = (needed + 31) / 32;
    return result + ", " + std::to_string(sectors) + " sectors a request" +
           (sectors > least ? " where " + std::to_string(least) + " would do" : "");
  }

  std::array<std::uint32_t, 3> block() const {
    return launch_ ? launch_->block : std::array<std::uint32_t, 3>{kLanes, 1, 1};
  }

  /// Where the lanes of the first warp are, from the first; empty if not known.
  std::vector<std::int64_t> laneOffsets(const Access &access) const {
    std::vector<std::int64_t> offsets;
    const auto [x, y, z] = block();
    for (std::uint32_t lane = 0; lane < std::min(kLanes, x * y * z); ++lane) {
      const std::uint32_t at[] = {lane % x, lane / x % y, lane / x / y};
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto stride = access.strides[axis] ? number(*access.strides[axis]) : std::nullopt;
        if (at[axis] && !stride)
          return {};
        offset += at[axis] ? at[axis] * *stride : 0;
      }
      offsets.push_back(offset);
    }
    return offsets;
  }

  std::string words(const Access &access) const {
    std::string result = (access.text.empty() ? access.root + "[?]" : access.text) + ": " +
                         toString(access.kind) + " of " + std::to_string(access.bytes) + " bytes " +
                         (access.kind == AccessKind::Load ? "from " : "in ") +
                         toString(access.space) + " memory, " + lanes(access);
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (const auto &stride = access.strides[axis];
          stride && stride->isZero() && access.kind == AccessKind::Load && block()[axis] > 1)
        result += "; the " + std::to_string(block()[axis]) + " threads along " + "xyz"[axis] +
                  " read the same";
    for (std::size_t i = 0; i < access.loops.size(); ++i) {
      const LoopFacts &loop = model_.loops[access.loops[i]];
      const auto &stride = access.loopStrides[i];
      result += (loop.counter.empty() ? "; the loop at " : "; the loop over ") +
                loopName(access.loops[i]) +
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
