// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/output/HarnessSupport.h"

namespace kopt::frontend {

const char *const kHarnessHeaders = R"cuda(#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <vector>
)cuda";

const char *const kHarnessSupport = R"cuda(
namespace kopt_harness {

typedef std::vector<unsigned char> Bytes;
typedef unsigned long long Word;

/// Eight bytes, at byte `at`, that point `offset` bytes into a buffer.
struct Pointer {
  std::size_t at, buffer;
  Word offset;
};
struct Buffer {
  std::string name, type; // f32, i64, "struct 8 f32 0 i32 4", ...; empty: unknown
  std::string variable;   // the buffer is this variable of the program; empty: allocated
  std::string before, after; // files with captured contents
  bool output, holdsAddresses;
  Word address; // in the program; 0: the buffer is not captured
  Bytes initial;
  std::vector<Pointer> pointers; // in `initial`
  unsigned char *memory;         // on the device
};
struct Argument {
  Bytes bytes;
  std::vector<Pointer> pointers;
};
/// policy d: by type, relative to the value and to the buffer's scale; s: bit by bit; u: as the numbers say.
struct Tolerance {
  char policy;
  double relative, absolute;
};
struct Launch {
  std::string name;
  bool isCaptured, isCooperative;
  dim3 grid, block;
  std::size_t shared, stack;
  Tolerance tolerance;
  std::vector<Buffer> buffers;
  std::vector<Argument> arguments;
};
/// A variable of the kernel's text.
struct Variable {
  void *memory; // on the device
  std::size_t bytes;
  std::string type;
};
/// What depends on the kernel.
struct Kernel {
  const void *function;
  std::vector<std::size_t> parameters; // bytes of each
  std::map<std::string, Variable> variables;
};
typedef std::vector<Bytes> Contents; // of each buffer of a launch

std::map<std::string, std::string> options;
std::map<std::string, bool> known; // options that were asked for
std::string folder;                // of this program, with a slash
const std::time_t began = std::time(0);

/// --name=VALUE from the command line, or the default.
double number(const char *name, double fallback) {
  known[name] = true;
  std::map<std::string, std::string>::const_iterator found = options.find(name);
  return found == options.end() ? fallback : std::strtod(found->second.c_str(), nullptr);
}

void fail(const std::string &what) {
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", what.c_str());
  std::exit(1);
}

void check(cudaError_t status, const std::string &what) {
  if (status != cudaSuccess)
    fail(what + ": " + cudaGetErrorString(status));
}

// ---- types ----

/// A number in an element. kind f: floating point, b: bfloat16, i and u: integers.
struct Field {
  char kind;
  std::size_t size, offset;
};
struct Layout {
  std::size_t stride; // bytes of an element
  std::vector<Field> fields;
};

Field fieldOf(const std::string &scalar, std::size_t offset) {
  if (scalar == "bf16")
    return Field{'b', 2, offset};
  const std::size_t bits = scalar.size() > 1 ? std::strtoul(scalar.c_str() + 1, nullptr, 10) : 0;
  return bits ? Field{scalar[0], bits / 8, offset} : Field{'u', 1, offset};
}

Layout layoutOf(const std::string &type) {
  Layout layout;
  std::istringstream words(type);
  std::string word;
  words >> word;
  if (word != "struct") {
    layout.fields.push_back(fieldOf(word, 0));
    layout.stride = layout.fields[0].size;
    return layout;
  }
  words >> layout.stride;
  for (std::size_t offset; words >> word >> offset;)
    layout.fields.push_back(fieldOf(word, offset));
  return layout;
}

double valueOf(const Field &field, const unsigned char *bytes) {
  Word word = 0;
  std::memcpy(&word, bytes, field.size);
  if (field.kind == 'f' && field.size == 8) {
    double value;
    std::memcpy(&value, bytes, 8);
    return value;
  }
  if (field.kind == 'f' && field.size == 2) {
    const int exponent = static_cast<int>(word >> 10 & 31), mantissa = static_cast<int>(word & 1023);
    const double value = exponent == 31 ? (mantissa ? NAN : INFINITY)
                         : exponent ? std::ldexp(1024.0 + mantissa, exponent - 25) : std::ldexp(mantissa, -24);
    return word & 0x8000 ? -value : value;
  }
  if (field.kind == 'f' || field.kind == 'b') {
    const unsigned bits = static_cast<unsigned>(field.kind == 'b' ? word << 16 : word);
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  return static_cast<double>(word);
}

bool isFloating(const Field &field) { return field.kind == 'f' || field.kind == 'b'; }

std::string textOf(const Field &field, const unsigned char *bytes) {
  char text[40];
  Word word = 0;
  std::memcpy(&word, bytes, field.size);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(field.size);
  if (isFloating(field))
    std::snprintf(text, sizeof text, "%.9g", valueOf(field, bytes));
  else if (field.kind == 'i')
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(word << unused) >> unused);
  else
    std::snprintf(text, sizeof text, "%llu", word);
  return text;
}

// ---- declared launches ----

/// Invented contents: floating-point numbers in [-1, 1), integers from 0 to 15; zeros for an unknown type.
Bytes invent(std::size_t size, const std::string &type) {
  Bytes bytes(size);
  const Layout layout = layoutOf(type);
  unsigned state = 12345;
  for (std::size_t at = 0; !type.empty() && at + layout.stride <= size; at += layout.stride)
    for (const Field &field : layout.fields) {
      state = state * 1664525u + 1013904223u;
      const float value = static_cast<float>(state >> 8) / 8388608.0f - 1.0f;
      const double wide = value;
      unsigned word = type == "bool" ? state >> 31 : state >> 28;
      if (isFloating(field) && field.size == 2)
        word = 0x3800u + (state >> 24); // a small positive number as half and as bfloat16
      if (isFloating(field) && field.size == 4)
        std::memcpy(&word, &value, 4);
      if (isFloating(field) && field.size == 8)
        std::memcpy(&bytes[at + field.offset], &wide, 8);
      else
        std::memcpy(&bytes[at + field.offset], &word, std::min<std::size_t>(field.size, 4));
    }
  return bytes;
}

Buffer &addBuffer(Launch &launch, const std::string &name, std::size_t bytes, const std::string &type) {
  Buffer buffer = Buffer();
  buffer.name = name;
  buffer.type = type;
  buffer.output = true;
  buffer.initial = invent(bytes, type);
  launch.buffers.push_back(buffer);
  return launch.buffers.back();
}

/// A pointer to a buffer of its own.
Argument pointer(Launch &launch, const char *name, std::size_t bytes, const char *type) {
  addBuffer(launch, name, bytes, type);
  Argument argument;
  argument.bytes.resize(sizeof(void *));
  argument.pointers.push_back(Pointer{0, launch.buffers.size() - 1, 0});
  return argument;
}

template <class T> Argument value(const T &of) {
  Argument argument;
  argument.bytes.resize(sizeof(T));
  std::memcpy(argument.bytes.data(), static_cast<const void *>(&of), sizeof(T));
  return argument;
}

template <class T> void addVariable(Kernel &kernel, const char *name, const T &symbol) {
  typedef typename std::remove_all_extents<T>::type Element;
  Variable &variable = kernel.variables[name];
  check(cudaGetSymbolAddress(&variable.memory, symbol), name);
  variable.bytes = sizeof(T);
  variable.type = std::is_same<Element, float>::value ? "f32" : std::is_same<Element, double>::value ? "f64" : "";
}

/// Adds the variables that have no declared contents: a launch may change them.
void addOtherVariables(Launch &launch, const Kernel &kernel) {
  for (const std::pair<const std::string, Variable> &variable : kernel.variables) {
    bool isDeclared = false;
    for (const Buffer &buffer : launch.buffers)
      isDeclared = isDeclared || buffer.variable == variable.first;
    if (isDeclared)
      continue;
    Buffer &buffer = addBuffer(launch, variable.first, variable.second.bytes, variable.second.type);
    buffer.variable = variable.first;
    check(cudaMemcpy(buffer.initial.data(), variable.second.memory, buffer.initial.size(), cudaMemcpyDeviceToHost),
          "reading " + variable.first);
  }
}

// ---- captured launches ----

Bytes readFile(const std::string &path) {
  std::ifstream file(path.c_str(), std::ios::binary | std::ios::ate);
  Bytes bytes(file ? static_cast<std::size_t>(file.tellg()) : 0);
  file.seekg(0);
  if (!file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    fail("cannot read " + path);
  return bytes;
}

Tolerance toleranceOf(const std::string &text) {
  Tolerance tolerance = {text.find('=') != text.npos ? 'u' : text == "strict" ? 's' : 'd', 0, 0};
  const std::size_t relative = text.find("relative="), absolute = text.find("absolute=");
  if (relative != text.npos)
    tolerance.relative = std::strtod(text.c_str() + relative + 9, nullptr);
  if (absolute != text.npos)
    tolerance.absolute = std::strtod(text.c_str() + absolute + 9, nullptr);
  return tolerance;
}

/// Reads data/launch-N.txt. Returns false if there is none.
bool load(unsigned index, const Kernel &kernel, Launch &launch) {
  const std::string data = folder + "data/", path = data + "launch-" + std::to_string(index) + ".txt";
  std::ifstream file(path.c_str());
  std::vector<Pointer> *pointers = nullptr;
  if (!file)
    return false;
  launch.isCaptured = true;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string key, rest, arrow, kind;
    words >> key;
    std::getline(words >> std::ws, rest);
    std::istringstream values(rest);
    Buffer *buffer = launch.buffers.empty() ? nullptr : &launch.buffers.back();
    if (key.empty() || key[0] == '#')
      continue;
    if (key == "launch")
      launch.name = rest;
    else if (key == "grid")
      values >> launch.grid.x >> launch.grid.y >> launch.grid.z;
    else if (key == "block")
      values >> launch.block.x >> launch.block.y >> launch.block.z;
    else if (key == "shared")
      values >> launch.shared;
    else if (key == "stack")
      values >> launch.stack;
    else if (key == "cooperative")
      launch.isCooperative = rest == "yes";
    else if (key == "tolerance")
      launch.tolerance = toleranceOf(rest);
    else if (key == "buffer") {
      pointers = &addBuffer(launch, rest, 0, "").pointers;
    } else if (key == "parameter") {
      launch.arguments.push_back(Argument());
      Argument &argument = launch.arguments.back();
      pointers = &argument.pointers;
      std::string name, equals, hex;
      values >> name >> equals >> kind;
      if (kind == "buffer") {
        Pointer to = Pointer();
        argument.bytes.resize(sizeof(void *));
        values >> to.buffer >> kind >> to.offset;
        pointers->push_back(to);
      } else if (values >> hex) {
        for (std::size_t i = 0; i + 2 <= hex.size(); i += 2)
          argument.bytes.push_back(static_cast<unsigned char>(std::strtoul(hex.substr(i, 2).c_str(), nullptr, 16)));
      }
    } else if (key == "pointer" && pointers) {
      Pointer to;
      values >> to.at >> arrow >> kind >> to.buffer >> kind >> to.offset;
      pointers->push_back(to);
    } else if (buffer && key == "bytes") {
      std::size_t bytes = 0;
      values >> bytes;
      buffer->initial.resize(bytes);
    } else if (buffer && key == "type")
      buffer->type = rest;
    else if (buffer && key == "output")
      buffer->output = rest == "yes";
    else if (buffer && key == "addresses")
      buffer->holdsAddresses = rest == "yes";
    else if (buffer && key == "address")
      values >> buffer->address;
    else if (buffer && key == "variable")
      buffer->variable = rest;
    else if (buffer && key == "before")
      buffer->before = data + rest;
    else if (buffer && key == "after")
      buffer->after = data + rest;
    else
      fail(path + ": unknown line: " + line);
    if (values.fail())
      fail(path + ": malformed line: " + line);
  }
  bool fits = launch.arguments.size() == kernel.parameters.size();
  for (std::size_t i = 0; fits && i < launch.arguments.size(); ++i) {
    fits = launch.arguments[i].bytes.size() == kernel.parameters[i];
    for (const Pointer &to : launch.arguments[i].pointers)
      fits = fits && to.buffer < launch.buffers.size() && to.at + 8 <= launch.arguments[i].bytes.size();
  }
  if (!fits)
    fail(path + " is of a kernel with other parameters: write the harness again");
  for (Buffer &buffer : launch.buffers) {
    const std::size_t bytes = buffer.initial.size();
    buffer.initial = readFile(buffer.before);
    bool isWhole = buffer.initial.size() == bytes;
    for (const Pointer &to : buffer.pointers)
      isWhole = isWhole && to.buffer < launch.buffers.size() && to.at + 8 <= bytes;
    if (!isWhole)
      fail(buffer.before + " is not what " + path + " says of buffer '" + buffer.name + "'");
  }
  return true;
}

/// Launches like a captured one, each with other contents in a buffer that it may write but left as it was. A program
/// that repeats a launch has its results there already: only so is it seen whether the kernel writes them.
std::vector<Launch> altered(const Launch &launch) {
  std::vector<Launch> all;
  for (std::size_t b = 0; launch.isCaptured && b < launch.buffers.size(); ++b) {
    const Buffer &buffer = launch.buffers[b];
    if (!buffer.output || !buffer.pointers.empty() || buffer.after.empty() || readFile(buffer.after) != buffer.initial)
      continue;
    all.push_back(launch);
    Launch &other = all.back();
    other.name += ", with other contents of '" + buffer.name + "' before it";
    for (Buffer &of : other.buffers)
      of.after.clear();
    Bytes &bytes = other.buffers[b].initial;
    const bool isZero = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), 0)) == bytes.size();
    std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
    const Layout layout = layoutOf(buffer.type);
    for (std::size_t at = 0; isZero && at + layout.stride <= bytes.size(); at += layout.stride)
      for (const Field &field : layout.fields) {
        const float one = 1;
        const double wide = 1;
        const unsigned short half = field.kind == 'b' ? 0x3f80 : 0x3c00;
        const bool isFloat = isFloating(field);
        unsigned char *to = &bytes[at + field.offset];
        if (!isFloat)
          *to = 1;
        else
          std::memcpy(to, field.size == 8 ? static_cast<const void *>(&wide) : field.size == 4
                          ? static_cast<const void *>(&one) : &half, field.size);
      }
  }
  return all;
}

// ---- one launch ----

/// The variable on the device; null if the kernel's text does not have it, and so cannot depend on it.
unsigned char *findVariable(const Kernel &kernel, const std::string &name) {
  for (const std::pair<const std::string, Variable> &variable : kernel.variables) {
    const std::string tail = "::" + variable.first, full = "::" + name;
    if (full.size() >= tail.size() && full.compare(full.size() - tail.size(), tail.size(), tail) == 0)
      return static_cast<unsigned char *>(variable.second.memory);
  }
  return nullptr;
}

void allocate(Launch &launch, const Kernel &kernel) {
  for (Buffer &buffer : launch.buffers) {
    void *memory = nullptr;
    if (buffer.variable.empty())
      check(cudaMalloc(&memory, std::max<std::size_t>(1, buffer.initial.size())), "memory for " + buffer.name);
    else
      memory = findVariable(kernel, buffer.variable);
    buffer.memory = static_cast<unsigned char *>(memory);
  }
}

void release(Launch &launch) {
  for (Buffer &buffer : launch.buffers)
    if (buffer.variable.empty())
      cudaFree(buffer.memory);
}

Bytes withPointers(const Launch &launch, Bytes bytes, const std::vector<Pointer> &pointers) {
  for (const Pointer &to : pointers) {
    const unsigned char *address = launch.buffers[to.buffer].memory + to.offset;
    std::memcpy(&bytes[to.at], &address, sizeof address);
  }
  return bytes;
}

void fill(const Launch &launch, const Buffer &buffer) {
  if (!buffer.memory)
    return;
  const Bytes moved = buffer.pointers.empty() ? Bytes() : withPointers(launch, buffer.initial, buffer.pointers);
  check(cudaMemcpy(buffer.memory, moved.empty() ? buffer.initial.data() : moved.data(), buffer.initial.size(),
                   cudaMemcpyHostToDevice), "filling " + buffer.name);
}

void start(const Launch &launch, const Kernel &kernel) {
  std::vector<Bytes> values;
  std::vector<void *> arguments;
  for (const Argument &argument : launch.arguments)
    values.push_back(withPointers(launch, argument.bytes, argument.pointers));
  for (Bytes &bytes : values)
    arguments.push_back(bytes.data());
  check(launch.isCooperative ? cudaLaunchCooperativeKernel(kernel.function, launch.grid, launch.block,
                                                           arguments.data(), launch.shared, nullptr)
                             : cudaLaunchKernel(kernel.function, launch.grid, launch.block, arguments.data(),
                                                launch.shared, nullptr),
        launch.name + " is refused");
}

void prepare(Launch &launch, const Kernel &kernel) {
  if (launch.stack)
    check(cudaDeviceSetLimit(cudaLimitStackSize, launch.stack), "setting the stack size");
  if (launch.shared)
    check(cudaFuncSetAttribute(kernel.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(launch.shared)),
          std::to_string(launch.shared) + " bytes of dynamic shared memory");
  allocate(launch, kernel);
  for (const Buffer &buffer : launch.buffers)
    fill(launch, buffer);
}

/// What the buffers hold after the launch; addresses are those that the program had.
Contents runOnce(Launch &launch, const Kernel &kernel) {
  prepare(launch, kernel);
  start(launch, kernel);
  check(cudaDeviceSynchronize(), launch.name + " does not run through");
  Contents contents;
  for (const Buffer &buffer : launch.buffers) {
    contents.push_back(buffer.initial);
    Bytes &bytes = contents.back();
    if (buffer.memory)
      check(cudaMemcpy(bytes.data(), buffer.memory, bytes.size(), cudaMemcpyDeviceToHost), "reading " + buffer.name);
    for (std::size_t at = 0; buffer.memory && buffer.holdsAddresses && at + 8 <= bytes.size(); at += 8) {
      Word word;
      std::memcpy(&word, &bytes[at], 8);
      Word inProgram = word;
      for (const Buffer &other : launch.buffers) {
        const Word offset = word - reinterpret_cast<Word>(other.memory);
        const bool isInside = offset < other.initial.size(), isEnd = offset == other.initial.size();
        if (other.memory && other.address && (isInside || (isEnd && inProgram == word)))
          inProgram = other.address + offset;
        if (other.memory && other.address && isInside)
          break;
      }
      std::memcpy(&bytes[at], &inProgram, 8);
    }
  }
  release(launch);
  return contents;
}

} // namespace kopt_harness
)cuda";

} // namespace kopt::frontend
