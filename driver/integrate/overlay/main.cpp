// SPDX-License-Identifier: Apache-2.0
// kopt-overlay: the compiler launcher of a build in header mode.
//
//   kopt-overlay compile LOCK BUILD_FOLDER WORK STATE ARCHS -- COMPILER ARGUMENT...
//     runs the compiler with the variants of the lock in place of the originals
//   kopt-overlay state LOCK BUILD_FOLDER OUT
//     for CMake: which files have variants, as OUT/tuned.cmake, and for each a file that changes
//     when its variants do
#include "driver/integrate/overlay/Overlay.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#ifdef _WIN32
#include <process.h>
#else
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

namespace fs = std::filesystem;
using namespace kopt::overlay;

int runCompiler(const std::vector<std::string> &command) {
  std::vector<char *> argv;
  for (const std::string &word : command)
    argv.push_back(const_cast<char *>(word.c_str()));
  argv.push_back(nullptr);
#ifdef _WIN32
  const intptr_t status = _spawnvp(_P_WAIT, argv[0], argv.data());
  return status < 0 ? 127 : int(status);
#else
  const pid_t child = fork();
  if (child == 0) {
    execvp(argv[0], argv.data());
    std::cerr << "kopt-overlay: cannot start " << argv[0] << ": " << std::strerror(errno) << "\n";
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return 127;
  if (child > 0 && WIFSIGNALED(status))
    return 128 + WTERMSIG(status);
  return child > 0 ? WEXITSTATUS(status) : 127;
#endif
}

std::string processName() {
#ifdef _WIN32
  return std::to_string(_getpid());
#else
  return std::to_string(getpid());
#endif
}

/// Writes the file atomically, and not at all if it already has this text, because other processes
/// may read or write it at the same time.
bool writeIfDifferent(const fs::path &path, const std::string &text) {
  std::ifstream old(path, std::ios::binary);
  if (old &&
      std::string(std::istreambuf_iterator<char>(old), std::istreambuf_iterator<char>()) == text)
    return true;
  old.close();
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const fs::path fresh = path.string() + "." + processName();
  {
    std::ofstream stream(fresh, std::ios::binary);
    stream << text;
    if (!stream.flush()) {
      fs::remove(fresh, error);
      return false;
    }
  }
  fs::rename(fresh, path, error);
  return !error;
}

/// The content of a file's state file: its variants and its path.
std::string stateText(const std::string &variants, const std::string &file) {
  return variants + "\n" + file + "\n";
}
constexpr const char *kNoVariants = "no variants";

fs::path statePath(const fs::path &folder, const std::string &file) {
  return folder / (shortName(file) + ".state");
}

/// Writes the file unless it exists. If several processes do this at the same time, the first wins,
/// so that none makes the file newer than an object.
bool writeIfMissing(const fs::path &path, const std::string &text) {
  std::error_code error;
  if (fs::exists(path, error))
    return true;
  const fs::path fresh = path.string() + ".first-" + processName();
  if (!writeIfDifferent(fresh, text))
    return false;
  fs::create_hard_link(fresh, path, error);
  if (error && !fs::exists(path))
    fs::rename(fresh, path, error);
  fs::remove(fresh, error);
  return fs::exists(path);
}

std::string absolute(const std::string &path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal().string();
}

/// The parts of a compiler's command line that an overlay needs.
struct CommandLine {
  std::size_t source = 0; ///< index of the source file; 0: none was found
  std::vector<std::string> quoteFolders, folders;
  std::string depfile;
};

void readArguments(const std::vector<std::string> &words, std::size_t first, CommandLine &line,
                   bool fromFile) {
  static const std::set<std::string> kTakesValue = {
      // files and folders
      "-o", "-x", "-MT", "-MQ", "-include", "-imacros", "-idirafter", "-iprefix", "-isysroot",
      "--sysroot", "-aux-info", "-dumpbase", "--options-file", "-optf",
      // macros
      "-D", "-U",
      // other programs
      "-Xcompiler", "-Xptxas", "-Xcudafe", "-Xlinker", "-Xnvlink", "-Xfatbin", "-Xclang",
      "-Xpreprocessor", "-Xassembler", "-Xarch_host", "-Xarch_device", "-ccbin",
      "--compiler-bindir", "-mllvm", "-L", "-l",
      // code
      "-arch", "-code", "-gencode", "--generate-code", "-target", "-std", "-t", "-maxrregcount",
      "--param", "-diag-suppress"};
  static const std::set<std::string> kExtensions = {".cu",  ".cpp", ".cc", ".cxx",
                                                    ".c++", ".C",   ".CPP"};
  for (std::size_t i = first; i < words.size(); ++i) {
    const std::string &word = words[i];
    const auto value = [&](std::initializer_list<const char *> options,
                           bool joined) -> std::string {
      for (const char *option : options) {
        const std::size_t length = std::strlen(option);
        if (word == option)
          return i + 1 < words.size() ? words[++i] : std::string();
        if (joined && word.compare(0, length, option) == 0)
          return word.substr(length + (word[length] == '=' ? 1 : 0));
      }
      return "";
    };
    if (std::string folder = value({"-iquote"}, true); !folder.empty())
      line.quoteFolders.push_back(absolute(folder));
    else if (folder = value({"-isystem", "--system-include", "--include-path", "-I"}, true);
             !folder.empty()) {
      line.folders.push_back(absolute(folder));
      std::istringstream list(folder); // as nvcc takes it: "a,b"
      while (std::getline(list, folder, ','))
        line.folders.push_back(absolute(folder));
    } else if (std::string depfile = value({"-MF"}, true); !depfile.empty())
      line.depfile = depfile;
    else if ((word == "--options-file" || word == "-optf") && i + 1 < words.size() && !fromFile) {
      std::ifstream file(words[++i]);
      std::vector<std::string> more;
      std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      std::string current;
      bool quoted = false, any = false;
      for (const char c : text + "\n") {
        if (c == '"') {
          quoted = !quoted;
          any = true;
        } else if (!quoted && std::strchr(" \t\r\n", c)) {
          if (any || !current.empty())
            more.push_back(current);
          current.clear();
          any = false;
        } else {
          current += c;
        }
      }
      readArguments(more, 0, line, true);
    } else if (kTakesValue.count(word) != 0) {
      ++i;
    } else if (word[0] != '-' && !fromFile && i > first &&
               kExtensions.count(fs::path(word).extension().string()) != 0) {
      line.source = i; // CMake puts it last
    }
  }
}

/// Escapes a name for a depfile, as make and ninja read it.
std::string forDepfile(const std::string &path) {
  std::string made;
  for (const char c : path) {
    if (c == ' ' || c == '#')
      made += '\\';
    if (c == '$')
      made += '$';
    made += c;
  }
  return made;
}

/// Rewrites the depfile to name the user's files in place of overlays, and the other files that the
/// result depends on.
void correctDepfile(const std::string &path, const OverlaySet &set,
                    const std::vector<std::string> &more) {
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  stream.close();
  for (const auto &[file, place] : set.places) {
    // nvcc escapes less than other compilers.
    for (const auto &[from, to] :
         {std::pair(forDepfile(place), forDepfile(file)), std::pair(place, forDepfile(file))})
      for (std::size_t at = text.find(from); at != std::string::npos;
           at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
  }
  std::size_t colon = text.find(':');
  while (colon != std::string::npos && colon + 1 < text.size() &&
         !std::strchr(" \t\r\n\\", text[colon + 1]))
    colon = text.find(':', colon + 1);
  if (colon == std::string::npos)
    return;
  std::string added;
  for (const std::string &file : more)
    added += " \\\n  " + forDepfile(file);
  text.insert(colon + 1, added);
  writeIfDifferent(path, text);
}

void print(const std::vector<Message> &messages) {
  std::set<std::string> printed;
  for (const Message &message : messages) {
    const std::string line = message.line == 0 ? "" : ":" + std::to_string(message.line);
    const std::string text = message.file + line + ": " +
                             (message.isWarning ? "warning: " : "note: ") + message.text + "\n";
    if (printed.insert(text).second)
      std::cerr << text;
  }
}

/// Reads the lock, which is empty if there is no file yet, or if it cannot be read, which it says.
Lock readLock(const std::string &path, Sources &sources) {
  const std::string *text = sources.read(path);
  if (!text && !fs::exists(path))
    return {};
  Change problem{path, 0, "it is no readable file"};
  if (std::optional<Lock> lock = text ? parseLock(*text, problem) : std::nullopt)
    return std::move(*lock);
  print({Message{path, problem.line,
                 "kopt cannot read it (" + problem.what + "), so all originals are built"}});
  return {};
}

int compile(const std::string &lockPath, const std::string &build, const std::string &work,
            const std::string &states, const std::string &archs, std::vector<std::string> command) {
  CommandLine line;
  readArguments(command, 0, line, false);
  Sources sources(fs::path(lockPath).parent_path().parent_path().string(), build);
  if (line.source == 0)
    return runCompiler(command);
  const Lock lock = readLock(lockPath, sources);
  OverlayRequest request;
  request.source = absolute(command[line.source]);
  request.lockFolder = fs::path(lockPath).parent_path().string();
  request.work = work;
  request.project = fs::path(lockPath).parent_path().parent_path().string();
  request.includeFolders = line.quoteFolders;
  request.includeFolders.insert(request.includeFolders.end(), line.folders.begin(),
                                line.folders.end());
  request.archs = parseArchs(archs);
  // The compiler may stand behind a launcher such as ccache.
  request.isNvcc = std::any_of(
      command.begin(), command.begin() + std::ptrdiff_t(line.source), [](const std::string &word) {
        return fs::path(word).filename().string().find("nvcc") != std::string::npos;
      });
  const OverlaySet set = makeOverlays(lock, request, sources);
  print(set.messages);
  for (const auto &[file, text] : set.texts)
    if (!writeIfDifferent(set.places.at(file), text)) {
      std::cerr << "kopt-overlay: error: cannot write " << set.places.at(file)
                << "; check the permissions and the free space of the build folder\n";
      return 1;
    }
  if (const auto place = set.places.find(request.source); place != set.places.end())
    command[line.source] = place->second;
  for (std::string option : set.options) {
    const std::string project = "{project}";
    if (const std::size_t at = option.find(project); at != std::string::npos)
      option.replace(at, project.size(), request.project);
    command.push_back(option);
  }
  // Each file has a state file that is older than the object, so that the object is rebuilt when
  // the file gets its first variant.
  std::vector<std::string> more = set.dependencies;
  for (const std::string &file : set.seen)
    if (const fs::path state = statePath(states, file);
        writeIfMissing(state, stateText(kNoVariants, file)))
      more.push_back(state.string());
  const int status = runCompiler(command);
  if (status == 0 && !line.depfile.empty())
    correctDepfile(line.depfile, set, more);
  return status;
}

std::string bracketed(const std::string &text) { return "[==[" + text + "]==]"; }

int state(const std::string &lockPath, const std::string &build, const fs::path &out) {
  Sources sources(fs::path(lockPath).parent_path().parent_path().string(), build);
  const Lock lock = readLock(lockPath, sources);
  std::map<std::string, std::string> states;
  std::map<std::string, std::set<std::string>> variants;
  for (const Entry &entry : lock.entries) {
    std::string text = entry.symbol + "\n" + entry.variants + "\n" + entry.regressed + "\n" +
                       (entry.deviceOnly ? "device\n" : "program\n");
    for (const std::string &arch : entry.archs)
      text += arch + " ";
    for (const std::string &option : entry.options)
      text += option + " ";
    for (const Use &use : entry.uses)
      text += use.file + " " + std::to_string(use.begin) + " " + use.hash + "\n";
    for (const Edit &edit : entry.edits)
      text += std::to_string(edit.begin) + " " + std::to_string(edit.end) + " " + edit.section +
              edit.hash + "\n";
    for (const std::string &file : entry.files(true)) {
      states[sources.resolve(file)] += text;
      if (!entry.variants.empty())
        variants[sources.resolve(file)].insert(
            (fs::path(lockPath).parent_path() / entry.variants).string());
    }
  }
  std::string script;
  std::set<fs::path> current;
  bool good = true;
  const auto add = [&](const std::string &file, const fs::path &path, const std::string &text) {
    good &= writeIfDifferent(path, stateText(text, file));
    script += "_kopt_tuned_file(" + bracketed(file) + " " + bracketed(path.string());
    for (const std::string &variant : variants[file])
      if (fs::exists(variant))
        script += " " + bracketed(variant);
    script += ")\n";
  };
  for (const auto &[file, text] : states) {
    const fs::path path = statePath(out, file);
    current.insert(path);
    add(file, path, contentHash(text));
  }
  // Files that had variants, or that a compilation included.
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(out, ignored)) {
    std::string first, file;
    std::ifstream known(entry.path());
    if (entry.path().extension() == ".state" && current.count(entry.path()) == 0 &&
        std::getline(known, first) && std::getline(known, file))
      add(file, entry.path(), kNoVariants);
  }
  good &= writeIfDifferent(out / "tuned.cmake", script);
  if (!good)
    std::cerr << "kopt-overlay: error: cannot write to " << out.string() << "\n";
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() > 7 && words[0] == "compile" && words[6] == "--")
      return compile(words[1], words[2], words[3], words[4], words[5],
                     {words.begin() + 7, words.end()});
    if (words.size() == 4 && words[0] == "state")
      return state(words[1], words[2], words[3]);
  } catch (const std::exception &problem) {
    std::cerr << "kopt-overlay: error: " << problem.what() << "\n";
    return 1;
  }
  std::cerr
      << "usage: kopt-overlay compile LOCK BUILD_FOLDER WORK STATE ARCHS -- COMPILER ARGUMENT...\n"
         "       kopt-overlay state LOCK BUILD_FOLDER OUT\n";
  return 1;
}
