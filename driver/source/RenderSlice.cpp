// SPDX-License-Identifier: Apache-2.0
#include "driver/source/RenderSlice.h"

#include "driver/source/CandidateLaunch.h"
#include "driver/source/Expression.h"
#include "driver/source/ExpressionTree.h"
#include "driver/source/Includes.h"
#include "driver/source/SourceEdits.h"
#include "driver/support/FileSystem.h"
#include "driver/support/Text.h"

#include <algorithm>
#include <fmt/format.h>
#include <regex>

namespace kopt {
namespace {

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

/// The launch site's arguments for the kernel parameters, which the candidate's expressions name.
std::map<std::string, std::string> argumentsAt(const LaunchSite &site,
                                               const Specialization &specialization) {
  std::map<std::string, std::string> texts;
  for (std::size_t i = 0; i < specialization.params.size() && i < site.args.size(); ++i)
    if (specialization.params[i].name != site.args[i] && !site.args[i].empty())
      texts[specialization.params[i].name] = asOperand(site.args[i]);
  return texts;
}

/// Where the brackets close in which `at` is, or one of `stops` is outside of further brackets.
std::size_t endOf(std::string_view text, std::size_t at, std::string_view stops) {
  for (int depth = 0; at < text.size(); ++at) {
    const bool closes = std::string_view(")}]").find(text[at]) != stops.npos;
    if (depth == 0 && (closes || stops.find(text[at]) != stops.npos))
      break;
    depth += closes ? -1 : std::string_view("({[").find(text[at]) != stops.npos;
  }
  return at;
}

/// What launch expressions name, in the words of the launch site: its arguments for the kernel's
/// parameters, and its grid and block.
Result<std::map<std::string, std::string>> namesAt(const LaunchSite &site,
                                                   const Specialization &specialization) {
  std::map<std::string, std::string> names = argumentsAt(site, specialization);
  names.merge(dimensionsOf(site.grid, site.block));
  for (const auto &[name, range] :
       {std::pair("gridDim.", site.gridRange), {"blockDim.", site.blockRange}}) {
    KOPT_TRY(const std::string text, textOf(*range)); // where an axis is not known
    for (const char axis : {'x', 'y', 'z'})
      names.try_emplace(std::string(name) + axis, fmt::format("dim3({}).{}", text, axis));
  }
  return names;
}

std::string hostText(const std::string &expression,
                     const std::map<std::string, std::string> &names) {
  const auto parsed = Expression::parse(expression);
  if (!parsed)
    return expression;
  const std::string text = printed(parsed->tree(), {names, /*asHostCode=*/true});
  const auto named = Expression::parse(text);
  return named ? printed(named->tree(), {{}, /*asHostCode=*/true}) : text;
}

/// The text of a launch argument; empty if it stays. `names` are the variables and constants in it,
/// and unset if these cannot be told.
struct ArgumentText {
  std::string text;
  std::optional<std::vector<std::string>> names = std::vector<std::string>();
  bool operator==(const ArgumentText &) const = default;
};
using LaunchTexts = std::array<ArgumentText, 3>; ///< grid, block, shared memory

ArgumentText dim3Text(const std::array<std::string, 3> &axes,
                      const std::map<std::string, std::string> &names) {
  std::array<std::string, 3> texts;
  for (std::size_t axis = 0; axis < 3; ++axis)
    texts[axis] = hostText(axes[axis], names);
  const auto isOne = [&](std::size_t axis) {
    const auto value = evaluateExpression(texts[axis], {});
    return value && *value == 1;
  };
  const std::size_t used = !isOne(2) ? 3 : !isOne(1) ? 2 : 1;
  ArgumentText made;
  for (std::size_t axis = 0; axis < used; ++axis) {
    made.text += (axis == 0 ? "" : ", ") + texts[axis];
    const auto found = namesIn(texts[axis]);
    if (!found)
      made.names.reset();
    else if (made.names)
      made.names->insert(made.names->end(), found->begin(), found->end());
  }
  if (used > 1)
    made.text = "dim3(" + made.text + ")";
  return made;
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

/// The initializer of the variable that a launch argument is, if it is used in `allowed` alone: a
/// person changes the launch there. Else the argument.
SourceRange placeOfArgument(const SourceRange &argument,
                            const std::optional<LaunchVariable> &variable, const std::string &file,
                            const std::vector<SourceRange> &allowed) {
  const std::string name = file.substr(argument.begin, argument.end - argument.begin);
  if (!variable || !isName(name) || variable->value.begin == 0 ||
      variable->value.end >= argument.begin)
    return argument;
  const SourceRange &place = variable->value;
  const auto at = [&](std::uint64_t offset) { return file.begin() + std::ptrdiff_t(offset); };
  std::size_t end = endOf(file, place.end + 1, "");
  const bool isLocal = file.find("\n}", place.end) + 1 >= end;
  if (end < argument.begin || (!isLocal && !argument.file.ends_with(".cu")))
    return argument; // of a header other files may use it, too
  end = isLocal ? end : file.size();
  const std::regex word("\\b" + name + "\\b");
  for (std::sregex_iterator use(at(place.end), at(end), word), none; use != none; ++use)
    if (std::ranges::none_of(allowed, [&](const SourceRange &range) {
          const std::uint64_t offset = place.end + std::uint64_t(use->position());
          return range.begin <= offset && offset < range.end;
        }))
      return argument;
  return place;
}

/// True if the text means the same in the initializer of the variable as at the launch.
bool isSettled(const ArgumentText &text, const LaunchVariable &variable,
               const std::vector<NamedConstant> &constants) {
  return text.names && std::ranges::all_of(*text.names, [&](const std::string &name) {
           const std::size_t root = std::min(name.find_first_of(".-:[("), name.size());
           const bool isPart = name.find_first_of("-:[(", root) != name.npos;
           return (!isPart && std::ranges::count(variable.settled, name.substr(0, root)) > 0) ||
                  std::ranges::any_of(constants, [&](const NamedConstant &constant) {
                    const SourceRange &value = constant.valueRange;
                    return constant.name == name &&
                           (value.file != variable.value.file || value.end <= variable.value.begin);
                  });
         });
}

/// The text on several lines, if it is too long for one that begins at `column`: a line for each
/// axis, each part of a condition and each branch.
std::string inLines(const std::string &text, std::size_t column) {
  constexpr std::size_t kMostColumns = 100;
  struct Break {
    std::string_view mark, before, after; ///< what ends a line, and what begins the next
  };
  static constexpr Break kBreaks[] = {
      {", ", ",", ""}, {" && ", " &&", ""}, {" ? ", "", "    ? "}, {" : ", "", "    : "}};
  if (column + text.size() <= kMostColumns)
    return text;
  const bool isDim3 = text.starts_with("dim3(");
  column += isDim3 ? 5 : 0;
  std::string lines;
  int depth = isDim3 ? -1 : 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    depth += std::string_view("([").find(rest[0]) != rest.npos;
    depth -= std::string_view(")]").find(rest[0]) != rest.npos;
    const auto end = std::ranges::find_if(
        kBreaks, [&](const Break &one) { return depth == 0 && rest.starts_with(one.mark); });
    if (end == std::end(kBreaks)) {
      lines += text[at++];
      continue;
    }
    lines += fmt::format("{}\n{:{}}{}", end->before, "", column, end->after);
    at += end->mark.size();
  }
  return lines;
}

/// The launches of a kernel that get the same texts, and what these may name.
struct LaunchGroup {
  const LaunchTexts &texts;
  std::vector<SourceRange> arguments; ///< of these launches
  const std::vector<NamedConstant> &constants;
  bool gridFollows; ///< the grid is the same expression of its block
};

/// Adds the edits for the texts of a launch's grid, block and dynamic shared memory.
Status argumentEdits(const LaunchSite &site, const LaunchGroup &group,
                     std::vector<SourceEdit> &edits) {
  const auto &[grid, block, shared] = group.texts;
  KOPT_TRY(const std::string file, readFile(site.file));
  const auto textIn = [&](const SourceRange &range) {
    return file.substr(range.begin, range.end - range.begin);
  };
  const auto add = [&](const SourceRange &place, std::string text) {
    // A variable may be a dim3 by its declaration.
    if (text.starts_with("dim3(") && (file[place.begin - 1] == '(' || file[place.begin - 1] == '{'))
      text = text.substr(5, text.size() - 6);
    if (!text.empty() && std::ranges::find(edits, place, &SourceEdit::range) == edits.end())
      edits.push_back({place, inLines(text, place.begin - file.rfind('\n', place.begin) - 1)});
  };
  SourceRange gridPlace =
      placeOfArgument(*site.gridRange, site.gridVariable, file, group.arguments);
  std::vector<SourceRange> allowed = group.arguments;
  allowed.push_back(gridPlace);
  SourceRange blockPlace = placeOfArgument(*site.blockRange, site.blockVariable, file, allowed);
  if (blockPlace != *site.blockRange && !isSettled(block, *site.blockVariable, group.constants))
    blockPlace = *site.blockRange;
  const std::regex name(
      "\\b" + (blockPlace == *site.blockRange ? "\\B" : textIn(*site.blockRange)) + "\\b");
  const bool isInGrid = std::regex_search(textIn(gridPlace), name);
  // A grid in terms of the block follows it, unless it has its numbers, too.
  const bool staysAsWritten =
      group.gridFollows && isInGrid &&
      !std::regex_search(textIn(gridPlace), std::regex(R"(\b([2-9]|\d\d+)\b)"));
  if (!staysAsWritten && gridPlace != *site.gridRange &&
      !isSettled(grid, *site.gridVariable, group.constants))
    gridPlace = *site.gridRange;
  if (isInGrid && grid.text.empty())
    blockPlace = *site.blockRange;
  if (!staysAsWritten)
    add(gridPlace, grid.text);
  add(blockPlace, block.text);
  if (site.sharedRange && (!std::regex_search(textIn(*site.sharedRange), name) ||
                           textIn(*site.sharedRange).find_first_of("+-/") != std::string::npos))
    add(*site.sharedRange, shared.text);
  else if (!site.sharedRange && !shared.text.empty())
    edits.push_back({{site.file, site.blockRange->end, site.blockRange->end}, ", " + shared.text});
  return {};
}

Result<LaunchTexts> textsAt(const LaunchSite &site, const Specialization &specialization,
                            const LaunchOverride &launch) {
  KOPT_TRY(const auto names, namesAt(site, specialization));
  LaunchTexts texts;
  if (launch.grid)
    texts[0] = dim3Text(*launch.grid, names);
  if (launch.block && substituted(*launch.block, dimensionsOf(site.grid, site.block)) != site.block)
    texts[1] = dim3Text(*launch.block, names);
  if (launch.sharedBytes)
    texts[2].text = hostText(*launch.sharedBytes, names);
  return texts;
}

Status launchEdits(const KernelSpec &kernel, const Specialization &specialization,
                   const Candidate &candidate, std::vector<SourceEdit> &edits) {
  const LaunchOverride &launch = candidate.launch;
  if (!launch.changesGeometry() && !launch.largeShared)
    return {};
  std::vector<std::pair<const LaunchSite *, LaunchTexts>> changes;
  for (const LaunchSite &site : kernel.launches) {
    if (site.symbol != specialization.symbol)
      continue;
    if (!site.blockRange || !site.gridRange)
      return makeError(ErrorCode::Usage,
                       "the launch comes from a macro, so its geometry cannot be rewritten",
                       "spell the launch configuration at the launch site", placeOf(site));
    KOPT_TRY(LaunchTexts texts, textsAt(site, specialization, launch));
    changes.emplace_back(&site, std::move(texts));
  }
  // A launch that other instantiations share gets edits that can be made to depend on the type.
  const bool isShared = std::ranges::any_of(kernel.launches, [&](const LaunchSite &other) {
    return other.symbol != specialization.symbol && other.blockRange &&
           std::ranges::any_of(changes, [&](const auto &change) {
             return change.first->blockRange == other.blockRange;
           });
  });
  const std::vector<NamedConstant> constants = constantsInScope(kernel, specialization);
  for (const auto &[site, texts] : changes) {
    LaunchGroup group{texts, {}, constants, false};
    for (const auto &[other, same] : changes)
      for (const auto &range : {other->gridRange, other->blockRange, other->sharedRange})
        if (range && same == texts && !isShared)
          group.arguments.push_back(*range);
    LaunchOverride natural;
    group.gridFollows = launch.block && writeNaturally(*site, blockIn(launch), natural) &&
                        natural.grid == launch.grid;
    KOPT_CHECK(argumentEdits(*site, group, edits));
    if (launch.largeShared) {
      KOPT_TRY(SourceEdit edit,
               optIn(*site, texts[2].text.empty() ? site->sharedBytes : texts[2].text));
      edits.push_back(std::move(edit));
    }
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

/// The offset in a user's file at which to insert a declaration before the chunk at `begin`: before
/// kopt's own attributes, which would otherwise mark the declaration.
std::size_t beginBeforeMarks(std::string_view text, std::size_t begin) {
  while (true) {
    const std::string_view before = text.substr(0, text.find_last_not_of(" \t\r\n", begin - 1) + 1);
    const bool isMacro = before.ends_with(")");
    const std::size_t mark = begin == 0 ? text.npos : before.rfind(isMacro ? "KOPT_TUNE" : "[[");
    const std::size_t open = mark == text.npos ? mark : before.find(isMacro ? '(' : 'k', mark);
    const bool isMark =
        open != text.npos &&
        (isMacro ? endOf(before, open + 1, "") + 1 == before.size()
                 : before.ends_with("]]") && before.substr(open).starts_with("kopt"));
    if (!isMark)
      return begin;
    begin = mark;
  }
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
  const std::vector<CandidateDeclaration> declarations = declarationsOf(candidate);
  for (const CandidateDeclaration &declaration : declarations)
    if (declaration.file.empty())
      added[declaration.before] += declaration.text + "\n\n";
  for (const auto &[before, text] : added) {
    const SourceRange &place = specialization.chunks.at(before).source;
    KOPT_TRY(const std::string file, readFile(place.file));
    const std::size_t begin = beginBeforeMarks(file, place.begin);
    const std::size_t line = file.rfind('\n', begin) + 1; // 0 in the first one
    const std::string indentation = file.substr(line, begin - line);
    const bool isBlank = indentation.find_first_not_of(" \t") == indentation.npos;
    add({{place.file, begin, begin}, text + (isBlank ? indentation : "")});
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

/// Says before the kernel what its file is compiled with. So a change of options alone is an edit,
/// too, and makes a build compile the file again.
Status addOptionsComment(const KernelSpec &kernel, const Specialization &specialization,
                         const CompilerOptions &options, std::vector<SourceEdit> &edits) {
  const SourceRange &place = specialization.chunks.at(specialization.kernelChunk).source;
  if (place.file != kernel.unit)
    return makeError(ErrorCode::Usage,
                     fmt::format("options of the compiler are for a whole file, and '{}' is in a "
                                 "header",
                                 kernel.name),
                     "move the kernel into the file that launches it", placeOf(kernel));
  const std::string comment = fmt::format("/* compiled with {} */ ", join(options.flags(), " "));
  for (SourceEdit &edit : edits)
    if (edit.range == place) {
      edit.text = comment + edit.text;
      return {};
    }
  edits.push_back({{place.file, place.begin, place.begin}, comment});
  return {};
}

} // namespace

Result<RenderedSlice> renderSlice(const std::string &sliceText, const KernelSpec &kernel,
                                  const Specialization &specialization,
                                  const Candidate &candidate) {
  RenderedSlice rendered;
  KOPT_TRY(rendered.expression, renderExpression(kernel, specialization, candidate));
  if (candidate.options)
    rendered.flags = candidate.options->flags();
  const std::vector<NamedConstant> constants = constantsInScope(kernel, specialization);
  // An in-place build already has the file's declarations and finds its headers.
  const bool inPlace = specialization.route == Route::InPlace;
  for (const CandidateInclude &include : candidate.includes)
    if (inPlace || !include.isUsers)
      rendered.text += "#include " + include.header + "\n";
  const std::vector<CandidateDeclaration> declarations = declarationsOf(candidate);
  rendered.declarations.resize(declarations.size());
  const auto addDeclarations = [&](std::size_t before) {
    for (std::size_t i = 0; i < declarations.size(); ++i) {
      const CandidateDeclaration &declaration = declarations[i];
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
  if (candidate.options)
    KOPT_CHECK(addOptionsComment(kernel, specialization, *candidate.options, edits));
  return edits;
}

} // namespace kopt
