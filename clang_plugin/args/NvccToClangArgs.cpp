// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/args/NvccToClangArgs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <set>
#include <utility>

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
  Optimize, ///< -O3: nvcc gives it to the host compiler too
};

struct Option {
  std::string_view names; ///< short name first, between blanks
  bool takesValue;
  Action action;
  std::string_view clang = {}; ///< what Clang receives where the option is given
};

/// All options of nvcc 13 (`nvcc --help`), and those of older ones that its compile lines still
/// have. A value follows as the next argument or after '='.
constexpr std::array kOptions = {
    Option{" -D --define-macro ", true, Action::Macros},
    Option{" -U --undefine-macro ", true, Action::Macros},
    Option{" -I --include-path ", true, Action::PassValue},
    Option{" -isystem --system-include ", true, Action::PassValue},
    Option{" -iquote ", true, Action::PassValue},
    Option{" -idirafter ", true, Action::PassValue},
    Option{" -include --pre-include ", true, Action::PassValue},
    Option{" -std --std ", true, Action::Joined},
    Option{" -ftemplate-depth --ftemplate-depth ", true, Action::Joined},
    Option{" -gencode --generate-code ", true, Action::Gencode},
    Option{" -arch --gpu-architecture ", true, Action::Arch},
    Option{" -rdc --relocatable-device-code ", true, Action::Relocatable, "-D__CUDACC_RDC__=1"},
    Option{" -dc --device-c ", false, Action::Relocatable, "-D__CUDACC_RDC__=1"},
    Option{" -default-stream --default-stream ", true, Action::DefaultStream},
    Option{" -Xcompiler --compiler-options ", true, Action::Host},
    Option{" -optf --options-file ", true, Action::OptionsFile},
    Option{" -O --optimize ", true, Action::Optimize},
    Option{" -G --device-debug ", false, Action::NvccOnly, "-D__CUDACC_DEBUG__=1"},
    Option{" -dlto --dlink-time-opt -lto --lto ", false, Action::NvccOnly, "-D__CUDACC_RDC__=1"},
    Option{" -ewp --extensible-whole-program ", false, Action::NvccOnly, "-D__CUDACC_EWP__=1"},
    Option{" -expt-relaxed-constexpr --expt-relaxed-constexpr ", false, Action::NvccOnly,
           "-D__CUDACC_RELAXED_CONSTEXPR__=1"},
    Option{" -extended-lambda --extended-lambda -expt-extended-lambda --expt-extended-lambda ",
           false, Action::NvccOnly, "-D__CUDACC_EXTENDED_LAMBDA__=1"},
    Option{" -noeh --no-exceptions ", false, Action::NvccOnly, "-fno-exceptions"},
    Option{" -Werror --Werror -code --gpu-code -ccbin --compiler-bindir -Ofc --Ofast-compile -dopt "
           "--dopt -opt-info --optimization-info -m --machine -maxrregcount --maxrregcount -ftz "
           "--ftz -prec-div --prec-div -prec-sqrt --prec-sqrt -fmad --fmad -Xptxas --ptxas-options "
           "-Xnvlink --nvlink-options -Xlinker --linker-options -Xarchive --archive-options "
           "-Xfatbin --fatbin-options -Xcudafe --cudafe-options -Xnvvm -cudart --cudart -cudadevrt "
           "--cudadevrt -diag-suppress --diag-suppress -diag-warn --diag-warn -diag-error "
           "--diag-error --diag_suppress --diag_warning --diag_error -t --threads -split-compile "
           "--split-compile -split-compile-extended --split-compile-extended "
           "-static-global-template-stub --static-global-template-stub "
           "-device-entity-has-hidden-visibility --device-entity-has-hidden-visibility -arbin "
           "--archiver-binary -ldir --libdevice-directory -target-dir --target-directory "
           "-ftemplate-backtrace-limit --ftemplate-backtrace-limit -idp --input-drive-prefix -ddp "
           "--dependency-drive-prefix -dp --drive-prefix -e --entries -hls --host-linker-script "
           "-brief-diag --brief-diagnostics -jtd --jump-table-density -device-stack-protector "
           "--device-stack-protector -compress-mode --compress-mode -frandom-seed --frandom-seed "
           "-sanitize --sanitize ",
           true, Action::NvccOnly},
    Option{" -allow-unsupported-compiler --allow-unsupported-compiler -lineinfo "
           "--generate-line-info -g --debug -pg --profile -gen-opt-lto --gen-opt-lto "
           "-m64 --m64 -use_fast_math --use_fast_math -extra-device-vectorization "
           "--extra-device-vectorization -restrict --restrict -forward-unknown-to-host-compiler "
           "--forward-unknown-to-host-compiler -forward-unknown-to-host-linker "
           "--forward-unknown-to-host-linker -forward-unknown-opts --forward-unknown-opts "
           "-err-no --display-error-number -no-err-no --no-display-error-number -w "
           "--disable-warnings -Wno-deprecated-gpu-targets --Wno-deprecated-gpu-targets "
           "-Wno-deprecated-declarations --Wno-deprecated-declarations -Wext-lambda-captures-this "
           "--Wext-lambda-captures-this -Wreorder --Wreorder -Wdefault-stream-launch "
           "--Wdefault-stream-launch -Wmissing-launch-bounds --Wmissing-launch-bounds -res-usage "
           "--resource-usage -use-local-env --use-local-env -force-cl-env-setup "
           "--force-cl-env-setup -nohdinitlist --no-host-device-initializer-list -nohdmoveforward "
           "--no-host-device-move-forward -noprof --dont-use-profile --no-align-double -nodlink "
           "--no-device-link -keep-device-functions --keep-device-functions -src-in-ptx "
           "--source-in-ptx -no-compress --no-compress -qpp-config --qpp-config -astoolspatch "
           "--compile-as-tools-patch -aug-hls --augment-host-linker-script -r --relocatable-link "
           "-reloc-ptx --relocatable-ptx -jobserver --jobserver ",
           false, Action::NvccOnly},
    Option{" -L --library-path -l --library -o --output-file -odir --output-directory -x --x -MF "
           "--dependency-output -MT --dependency-target-name -MQ -keep-dir --keep-dir -time --time "
           "-run-args --run-args -fdevice-time-trace --fdevice-time-trace ",
           true, Action::Mode},
    Option{" -c --compile -dw --device-w -dlink --device-link -link --link -E --preprocess -ptx "
           "--ptx -cubin "
           "--cubin -fatbin --fatbin -cuda --cuda -optix-ir --optix-ir -ltoir --ltoir -lib --lib "
           "-shared --shared -run --run -M --generate-dependencies -MM "
           "--generate-nonsystem-dependencies -MD --generate-dependencies-with-compile -MMD "
           "--generate-nonsystem-dependencies-with-compile -MP --generate-dependency-targets -keep "
           "--keep -save-temps --save-temps -objtemp --objdir-as-tempdir -clean --clean-targets "
           "-dryrun --dryrun -v --verbose -fdevice-syntax-only --fdevice-syntax-only -code-ls "
           "--list-gpu-code -arch-ls --list-gpu-arch -h --help -V --version ",
           false, Action::Mode},
};

/// What flags of the host compiler define in both passes: nvcc preprocesses with that compiler. As
/// macros, so that nothing else of a parse depends on these flags.
constexpr std::pair<std::string_view, const char *> kHostMacros[] = {
    {" -O -O1 -O2 -O3 -Og -Os -Oz -Ofast ", "-D__OPTIMIZE__=1"},
    {" -O0 ", "-U__OPTIMIZE__"},
    {" -Os -Oz ", "-D__OPTIMIZE_SIZE__=1"},
    {" -Ofast -ffast-math ", "-D__FAST_MATH__=1"},
    {" -Ofast -ffast-math -ffinite-math-only ", "-D__FINITE_MATH_ONLY__=1"},
    {" -fopenmp ", "-D_OPENMP=201511"},
    {" -fopenacc ", "-D_OPENACC=201711"},
    {" -pthread ", "-D_REENTRANT=1"},
    {" -fsanitize=address ", "-D__SANITIZE_ADDRESS__=1"},
    {" -fsanitize=thread ", "-D__SANITIZE_THREAD__=1"},
};

/// Flags of the host compiler that Clang receives as they are.
constexpr std::string_view kHostFlags =
    " -fno-exceptions -fexceptions -fno-rtti -frtti -fshort-enums -fsigned-char -funsigned-char "
    "-fms-extensions -fpermissive -fchar8_t -fno-char8_t -ffreestanding -fconcepts -fshort-wchar "
    "-msse3 -mssse3 -msse4 -msse4.1 -msse4.2 -mavx -mavx2 -mfma -mf16c -mbmi -mbmi2 -mlzcnt "
    "-mpopcnt -maes -mpclmul -mavx512f -mavx512bw -mavx512cd -mavx512dq -mavx512vl -mavx512vnni "
    "-march=native -march=x86-64-v2 -march=x86-64-v3 -march=x86-64-v4 -march=haswell "
    "-march=broadwell -march=skylake -march=skylake-avx512 -march=icelake-server -march=znver1 "
    "-march=znver2 -march=znver3 -march=znver4 ";

struct Match {
  const Option *option = nullptr;
  std::optional<std::string> value; ///< joined to the name
};

bool startsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// True if `names`, separated by blanks, has the name.
bool hasName(std::string_view names, std::string_view name) {
  return names.find(" " + std::string(name) + " ") != std::string_view::npos;
}

std::string shortName(const Option &option) {
  return std::string(option.names.substr(1, option.names.find(' ', 1) - 1));
}

Match match(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  const std::string_view name = argument.substr(0, equals);
  for (const Option &option : kOptions) {
    if (!hasName(option.names, name))
      continue;
    if (equals == std::string_view::npos)
      return {&option, std::nullopt};
    if (option.takesValue && name != "-I")
      return {&option, std::string(argument.substr(equals + 1))};
  }
  // Values that are joined to the name, as in -DX, -Idir, -O3 and -lfoo, come second, so that -L
  // does not match exact names such as -lineinfo. Longer names come first: -isystem before -I.
  for (std::string_view joined : {"-isystem", "-iquote", "-D", "-U", "-I", "-L", "-l", "-O", "-t"})
    if (startsWith(argument, joined))
      for (const Option &option : kOptions)
        if (hasName(option.names, joined))
          return {&option, std::string(argument.substr(joined.size()))};
  return {};
}

/// Splits a list as nvcc does: at commas outside of double quotes. A backslash takes the next
/// character as it is, and empty parts go: "A=1\,2,,B" gives "A=1,2" and "B".
std::vector<std::string> splitList(std::string_view text, std::string_view separators = ",") {
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      parts.back() += text[++i];
    } else if (separators.find(text[i]) != separators.npos && !quoted) {
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

/// Neither an option nor a file.
bool isWord(std::string_view text) {
  return !startsWith(text, "-") && text.find('.') == std::string_view::npos;
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
        // -O and -Werror, forwarded to a host compiler, may stand alone.
        const bool optional = flag == "-O" || flag == "-Werror";
        if (i + 1 < flags.size() && (!optional || isWord(flags[i + 1]))) {
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

  /// Flags that nvcc takes from a variable of the environment by itself.
  void runVariable(const char *name) {
    std::vector<std::string> forNvcc = out_.nvcc;
    const char *flags = std::getenv(name);
    run(splitOptions(flags ? flags : ""));
    out_.nvcc = std::move(forNvcc);
  }

  NvccCommand take() { return std::move(out_); }

private:
  void apply(const Option &option, const std::string &value,
             const std::vector<std::string> &spelled) {
    if (!option.clang.empty() && value != "false")
      out_.clang.emplace_back(option.clang);
    switch (option.action) {
    case Action::PassValue: {
      // nvcc takes comma separated lists; who reads its flags here finds one path in each.
      const std::vector<std::string> parts = splitList(value);
      for (const std::string &part : parts) {
        out_.clang.insert(out_.clang.end(), {shortName(option), part});
        if (parts.size() > 1)
          out_.nvcc.insert(out_.nvcc.end(), {shortName(option), part});
      }
      if (parts.size() > 1)
        return;
      break;
    }
    case Action::Joined:
      out_.clang.push_back(shortName(option) + "=" + value);
      break;
    case Action::Macros:
      for (const std::string &macro : splitList(value))
        out_.clang.push_back(shortName(option) + macro);
      break;
    case Action::NvccOnly:
      break;
    case Action::Mode:
      return;
    case Action::Host: // a shell splits them at blanks, too
      for (const std::string &part : splitList(value, ", "))
        keepForHost(part);
      break;
    case Action::OptionsFile:
      for (const std::string &path : splitList(value))
        expand(path, spelled.front() + " " + path);
      return;
    case Action::Arch:
      if (std::string arch = asSm(value); !arch.empty()) { // of several, the last one counts
        std::erase(out_.architectures, std::exchange(single_, arch));
        addArchitecture(arch);
      }
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
      if (value == "per-thread")
        out_.clang.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
      break;
    case Action::Optimize:
      keepForHost("-O" + value);
      break;
    }
    out_.nvcc.insert(out_.nvcc.end(), spelled.begin(), spelled.end());
  }

  /// Options in the host compiler's spelling. A value may be in the next list: -Xcompiler -I
  /// -Xcompiler x.
  void keepForHost(const std::string &flag) {
    constexpr std::array<std::string_view, 7> kValued = {
        "-D", "-U", "-I", "-isystem", "-include", "-iquote", "-idirafter"};
    if (!hostFlag_.empty())
      out_.clang.insert(out_.clang.end(), {std::exchange(hostFlag_, {}), flag});
    else if (std::ranges::find(kValued, flag) != kValued.end())
      hostFlag_ = flag;
    else if (startsWith(flag, "-std=") || hasName(kHostFlags, flag) ||
             std::ranges::any_of(kValued, [&](auto known) { return startsWith(flag, known); }))
      out_.clang.push_back(flag);
    for (const auto &[flags, macro] : kHostMacros)
      if (hasName(flags, flag))
        out_.clang.emplace_back(macro);
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
    std::size_t before = out_.clang.size();
    keepForHost(flag);
    bool harmless = startsWith(flag, "-W") || startsWith(flag, "-f") || startsWith(flag, "-m") ||
                    flag == "-pthread" || flag == "-pipe" || flag == "-pedantic";
    if (out_.clang.size() == before && !harmless)
      out_.notes.push_back("flag " + flag + " is not known to kopt and was skipped for parsing");
    out_.nvcc.push_back(flag);
  }

  const ReadOptionsFile &readFile_;
  NvccCommand out_;
  std::string hostFlag_;      ///< of the host compiler, whose value is not read yet
  int depth_ = 0, files_ = 0; ///< options files that are open, and options files that were read
  bool limited_ = false;      ///< some were left out
  std::string single_;        ///< of -arch
};

} // namespace

NvccCommand translateNvcc(const std::vector<std::string> &flags, const ReadOptionsFile &readFile) {
  Translator translator(readFile);
  translator.runVariable("NVCC_PREPEND_FLAGS");
  translator.run(flags);
  translator.runVariable("NVCC_APPEND_FLAGS");
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

std::vector<std::string> nvccMacros(const std::vector<std::string> &architectures,
                                    std::optional<std::string> current,
                                    std::array<int, 3> version) {
  const auto macroNumber = [](const std::string &architecture) {
    const std::size_t digits = architecture.find_first_of("0123456789");
    return digits == std::string::npos ? 0 : 10 * std::atoi(architecture.c_str() + digits);
  };
  std::set<int> numbers;
  for (const std::string &architecture : architectures)
    numbers.insert(macroNumber(architecture));
  std::string list; // "800,900": CUB has it in the names of its kernels
  for (int number : numbers)
    list += (list.empty() ? "" : ",") + std::to_string(number);
  std::vector<std::string> macros = {"-D__NVCC__=1", "-D__CUDA_ARCH_LIST__=" + list,
                                     "-D__NVCC_DIAG_PRAGMA_SUPPORT__=1"};
  for (const auto &[name, part] : {std::pair("CUDACC_VER_MAJOR", 0),
                                   {"CUDACC_VER_MINOR", 1},
                                   {"CUDACC_VER_BUILD", 2},
                                   {"CUDA_API_VER_MAJOR", 0},
                                   {"CUDA_API_VER_MINOR", 1}})
    macros.push_back(std::string("-D__") + name + "__=" + std::to_string(version[part]));
  if (version >= std::array{12, 8, 0})
    macros.push_back("-D__CUDACC_DEVICE_ATOMIC_BUILTINS__=1");
  if (current)
    macros.push_back("-DCUDA_DOUBLE_MATH_FUNCTIONS=1");
  // Operators of nvcc's, false as without extended lambdas: for Clang a lambda is a plain class.
  for (const char *kind : {"device_lambda_closure_type", "host_device_lambda_closure_type",
                           "device_lambda_with_preserved_return_type"})
    macros.push_back(std::string("-D__nv_is_extended_") + kind + "(X)=false");
  if (!current || (current->back() != 'a' && current->back() != 'f'))
    return macros;
  const std::string number = std::to_string(macroNumber(*current));
  macros.push_back("-D__CUDA_ARCH_FAMILY_SPECIFIC__=" + number);
  if (current->back() == 'a') {
    macros.push_back("-D__CUDA_ARCH_SPECIFIC__=" + number);
    macros.push_back("-D__CUDA_ARCH_FEAT_SM" + number.substr(0, number.size() - 1) + "_ALL=1");
  }
  return macros;
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
