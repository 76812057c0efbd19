// SPDX-License-Identifier: Apache-2.0
#include "driver/source/RenderSlice.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/source/Includes.h"
#include "driver/source/SourceEdits.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Hash.h"

#include <algorithm>
#include <fmt/format.h>

namespace kopt {
namespace {

const LaunchSite *launchOf(const KernelSpec &kernel, const Specialization &specialization) {
  for (const LaunchSite &launch : kernel.launches)
    if (launch.symbol == specialization.symbol)
      return &launch;
  return kernel.launches.empty() ? nullptr : &kernel.launches.front();
}

Bindings constantValues(const KernelSpec &kernel, const Specialization &specialization,
                        const Candidate &candidate) {
  Bindings values;
  for (const NamedConstant &constant : constantsInScope(kernel, specialization))
    values[constant.name] = constant.value;
  for (const auto &[name, value] : candidate.constants)
    values[name] = value;
  return values;
}

/// The value of an integral template argument with the candidate's constants: set by its own name,
/// or computed from the constants in its spelling at the launch site.
Result<std::string> templateArgument(const TemplateArg &argument,
                                     const std::vector<NamedConstant> &named,
                                     const Bindings &constants, const Candidate &candidate) {
  if (!argument.integral)
    return argument.value;
  if (const auto own = candidate.constants.find(argument.name); own != candidate.constants.end())
    return std::to_string(own->second);
  if (!argument.range || candidate.constants.empty())
    return argument.value;
  // If an argument is only a name, its range is where the value of that name is spelled.
  for (const NamedConstant &constant : named)
    if (constant.valueRange == *argument.range)
      return std::to_string(constants.at(constant.name));
  KOPT_TRY(const std::string spelled, textOf(*argument.range));
  const auto value = evaluateExpression(spelled, constants);
  return value ? std::to_string(*value) : argument.value;
}

Result<std::string> renderExpression(const KernelSpec &kernel, const Specialization &specialization,
                                     const Candidate &candidate) {
  if (specialization.templateArgs.empty() || candidate.constants.empty())
    return specialization.expression;
  const Bindings constants = constantValues(kernel, specialization, candidate);
  const std::vector<NamedConstant> named = constantsInScope(kernel, specialization);
  const auto open = specialization.expression.find('<');
  std::string expression = specialization.expression.substr(0, open) + "<";
  for (std::size_t i = 0; i < specialization.templateArgs.size(); ++i) {
    KOPT_TRY(const std::string value,
             templateArgument(specialization.templateArgs[i], named, constants, candidate));
    expression += (i == 0 ? "" : ", ") + value;
  }
  return expression + ">";
}

std::string dim3Text(const Dim3 &dim) {
  if (dim.y == 1 && dim.z == 1)
    return std::to_string(dim.x);
  return dim.z == 1 ? fmt::format("dim3({}, {})", dim.x, dim.y)
                    : fmt::format("dim3({}, {}, {})", dim.x, dim.y, dim.z);
}

/// `ceil(old grid * old block / new block)` in each dimension, as an expression that works at the
/// launch site for any problem size.
std::string coverGridText(const std::string &grid, const std::string &block, const Dim3 &newBlock,
                          const Dim3 &used) {
  const auto dimension = [&](char axis, std::uint32_t threads) {
    return fmt::format("(dim3({0}).{2} * dim3({1}).{2} + {3}) / {4}", grid, block, axis,
                       threads - 1, threads);
  };
  if (used.y == 1 && used.z == 1)
    return dimension('x', newBlock.x);
  const std::string two = dimension('x', newBlock.x) + ", " + dimension('y', newBlock.y);
  return used.z == 1 ? "dim3(" + two + ")"
                     : "dim3(" + two + ", " + dimension('z', newBlock.z) + ")";
}

/// The launch site's arguments for the kernel parameters, which the candidate's expressions name.
std::map<std::string, std::string> argumentsAt(const LaunchSite &site,
                                               const Specialization &specialization) {
  std::map<std::string, std::string> texts;
  for (std::size_t i = 0; i < specialization.params.size() && i < site.args.size(); ++i)
    if (specialization.params[i].name != site.args[i] && !site.args[i].empty())
      texts[specialization.params[i].name] =
          isName(site.args[i]) ? site.args[i] : "(" + site.args[i] + ")";
  return texts;
}

/// An expression in the names of the launch site.
Result<std::string> hostText(const std::string &expression, const LaunchSite &site,
                             const Specialization &specialization) {
  if (expression.find("ceil_div") != expression.npos)
    return makeError(ErrorCode::Usage,
                     fmt::format("the launch expression '{}' uses ceil_div, which host code does "
                                 "not have",
                                 expression),
                     "write (a + b - 1) / b", placeOf(site));
  return kopt::renamed(expression, argumentsAt(site, specialization));
}

Result<std::string> dim3Text(const std::array<std::string, 3> &axes, const LaunchSite &site,
                             const Specialization &specialization) {
  const std::size_t used = axes[2] != "1" ? 3 : axes[1] != "1" ? 2 : 1;
  std::string text;
  for (std::size_t i = 0; i < used; ++i) {
    KOPT_TRY(const std::string axis, hostText(axes[i], site, specialization));
    text += (i == 0 ? "" : ", ") + axis;
  }
  return used == 1 ? text : "dim3(" + text + ")";
}

/// Inserts the call that opts in to large shared memory before the launch, in the same statement.
Result<SourceEdit> optIn(const LaunchSite &site, const std::string &bytes) {
  KOPT_TRY(const SourceRange callee, calleeAt(site));
  KOPT_TRY(const std::string text, textOf(callee));
  return SourceEdit{{site.file, callee.begin, callee.begin},
                    fmt::format("cudaFuncSetAttribute({}, "
                                "cudaFuncAttributeMaxDynamicSharedMemorySize, {}),\n      ",
                                text, bytes)};
}

Status launchEditsAt(const LaunchSite &site, const Specialization &specialization,
                     const LaunchOverride &launch, std::vector<SourceEdit> &edits) {
  if (launch.gridExpressions) {
    KOPT_TRY(std::string text, dim3Text(*launch.gridExpressions, site, specialization));
    edits.push_back({*site.gridRange, std::move(text)});
  }
  if (launch.blockExpressions) {
    KOPT_TRY(std::string text, dim3Text(*launch.blockExpressions, site, specialization));
    edits.push_back({*site.blockRange, std::move(text)});
  }
  if (launch.block) {
    KOPT_TRY(const std::string grid, textOf(*site.gridRange));
    KOPT_TRY(const std::string block, textOf(*site.blockRange));
    const bool twoD = launch.block->y != 1 || site.grid[1] != "1" || site.block[1] != "1";
    const bool threeD = launch.block->z != 1 || site.grid[2] != "1" || site.block[2] != "1";
    const Dim3 used{2, twoD || threeD ? 2u : 1u, threeD ? 2u : 1u};
    edits.push_back({*site.blockRange, dim3Text(*launch.block)});
    if (launch.coverGrid)
      edits.push_back({*site.gridRange, coverGridText(grid, block, *launch.block, used)});
  }
  std::string shared = launch.sharedBytes ? std::to_string(*launch.sharedBytes) : "";
  if (launch.sharedExpression && !launch.sharedBytes) {
    KOPT_TRY(shared, hostText(*launch.sharedExpression, site, specialization));
  }
  if (!shared.empty()) {
    if (site.sharedRange)
      edits.push_back({*site.sharedRange, shared});
    else
      edits.push_back(
          {{site.blockRange->file, site.blockRange->end, site.blockRange->end}, ", " + shared});
  }
  if (launch.largeShared) {
    KOPT_TRY(SourceEdit edit, optIn(site, shared.empty() ? site.sharedBytes : shared));
    edits.push_back(std::move(edit));
  }
  return {};
}

Status launchEdits(const KernelSpec &kernel, const Specialization &specialization,
                   const Candidate &candidate, std::vector<SourceEdit> &edits) {
  const LaunchOverride &launch = candidate.launch;
  if (!launch.changesGeometry() && !launch.largeShared)
    return {};
  KOPT_CHECK(refuseUnbuiltForms(launch));
  for (const LaunchSite &site : kernel.launches) {
    if (site.symbol != specialization.symbol)
      continue;
    if (!site.blockRange || !site.gridRange)
      return makeError(ErrorCode::Usage,
                       "the launch comes from a macro, so its geometry cannot be rewritten",
                       "spell the launch configuration at the launch site", placeOf(site));
    KOPT_CHECK(launchEditsAt(site, specialization, launch, edits));
  }
  return {};
}

/// The offset in `gap` at which to insert a declaration before the chunk that follows: before the
/// lines that belong to the chunk (#line and the like).
std::size_t endBeforeGlue(std::string_view gap) {
  static constexpr std::string_view kGlue[] = {"#line ", "#undef ", "#ifdef __CUDA_ARCH__",
                                               "#ifndef __CUDA_ARCH__"};
  std::size_t end = gap.size();
  while (end > 0 && gap[end - 1] == '\n') {
    const std::size_t newline = end > 1 ? gap.rfind('\n', end - 2) : gap.npos;
    const std::size_t begin = newline == gap.npos ? 0 : newline + 1;
    const std::string_view line = gap.substr(begin, end - begin);
    if (std::none_of(std::begin(kGlue), std::end(kGlue),
                     [&](std::string_view glue) { return line.starts_with(glue); }))
      break;
    end = begin;
  }
  return end;
}

/// Adds the edits for new text in the user's files: chunks, declarations before them, and includes.
Status textEdits(const Specialization &specialization, const Candidate &candidate,
                 std::vector<SourceEdit> &edits) {
  std::map<std::string, std::size_t> firstEdit; ///< by file: the first edited byte
  const auto add = [&](SourceEdit edit) {
    const auto [first, isNew] = firstEdit.try_emplace(edit.range.file, edit.range.begin);
    first->second = std::min<std::size_t>(first->second, edit.range.begin);
    edits.push_back(std::move(edit));
  };
  std::map<std::size_t, std::string> added;
  for (const CandidateDeclaration &declaration : candidate.declarations)
    if (declaration.file.empty())
      added[declaration.before] += declaration.text + "\n\n";
  for (const auto &[before, text] : added) {
    const SourceRange &place = specialization.chunks.at(before).source;
    add({{place.file, place.begin, place.begin}, text});
  }
  for (const auto &[index, text] : candidate.chunks)
    add({specialization.chunks.at(index).source, text});
  std::vector<std::string> headers;
  for (const CandidateInclude &include : candidate.includes)
    headers.push_back(include.header);
  for (const auto &[file, first] : firstEdit) {
    if (headers.empty())
      break;
    KOPT_TRY(const std::string text, readFile(file));
    SourceEdit edit = includeEdit(file, text, first, headers);
    if (!edit.text.empty())
      edits.push_back(std::move(edit));
  }
  return {};
}

} // namespace

std::vector<NamedConstant> constantsInScope(const KernelSpec &kernel,
                                            const Specialization &specialization) {
  const LaunchSite *site = launchOf(kernel, specialization);
  std::map<std::string, NamedConstant> chosen;
  const auto distance = [&](const NamedConstant &constant) -> std::uint64_t {
    if (site && constant.valueRange.file == site->file && constant.line <= site->line)
      return site->line - constant.line;
    return std::uint64_t(1) << 32;
  };
  for (const NamedConstant &constant : kernel.constants) {
    const auto [entry, isNew] = chosen.try_emplace(constant.name, constant);
    if (!isNew && distance(constant) < distance(entry->second))
      entry->second = constant;
  }
  std::vector<NamedConstant> result;
  for (const auto &[name, constant] : chosen)
    result.push_back(constant);
  return result;
}

Result<RenderedSlice> renderSlice(const std::string &sliceText, const KernelSpec &kernel,
                                  const Specialization &specialization,
                                  const Candidate &candidate) {
  KOPT_CHECK(refuseUnbuiltForms(candidate));
  RenderedSlice rendered;
  KOPT_TRY(rendered.expression, renderExpression(kernel, specialization, candidate));
  const std::vector<NamedConstant> constants = constantsInScope(kernel, specialization);
  // An in-place build already has the file's declarations and finds its headers.
  const bool inPlace = specialization.route == Route::InPlace;
  for (const CandidateInclude &include : candidate.includes)
    if (inPlace || !include.isUsers)
      rendered.text += "#include " + include.header + "\n";
  rendered.declarations.resize(candidate.declarations.size());
  const auto addDeclarations = [&](std::size_t before) {
    for (std::size_t i = 0; i < candidate.declarations.size(); ++i) {
      const CandidateDeclaration &declaration = candidate.declarations[i];
      if (declaration.before != before || (inPlace && !declaration.file.empty()))
        continue;
      const std::uint64_t begin = rendered.text.size();
      rendered.text += declaration.text;
      rendered.declarations[i] = {begin, rendered.text.size()};
      rendered.text += "\n\n";
    }
  };
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < specialization.chunks.size(); ++i) {
    const SliceChunk &chunk = specialization.chunks[i];
    if (chunk.sliceBegin < at || chunk.sliceEnd < chunk.sliceBegin ||
        chunk.sliceEnd > sliceText.size())
      return makeError(ErrorCode::Internal, "the slice's chunks overlap or lie outside it");
    const std::string gap = sliceText.substr(at, chunk.sliceBegin - at);
    const std::size_t glue = inPlace ? gap.size() : endBeforeGlue(gap);
    rendered.text += gap.substr(0, glue);
    addDeclarations(i);
    rendered.text += gap.substr(glue);
    at = chunk.sliceEnd;
    std::string text = sliceText.substr(chunk.sliceBegin, chunk.sliceEnd - chunk.sliceBegin);
    if (const auto replaced = candidate.chunks.find(i); replaced != candidate.chunks.end()) {
      text = replaced->second;
    } else if (chunk.role == ChunkRole::Instantiation) {
      if (const auto where = text.find(specialization.expression); where != std::string::npos)
        text.replace(where, specialization.expression.size(), rendered.expression);
    } else {
      std::vector<SourceEdit> edits;
      for (const NamedConstant &constant : constants)
        if (const auto value = candidate.constants.find(constant.name);
            value != candidate.constants.end() && contains(chunk.source, constant.valueRange))
          edits.push_back(
              {{constant.valueRange.file, constant.valueRange.begin - chunk.source.begin,
                constant.valueRange.end - chunk.source.begin},
               std::to_string(value->second)});
      KOPT_TRY(const auto ofChunk, editsByFile(edits));
      for (const auto &[file, sorted] : ofChunk) {
        KOPT_TRY(text, applyEdits(text, sorted));
      }
    }
    const std::uint64_t begin = rendered.text.size();
    rendered.text += text;
    rendered.chunks.emplace_back(begin, rendered.text.size());
  }
  rendered.text += sliceText.substr(at);
  return rendered;
}

Result<std::vector<SourceEdit>> writeBackEdits(const KernelSpec &kernel,
                                               const Specialization &specialization,
                                               const Candidate &candidate) {
  KOPT_CHECK(refuseUnbuiltForms(candidate));
  std::vector<SourceEdit> edits;
  KOPT_CHECK(textEdits(specialization, candidate, edits));
  const auto inReplacedChunk = [&](const SourceRange &range) {
    return std::any_of(candidate.chunks.begin(), candidate.chunks.end(), [&](const auto &chunk) {
      return contains(specialization.chunks.at(chunk.first).source, range);
    });
  };
  for (const NamedConstant &constant : constantsInScope(kernel, specialization)) {
    const auto value = candidate.constants.find(constant.name);
    if (value != candidate.constants.end() && value->second != constant.value &&
        !inReplacedChunk(constant.valueRange))
      edits.push_back({constant.valueRange, std::to_string(value->second)});
  }
  for (const TemplateArg &argument : specialization.templateArgs) {
    const auto value = candidate.constants.find(argument.name);
    if (!argument.integral || value == candidate.constants.end() ||
        std::to_string(value->second) == argument.value)
      continue;
    if (!argument.range)
      return makeError(ErrorCode::Usage,
                       fmt::format("template argument '{}' of '{}' is not spelled at its launch",
                                   argument.name, kernel.name),
                       "spell it there, or make it a named constant", kernel.file);
    edits.push_back({*argument.range, std::to_string(value->second)});
  }
  KOPT_CHECK(launchEdits(kernel, specialization, candidate, edits));
  return edits;
}

} // namespace kopt
