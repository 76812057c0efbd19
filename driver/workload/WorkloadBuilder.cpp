// SPDX-License-Identifier: Apache-2.0
#include "driver/workload/WorkloadBuilder.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/source/RenderSlice.h"
#include "driver/source/Subjects.h"
#include "driver/support/ElementType.h"
#include "driver/support/Text.h"
#include "driver/workload/DeclaredFill.h"
#include "driver/workload/DeclaredNames.h"
#include "driver/workload/DeclaredReals.h"
#include "driver/workload/SiteValues.h"
#include "runtime/device/GpuLimits.h"
#include "runtime/runner/StructType.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <tuple>

namespace kopt {
namespace {

constexpr std::uint64_t kLargestBuffer = std::uint64_t(32) << 30;

/// Where the kernel's clause that begins so is written, else where the kernel is.
std::string placeOfClause(const KernelSpec &kernel, const std::string &begin) {
  for (const TuneClause &clause : kernel.clauses)
    if (clause.text.starts_with(begin) && std::strchr(" =", clause.text[begin.size()]))
      return placeOf(clause);
  return placeOf(kernel);
}

/// The first launch site of the specialization; sites whose geometry could not be read come last.
/// Null if there is none. `index` receives its index.
const LaunchSite *findSite(const KernelSpec &kernel, const Specialization &specialization,
                           std::size_t &index) {
  for (const bool resolved : {true, false})
    for (index = 0; index < kernel.launches.size(); ++index)
      if (const LaunchSite &site = kernel.launches[index];
          site.symbol == specialization.symbol &&
          (site.geometry != GeometryKind::Unresolved) == resolved)
        return &site;
  return nullptr;
}

tl::unexpected<Error> notGiven(const std::string &name, const std::string &type,
                               const std::string &where) {
  return makeError(
      ErrorCode::Usage,
      fmt::format("parameter '{}' of type '{}' cannot be given by a clause", name, type),
      "capture it from the program instead", where);
}

std::string integerBytes(const std::string &scalar, std::int64_t integer) {
  if (scalar == "bool") // only the bytes 0 and 1 are valid
    return bytesOf(std::int8_t(integer != 0));
  if (scalar.starts_with("i") || scalar.starts_with("u")) // the device is little-endian
    return bytesOf(integer).substr(0, elementBytes(scalar));
  return realBytes(scalar, double(integer));
}

/// The value of a kernel parameter also binds the launch-site variable that is passed for it, and
/// the other way round.
void bindLaunchVariables(const LaunchSite *site, const Specialization &specialization,
                         Bindings &bindings) {
  if (!site)
    return;
  for (std::size_t i = 0; i < specialization.params.size() && i < site->args.size(); ++i) {
    const std::string &param = specialization.params[i].name, &argument = site->args[i];
    if (!isName(argument))
      continue;
    if (bindings.contains(param))
      bindings.try_emplace(argument, bindings.at(param));
    else if (bindings.contains(argument))
      bindings.try_emplace(param, bindings.at(argument));
  }
}

/// Binds scalars that the launch site passes as expressions of bound names, or as variables that it
/// computes from such names; they need no clause.
void bindComputedArguments(const LaunchSite *site, const Specialization &specialization,
                           Bindings &bindings) {
  if (!site)
    return;
  for (std::size_t i = 0; i < specialization.params.size() && i < site->args.size(); ++i) {
    const KernelParam &param = specialization.params[i];
    if (param.kind != ParamKind::Scalar || isFloating(param.scalar) ||
        bindings.contains(param.name))
      continue;
    auto value = evaluateExpression(site->args[i], bindings);
    if (const std::string computed = computedValue(site, i); !value && !computed.empty())
      value = evaluateExpression(computed, bindings);
    if (value)
      bindings[param.name] = *value;
  }
  bindLaunchVariables(site, specialization, bindings); // by which extents may name them
}

/// Uses the declared fill; otherwise a range whose sums stay small.
Status chooseFill(const KernelSpec &kernel, const TuneDeclaration &declaration,
                  const Bindings &bindings, Buffer &buffer) {
  auto fill = declaredFill(declaration, buffer, bindings);
  if (!fill) {
    fill.error().where = placeOfClause(kernel, "fill " + buffer.name);
    return tl::unexpected(fill.error());
  }
  if (*fill) {
    buffer.fill = **fill;
  } else if (!isFloating(buffer.scalar)) {
    buffer.fill.low = 0; // small non-negative integers stay in range
    buffer.fill.high = buffer.scalar == "bool" ? 1 : 100;
    buffer.fill.isDefault = true;
  }
  return {};
}

Result<Argument> pointerArgument(const KernelSpec &kernel, const KernelParam &param,
                                 const TuneDeclaration &declaration, const std::string &allocated,
                                 const Bindings &bindings, Launch &launch) {
  const auto declared = declaration.extents.find(param.name);
  const std::string extent = declared == declaration.extents.end() ? allocated : declared->second;
  if (extent.empty())
    return makeError(
        ErrorCode::Usage,
        fmt::format("kernel '{}' has no extent for its parameter '{}' ({})", kernel.name,
                    param.name, param.type),
        fmt::format("say how many elements it points to, e.g. \"extent {} = width * height\"",
                    param.name),
        placeOf(kernel));
  auto elements = evaluateExpression(extent, bindings);
  if (!elements) {
    elements.error().context.push_back(fmt::format("in extent {} = {}", param.name, extent));
    elements.error().where = placeOfClause(kernel, "extent " + param.name);
    if (const auto names = namesIn(extent))
      for (const std::string &name : *names)
        if (!bindings.contains(name))
          elements.error().hint =
              fmt::format("give it one, with a clause such as \"arg {} = 1024\"", name);
    return tl::unexpected(elements.error());
  }
  const std::uint64_t size = std::max(1u, param.pointeeSize); // for void, elements are bytes
  if (*elements <= 0 || std::uint64_t(*elements) > kLargestBuffer / size)
    return makeError(ErrorCode::Usage,
                     fmt::format("extent {} = {} is {} elements", param.name, extent, *elements),
                     "give an extent between 1 element and 32 GiB",
                     placeOfClause(kernel, "extent " + param.name));
  Buffer buffer;
  buffer.name = param.name;
  buffer.bytes = std::uint64_t(*elements) * size;
  buffer.scalar = param.scalar;
  buffer.readOnly = param.pointeeConst;
  KOPT_CHECK(chooseFill(kernel, declaration, bindings, buffer));
  launch.buffers.push_back(buffer);
  return Argument{BufferArg{launch.buffers.size() - 1, 0}};
}

/// A __constant__ variable that host code sets is an input like any other. An `arg` clause may give
/// its value if it is a single number.
Result<Buffer> constantVariable(const KernelSpec &kernel, const ConstantVariable &variable,
                                const TuneDeclaration &declaration, const DeclaredReals &reals,
                                const Bindings &bindings) {
  Buffer buffer;
  buffer.name = variable.name;
  buffer.symbol = variable.symbol;
  buffer.bytes = variable.bytes;
  buffer.scalar = variable.scalar;
  buffer.readOnly = true;
  const auto text = declaration.arguments.find(variable.name);
  const auto bound = bindings.find(variable.name);
  const bool isOne = variable.bytes == elementBytes(variable.scalar);
  std::optional<double> given =
      isOne && isFloating(variable.scalar) ? reals.of(variable.name) : std::nullopt;
  if (isOne && !given && bound != bindings.end())
    given = double(bound->second);
  if (isOne && !given && text != declaration.arguments.end())
    return makeError(ErrorCode::Usage,
                     fmt::format("arg {} = {} has no value", variable.name, text->second),
                     "give each name a value", placeOfClause(kernel, "arg " + variable.name));
  if (given) {
    buffer.fill = {FillKind::Constant, *given, *given, {}};
    return buffer;
  }
  KOPT_CHECK(chooseFill(kernel, declaration, bindings, buffer));
  return buffer;
}

/// A struct or vector, made from the numbers of its clause.
Result<Argument> membersArgument(const KernelSpec &kernel, const KernelParam &param,
                                 const TuneDeclaration &declaration, const DeclaredReals &reals,
                                 const Bindings &bindings) {
  const auto given = declaration.argumentMembers.find(param.name);
  const std::size_t count = given == declaration.argumentMembers.end() ? 0 : given->second.size();
  if (count != param.members.size()) {
    std::vector<std::string> missing;
    for (std::size_t i = count; i < param.members.size(); ++i)
      missing.push_back(param.members[i].name);
    const std::string what = missing.empty()
                                 ? fmt::format("has {} numbers, but arg {} gives {}",
                                               param.members.size(), param.name, count)
                                 : fmt::format("has no value for {}", join(missing, ", "));
    return makeError(ErrorCode::Usage,
                     fmt::format("parameter '{}' ({}) of kernel '{}' {}", param.name, param.type,
                                 kernel.name, what),
                     "give its numbers in order: " + membersClause(param),
                     placeOfClause(kernel, "arg " + param.name));
  }
  ValueArg made{std::string(param.size, '\0')};
  for (std::size_t i = 0; i < count; ++i) {
    const ParamMember &member = param.members[i];
    const std::string &text = given->second[i];
    std::string bytes;
    if (const auto number = isFloating(member.scalar) ? reals.evaluate(text) : std::nullopt) {
      bytes = realBytes(member.scalar, *number);
    } else {
      auto value = evaluateExpression(text, bindings);
      if (!value) {
        value.error().context.push_back(fmt::format("in arg {}, {}", param.name, member.name));
        value.error().where = placeOfClause(kernel, "arg " + param.name);
        return tl::unexpected(value.error());
      }
      bytes = integerBytes(member.scalar, *value);
    }
    if (bytes.empty())
      return notGiven(param.name + "." + member.name, member.scalar, placeOf(kernel));
    made.bytes.replace(member.offset, bytes.size(), bytes);
  }
  return Argument{std::move(made)};
}

/// `passed` is what passedReal() says.
Result<Argument> valueArgument(const KernelSpec &kernel, const KernelParam &param,
                               const TuneDeclaration &declaration, const DeclaredReals &reals,
                               std::optional<double> passed, const Bindings &bindings) {
  if (!param.members.empty())
    return membersArgument(kernel, param, declaration, reals, bindings);
  if (auto why = whyNotDeclarable(kernel, param))
    return tl::unexpected(std::move(*why));
  if (param.kind == ParamKind::Struct) // a lambda without captures
    return Argument{ValueArg{std::string(param.size, '\0')}};
  const auto given = [&](std::string bytes) -> Result<Argument> {
    if (bytes.empty())
      return notGiven(param.name, param.type, placeOf(kernel));
    return Argument{ValueArg{std::move(bytes)}};
  };
  const auto declared = reals.of(param.name);
  if (const auto number = declared ? declared : passed; isFloating(param.scalar) && number)
    return given(realBytes(param.scalar, *number));
  if (const auto bound = bindings.find(param.name); bound != bindings.end())
    return given(integerBytes(param.scalar, bound->second));
  return makeError(ErrorCode::Usage,
                   fmt::format("kernel '{}' has no value for its parameter '{}' ({})", kernel.name,
                               param.name, param.type),
                   fmt::format("give it one: \"arg {} = 1024\"", param.name), placeOf(kernel));
}

/// Geometry that the front end could not read and that no clause gives is an error, never a
/// default.
Result<GeometryExpressions> geometryOf(const KernelSpec &kernel, const LaunchSite *site,
                                       const TuneDeclaration &declaration) {
  const auto missing = [&](const std::string &what, const std::string &hint) {
    return makeError(ErrorCode::Usage,
                     fmt::format("the {} of this launch of '{}' could not be read{}", what,
                                 kernel.name, site->reason ? ": " + *site->reason : ""),
                     hint, placeOf(*site));
  };
  if (site && declaration.grid.empty() && site->grid[0].empty())
    return missing("grid", "give it with a clause such as \"grid (n + 255) / 256\"");
  if (site && declaration.block.empty() && site->block[0].empty())
    return missing("block", "give it with a clause such as \"block 256\"");
  if (site && site->sharedBytes.empty())
    return missing("dynamic shared memory",
                   "launch with an integer variable, and give that a value, with a clause such "
                   "as \"arg bytes = 4096\"");
  GeometryExpressions result;
  const auto take = [](const std::vector<std::string> &declared,
                       const std::array<std::string, 3> *atSite) {
    std::array<std::string, 3> axes{"1", "1", "1"};
    for (std::size_t i = 0; i < 3; ++i)
      if (!declared.empty())
        axes[i] = i < declared.size() ? declared[i] : "1";
      else if (atSite && !(*atSite)[i].empty())
        axes[i] = (*atSite)[i];
    return axes;
  };
  result.grid = take(declaration.grid, site ? &site->grid : nullptr);
  result.block = take(declaration.block, site ? &site->block : nullptr);
  if (site)
    result.sharedBytes = site->sharedBytes;
  return result;
}

/// The integers that names stand for at a launch: constants of the kernel's file, template
/// arguments and macros of the flags, unless a variable of the host has the name, and `arguments`.
/// `site` may be null.
Bindings valuesInScope(const KernelSpec &kernel, const Specialization &specialization,
                       const LaunchSite *site, const Bindings &arguments) {
  Bindings bindings;
  for (const NamedConstant &constant : constantsInScope(kernel, specialization))
    bindings[constant.name] = constant.value;
  for (const TemplateArg &argument : specialization.templateArgs)
    if (argument.integral)
      bindings.try_emplace(argument.name, std::strtoll(argument.value.c_str(), nullptr, 0));
  for (const auto &[name, text] : macrosOfFlags(kernel.compileFlags))
    if (const auto value = evaluateExpression(text, {}))
      bindings.try_emplace(name, *value);
  for (const std::string &variable : site ? site->variables : std::vector<std::string>())
    bindings.erase(variable);
  for (const auto &[name, value] : arguments)
    bindings[name] = value;
  return bindings;
}

} // namespace

std::uint64_t writableElements(const Buffer &buffer) {
  const auto type = runtime::StructType::parse(buffer.scalar);
  if (!type)
    return buffer.bytes / elementBytes(buffer.scalar);
  std::uint64_t members = 0;
  for (const runtime::StructType::Member &member : type->members)
    members += member.bytes;
  return buffer.bytes / type->bytes * members;
}

Result<Geometry> evaluateGeometry(const GeometryExpressions &expressions,
                                  const Bindings &bindings) {
  const auto dimension = [&](const std::string &text, const char *what) -> Result<std::uint32_t> {
    auto value = evaluateExpression(text, bindings);
    if (!value) {
      value.error().context.push_back(fmt::format("in the {} '{}'", what, text));
      return tl::unexpected(value.error());
    }
    if (*value <= 0 || *value > 0x7fffffff)
      return makeError(ErrorCode::Usage, fmt::format("the {} '{}' is {}", what, text, *value));
    return std::uint32_t(*value);
  };
  Geometry geometry;
  KOPT_TRY(geometry.grid.x, dimension(expressions.grid[0], "grid's x"));
  KOPT_TRY(geometry.grid.y, dimension(expressions.grid[1], "grid's y"));
  KOPT_TRY(geometry.grid.z, dimension(expressions.grid[2], "grid's z"));
  KOPT_TRY(geometry.block.x, dimension(expressions.block[0], "block's x"));
  KOPT_TRY(geometry.block.y, dimension(expressions.block[1], "block's y"));
  KOPT_TRY(geometry.block.z, dimension(expressions.block[2], "block's z"));
  KOPT_TRY(const std::int64_t shared, evaluateExpression(expressions.sharedBytes, bindings));
  if (shared < 0 || shared > 1 << 20)
    return makeError(ErrorCode::Usage, fmt::format("the dynamic shared memory '{}' is {} bytes",
                                                   expressions.sharedBytes, shared));
  geometry.sharedBytes = std::uint32_t(shared);
  return geometry;
}

std::vector<DeclaredLaunch> launchesOn(const TuneDeclaration &declaration, DeviceKind device) {
  std::vector<DeclaredLaunch> launches;
  for (const DeclaredLaunch &launch : declaration.launches)
    if (launch.device == DeviceKind::Auto || launch.device == device)
      launches.push_back(launch);
  if (declaration.launches.empty())
    launches.push_back({"launch", {}, 1, DeviceKind::Auto, {}});
  return launches;
}

Result<Launch> buildLaunch(const KernelSpec &kernel, const Specialization &specialization,
                           const TuneDeclaration &declaration, const DeclaredLaunch &declared,
                           std::optional<std::size_t> at) {
  std::size_t siteIndex = at.value_or(0);
  const LaunchSite *site =
      at ? &kernel.launches.at(*at) : findSite(kernel, specialization, siteIndex);
  if (!site && (declaration.grid.empty() || declaration.block.empty()))
    return makeError(
        ErrorCode::Usage, fmt::format("no launch of kernel '{}' was found", kernel.name),
        "give its geometry with clauses such as \"grid (n + 255) / 256\", \"block 256\"",
        placeOf(kernel));
  Launch launch;
  launch.name = declared.name;
  launch.weight = declared.weight;
  launch.site = siteIndex;
  KOPT_TRY(launch.geometry, geometryOf(kernel, site, declaration));
  launch.bindings = valuesInScope(kernel, specialization, site, declared.arguments);
  // Arguments may refer to each other and to launch variables: a few passes resolve them in any
  // order.
  for (std::size_t pass = 0; pass <= declaration.arguments.size(); ++pass) {
    bindLaunchVariables(site, specialization, launch.bindings);
    for (const auto &[name, text] : declaration.arguments)
      if (!declared.arguments.contains(name))
        if (const auto value = evaluateExpression(text, launch.bindings))
          launch.bindings[name] = *value;
  }
  bindLaunchVariables(site, specialization, launch.bindings);
  bindComputedArguments(site, specialization, launch.bindings);
  const DeclaredReals reals(declaration, declared.arguments, launch.bindings);
  if (auto missing = missingClauses({kernel, specialization, declaration, site, launch.geometry,
                                     launch.bindings, reals, at.has_value()}))
    return tl::unexpected(std::move(*missing));

  for (std::size_t i = 0; i < specialization.params.size(); ++i) {
    const KernelParam &param = specialization.params[i];
    if (at && param.kind == ParamKind::Pointer && i < site->args.size() &&
        isNullArgument(site->args[i])) {
      launch.arguments.push_back(ValueArg{std::string(param.size, '\0')});
      continue;
    }
    auto argument =
        param.kind == ParamKind::Pointer
            ? pointerArgument(kernel, param, declaration, allocatedElements(site, i, param),
                              launch.bindings, launch)
            : valueArgument(kernel, param, declaration, reals, passedReal(site, i, reals),
                            launch.bindings);
    if (!argument)
      return tl::unexpected(argument.error());
    launch.arguments.push_back(std::move(*argument));
  }
  for (const ConstantVariable &variable : specialization.constantVariables)
    if (std::ranges::none_of(specialization.params, [&](const KernelParam &param) {
          return param.name == variable.name;
        })) {
      KOPT_TRY(Buffer buffer,
               constantVariable(kernel, variable, declaration, reals, launch.bindings));
      launch.buffers.push_back(std::move(buffer));
    }
  auto geometry = evaluateGeometry(launch.geometry, launch.bindings);
  if (!geometry) {
    geometry.error().where =
        site && declaration.grid.empty() ? placeOf(*site) : placeOfClause(kernel, "grid");
    if (geometry.error().hint.empty())
      geometry.error().hint = "give the missing values with 'arg NAME = ...', or the geometry with "
                              "'grid' and 'block' clauses";
    return tl::unexpected(geometry.error());
  }
  if (const std::uint64_t threads = geometry->block.count(); threads > gpu::kMostThreads)
    return makeError(
        ErrorCode::Usage, fmt::format("launch '{}' has blocks of {} threads", launch.name, threads),
        fmt::format("a GPU takes {} at most", gpu::kMostThreads),
        site && declaration.block.empty() ? placeOf(*site) : placeOfClause(kernel, "block"));
  launch.grid = geometry->grid;
  launch.block = geometry->block;
  launch.sharedBytes = geometry->sharedBytes;
  launch.cooperative = std::any_of(specialization.needs.begin(), specialization.needs.end(),
                                   [](const LaunchNeed &need) { return need.isCooperative(); });
  return launch;
}

std::map<std::string, std::int64_t>
bindingsAtSite(const KernelSpec &kernel, const Specialization &specialization,
               const LaunchSite &site, const std::map<std::string, std::int64_t> &arguments) {
  Bindings bindings = valuesInScope(kernel, specialization, &site, arguments);
  bindLaunchVariables(&site, specialization, bindings);
  bindComputedArguments(&site, specialization, bindings);
  return bindings;
}

bool differ(const LaunchSite &one, const LaunchSite &other) {
  return std::tie(one.grid, one.block, one.sharedBytes) !=
         std::tie(other.grid, other.block, other.sharedBytes);
}

std::vector<std::string> sitesNotRun(const KernelSpec &kernel, const Specialization &specialization,
                                     const Workload &workload) {
  const auto isCaptured = [](const Buffer &buffer) {
    return buffer.fill.kind == FillKind::Captured;
  };
  std::vector<std::string> places;
  for (const LaunchSite &site : kernel.launches) {
    const bool isRun =
        std::any_of(workload.launches.begin(), workload.launches.end(), [&](const Launch &launch) {
          return std::any_of(launch.buffers.begin(), launch.buffers.end(), isCaptured) ||
                 (launch.site < kernel.launches.size() &&
                  !differ(kernel.launches[launch.site], site));
        });
    if (site.symbol == specialization.symbol && !isRun)
      places.push_back(placeOf(site));
  }
  return places;
}

Status checkLaunchable(const KernelSpec &kernel, const Specialization &specialization,
                       DeviceKind device) {
  const auto unmet = std::find_if(specialization.needs.begin(), specialization.needs.end(),
                                  [&](const LaunchNeed &need) {
                                    return !need.isCooperative() || device == DeviceKind::Emulated;
                                  });
  if (unmet == specialization.needs.end())
    return {};
  const LaunchNeed &need = *unmet;
  const std::string where = placeOf(need);
  if (need.isCooperative())
    return makeError(
        ErrorCode::BaselineFailed,
        fmt::format("kernel '{}' waits for its whole grid with {}, which needs a cooperative "
                    "launch; the emulated device runs blocks one after the other",
                    kernel.name, need.name),
        "use a GPU with --device cuda, or select other kernels with --kernel", where);
  const bool isTexture = need.kind == NeedKind::Texture;
  return makeError(
      ErrorCode::BaselineFailed,
      fmt::format(
          "kernel '{}' uses the {} object '{}': the memory behind it can be neither declared nor "
          "captured, so a launch by kopt would {} other data than the program's",
          kernel.name, toString(need.kind), need.name, isTexture ? "read" : "reach"),
      fmt::format("read through a pointer instead ({}), or select other kernels with --kernel",
                  isTexture ? "const T *__restrict__ uses the same cache" : "a plain array"),
      where);
}

Result<Workload> buildWorkload(const KernelSpec &kernel, const Specialization &specialization,
                               const TuneDeclaration &declaration, DeviceKind device) {
  KOPT_CHECK(checkLaunchable(kernel, specialization, device));
  const std::vector<DeclaredLaunch> launches = launchesOn(declaration, device);
  if (launches.empty())
    return makeError(
        ErrorCode::Usage,
        fmt::format("kernel '{}' declares no launch for the {} device", kernel.name,
                    toString(device)),
        fmt::format("add a launch clause without 'on', or with 'on {}'", toString(device)),
        placeOf(declaration.launches.front().clause));
  Workload workload;
  workload.kernel = kernel.name;
  workload.symbol = specialization.symbol;
  workload.tolerance = declaration.tolerance;
  double totalWeight = 0;
  for (const DeclaredLaunch &declared : launches) {
    KOPT_TRY(Launch launch, buildLaunch(kernel, specialization, declaration, declared));
    if (Status used = checkAllValuesUsed(declaration, launch); !used) {
      used.error().where = placeOf(kernel);
      return tl::unexpected(used.error());
    }
    totalWeight += launch.weight;
    workload.launches.push_back(std::move(launch));
  }
  for (Launch &launch : workload.launches)
    launch.weight /= totalWeight;
  return workload;
}

} // namespace kopt
