// SPDX-License-Identifier: Apache-2.0
#include "driver/compare/versions/PairedWorkload.h"

#include "driver/support/Text.h"
#include "driver/workload/observed/SubjectWorkload.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

bool sameNamesAndTypes(const Specialization &a, const Specialization &b) {
  return std::ranges::equal(a.params, b.params, [](const KernelParam &x, const KernelParam &y) {
    return x.name == y.name && x.type == y.type;
  });
}

Result<SubjectWorkload> workloadOfVersion(const char *version, const TuneSubject &subject,
                                          DeviceKind device) {
  auto made = workloadOf(subject, std::nullopt, device);
  if (!made)
    made.error().what =
        fmt::format("the {}'s launches cannot be made: {}", version, made.error().what);
  return made;
}

tl::unexpected<Error> differs(const std::string &what) {
  return makeError(ErrorCode::Usage,
                   "the launches of the two versions do not do the same work: " + what,
                   "declare the same launches and sizes for both");
}

Status compareLaunches(const Launch &base, const Launch &head, const TuneSubject &subject) {
  for (const Buffer &before : base.buffers)
    for (const Buffer &now : head.buffers)
      if (before.name == now.name && before.bytes != now.bytes)
        return differs(fmt::format("in launch '{}' '{}' has {} in the base and {} in the head",
                                   head.name, now.name, formatBytes(double(before.bytes)),
                                   formatBytes(double(now.bytes))));
  for (const KernelParam &param : subject.specialization.params) {
    const auto before = base.bindings.find(param.name), now = head.bindings.find(param.name);
    if (before != base.bindings.end() && now != head.bindings.end() &&
        before->second != now->second)
      return differs(fmt::format("in launch '{}' '{}' is {} in the base and {} in the head",
                                 head.name, param.name, before->second, now->second));
  }
  return {};
}

/// Puts the head's launches into the order of the base's.
Status pairLaunches(const Workload &base, Workload &head) {
  std::vector<Launch> ordered;
  for (const Launch &launch : base.launches) {
    const auto same = std::ranges::find(head.launches, launch.name, &Launch::name);
    if (same != head.launches.end())
      ordered.push_back(*same);
    else if (base.launches.size() == 1 && head.launches.size() == 1)
      ordered.push_back(head.launches.front());
  }
  if (ordered.size() == base.launches.size() && ordered.size() == head.launches.size()) {
    head.launches = std::move(ordered);
    return {};
  }
  const auto names = [](const Workload &workload) {
    std::vector<std::string> list;
    for (const Launch &launch : workload.launches)
      list.push_back(launch.name);
    return join(list, ", ");
  };
  return differs(fmt::format("the base has {}, the head {}", names(base), names(head)));
}

bool sameBuffers(const Workload &base, const Workload &head) {
  const auto alike = [](const Buffer &a, const Buffer &b) {
    return a.name == b.name && a.bytes == b.bytes && a.scalar == b.scalar &&
           a.readOnly == b.readOnly;
  };
  return std::ranges::equal(base.launches, head.launches, [&](const Launch &a, const Launch &b) {
    return std::ranges::equal(a.buffers, b.buffers, alike);
  });
}

} // namespace

Result<PairedWorkload> pairedWorkload(const TuneSubject &base, const TuneSubject &head,
                                      DeviceKind device) {
  PairedWorkload pair;
  KOPT_TRY(SubjectWorkload now, workloadOfVersion("head", head, device));
  pair.notes = now.notes;
  pair.head = std::move(now.workload);
  bool isShared = sameNamesAndTypes(base.specialization, head.specialization);
  if (isShared) {
    TuneSubject before = base;
    before.declaration = head.declaration;
    before.declaration.block = base.declaration.block;
    before.declaration.grid = base.declaration.grid;
    auto made = workloadOf(before, std::nullopt, device);
    isShared = made.has_value(); // the clauses may name constants that the base lacks
    if (made)
      pair.base = std::move(made->workload);
  }
  if (!isShared) {
    KOPT_TRY(SubjectWorkload own, workloadOfVersion("base", base, device));
    pair.base = std::move(own.workload);
  }
  KOPT_CHECK(pairLaunches(pair.base, pair.head));
  for (std::size_t i = 0; !isShared && i < pair.base.launches.size(); ++i)
    KOPT_CHECK(compareLaunches(pair.base.launches[i], pair.head.launches[i], head));
  pair.base.tolerance = pair.head.tolerance;
  pair.sameBuffers = sameBuffers(pair.base, pair.head);
  return pair;
}

bool sameGeometry(const Workload &base, const Workload &head) {
  return std::ranges::equal(base.launches, head.launches, [](const Launch &a, const Launch &b) {
    return a.grid == b.grid && a.block == b.block && a.sharedBytes == b.sharedBytes &&
           a.cooperative == b.cooperative;
  });
}

} // namespace kopt
