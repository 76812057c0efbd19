// SPDX-License-Identifier: Apache-2.0
// Makes the workload of one specialization from its launch site and the user's clauses.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"

namespace kopt {

/// The number of elements that RunOutcome::unwritten counts in a buffer; for structs, the bytes
/// that are not padding.
std::uint64_t writableElements(const Buffer &buffer);

/// Fails with BaselineFailed if kopt cannot launch the kernel on the device (emulated or cuda): it
/// uses a texture or a surface, or, on the emulated device, which runs blocks one after the other,
/// it waits for the whole grid. The message names the object or barrier and its place.
Status checkLaunchable(const KernelSpec &kernel, const Specialization &specialization,
                       DeviceKind device);

/// `device` (emulated or cuda) selects among launches declared for one of them. Fails with Usage,
/// with the place, for a scalar without a value, a pointer without an extent, or geometry that
/// depends on a variable without a value. The hint is the clause that would fix it. Also fails as
/// checkLaunchable() does.
Result<Workload> buildWorkload(const KernelSpec &kernel, const Specialization &specialization,
                               const TuneDeclaration &declaration, DeviceKind device);

/// The launches declared for a device; one without arguments if none is declared.
std::vector<DeclaredLaunch> launchesOn(const TuneDeclaration &declaration, DeviceKind device);

/// One launch of the workload, with its declared weight, as launch site `at` of the kernel launches
/// it. Without `at`, the first site of the specialization whose geometry is known is used. With
/// `at`, a pointer that the site passes as null is null. Fails as buildWorkload() does.
Result<Launch> buildLaunch(const KernelSpec &kernel, const Specialization &specialization,
                           const TuneDeclaration &declaration, const DeclaredLaunch &declared,
                           std::optional<std::size_t> at = std::nullopt);

/// True if the expressions for grid, block or shared memory differ between two launch sites.
bool differ(const LaunchSite &one, const LaunchSite &other);

/// "file:line" of each launch site of the specialization whose grid, block or shared memory differs
/// from those of the workload's launches: the kernel never runs as it is launched there. Empty for
/// captured launches, which are the program's own.
std::vector<std::string> sitesNotRun(const KernelSpec &kernel, const Specialization &specialization,
                                     const Workload &workload);

/// The values for evaluating a launch site's expressions: the kernel's integer arguments, the
/// launch-site variables passed for them, and the constants in scope.
std::map<std::string, std::int64_t>
bindingsAtSite(const KernelSpec &kernel, const Specialization &specialization,
               const LaunchSite &site, const std::map<std::string, std::int64_t> &arguments);

struct Geometry {
  Dim3 grid, block;
  std::uint32_t sharedBytes = 0;

  bool operator==(const Geometry &) const = default;
};

/// Fails with Usage, naming what is unbound or not positive.
Result<Geometry> evaluateGeometry(const GeometryExpressions &expressions,
                                  const std::map<std::string, std::int64_t> &bindings);

} // namespace kopt
