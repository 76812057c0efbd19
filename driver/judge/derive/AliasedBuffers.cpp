// SPDX-License-Identifier: Apache-2.0
#include "driver/judge/derive/AliasedBuffers.h"

#include "driver/source/Expression.h"
#include "driver/support/ElementType.h"
#include "driver/workload/SiteValues.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>

namespace kopt {
namespace {

/// The values of the names in the site's expressions, where the kernel's parameters have other
/// names.
Bindings namesAt(const LaunchSite &site, const Specialization &specialization,
                 const Launch &launch) {
  Bindings names = launch.bindings;
  for (const KernelParam &param : specialization.params)
    names.erase(param.name);
  for (std::size_t i = 0; i < site.args.size() && i < specialization.params.size(); ++i)
    if (const auto bound = launch.bindings.find(specialization.params[i].name);
        bound != launch.bindings.end())
      names[site.args[i]] = bound->second;
  return names;
}

/// `to` minus `from`, if that is a number. Unbound names are allowed if they cancel out.
std::optional<std::int64_t> distance(const std::string &from, const std::string &to,
                                     const Bindings &names) {
  if (from == to)
    return 0;
  const std::string difference = fmt::format("({}) - ({})", to, from);
  const auto all = namesIn(difference);
  if (!all)
    return std::nullopt;
  std::optional<std::int64_t> agreed;
  for (const std::int64_t other : {1, 97, 40961}) {
    Bindings bound = names;
    for (std::size_t i = 0; i < all->size(); ++i)
      bound.try_emplace((*all)[i], other * std::int64_t(i + 1));
    const auto value = evaluateExpression(difference, bound);
    if (!value || (agreed && *agreed != *value))
      return std::nullopt;
    agreed = *value;
  }
  return agreed;
}

struct Member {
  std::size_t argument = 0;
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Groups of members whose memory overlaps, in the order of their addresses. Members that overlap
/// no other are left out.
std::vector<std::vector<Member>> overlapping(std::vector<Member> members) {
  std::ranges::stable_sort(members, {}, &Member::offset);
  std::vector<std::vector<Member>> runs;
  std::int64_t end = 0;
  for (const Member &member : members) {
    if (runs.empty() || (member.offset != runs.back().back().offset && member.offset >= end))
      runs.emplace_back();
    end = std::max(runs.back().empty() ? member.offset : end,
                   member.offset + std::int64_t(member.bytes));
    runs.back().push_back(member);
  }
  std::erase_if(runs, [](const auto &run) { return run.size() < 2; });
  return runs;
}

class Sharing {
public:
  Sharing(const Specialization &specialization, const LaunchSite &site, const Launch &launch)
      : specialization_(specialization), site_(site), launch_(launch),
        names_(namesAt(site, specialization, launch)),
        count_(
            std::min({launch.arguments.size(), site.args.size(), specialization.params.size()})) {}

  /// Groups of arguments with memory in common.
  std::vector<std::vector<Member>> runs() {
    std::vector<std::vector<Member>> all;
    std::vector<bool> placed(count_);
    for (std::size_t i = 0; i < count_; ++i) {
      if (placed[i] || !buffer(i))
        continue;
      std::vector<Member> members = {{i, 0, buffer(i)->bytes}};
      for (std::size_t j = i + 1; j < count_; ++j)
        if (!placed[j] && buffer(j))
          if (const auto offset = between(i, j)) {
            members.push_back({j, *offset, buffer(j)->bytes});
            placed[j] = true;
          }
      for (auto &run : overlapping(std::move(members)))
        all.push_back(std::move(run));
    }
    return all;
  }

  const Buffer *buffer(std::size_t argument) const {
    const auto *pointer = std::get_if<BufferArg>(&launch_.arguments[argument]);
    return pointer ? &launch_.buffers[pointer->buffer] : nullptr;
  }
  std::string both(std::size_t i, std::size_t j) const {
    return fmt::format("'{}' and '{}' at {}:{}", specialization_.params[i].name,
                       specialization_.params[j].name, site_.file.substr(site_.file.rfind('/') + 1),
                       site_.line);
  }
  const std::vector<std::string> &unknown() const { return unknown_; }

private:
  /// By how many bytes argument `j` begins after argument `i`; nothing if they point to different
  /// memory.
  std::optional<std::int64_t> between(std::size_t i, std::size_t j) {
    const std::string &one = site_.args[i], &other = site_.args[j];
    const bool sameText = one == other && !one.empty() && !isNullArgument(one);
    if (std::max(i, j) >= site_.pointers.size() || site_.pointers[i].root.empty() ||
        site_.pointers[j].root.empty())
      return sameText ? std::optional<std::int64_t>(0)
                      : std::nullopt; // the memory has no name: compare the text
    const PointerOrigin &from = site_.pointers[i], &to = site_.pointers[j];
    if (from.root != to.root)
      return std::nullopt;
    if (sameText)
      return 0;
    const auto bytes = from.offset.empty() || to.offset.empty()
                           ? std::nullopt
                           : distance(from.offset, to.offset, names_);
    if (!bytes)
      unknown_.push_back(
          fmt::format("{} both point into '{}', at an unknown distance", both(i, j), from.root));
    return bytes;
  }

  const Specialization &specialization_;
  const LaunchSite &site_;
  const Launch &launch_;
  const Bindings names_;
  const std::size_t count_;
  std::vector<std::string> unknown_;
};

} // namespace

bool SharedMemory::overlaps() const {
  return std::ranges::any_of(joined, [](const auto &pair) { return std::get<2>(pair) != 0; });
}

SharedMemory shareMemory(const Specialization &specialization, const LaunchSite &site,
                         const Launch &base, const Launch &declared) {
  SharedMemory shared{base, {}, {}};
  Sharing sharing(specialization, site, base);
  std::set<std::size_t> ran; // arguments that are part of a run
  for (const std::vector<Member> &run : sharing.runs()) {
    const Member first = *std::ranges::min_element(run, {}, &Member::argument);
    const BufferArg keptAt = std::get<BufferArg>(base.arguments[first.argument]);
    Buffer &kept = shared.launch.buffers[keptAt.buffer];
    for (const Member &member : run)
      ran.insert(member.argument);
    const auto differs = std::ranges::find_if(run, [&](const Member &member) {
      return sharing.buffer(member.argument)->scalar != kept.scalar;
    });
    // The given values of one buffer cannot be placed into another that begins elsewhere.
    const auto given = std::ranges::find_if(run, [&](const Member &member) {
      return member.argument != first.argument &&
             sharing.buffer(member.argument)->fill.kind == FillKind::Values;
    });
    if (given != run.end() || kept.fill.kind == FillKind::Values) {
      shared.unknown.push_back(
          sharing.both(first.argument, given != run.end() ? given->argument : run.back().argument) +
          " point into the same memory, whose values a fill clause gives");
      continue;
    }
    if (differs != run.end()) {
      shared.unknown.push_back(sharing.both(first.argument, differs->argument) +
                               " point into the same memory as different types");
      continue;
    }
    bool isFilled = !kept.output;
    for (const Member &member : run) {
      const Buffer &gone = *sharing.buffer(member.argument);
      auto &argument = std::get<BufferArg>(shared.launch.arguments[member.argument]);
      shared.launch.buffers[argument.buffer].output = false;
      if (!isFilled && !gone.output) {
        kept.fill = gone.fill; // a buffer that is read decides the fill, for example of indices
        isFilled = true;
      }
      argument = {keptAt.buffer, std::uint64_t(member.offset - run.front().offset)};
      kept.bytes = std::max(kept.bytes, argument.offset + gone.bytes);
      kept.readOnly = kept.readOnly && gone.readOnly;
      if (member.argument != first.argument)
        shared.joined.emplace_back(first.argument, member.argument, member.offset - first.offset);
    }
  }
  std::ranges::sort(shared.joined);
  Sharing larger(specialization, site, declared);
  for (const std::vector<Member> &run : larger.runs())
    if (const auto [one, other] = std::minmax(run[0].argument, run[1].argument); !ran.contains(one))
      shared.unknown.push_back(larger.both(one, other) +
                               " overlap only in a launch that is too large to run");
  shared.unknown.insert(shared.unknown.end(), sharing.unknown().begin(), sharing.unknown().end());
  return shared;
}

namespace {

/// The argument, if it is a pointer to memory that no other argument points into.
const BufferArg *pointerAlone(const Launch &launch, std::size_t argument) {
  const auto *pointer = std::get_if<BufferArg>(&launch.arguments[argument]);
  const auto isInto = [&](const Argument &other) {
    const auto *also = std::get_if<BufferArg>(&other);
    return also && pointer && also->buffer == pointer->buffer;
  };
  return std::ranges::count_if(launch.arguments, isInto) == 1 ? pointer : nullptr;
}

bool canBeOne(const KernelParam &in, const KernelParam &out) {
  return in.kind == ParamKind::Pointer && out.kind == ParamKind::Pointer && in.pointeeConst &&
         !out.pointeeConst && !in.restrict && !out.restrict && in.scalar == out.scalar &&
         in.pointeeSize == out.pointeeSize;
}

bool canBeOne(const Buffer &in, const Buffer &out) {
  return in.bytes == out.bytes &&
         (out.output ||
          (in.fill.kind == FillKind::Captured && out.fill.kind == FillKind::Captured)) &&
         !in.holdsPointers && in.symbol.empty() && out.symbol.empty();
}

} // namespace

std::optional<DerivedLaunch> usedInPlace(const Specialization &specialization, const Launch &launch,
                                         const std::set<std::string> &readAcross) {
  const std::vector<KernelParam> &params = specialization.params;
  const std::size_t count = std::min(launch.arguments.size(), params.size());
  for (std::size_t in = 0; in < count; ++in)
    for (std::size_t out = 0; out < count; ++out) {
      const BufferArg *from = pointerAlone(launch, in), *to = pointerAlone(launch, out);
      if (!from || !to || from->offset != to->offset || readAcross.contains(params[in].name) ||
          !canBeOne(params[in], params[out]) ||
          !canBeOne(launch.buffers[from->buffer], launch.buffers[to->buffer]))
        continue;
      DerivedLaunch made;
      made.kind = Derivation::Alignment;
      made.title = fmt::format("'{}' and '{}' one buffer", params[in].name, params[out].name);
      made.launch = launch;
      made.inPlace = {from->buffer, to->buffer, launch};
      if (Buffer &output = made.inPlace->apart.buffers[to->buffer]; !output.output)
        output.fill = launch.buffers[from->buffer].fill; // what is not written is the same, too
      made.launch.arguments[out] = *from;
      made.launch.buffers[from->buffer].readOnly = false;
      made.launch.buffers[to->buffer].output = false; // nothing points to it
      made.launch.buffers[to->buffer].readOnly = true;
      return made;
    }
  return std::nullopt;
}

std::vector<std::uint64_t> alignments(const Specialization &specialization, const Launch &launch) {
  std::vector<std::uint64_t> bytes(launch.buffers.size(), 0);
  std::set<std::size_t> stay;
  for (std::size_t i = 0; i < launch.arguments.size() && i < specialization.params.size(); ++i) {
    const KernelParam &param = specialization.params[i];
    if (const auto *pointer = std::get_if<BufferArg>(&launch.arguments[i])) {
      std::uint64_t &most = bytes[pointer->buffer];
      most = std::max<std::uint64_t>(
          {most, param.pointeeSize, param.scalar.empty() ? 0 : elementBytes(param.scalar)});
    } else {
      for (const PointerWord &word : std::get<ValueArg>(launch.arguments[i]).pointers)
        stay.insert(word.buffer);
    }
  }
  for (std::size_t b = 0; b < bytes.size(); ++b)
    if (const Buffer &buffer = launch.buffers[b];
        stay.contains(b) || !buffer.symbol.empty() ||
        (!buffer.fill.path.empty() && buffer.fill.kind != FillKind::Captured))
      bytes[b] = 0;
  return bytes;
}

Launch shifted(Launch launch, const std::vector<std::uint64_t> &by) {
  for (Argument &argument : launch.arguments)
    if (auto *pointer = std::get_if<BufferArg>(&argument))
      pointer->offset += by[pointer->buffer];
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    if (Buffer &buffer = launch.buffers[b]; by[b] != 0) {
      buffer.bytes += by[b];
      buffer.output = false; // its first elements are never written
      if (buffer.fill.kind == FillKind::Values)
        buffer.fill.bytes.insert(0, by[b], '\0');
      else if (buffer.fill.kind == FillKind::Captured)
        buffer.fill.low = double(by[b]); // bytes before the captured ones
    }
  return launch;
}

} // namespace kopt
