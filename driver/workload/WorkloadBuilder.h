// SPDX-License-Identifier: Apache-2.0
// Makes the workload of one specialization from its launch site and from what the user declared.
#pragma once

#include "driver/model/TuneDeclaration.h"
#include "driver/model/Workload.h"

namespace kopt {

/// Bytes of one element of a scalar type ("f32": 4); 1 for names it does not know.
std::uint64_t elementBytes(const std::string &scalar);
/// Elements of a buffer that a kernel may leave unwritten (RunOutcome::unwritten): of structs the
/// bytes that are not padding.
std::uint64_t writableElements(const Buffer &buffer);

/// Fails with BaselineFailed where no launch of kopt's on the device (emulated or cuda) can be what
/// the kernel needs: one that reads a texture or a surface; on the emulated device, whose blocks
/// take turns, one that waits for the whole grid. The message names object or barrier and its
/// place.
Status checkLaunchable(const KernelSpec &kernel, const Specialization &specialization,
                       DeviceKind device);

/// `device` (emulated or cuda) selects among launches declared for one of them. Fails with Usage at
/// the clause or launch site that needs more: a scalar without a value, a pointer without an
/// extent, geometry that depends on a variable without a value. The hint is the clause that would
/// fix it. Fails as checkLaunchable() does.
Result<Workload> buildWorkload(const KernelSpec &kernel, const Specialization &specialization,
                               const TuneDeclaration &declaration, DeviceKind device);

/// The declared launches that are meant for a device; one without arguments if none is declared.
std::vector<DeclaredLaunch> launchesOn(const TuneDeclaration &declaration, DeviceKind device);

/// One launch of the workload, its weight as declared, as launch site `at` of the kernel has it, by
/// default the first one of the specialization whose geometry is known. A pointer that the site
/// passes as null is null. Fails as buildWorkload() does.
Result<Launch> buildLaunch(const KernelSpec &kernel, const Specialization &specialization,
                           const TuneDeclaration &declaration, const DeclaredLaunch &declared,
                           std::optional<std::size_t> at = std::nullopt);

/// True where a launch site passes a null pointer, as far as its text says.
bool isNullArgument(const std::string &argument);

/// True where two launch sites have another grid, block or shared memory, as expressions.
bool differ(const LaunchSite &one, const LaunchSite &other);

/// "file:line" of each launch of the specialization in the source that has another grid, block or
/// shared memory than those that the workload's launches were made from: the kernel has never run
/// as it is launched there. None for captured launches, which are the program's own.
std::vector<std::string> sitesNotRun(const KernelSpec &kernel, const Specialization &specialization,
                                     const Workload &workload);

/// What the launch site's expressions are evaluated over, given the kernel's integer arguments:
/// those, the launch-site variables passed for them, and the constants in scope.
std::map<std::string, std::int64_t>
bindingsAtSite(const KernelSpec &kernel, const Specialization &specialization,
               const LaunchSite &site, const std::map<std::string, std::int64_t> &arguments);

struct Geometry {
  Dim3 grid, block;
  std::uint32_t sharedBytes = 0;
};

/// Fails with Usage naming what is unbound or not positive.
Result<Geometry> evaluateGeometry(const GeometryExpressions &expressions,
                                  const std::map<std::string, std::int64_t> &bindings);

} // namespace kopt
