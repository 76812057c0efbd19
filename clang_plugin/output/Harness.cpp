// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/output/Harness.h"

#include "HarnessFiles.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

namespace kopt::frontend {
namespace {

/// The expressions of "extent out = n * n" and "arg n = 1024", by parameter. They are C expressions
/// over parameters.
std::map<std::string, std::string> clausesOf(const KernelSpec &kernel, const std::string &keyword) {
  std::map<std::string, std::string> found;
  for (const TuneClause &clause : kernel.clauses) {
    std::size_t equals = clause.text.find('=');
    if (clause.text.rfind(keyword + " ", 0) != 0 || equals == std::string::npos)
      continue;
    std::string name = clause.text.substr(keyword.size() + 1, equals - keyword.size() - 1);
    name.erase(
        std::remove_if(name.begin(), name.end(), [](unsigned char c) { return std::isspace(c); }),
        name.end());
    found[name] = clause.text.substr(equals + 1);
  }
  return found;
}

bool isNumber(const std::string &text) {
  return !text.empty() && text.find_first_not_of("0123456789.-+efx") == std::string::npos &&
         text.find_first_of("0123456789") != std::string::npos;
}

bool isNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::set<std::string> namesIn(const std::string &text) {
  std::set<std::string> names;
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = std::find_if(at, text.end(), isNamePart);
    at = std::find_if_not(begin, text.end(), isNamePart);
    if (begin != at && !std::isdigit(static_cast<unsigned char>(*begin)))
      names.emplace(begin, at);
  }
  return names;
}

const LaunchSite *launchOf(const KernelSpec &kernel, const Specialization &specialization) {
  const LaunchSite *any = nullptr;
  for (const LaunchSite &launch : kernel.launches)
    if (launch.symbol == specialization.symbol &&
        (!any || any->geometry == GeometryKind::Unresolved))
      any = &launch;
  return any;
}

std::string valueType(const KernelParam &param) {
  std::string type = param.type;
  for (const char *word : {"const ", " __restrict", "__restrict__"})
    for (std::size_t at = type.find(word);
         param.kind != ParamKind::Pointer && at != std::string::npos; at = type.find(word))
      type.erase(at, std::string(word).size());
  return type;
}

/// The letters and digits of an expression, with one underscore for all that is between them:
/// "params_nposes" for "params.nposes".
std::string wordsOf(const std::string &expression) {
  std::string name;
  for (const char c : expression)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  while (!name.empty() && name.back() == '_')
    name.pop_back();
  return name;
}

/// Replaces each use of a host expression in `text`, not those of longer names or of other members.
void replaceUses(std::string &text, const std::string &expression, const std::string &name) {
  for (std::size_t at = text.find(expression); at != std::string::npos;
       at = text.find(expression, at)) {
    const std::size_t end = at + expression.size();
    const char before = at > 0 ? text[at - 1] : ' ', after = end < text.size() ? text[end] : ' ';
    if (isNamePart(before) || before == '.' || before == '>' || isNamePart(after)) {
      at = end;
      continue;
    }
    text.replace(at, expression.size(), name);
    at += name.size();
  }
}

/// The geometry of a launch as expressions that main() can evaluate, and what declares their names.
struct HarnessGeometry {
  std::array<std::string, 3> grid = {"1", "1", "1"}, block = {"256", "1", "1"};
  std::string shared = "0", declarations;
};

/// Host variables that the launch passes to the kernel have its parameter's value; others, members
/// of host objects among them, become options of the harness.
HarnessGeometry geometryOf(const KernelSpec &kernel, const Specialization &specialization,
                           const LaunchSite *launch) {
  HarnessGeometry geometry;
  if (!launch || launch->geometry == GeometryKind::Unresolved)
    return geometry;
  geometry.grid = launch->grid;
  geometry.block = launch->block;
  geometry.shared = launch->sharedBytes;
  const std::array<std::string *, 7> parts = {
      &geometry.grid[0],  &geometry.grid[1],  &geometry.grid[2], &geometry.block[0],
      &geometry.block[1], &geometry.block[2], &geometry.shared};
  std::set<std::string> used, declared;
  for (const std::string *part : parts)
    used.merge(namesIn(*part));
  for (const KernelParam &param : specialization.params)
    declared.insert(param.name);
  // A constant that only the launch site uses is not in the slice.
  for (const NamedConstant &constant : kernel.constants) {
    if (used.contains(constant.name) && !constant.usedByKernel && !declared.contains(constant.name))
      geometry.declarations +=
          "  const long long " + constant.name + " = " + std::to_string(constant.value) + ";\n";
    declared.insert(constant.name);
  }
  std::vector<std::string> variables = launch->variables;
  std::ranges::stable_sort(variables, std::greater(), &std::string::size); // members before objects
  for (const std::string &variable : variables) {
    if (declared.contains(variable))
      continue;
    const std::string name =
        std::ranges::all_of(variable, isNamePart) ? variable : wordsOf(variable);
    for (std::string *part : parts)
      replaceUses(*part, variable, name);
    if (!declared.insert(name).second)
      continue;
    std::string value = "static_cast<long long>(kopt_harness::number(\"" + name + "\", 1024))";
    for (std::size_t i = 0; i < launch->args.size() && i < specialization.params.size(); ++i)
      if (launch->args[i] == variable && specialization.params[i].kind == ParamKind::Scalar)
        value = specialization.params[i].name;
    geometry.declarations += "  const long long " + name + " = " + value + ";";
    if (name != variable)
      geometry.declarations += " // " + variable + " at the launch";
    geometry.declarations += "\n";
  }
  return geometry;
}

/// Lines that hide the macros of the kernel section from the headers that follow, or bring them
/// back: a program may call a macro "zero".
std::string hideMacros(const std::string &text, bool hide) {
  std::set<std::string> names;
  for (std::size_t at = text.find("#define "); at != std::string::npos;
       at = text.find("#define ", at + 1)) {
    const std::size_t begin = at + std::string_view("#define ").size();
    std::size_t end = begin;
    while (end < text.size() && isNamePart(text[end]))
      ++end;
    if (end > begin)
      names.insert(text.substr(begin, end - begin));
  }
  std::string lines;
  for (const std::string &name : names)
    lines += hide ? "#pragma push_macro(\"" + name + "\")\n#undef " + name + "\n"
                  : "#pragma pop_macro(\"" + name + "\")\n";
  return lines;
}

/// Options that take a file or folder, which may be relative to where the user compiles.
constexpr const char *kPathOptions[] = {"-I",       "-isystem",       "-iquote",      "-idirafter",
                                        "-include", "--include-path", "--pre-include"};

std::string absolutePath(const std::string &path, const std::string &directory) {
  return path.empty() || path[0] == '/' || directory.empty() ? path : directory + "/" + path;
}

/// The kernel's flags for a command that runs in another folder.
std::vector<std::string> absoluteFlags(const KernelSpec &kernel) {
  std::vector<std::string> flags;
  for (std::size_t i = 0; i < kernel.compileFlags.size(); ++i) {
    std::string flag = kernel.compileFlags[i];
    for (const std::string option : kPathOptions) {
      if (flag == option && i + 1 < kernel.compileFlags.size()) {
        flags.push_back(flag);
        flag = absolutePath(kernel.compileFlags[++i], kernel.directory);
        break;
      }
      const std::string joined = option == "-I" ? option : option + "=";
      if (flag != option && flag.starts_with(joined)) {
        flag = joined + absolutePath(flag.substr(joined.size()), kernel.directory);
        break;
      }
    }
    flags.push_back(flag);
  }
  return flags;
}

std::string shellWord(const std::string &word) {
  if (word.find_first_of(" \"'$*?[]()<>;&|\\`#~") == std::string::npos)
    return word;
  std::string quoted = "'";
  for (const char c : word)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// The last tolerance clause: "strict", or "relative=1e-5 absolute=1e-8".
std::string toleranceOf(const KernelSpec &kernel) {
  constexpr std::string_view kKeyword = "tolerance ";
  std::string tolerance = "default";
  for (const TuneClause &clause : kernel.clauses)
    if (clause.text.starts_with(kKeyword))
      tolerance = clause.text.substr(kKeyword.size());
  return tolerance;
}

std::string qualifiedName(std::string name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  for (std::size_t at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed))
    name.erase(at, kUnnamed.size());
  return name;
}

/// The variables of the kernel's text that a program may set or a launch may change, as C++ names
/// them.
std::vector<std::string> variablesOf(const Specialization &specialization) {
  std::vector<std::string> names;
  for (const SliceChunk &chunk : specialization.chunks) {
    const std::string text =
        specialization.lifted->text.substr(chunk.sliceBegin, chunk.sliceEnd - chunk.sliceBegin);
    const auto has = [&](const char *word) { return text.find(word) != std::string::npos; };
    if (chunk.role == ChunkRole::Variable && !has("constexpr") && !has("template") &&
        (has("__device__") || has("__constant__") || has("__managed__")))
      names.push_back(qualifiedName(chunk.name));
  }
  return names;
}

/// The variable of the kernel's text that is this one, which has no namespaces.
std::string variableOf(const std::vector<std::string> &variables, const std::string &name) {
  for (const std::string &variable : variables)
    if (variable == name || variable.ends_with("::" + name))
      return variable;
  return {};
}

std::string quoted(const std::string &text) { return "\"" + text + "\""; }

std::string parameterTypes(const Specialization &specialization) {
  std::string types;
  for (const KernelParam &param : specialization.params)
    types += (types.empty() ? "" : ", ") + param.type;
  return types;
}

/// The text of the harness's own headers as one file.
std::string ownCode() {
  std::string code;
  for (const auto &[name, text] : harness::kFiles)
    for (std::size_t at = 0, end = 0; at < text.size(); at = end) {
      end = std::min(text.find('\n', at), text.size() - 1) + 1;
      const std::string_view line = text.substr(at, end - at);
      if (!line.starts_with("#pragma once") && !line.starts_with("#include \""))
        code += line;
    }
  return code;
}

/// The function that makes a launch of declared or default values.
std::string declareText(const KernelSpec &kernel, const Specialization &specialization,
                        const std::vector<std::string> &variables) {
  const LaunchSite *launch = launchOf(kernel, specialization);
  std::map<std::string, std::string> extents = clausesOf(kernel, "extent"),
                                     values = clausesOf(kernel, "arg");
  std::string text = "\n// The launch where there is no captured one in data/.\n"
                     "void kopt_declare(kopt_harness::Launch &kopt_launch) {\n";
  // The launch's expressions may name constants of the kernel's namespace.
  const std::string name = qualifiedName(kernel.name);
  if (const std::size_t end = name.rfind("::"); end != std::string::npos)
    text += "  using namespace " + name.substr(0, end) + ";\n";
  // Scalars first: the sizes of buffers are made of them.
  for (std::size_t i = 0; i < specialization.params.size(); ++i) {
    const KernelParam &param = specialization.params[i];
    if (param.kind == ParamKind::Pointer)
      continue;
    const std::string type = valueType(param);
    if (param.kind == ParamKind::Struct) {
      text += "  " + type + " " + param.name + "{}; // a structure: set its members here\n";
      continue;
    }
    if (param.components > 1) { // float4 and its like
      text += "  " + type + " " + param.name + "{};\n";
      for (const char member : std::string("xyzw").substr(0, param.components)) {
        const std::string name = param.name + "." + member;
        text += "  " + name + " = static_cast<decltype(" + name + ")>(kopt_harness::number(\"" +
                name + "\", 1));\n";
      }
      continue;
    }
    std::string fallback = "1024";
    if (launch && i < launch->args.size() && isNumber(launch->args[i]))
      fallback = launch->args[i];
    if (values.count(param.name))
      fallback = values[param.name];
    text += "  " + type + " " + param.name + " = static_cast<" + type +
            ">(kopt_harness::number(\"" + param.name + "\", " + fallback + "));\n";
  }
  text += "  const std::size_t kopt_elements = "
          "static_cast<std::size_t>(kopt_harness::number(\"elements\", 1 << 22));\n"
          "  (void)kopt_elements;\n";
  text += "  kopt_launch.arguments.resize(" + std::to_string(specialization.params.size()) + ");\n";
  for (std::size_t i = 0; i < specialization.params.size(); ++i) {
    const KernelParam &param = specialization.params[i];
    text += "  kopt_launch.arguments[" + std::to_string(i) + "] = kopt_harness::";
    if (param.kind != ParamKind::Pointer) {
      text += "value(" + param.name + ");\n";
      continue;
    }
    const std::string extent = extents.count(param.name)
                                   ? "static_cast<std::size_t>(" + extents[param.name] + ")"
                                   : "kopt_elements";
    text += "pointer(kopt_launch, \"" + param.name + "\", " + extent + " * " +
            std::to_string(std::max(1u, param.pointeeSize)) + ", \"" + param.scalar + "\");\n";
  }
  for (const ConstantVariable &constant : specialization.constantVariables)
    if (const std::string name = variableOf(variables, constant.name); !name.empty())
      text += "  kopt_harness::addBuffer(kopt_launch, \"" + name + "\", " +
              std::to_string(constant.bytes) + ", \"" + constant.scalar + "\").variable = \"" +
              name + "\";\n";
  const HarnessGeometry geometry = geometryOf(kernel, specialization, launch);
  const auto dimensions = [](const std::array<std::string, 3> &of) {
    return "dim3(static_cast<unsigned>(" + of[0] + "), static_cast<unsigned>(" + of[1] +
           "), static_cast<unsigned>(" + of[2] + "))";
  };
  text += geometry.declarations;
  text += "  kopt_launch.grid = " + dimensions(geometry.grid) + ";\n";
  text += "  kopt_launch.block = " + dimensions(geometry.block) + ";\n";
  text += "  kopt_launch.shared = static_cast<std::size_t>(" + geometry.shared + ");\n";
  if (std::ranges::any_of(specialization.needs, &LaunchNeed::isCooperative))
    text += "  kopt_launch.isCooperative = true;\n";
  return text + "}\n";
}

std::string mainText(const KernelSpec &kernel, const Specialization &specialization,
                     const std::vector<std::string> &variables) {
  std::string names, sizes, text;
  for (const KernelParam &param : specialization.params) {
    names += (names.empty() ? "" : ", ") + param.name;
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(param.size);
  }
  text = "\nint main(int argc, char **argv) {\n"
         "  // " +
         specialization.expression + "<<<grid, block, shared>>>(" + names +
         ");\n"
         "  void (*const kopt_function)(" +
         parameterTypes(specialization) + ") = " + specialization.expression +
         ";\n"
         "  kopt_harness::Kernel kopt_kernel;\n"
         "  kopt_kernel.function = reinterpret_cast<const void *>(kopt_function);\n"
         "  kopt_kernel.parameters = {" +
         sizes +
         "};\n"
         "  kopt_harness::readOptions(argc, argv);\n";
  for (const std::string &variable : variables)
    text += "  kopt_harness::addVariable(kopt_kernel, \"" + variable + "\", " + variable + ");\n";
  return text + "  return kopt_harness::run(kopt_kernel, kopt_declare, " +
         quoted(toleranceOf(kernel)) + ");\n}\n";
}

} // namespace

std::string folderName(const Specialization &specialization) {
  std::string name = wordsOf(specialization.expression);
  // Long argument lists are cut; the symbol keeps them apart.
  if (name.size() > 80) {
    std::size_t hash = std::hash<std::string>()(specialization.symbol);
    name = name.substr(0, 64) + "_" + std::to_string(hash % 1000000);
  }
  return name.empty() ? "kernel" : name;
}

std::string buildScript(const KernelSpec &kernel) {
  std::string command = "nvcc";
  for (const std::string &flag : absoluteFlags(kernel))
    command += " " + shellWord(flag);
  return "#!/bin/sh\n"
         "# Builds ./harness, and ./original of the unedited text, which it is compared with.\n"
         "cd \"$(dirname \"$0\")\" || exit\n"
         "[ original -nt original.cu ] || " +
         command +
         " original.cu -o original || exit\n"
         "if cmp -s harness.cu original.cu; then cp original harness; else " +
         command + " harness.cu -o harness; fi\n";
}

std::string harnessText(const KernelSpec &kernel, const Specialization &found) {
  Specialization specialization = found;
  for (std::size_t i = 0; i < specialization.params.size(); ++i)
    if (specialization.params[i].name.empty())
      specialization.params[i].name = "unnamed" + std::to_string(i);
  const std::vector<std::string> variables = variablesOf(specialization);
  return "// " + specialization.expression + ", from " + kernel.file + ":" +
         std::to_string(kernel.line) +
         "\n// Build: sh build.sh\n"
         "// Run: ./harness [--rounds=N] [--grid_x=N ...] [--block_x=N ...], and without captured "
         "launches in data/\n"
         "// also [--PARAMETER=VALUE] [--elements=N]. It compares the results with those of the "
         "unedited kernel\n"
         "// (original.cu), exits with 1 if they differ, and prints the time.\n\n"
         "// ==== kernel section: edit this "
         "=========================================================\n\n" +
         specialization.lifted->text +
         "\n// ==== harness section: leave this as it is "
         "==============================================\n\n" +
         hideMacros(specialization.lifted->text, true) + ownCode() +
         hideMacros(specialization.lifted->text, false) +
         declareText(kernel, specialization, variables) +
         mainText(kernel, specialization, variables);
}

} // namespace kopt::frontend
