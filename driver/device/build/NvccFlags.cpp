// SPDX-License-Identifier: Apache-2.0
#include "driver/device/build/NvccFlags.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace kopt {

namespace {

/// Options that are dropped together with their value, which is the next word or joined by '='.
constexpr std::string_view kDroppedWithValue =
    " -o --output-file -x --x -gencode --generate-code -arch --gpu-architecture -code --gpu-code "
    "-MF --dependency-output -MT --dependency-target-name -MQ -odir --output-directory -keep-dir "
    "--keep-dir -t --threads -rdc --relocatable-device-code -dlto --dlink-time-opt -idp "
    "--input-drive-prefix -time --time -split-compile --split-compile -L --library-path -l "
    "--library -cudart --cudart -cudadevrt --cudadevrt -Xlinker --linker-options -Xarchive "
    "--archive-options -Xnvlink --nvlink-options ";

constexpr std::string_view kDropped =
    " -c --compile -dc --device-c -dw --device-w -dlink --device-link -link --link -lib --lib "
    "-ptx --ptx -cubin --cubin -fatbin --fatbin -cuda --cuda -E --preprocess -optix-ir "
    "--optix-ir -ltoir --ltoir -M --generate-dependencies -MM --generate-nonsystem-dependencies "
    "-MD -MMD -MP --generate-dependencies-with-compile "
    "--generate-nonsystem-dependencies-with-compile --generate-dependency-targets -keep --keep "
    "-save-temps --save-temps -run --run -clean --clean-targets -dryrun --dryrun -lto -dlto "
    "--dlink-time-opt -extensible-whole-program --extensible-whole-program -shared --shared -v "
    "--verbose ";

/// True if `list`, separated by blanks, has the word.
bool isOneOf(std::string_view list, const std::string &word) {
  return list.find(" " + word + " ") != list.npos;
}

/// True for a short option with its value joined to it, such as -lm, -L/path and -tN.
bool isJoinedShort(std::string_view flag) {
  if (flag.size() < 3 || flag[0] != '-' || flag[1] == '-')
    return false;
  if (flag[1] == 'L' || (flag[1] == 'l' && flag != "-lineinfo"))
    return true;
  return flag[1] == 't' && std::all_of(flag.begin() + 2, flag.end(),
                                       [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool isSourceFile(std::string_view word) {
  if (word.empty() || word[0] == '-')
    return false;
  const auto dot = word.rfind('.');
  if (dot == word.npos)
    return false;
  return isOneOf(" .cu .c .cc .cpp .cxx .o .obj .a .so ", std::string(word.substr(dot)));
}

/// Options whose value is the next word and may look like a source file or a flag.
constexpr std::string_view kKeptWithValue =
    " -I --include-path -isystem --system-include -D --define-macro -U --undefine-macro -include "
    "--pre-include -Xcompiler --compiler-options -Xptxas --ptxas-options -Xcudafe -Xnvvm -ccbin "
    "--compiler-bindir -std --std -maxrregcount --maxrregcount -diag-suppress --diag-suppress "
    "-diag-error --diag-error -diag-warn --diag-warn -optf --options-file -O --optimize -Werror "
    "--Werror -default-stream --default-stream -ftz --ftz -prec-div --prec-div -prec-sqrt "
    "--prec-sqrt -fmad --fmad -target-dir --target-directory -dopt --dopt "
    "-allow-unsupported-compiler-version ";

} // namespace

std::vector<std::string> flagsForCubin(const std::vector<std::string> &userFlags) {
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < userFlags.size(); ++i) {
    const std::string &flag = userFlags[i];
    const std::string name = flag.substr(0, flag.find('='));
    const bool joined = name.size() != flag.size();
    if (isOneOf(kKeptWithValue, flag) && i + 1 < userFlags.size()) {
      kept.push_back(flag);
      kept.push_back(userFlags[++i]);
    } else if (isOneOf(kDropped, flag)) {
      continue;
    } else if (isOneOf(kDroppedWithValue, name)) {
      if (!joined)
        ++i;
    } else if (!isJoinedShort(flag) && !isSourceFile(flag)) {
      kept.push_back(flag);
    }
  }
  return kept;
}

std::string cubinArch(const std::vector<std::string> &userFlags, const std::string &arch) {
  const std::string number = arch.substr(arch.find('_') + 1);
  for (const std::string &flag : userFlags)
    for (const char suffix : {'a', 'f'})
      for (const char *prefix : {"sm_", "compute_"}) {
        const std::string wanted = prefix + number + suffix;
        const auto at = flag.find(wanted);
        // "sm_90a" but not "sm_90abc": only punctuation may follow an architecture.
        if (at != flag.npos &&
            (at + wanted.size() == flag.size() ||
             !std::isalnum(static_cast<unsigned char>(flag[at + wanted.size()]))))
          return "sm_" + number + suffix;
      }
  return arch;
}

bool namesArch(const std::vector<std::string> &userFlags) {
  return std::any_of(userFlags.begin(), userFlags.end(), [](const std::string &flag) {
    return flag.starts_with("-arch") || flag.starts_with("--gpu-architecture") ||
           flag.starts_with("-gencode") || flag.starts_with("--generate-code");
  });
}

} // namespace kopt
