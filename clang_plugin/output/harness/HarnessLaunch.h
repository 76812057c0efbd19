// SPDX-License-Identifier: Apache-2.0
// What every harness does, whatever its kernel: the launches, and how one runs. The harness
// contains this text, and nvcc has included the CUDA runtime before it. Beside that it needs POSIX
// and C++17. driver/workload/observed/HarnessData.cpp writes the launches that load() reads.
#pragma once

#include "runtime/device/Float16.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace kopt_harness {

using Bytes = std::vector<unsigned char>;
using Word = unsigned long long;

/// Eight bytes, at byte `at`, that point `offset` bytes into a buffer.
struct Pointer {
  std::size_t at = 0, buffer = 0;
  Word offset = 0;
};
struct Buffer {
  std::string name, type;    // f32, i64, "struct 8 f32 0 i32 4", ...; empty: unknown
  std::string variable;      // the buffer is this variable of the program; empty: allocated
  std::string before, after; // files with captured contents
  bool output = true, holdsAddresses = false;
  Word address = 0; // in the program; 0: the buffer is not captured
  Bytes initial;
  std::vector<Pointer> pointers;   // in `initial`
  unsigned char *memory = nullptr; // on the device
};
struct Argument {
  Bytes bytes;
  std::vector<Pointer> pointers;
};
/// policy d: by type, relative to the value and to the buffer's scale; s: bit by bit; u: as the
/// numbers say.
struct Tolerance {
  char policy = 'd';
  double relative = 0, absolute = 0;
};
struct Launch {
  std::string name;
  bool isCaptured = false, isCooperative = false;
  dim3 grid, block;
  std::size_t shared = 0, stack = 0;
  Tolerance tolerance;
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
};
/// A variable of the kernel's text.
struct Variable {
  void *memory = nullptr; // on the device
  std::size_t bytes = 0;
  std::string type;
};
/// What depends on the kernel.
struct Kernel {
  const void *function = nullptr;
  std::vector<std::size_t> parameters; // bytes of each
  std::map<std::string, Variable> variables;
};
using Contents = std::vector<Bytes>; // of each buffer of a launch

inline std::map<std::string, std::string> options;
inline std::map<std::string, bool> known; // options that were asked for
inline std::string folder;                // of this program, with a slash

/// --name=VALUE from the command line, or the default.
inline double number(const char *name, double fallback) {
  known[name] = true;
  const auto found = options.find(name);
  return found == options.end() ? fallback : std::strtod(found->second.c_str(), nullptr);
}

[[noreturn]] inline void fail(const std::string &what) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", what.c_str());
  std::exit(1);
}

inline void check(cudaError_t status, const std::string &what) {
  if (status != cudaSuccess)
    fail(what + ": " + cudaGetErrorString(status));
}

// ---- types ----

/// A number in an element. kind f: floating point, b: bfloat16, i and u: integers.
struct Field {
  char kind = 'u';
  std::size_t size = 1, offset = 0;

  bool isFloating() const { return kind == 'f' || kind == 'b'; }
};
struct Layout {
  std::size_t stride = 0; // bytes of an element
  std::vector<Field> fields;
};

inline Field fieldOf(const std::string &scalar, std::size_t offset) {
  if (scalar == "bf16")
    return {'b', 2, offset};
  const std::size_t bits = scalar.size() > 1 ? std::strtoul(scalar.c_str() + 1, nullptr, 10) : 0;
  return bits ? Field{scalar[0], bits / 8, offset} : Field{'u', 1, offset};
}

inline Layout layoutOf(const std::string &type) {
  std::istringstream words(type);
  std::string word;
  words >> word;
  if (word != "struct") {
    const Field field = fieldOf(word, 0);
    return {field.size, {field}};
  }
  Layout layout;
  words >> layout.stride;
  for (std::size_t offset = 0; words >> word >> offset;)
    layout.fields.push_back(fieldOf(word, offset));
  return layout;
}

template <class T> T loadAs(const unsigned char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// The value of a floating-point field.
inline double valueOf(const Field &field, const unsigned char *bytes) {
  using kopt::runtime::widen;
  if (field.size == 2)
    return (field.kind == 'b' ? widen<8, 7> : widen<5, 10>)(loadAs<std::uint16_t>(bytes));
  return field.size == 4 ? double(loadAs<float>(bytes)) : loadAs<double>(bytes);
}

/// Writes a number that the field's type can hold.
inline void store(const Field &field, double value, unsigned char *bytes) {
  using kopt::runtime::narrow;
  const float single = float(value);
  Word word = field.isFloating() ? 0 : Word(value);
  if (field.isFloating() && field.size == 2)
    word = (field.kind == 'b' ? narrow<8, 7> : narrow<5, 10>)(value);
  else if (field.isFloating())
    std::memcpy(&word, field.size == 4 ? static_cast<const void *>(&single) : &value, field.size);
  std::memcpy(bytes, &word, field.size);
}

inline std::string textOf(const Field &field, const unsigned char *bytes) {
  char text[40];
  Word word = 0;
  std::memcpy(&word, bytes, field.size);
  const unsigned unused = 64 - 8 * unsigned(field.size);
  if (field.isFloating())
    std::snprintf(text, sizeof text, "%.9g", valueOf(field, bytes));
  else if (field.kind == 'i')
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(word << unused) >> unused);
  else
    std::snprintf(text, sizeof text, "%llu", word);
  return text;
}

/// Sets each number of a buffer of a known type to what `value` gives for its field.
template <class Value> void setNumbers(Bytes &bytes, const std::string &type, Value value) {
  const Layout layout = layoutOf(type);
  for (std::size_t at = 0; at + layout.stride <= bytes.size(); at += layout.stride)
    for (const Field &field : layout.fields)
      store(field, value(field), &bytes[at + field.offset]);
}

// ---- declared launches ----

/// Invented contents: floating-point numbers in [-1, 1), integers from 0 to 15; zeros for an
/// unknown type.
inline Bytes invent(std::size_t size, const std::string &type) {
  Bytes bytes(size);
  unsigned state = 12345;
  if (!type.empty())
    setNumbers(bytes, type, [&](const Field &field) {
      state = state * 1664525u + 1013904223u;
      if (field.isFloating())
        return double(state >> 8) / 8388608.0 - 1;
      return double(type == "bool" ? state >> 31 : state >> 28);
    });
  return bytes;
}

inline Buffer &addBuffer(Launch &launch, const std::string &name, std::size_t bytes,
                         const std::string &type) {
  Buffer &buffer = launch.buffers.emplace_back();
  buffer.name = name;
  buffer.type = type;
  buffer.initial = invent(bytes, type);
  return buffer;
}

/// A pointer to a buffer of its own.
inline Argument pointer(Launch &launch, const char *name, std::size_t bytes, const char *type) {
  addBuffer(launch, name, bytes, type);
  return {Bytes(sizeof(void *)), {{0, launch.buffers.size() - 1, 0}}};
}

template <class T> Argument value(const T &of) {
  Argument argument{Bytes(sizeof(T)), {}};
  std::memcpy(argument.bytes.data(), static_cast<const void *>(&of), sizeof(T));
  return argument;
}

template <class T> void addVariable(Kernel &kernel, const char *name, const T &symbol) {
  using Element = std::remove_all_extents_t<T>;
  Variable &variable = kernel.variables[name];
  check(cudaGetSymbolAddress(&variable.memory, symbol), name);
  variable.bytes = sizeof(T);
  variable.type = std::is_same_v<Element, float>    ? "f32"
                  : std::is_same_v<Element, double> ? "f64"
                                                    : "";
}

/// Adds the variables that have no declared contents: a launch may change them.
inline void addOtherVariables(Launch &launch, const Kernel &kernel) {
  for (const auto &[name, variable] : kernel.variables) {
    const auto isIt = [&, &name = name](const Buffer &buffer) { return buffer.variable == name; };
    if (std::any_of(launch.buffers.begin(), launch.buffers.end(), isIt))
      continue;
    Buffer &buffer = addBuffer(launch, name, variable.bytes, variable.type);
    buffer.variable = name;
    check(cudaMemcpy(buffer.initial.data(), variable.memory, buffer.initial.size(),
                     cudaMemcpyDeviceToHost),
          "reading " + name);
  }
}

// ---- captured launches ----

inline Bytes readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  Bytes bytes(file ? std::size_t(file.tellg()) : 0);
  file.seekg(0);
  if (!file.read(reinterpret_cast<char *>(bytes.data()), std::streamsize(bytes.size())))
    fail("cannot read " + path);
  return bytes;
}

inline Tolerance toleranceOf(const std::string &text) {
  Tolerance tolerance;
  const auto numberAfter = [&](const std::string &key) {
    const std::size_t at = text.find(key);
    return at == text.npos ? 0 : std::strtod(text.c_str() + at + key.size(), nullptr);
  };
  tolerance.policy = text.find('=') != text.npos ? 'u' : text == "strict" ? 's' : 'd';
  tolerance.relative = numberAfter("relative=");
  tolerance.absolute = numberAfter("absolute=");
  return tolerance;
}

/// "NAME = buffer INDEX offset BYTES" or "NAME = bytes HEXDIGITS"
inline Argument readParameter(std::istream &words) {
  Argument argument;
  std::string name, equals, kind, hex;
  words >> name >> equals >> kind;
  if (kind == "buffer") {
    Pointer to;
    words >> to.buffer >> kind >> to.offset;
    return {Bytes(sizeof(void *)), {to}};
  }
  words >> hex;
  for (std::size_t i = 0; i + 2 <= hex.size(); i += 2)
    argument.bytes.push_back(
        static_cast<unsigned char>(std::strtoul(hex.substr(i, 2).c_str(), nullptr, 16)));
  return argument;
}

/// A line about the launch as a whole. False: there is no such line.
inline bool readLaunchLine(const std::string &key, std::istream &words, const std::string &rest,
                           Launch &launch) {
  if (key == "launch")
    launch.name = rest;
  else if (key == "grid")
    words >> launch.grid.x >> launch.grid.y >> launch.grid.z;
  else if (key == "block")
    words >> launch.block.x >> launch.block.y >> launch.block.z;
  else if (key == "shared")
    words >> launch.shared;
  else if (key == "stack")
    words >> launch.stack;
  else if (key == "cooperative")
    launch.isCooperative = rest == "yes";
  else if (key == "tolerance")
    launch.tolerance = toleranceOf(rest);
  else if (key == "parameter")
    launch.arguments.push_back(readParameter(words));
  else if (key == "buffer")
    addBuffer(launch, rest, 0, "");
  else
    return false;
  return true;
}

/// A line about the buffer that was named last. False: there is no such line.
inline bool readBufferLine(const std::string &key, std::istream &words, const std::string &rest,
                           const std::string &data, Buffer &buffer) {
  if (key == "bytes") {
    std::size_t bytes = 0;
    words >> bytes;
    buffer.initial.resize(bytes);
  } else if (key == "type")
    buffer.type = rest;
  else if (key == "output")
    buffer.output = rest == "yes";
  else if (key == "addresses")
    buffer.holdsAddresses = rest == "yes";
  else if (key == "address")
    words >> buffer.address;
  else if (key == "variable")
    buffer.variable = rest;
  else if (key == "before")
    buffer.before = data + rest;
  else if (key == "after")
    buffer.after = data + rest;
  else
    return false;
  return true;
}

/// Fails if the launch is not one of this kernel, or the files of its buffers are not what it says.
inline void readContents(const std::string &path, const Kernel &kernel, Launch &launch) {
  const auto fit = [&](const std::vector<Pointer> &pointers, std::size_t bytes) {
    return std::all_of(pointers.begin(), pointers.end(), [&](const Pointer &to) {
      return to.buffer < launch.buffers.size() && to.at + 8 <= bytes;
    });
  };
  bool fits = launch.arguments.size() == kernel.parameters.size();
  for (std::size_t i = 0; fits && i < launch.arguments.size(); ++i)
    fits = launch.arguments[i].bytes.size() == kernel.parameters[i] &&
           fit(launch.arguments[i].pointers, kernel.parameters[i]);
  if (!fits)
    fail(path + " is of a kernel with other parameters: write the harness again");
  for (Buffer &buffer : launch.buffers) {
    const std::size_t bytes = buffer.initial.size();
    buffer.initial = readFile(buffer.before);
    if (buffer.initial.size() != bytes || !fit(buffer.pointers, bytes))
      fail(buffer.before + " is not what " + path + " says of buffer '" + buffer.name + "'");
  }
}

/// Reads data/launch-N.txt. Returns false if there is none.
inline bool load(unsigned index, const Kernel &kernel, Launch &launch) {
  const std::string data = folder + "data/",
                    path = data + "launch-" + std::to_string(index) + ".txt";
  std::ifstream file(path);
  if (!file)
    return false;
  launch.isCaptured = true;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key, rest, skipped;
    words >> key;
    std::getline(words >> std::ws, rest);
    if (key.empty() || key[0] == '#')
      continue;
    words = std::istringstream(rest);
    // A pointer lies in the buffer or parameter before it, and buffers follow the parameters.
    if (key == "pointer" && !(launch.arguments.empty() && launch.buffers.empty())) {
      Pointer to;
      words >> to.at >> skipped >> skipped >> to.buffer >> skipped >> to.offset;
      (launch.buffers.empty() ? launch.arguments.back().pointers : launch.buffers.back().pointers)
          .push_back(to);
    } else if (!readLaunchLine(key, words, rest, launch) &&
               (launch.buffers.empty() ||
                !readBufferLine(key, words, rest, data, launch.buffers.back())))
      fail(path + ": unknown line: " + line);
    if (words.fail())
      fail(path + ": malformed line: " + line);
  }
  readContents(path, kernel, launch);
  return true;
}

/// Launches like a captured one, each with other contents in a buffer that it may write but left
/// as it was. Where a program repeats a launch, the results lie there before it: with other
/// contents there it shows whether the kernel writes them.
inline std::vector<Launch> altered(const Launch &launch) {
  std::vector<Launch> all;
  for (std::size_t b = 0; launch.isCaptured && b < launch.buffers.size(); ++b) {
    const Buffer &buffer = launch.buffers[b];
    if (!buffer.output || !buffer.pointers.empty() || buffer.after.empty() ||
        readFile(buffer.after) != buffer.initial)
      continue;
    Launch &other = all.emplace_back(launch);
    other.name += ", with other contents of '" + buffer.name + "' before it";
    for (Buffer &of : other.buffers)
      of.after.clear();
    const Bytes zeros(buffer.initial.size());
    other.buffers[b].initial = zeros;
    if (buffer.initial == zeros)
      setNumbers(other.buffers[b].initial, buffer.type, [](const Field &) { return 1.0; });
  }
  return all;
}

// ---- one launch ----

/// The variable on the device; null if the kernel's text does not have it, and so cannot depend on
/// it.
inline unsigned char *findVariable(const Kernel &kernel, const std::string &name) {
  for (const auto &[own, variable] : kernel.variables) {
    const std::string tail = "::" + own, full = "::" + name;
    if (full.size() >= tail.size() && full.substr(full.size() - tail.size()) == tail)
      return static_cast<unsigned char *>(variable.memory);
  }
  return nullptr;
}

inline void allocate(Launch &launch, const Kernel &kernel) {
  for (Buffer &buffer : launch.buffers) {
    void *memory = nullptr;
    if (buffer.variable.empty())
      check(cudaMalloc(&memory, std::max<std::size_t>(1, buffer.initial.size())),
            "memory for " + buffer.name);
    else
      memory = findVariable(kernel, buffer.variable);
    buffer.memory = static_cast<unsigned char *>(memory);
  }
}

inline void release(Launch &launch) {
  for (Buffer &buffer : launch.buffers)
    if (buffer.variable.empty())
      cudaFree(buffer.memory);
}

inline Bytes withPointers(const Launch &launch, Bytes bytes, const std::vector<Pointer> &pointers) {
  for (const Pointer &to : pointers) {
    const unsigned char *address = launch.buffers[to.buffer].memory + to.offset;
    std::memcpy(&bytes[to.at], &address, sizeof address);
  }
  return bytes;
}

inline void fill(const Launch &launch, const Buffer &buffer) {
  if (!buffer.memory)
    return;
  const Bytes moved =
      buffer.pointers.empty() ? Bytes() : withPointers(launch, buffer.initial, buffer.pointers);
  check(cudaMemcpy(buffer.memory, moved.empty() ? buffer.initial.data() : moved.data(),
                   buffer.initial.size(), cudaMemcpyHostToDevice),
        "filling " + buffer.name);
}

inline void start(const Launch &launch, const Kernel &kernel) {
  std::vector<Bytes> values;
  std::vector<void *> arguments;
  for (const Argument &argument : launch.arguments)
    values.push_back(withPointers(launch, argument.bytes, argument.pointers));
  for (Bytes &bytes : values)
    arguments.push_back(bytes.data());
  check(launch.isCooperative
            ? cudaLaunchCooperativeKernel(kernel.function, launch.grid, launch.block,
                                          arguments.data(), launch.shared, nullptr)
            : cudaLaunchKernel(kernel.function, launch.grid, launch.block, arguments.data(),
                               launch.shared, nullptr),
        launch.name + " is refused");
}

inline void finish(const Launch &launch) {
  check(cudaDeviceSynchronize(), launch.name + " does not run through");
}

inline void prepare(Launch &launch, const Kernel &kernel) {
  if (launch.stack)
    check(cudaDeviceSetLimit(cudaLimitStackSize, launch.stack), "setting the stack size");
  if (launch.shared)
    check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int(launch.shared)),
          std::to_string(launch.shared) + " bytes of dynamic shared memory");
  allocate(launch, kernel);
  for (const Buffer &buffer : launch.buffers)
    fill(launch, buffer);
}

/// The address that the program had in place of one of this process; others stay as they are.
inline Word inProgram(const Launch &launch, Word word) {
  Word found = word;
  for (const Buffer &other : launch.buffers) {
    if (!other.memory || !other.address)
      continue;
    const Word offset = word - reinterpret_cast<Word>(other.memory);
    if (offset < other.initial.size())
      return other.address + offset;
    if (offset == other.initial.size() && found == word) // another buffer may begin at its end
      found = other.address + offset;
  }
  return found;
}

/// What the buffers hold after the launch; addresses are those that the program had.
inline Contents runOnce(Launch &launch, const Kernel &kernel) {
  prepare(launch, kernel);
  start(launch, kernel);
  finish(launch);
  Contents contents;
  for (const Buffer &buffer : launch.buffers) {
    Bytes &bytes = contents.emplace_back(buffer.initial);
    if (!buffer.memory)
      continue;
    check(cudaMemcpy(bytes.data(), buffer.memory, bytes.size(), cudaMemcpyDeviceToHost),
          "reading " + buffer.name);
    for (std::size_t at = 0; buffer.holdsAddresses && at + 8 <= bytes.size(); at += 8) {
      const Word word = inProgram(launch, loadAs<Word>(&bytes[at]));
      std::memcpy(&bytes[at], &word, 8);
    }
  }
  release(launch);
  return contents;
}

} // namespace kopt_harness
