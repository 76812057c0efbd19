// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/args/NvccToClangArgs.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace kopt::frontend {
namespace {

enum class Action {
  PassValue,   ///< Clang receives short name and value as two arguments
  Joined,      ///< Clang receives short name and value as one argument: -std=c++17
  Macros,      ///< a list of macros: Clang receives one -D or -U for each
  NvccOnly,    ///< code generation or diagnostics of nvcc: kept for nvcc only
  Mode,        ///< what to produce and where: dropped, because kopt decides that itself
  Host,        ///< a list of options for the host compiler: those that affect parsing are kept
  OptionsFile, ///< more options, from a file
  Arch,        ///< -arch=sm_90
  Gencode,     ///< -gencode arch=compute_90,code=sm_90
  Relocatable, ///< -rdc=true
  DefaultStream,
};

struct Option {
  std::string_view name, longName;
  bool takesValue;
  Action action;
};

/// nvcc 13's options that occur on compile lines. Values may follow as the next argument or after
/// '='.
constexpr std::array kOptions = {
    Option{"-D", "--define-macro", true, Action::Macros},
    Option{"-U", "--undefine-macro", true, Action::Macros},
    Option{"-I", "--include-path", true, Action::PassValue},
    Option{"-isystem", "--system-include", true, Action::PassValue},
    Option{"-iquote", "", true, Action::PassValue},
    Option{"-idirafter", "", true, Action::PassValue},
    Option{"-include", "--pre-include", true, Action::PassValue},
    Option{"-std", "--std", true, Action::Joined},
    Option{"-gencode", "--generate-code", true, Action::Gencode},
    Option{"-arch", "--gpu-architecture", true, Action::Arch},
    Option{"-code", "--gpu-code", true, Action::NvccOnly},
    Option{"-rdc", "--relocatable-device-code", true, Action::Relocatable},
    Option{"-default-stream", "--default-stream", true, Action::DefaultStream},
    Option{"-Xcompiler", "--compiler-options", true, Action::Host},
    Option{"-optf", "--options-file", true, Action::OptionsFile},
    Option{"-ccbin", "--compiler-bindir", true, Action::NvccOnly},
    Option{"-allow-unsupported-compiler", "--allow-unsupported-compiler", false, Action::NvccOnly},
    Option{"-lineinfo", "--generate-line-info", false, Action::NvccOnly},
    Option{"-G", "--device-debug", false, Action::NvccOnly},
    Option{"-g", "--debug", false, Action::NvccOnly},
    Option{"-pg", "--profile", false, Action::NvccOnly},
    Option{"-O", "--optimize", true, Action::NvccOnly},
    Option{"-Ofc", "--Ofast-compile", true, Action::NvccOnly},
    Option{"-dopt", "--dopt", true, Action::NvccOnly},
    Option{"-dlto", "--dlink-time-opt", false, Action::NvccOnly},
    Option{"-lto", "--lto", false, Action::NvccOnly},
    Option{"-m", "--machine", true, Action::NvccOnly},
    Option{"-m64", "", false, Action::NvccOnly},
    Option{"-maxrregcount", "--maxrregcount", true, Action::NvccOnly},
    Option{"-use_fast_math", "--use_fast_math", false, Action::NvccOnly},
    Option{"-ftz", "--ftz", true, Action::NvccOnly},
    Option{"-prec-div", "--prec-div", true, Action::NvccOnly},
    Option{"-prec-sqrt", "--prec-sqrt", true, Action::NvccOnly},
    Option{"-fmad", "--fmad", true, Action::NvccOnly},
    Option{"-extra-device-vectorization", "--extra-device-vectorization", false, Action::NvccOnly},
    Option{"-restrict", "--restrict", false, Action::NvccOnly},
    Option{"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", false, Action::NvccOnly},
    Option{"-extended-lambda", "--extended-lambda", false, Action::NvccOnly},
    Option{"-expt-extended-lambda", "--expt-extended-lambda", false, Action::NvccOnly},
    Option{"-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler", false,
           Action::NvccOnly},
    Option{"-forward-unknown-opts", "--forward-unknown-opts", false, Action::NvccOnly},
    Option{"-noeh", "--no-exceptions", false, Action::NvccOnly},
    Option{"-Xptxas", "--ptxas-options", true, Action::NvccOnly},
    Option{"-Xnvlink", "--nvlink-options", true, Action::NvccOnly},
    Option{"-Xlinker", "--linker-options", true, Action::NvccOnly},
    Option{"-Xarchive", "--archive-options", true, Action::NvccOnly},
    Option{"-Xfatbin", "--fatbin-options", true, Action::NvccOnly},
    Option{"-Xcudafe", "--cudafe-options", true, Action::NvccOnly},
    Option{"-cudart", "--cudart", true, Action::NvccOnly},
    Option{"-cudadevrt", "--cudadevrt", true, Action::NvccOnly},
    Option{"-diag-suppress", "--diag-suppress", true, Action::NvccOnly},
    Option{"-diag-warn", "--diag-warn", true, Action::NvccOnly},
    Option{"-diag-error", "--diag-error", true, Action::NvccOnly},
    Option{"--diag_suppress", "--diag_suppress", true, Action::NvccOnly},
    Option{"--diag_warning", "--diag_warning", true, Action::NvccOnly},
    Option{"--diag_error", "--diag_error", true, Action::NvccOnly},
    Option{"-err-no", "--display-error-number", false, Action::NvccOnly},
    Option{"-no-err-no", "--no-display-error-number", false, Action::NvccOnly},
    Option{"-Werror", "--Werror", true, Action::NvccOnly},
    Option{"-w", "--disable-warnings", false, Action::NvccOnly},
    Option{"-Wno-deprecated-gpu-targets", "--Wno-deprecated-gpu-targets", false, Action::NvccOnly},
    Option{"-Wno-deprecated-declarations", "--Wno-deprecated-declarations", false,
           Action::NvccOnly},
    Option{"-Wext-lambda-captures-this", "--Wext-lambda-captures-this", false, Action::NvccOnly},
    Option{"-Wreorder", "--Wreorder", false, Action::NvccOnly},
    Option{"-res-usage", "--resource-usage", false, Action::NvccOnly},
    Option{"-t", "--threads", true, Action::NvccOnly},
    Option{"-split-compile", "--split-compile", true, Action::NvccOnly},
    Option{"-static-global-template-stub", "--static-global-template-stub", true, Action::NvccOnly},
    Option{"-device-entity-has-hidden-visibility", "--device-entity-has-hidden-visibility", true,
           Action::NvccOnly},
    Option{"-L", "--library-path", true, Action::Mode},
    Option{"-l", "--library", true, Action::Mode},
    Option{"-o", "--output-file", true, Action::Mode},
    Option{"-odir", "--output-directory", true, Action::Mode},
    Option{"-x", "--x", true, Action::Mode},
    Option{"-c", "--compile", false, Action::Mode},
    Option{"-dc", "--device-c", false, Action::Relocatable},
    Option{"-dw", "--device-w", false, Action::Relocatable},
    Option{"-dlink", "--device-link", false, Action::Mode},
    Option{"-link", "--link", false, Action::Mode},
    Option{"-E", "--preprocess", false, Action::Mode},
    Option{"-ptx", "--ptx", false, Action::Mode},
    Option{"-cubin", "--cubin", false, Action::Mode},
    Option{"-fatbin", "--fatbin", false, Action::Mode},
    Option{"-cuda", "--cuda", false, Action::Mode},
    Option{"-lib", "--lib", false, Action::Mode},
    Option{"-shared", "--shared", false, Action::Mode},
    Option{"-run", "--run", false, Action::Mode},
    Option{"-M", "--generate-dependencies", false, Action::Mode},
    Option{"-MM", "--generate-nonsystem-dependencies", false, Action::Mode},
    Option{"-MD", "--generate-dependencies-with-compile", false, Action::Mode},
    Option{"-MMD", "--generate-nonsystem-dependencies-with-compile", false, Action::Mode},
    Option{"-MP", "--generate-dependency-targets", false, Action::Mode},
    Option{"-MF", "--dependency-output", true, Action::Mode},
    Option{"-MT", "--dependency-target-name", true, Action::Mode},
    Option{"-MQ", "", true, Action::Mode},
    Option{"-keep", "--keep", false, Action::Mode},
    Option{"-keep-dir", "--keep-dir", true, Action::Mode},
    Option{"-save-temps", "--save-temps", false, Action::Mode},
    Option{"-dryrun", "--dryrun", false, Action::Mode},
    Option{"-v", "--verbose", false, Action::Mode},
    Option{"-time", "--time", true, Action::Mode},
};

struct Match {
  const Option *option = nullptr;
  std::optional<std::string> value; ///< joined to the name
};

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// True for options whose value may be joined to the name: -DX, -Idir, -O3, -lfoo.
bool joins(std::string_view name) {
  return name == "-D" || name == "-U" || name == "-I" || name == "-L" || name == "-l" ||
         name == "-O" || name == "-isystem" || name == "-iquote";
}

Match match(std::string_view argument) {
  for (const Option &option : kOptions) {
    for (std::string_view name : {option.name, option.longName}) {
      if (name.empty() || !startsWith(argument, name))
        continue;
      if (argument.size() == name.size())
        return {&option, std::nullopt};
      if (option.takesValue && argument[name.size()] == '=' && name != "-I")
        return {&option, std::string(argument.substr(name.size() + 1))};
    }
  }
  // Joined values come second, so that -L does not match exact names such as -lineinfo, nor -I the
  // option -Iquote.
  const Option *best = nullptr;
  for (const Option &option : kOptions)
    if (joins(option.name) && startsWith(argument, option.name) &&
        (!best || option.name.size() > best->name.size()))
      best = &option;
  if (best)
    return {best, std::string(argument.substr(best->name.size()))};
  return {};
}

/// Splits a list as nvcc does: at commas outside of double quotes. A backslash takes the next
/// character as it is, and empty parts go: "A=1\,2,,B" gives "A=1,2" and "B".
std::vector<std::string> splitList(std::string_view text) {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      parts.back() += text[++i];
    } else if (text[i] == ',' && !quoted) {
      parts.emplace_back();
    } else {
      quoted ^= text[i] == '"';
      parts.back() += text[i];
    }
  }
  std::erase(parts, "");
  return parts;
}

/// compute_90 and sm_90 name the same language level.
std::string asSm(std::string_view name) {
  for (std::string_view prefix : {"compute_", "sm_", "lto_"})
    if (startsWith(name, prefix))
      return "sm_" + std::string(name.substr(prefix.size()));
  return {};
}

class Translator {
public:
  explicit Translator(const ReadOptionsFile &readFile) : readFile_(readFile) {}

  void run(const std::vector<std::string> &flags) {
    for (std::size_t i = 0; i < flags.size(); ++i) {
      const std::string &flag = flags[i];
      if (flag.empty())
        continue;
      if (flag[0] == '@') {
        expand(flag.substr(1), flag);
        continue;
      }
      if (flag[0] != '-' || flag == "-") {
        out_.inputs.push_back(flag);
        continue;
      }
      Match found = match(flag);
      if (!found.option) {
        unknown(flag);
        continue;
      }
      std::vector<std::string> spelled = {flag};
      std::string value = found.value.value_or("");
      if (found.option->takesValue && !found.value) {
        // -O and -Werror may stand alone; everything else takes the next argument.
        bool optional = found.option->name == "-O" || found.option->name == "-Werror";
        if (i + 1 < flags.size() && !optional) {
          value = flags[++i];
          spelled.push_back(value);
        } else if (!optional) {
          out_.notes.push_back("flag " + flag + " lacks its value and was skipped");
          continue;
        }
      }
      apply(*found.option, value, spelled);
    }
  }

  NvccCommand take() { return std::move(out_); }

private:
  void apply(const Option &option, const std::string &value,
             const std::vector<std::string> &spelled) {
    switch (option.action) {
    case Action::PassValue:
      // nvcc takes comma separated lists of directories.
      for (const std::string &part : splitList(value)) {
        out_.clang.push_back(std::string(option.name));
        out_.clang.push_back(part);
      }
      break;
    case Action::Joined:
      out_.clang.push_back(option.name == "-std" ? "-std=" + value
                                                 : std::string(option.name) + value);
      break;
    case Action::Macros:
      for (const std::string &macro : splitList(value))
        out_.clang.push_back(std::string(option.name) + macro);
      break;
    case Action::NvccOnly:
      break;
    case Action::Mode:
      return;
    case Action::Host:
      host(value);
      break;
    case Action::OptionsFile:
      for (const std::string &path : splitList(value))
        expand(path, spelled.front() + " " + path);
      return;
    case Action::Arch:
      if (std::string arch = asSm(value); !arch.empty())
        addArchitecture(arch);
      break;
    case Action::Gencode:
      gencode(value);
      break;
    case Action::Relocatable:
      if (option.takesValue ? value == "true" : true)
        out_.clang.push_back("-fgpu-rdc");
      if (!option.takesValue) {
        out_.nvcc.push_back("-rdc=true");
        return;
      }
      break;
    case Action::DefaultStream:
      out_.clang.push_back("-fgpu-default-stream=" +
                           std::string(value == "per-thread" ? "per-thread" : "legacy"));
      break;
    }
    out_.nvcc.insert(out_.nvcc.end(), spelled.begin(), spelled.end());
  }

  /// Options in the host compiler's spelling: -D, -I, -f and -std affect how the file parses; the
  /// others affect code generation.
  void host(const std::string &payload) {
    std::vector<std::string> parts = splitList(payload);
    for (std::size_t i = 0; i < parts.size(); ++i)
      keepForHost(parts[i], i + 1 < parts.size() ? &parts[i + 1] : nullptr, i);
  }

  void keepForHost(const std::string &flag, const std::string *next, std::size_t &index) {
    if (startsWith(flag, "-D") || startsWith(flag, "-U") || startsWith(flag, "-I") ||
        startsWith(flag, "-std=")) {
      out_.clang.push_back(flag);
      if (flag.size() == 2 && next) {
        out_.clang.push_back(*next);
        ++index;
      }
    } else if ((flag == "-isystem" || flag == "-include" || flag == "-iquote") && next) {
      out_.clang.push_back(flag);
      out_.clang.push_back(*next);
      ++index;
    } else if (startsWith(flag, "-f") && affectsParsing(flag)) {
      out_.clang.push_back(flag);
    }
  }

  static bool affectsParsing(std::string_view flag) {
    constexpr std::array<std::string_view, 14> kKept = {
        "-fno-exceptions", "-fexceptions",    "-fno-rtti",       "-frtti",       "-fshort-enums",
        "-fsigned-char",   "-funsigned-char", "-fms-extensions", "-fpermissive", "-fchar8_t",
        "-fno-char8_t",    "-ffreestanding",  "-fconcepts",      "-fshort-wchar"};
    return std::find(kKept.begin(), kKept.end(), flag) != kKept.end();
  }

  void gencode(const std::string &value) {
    std::string compute, real;
    for (std::size_t at = 0; at < value.size();) {
      std::size_t end = at;
      for (int depth = 0; end < value.size() && (depth || value[end] != ','); ++end)
        depth += value[end] == '[' ? 1 : value[end] == ']' ? -1 : 0;
      std::string_view part = std::string_view(value).substr(at, end - at);
      if (startsWith(part, "arch="))
        compute = asSm(part.substr(5));
      if (startsWith(part, "code=")) {
        std::size_t sm = part.find("sm_");
        std::size_t stop = sm == std::string_view::npos ? sm : part.find_first_of(",]\"", sm);
        if (sm != std::string_view::npos)
          real = std::string(part.substr(sm, stop == std::string_view::npos ? stop : stop - sm));
      }
      at = end + 1;
    }
    if (!real.empty() || !compute.empty())
      addArchitecture(real.empty() ? compute : real);
  }

  void addArchitecture(const std::string &arch) {
    if (std::find(out_.architectures.begin(), out_.architectures.end(), arch) ==
        out_.architectures.end())
      out_.architectures.push_back(arch);
  }

  void expand(const std::string &path, const std::string &spelling) {
    // The second limit is for files that name themselves or each other repeatedly.
    if (depth_ >= 8 || files_ >= 64) {
      if (!limited_)
        out_.notes.push_back("options files nest too deeply: " + spelling + " was skipped");
      limited_ = true;
      return;
    }
    std::optional<std::string> text = readFile_ ? readFile_(path) : std::nullopt;
    if (!text) {
      out_.notes.push_back("options file " + path +
                           " cannot be read; its flags are missing from this parse");
      return;
    }
    ++depth_;
    ++files_;
    run(splitOptions(*text));
    --depth_;
  }

  void unknown(const std::string &flag) {
    // Options for warnings and optimisation do not affect parsing; nvcc may forward them.
    std::size_t index = 0;
    std::size_t before = out_.clang.size();
    keepForHost(flag, nullptr, index);
    bool harmless = startsWith(flag, "-W") || startsWith(flag, "-f") || startsWith(flag, "-m") ||
                    flag == "-pthread" || flag == "-pipe" || flag == "-pedantic";
    if (out_.clang.size() == before && !harmless)
      out_.notes.push_back("flag " + flag + " is not known to kopt and was skipped for parsing");
    out_.nvcc.push_back(flag);
  }

  const ReadOptionsFile &readFile_;
  NvccCommand out_;
  int depth_ = 0, files_ = 0; ///< options files that are open, and options files that were read
  bool limited_ = false;      ///< some were left out
};

} // namespace

NvccCommand translateNvcc(const std::vector<std::string> &flags, const ReadOptionsFile &readFile) {
  Translator translator(readFile);
  translator.run(flags);
  return translator.take();
}

std::string clampArchitecture(std::string_view architecture) {
  constexpr std::array<std::string_view, 17> kKnown = {
      "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62",  "sm_70", "sm_72", "sm_75",
      "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_90a", "sm_35", "sm_37"};
  if (std::find(kKnown.begin(), kKnown.end(), architecture) != kKnown.end())
    return std::string(architecture);
  return "sm_90";
}

std::vector<std::string> splitOptions(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inWord = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      if (c == quote)
        quote = 0;
      else if (c == '\\' && quote == '"' && i + 1 < text.size() &&
               (text[i + 1] == '"' || text[i + 1] == '\\'))
        word += text[++i];
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      inWord = true;
    } else if (c == '\\' && i + 1 < text.size()) {
      word += text[++i];
      inWord = true;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      if (inWord)
        words.push_back(word);
      word.clear();
      inWord = false;
    } else {
      word += c;
      inWord = true;
    }
  }
  if (inWord)
    words.push_back(word);
  return words;
}

} // namespace kopt::frontend
