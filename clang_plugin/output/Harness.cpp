// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/output/Harness.h"

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

std::set<std::string> namesIn(const std::string &text) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < text.size();) {
    if (!std::isalpha(static_cast<unsigned char>(text[i])) && text[i] != '_') {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    if (!i || !std::isdigit(static_cast<unsigned char>(text[i - 1])))
      names.insert(text.substr(i, end - i));
    i = end;
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

bool isNamePart(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

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
    std::string value = "static_cast<long long>(number(\"" + name + "\", 1024))";
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

constexpr const char *kHeaders = R"(#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>
)";

constexpr const char *kSupport = R"(
namespace kopt_harness {

std::map<std::string, std::string> options;

/// --name=VALUE from the command line, or the default.
double number(const char *name, double fallback) {
  auto found = options.find(name);
  return found == options.end() ? fallback : std::strtod(found->second.c_str(), nullptr);
}

void check(cudaError_t status, const char *what) {
  if (status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

/// Device memory, filled with numbers in [-1, 1) of the element's kind: f (floating), i (integer), other (zero).
void *buffer(std::size_t elements, std::size_t size, char kind, unsigned components) {
  std::vector<unsigned char> bytes(elements * size);
  unsigned state = 12345;
  std::size_t scalar = components ? size / components : size;
  for (std::size_t i = 0; scalar && i + scalar <= bytes.size(); i += scalar) {
    state = state * 1664525u + 1013904223u;
    float value = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
    if (kind == 'f' && scalar == 4)
      std::memcpy(&bytes[i], &value, 4);
    if (kind == 'f' && scalar == 8) {
      double wide = value;
      std::memcpy(&bytes[i], &wide, 8);
    }
    if (kind == 'f' && scalar == 2) { // the same small positive number as half or bfloat16 bits
      unsigned short bits = static_cast<unsigned short>(0x3800u + (state >> 24));
      std::memcpy(&bytes[i], &bits, 2);
    }
    if (kind == 'i')
      bytes[i] = static_cast<unsigned char>(state >> 28);
  }
  void *memory = nullptr;
  check(cudaMalloc(&memory, bytes.size() ? bytes.size() : 1), "cudaMalloc");
  check(cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  return memory;
}

} // namespace kopt_harness
)";

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

std::string buildCommand(const KernelSpec &kernel) {
  std::string command = "nvcc";
  for (const std::string &flag : kernel.compileFlags) {
    bool plain = flag.find_first_of(" \"'$*?[]()<>;&|\\") == std::string::npos;
    command += " " + (plain ? flag : "'" + flag + "'");
  }
  return command + " harness.cu -o harness";
}

std::string harnessText(const KernelSpec &kernel, const Specialization &found) {
  Specialization specialization = found;
  for (std::size_t i = 0; i < specialization.params.size(); ++i)
    if (specialization.params[i].name.empty())
      specialization.params[i].name = "unnamed" + std::to_string(i);
  const LaunchSite *launch = launchOf(kernel, specialization);
  std::map<std::string, std::string> extents = clausesOf(kernel, "extent"),
                                     values = clausesOf(kernel, "arg");
  std::string text = "// " + specialization.expression + ", from " + kernel.file + ":" +
                     std::to_string(kernel.line) +
                     "\n// Build, in this folder: " + buildCommand(kernel) +
                     "\n// Run: ./harness [--PARAMETER=VALUE] [--elements=N] [--grid_x=N ...] "
                     "[--block_x=N ...]\n\n"
                     "// ==== kernel section: edit this "
                     "=========================================================\n\n" +
                     specialization.lifted.text +
                     "\n// ==== harness section: leave this as it is "
                     "==============================================\n\n" +
                     hideMacros(specialization.lifted.text, true) + kHeaders + kSupport +
                     hideMacros(specialization.lifted.text, false) +
                     "\nint main(int argc, char **argv) {\n  using kopt_harness::number;\n"
                     "  for (int i = 1; i < argc; ++i) {\n    std::string argument = argv[i];\n"
                     "    std::size_t equals = argument.find('=');\n"
                     "    if (argument.rfind(\"--\", 0) != 0 || equals == std::string::npos) {\n"
                     "      std::fprintf(stderr, \"%s: expected --NAME=VALUE\\n\", argv[i]);\n     "
                     " return 1;\n    }\n"
                     "    kopt_harness::options[argument.substr(2, equals - 2)] = "
                     "argument.substr(equals + 1);\n  }\n";

  // Scalars first: the sizes of buffers are made of them.
  for (const KernelParam &param : specialization.params) {
    if (param.kind == ParamKind::Pointer)
      continue;
    std::string type = valueType(param);
    if (param.kind == ParamKind::Struct) {
      text += "  " + type + " " + param.name + "{}; // a structure: set its members here\n";
    } else {
      std::size_t position = static_cast<std::size_t>(&param - specialization.params.data());
      std::string fallback = "1024";
      if (launch && position < launch->args.size() && isNumber(launch->args[position]))
        fallback = launch->args[position];
      if (values.count(param.name))
        fallback = values[param.name];
      text += "  " + type + " " + param.name + " = static_cast<" + type + ">(number(\"" +
              param.name + "\", " + fallback + "));\n";
    }
  }
  text += "  const std::size_t kopt_elements = static_cast<std::size_t>(number(\"elements\", 1 << "
          "22));\n";
  for (const KernelParam &param : specialization.params) {
    if (param.kind != ParamKind::Pointer)
      continue;
    std::string extent = extents.count(param.name)
                             ? "static_cast<std::size_t>(" + extents[param.name] + ")"
                             : "kopt_elements";
    char kind = param.scalar.empty() || param.scalar.starts_with("struct ") ? 'o'
                : param.scalar[0] == 'f' || param.scalar[0] == 'b'          ? 'f'
                                                                            : 'i';
    if (param.scalar == "bool")
      kind = 'i';
    text += "  auto " + param.name + " = static_cast<" + param.type + ">(kopt_harness::buffer(" +
            extent + ", " + std::to_string(std::max(1u, param.pointeeSize)) + ", '" + kind + "', " +
            std::to_string(param.components) + "));\n";
  }
  const HarnessGeometry geometry = geometryOf(kernel, specialization, launch);
  text += geometry.declarations;
  auto dimension = [&](const char *name, const std::array<std::string, 3> &value) {
    std::string result = "  const dim3 kopt_" + std::string(name) + "(";
    for (int i = 0; i < 3; ++i)
      result += std::string(i ? ", " : "") + "static_cast<unsigned>(number(\"" + name + "_" +
                static_cast<char>('x' + i) + "\", " + "static_cast<double>(" +
                value[static_cast<std::size_t>(i)] + ")))";
    return result + ");\n";
  };
  text += dimension("grid", geometry.grid) + dimension("block", geometry.block);
  text += "  const std::size_t kopt_shared = static_cast<std::size_t>(" + geometry.shared + ");\n";
  std::string call = specialization.expression + "<<<kopt_grid, kopt_block, kopt_shared>>>(";
  for (std::size_t i = 0; i < specialization.params.size(); ++i)
    call += (i ? ", " : "") + specialization.params[i].name;
  call += ");\n";
  text +=
      "  cudaEvent_t kopt_start, kopt_stop;\n  cudaEventCreate(&kopt_start);\n  "
      "cudaEventCreate(&kopt_stop);\n"
      "  for (int round = 0; round < 10; ++round) {\n    cudaEventRecord(kopt_start);\n    " +
      call +
      "    cudaEventRecord(kopt_stop);\n    kopt_harness::check(cudaGetLastError(), \"launch\");\n"
      "    kopt_harness::check(cudaEventSynchronize(kopt_stop), \"kernel\");\n    float "
      "milliseconds = 0;\n"
      "    cudaEventElapsedTime(&milliseconds, kopt_start, kopt_stop);\n"
      "    std::printf(\"round %d: %.3f us\\n\", round, milliseconds * 1000.0f);\n  }\n  return "
      "0;\n}\n";
  return text;
}

} // namespace kopt::frontend
