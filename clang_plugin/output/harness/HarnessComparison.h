// SPDX-License-Identifier: Apache-2.0
// The second half of every harness: it compares with the unedited kernel, times, and is the
// program. See HarnessLaunch.h.
#pragma once

#include "clang_plugin/output/harness/HarnessLaunch.h"

#include <ctime>
#include <unistd.h>

namespace kopt_harness {

inline const std::time_t began = std::time(nullptr);

/// The command that runs the program `original`, without what it prints. It may not run through or
/// end for altered launches: it then has a time limit.
inline std::string originalCommand(const std::string &program, const std::string &results,
                                   bool areAltered) {
  std::vector<std::string> words{program, "--write=" + results};
  for (const auto &[name, value] : options)
    words.push_back("--" + name + "=" + value);
  if (areAltered)
    words.push_back("--altered=1");
  std::string command;
  // What has been done so far took longer than one run of `original` should.
  if (areAltered)
    command = "timeout " + std::to_string(int(10 + 3 * std::difftime(std::time(nullptr), began)));
  for (const std::string &word : words) {
    command += " '";
    for (const char c : word)
      command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += "'";
  }
  return command + (areAltered ? " >/dev/null 2>&1" : " >/dev/null");
}

/// The results of the unedited kernel for the same launches: the program `original` writes them to
/// a file. For altered launches there are none where it does not run through.
inline std::vector<Contents> runOriginal(const std::vector<Launch> &launches, bool areAltered) {
  const std::string program = folder + "original";
  if (access(program.c_str(), X_OK) != 0)
    fail("there is no " + program + " to compare with: build.sh builds it");
  const char *temporary = std::getenv("TMPDIR");
  std::string path =
      std::string(temporary && *temporary ? temporary : "/tmp") + "/kopt-harness-XXXXXX";
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0)
    fail("cannot write to " + path + ": set TMPDIR to a folder for temporary files");
  close(descriptor);
  std::fflush(stdout);
  const int status = std::system(originalCommand(program, path, areAltered).c_str());
  std::ifstream file(path, std::ios::binary);
  std::remove(path.c_str()); // what is open stays readable
  if (areAltered && status != 0)
    return {};
  std::vector<Contents> all;
  for (const Launch &launch : launches) {
    Contents &contents = all.emplace_back();
    for (const Buffer &buffer : launch.buffers) {
      Bytes &bytes = contents.emplace_back(buffer.initial.size());
      file.read(reinterpret_cast<char *>(bytes.data()), std::streamsize(bytes.size()));
    }
  }
  if (status != 0)
    fail("the unedited kernel does not run through: " + program);
  if (!file || file.peek() != std::ifstream::traits_type::eof())
    fail(program +
         " has other buffers than this program: remove it, and build again with build.sh");
  return all;
}

// ---- comparison ----

/// Numbers of a buffer: the fields of its elements, and then the bytes of an incomplete last
/// element.
struct Numbers {
  Layout layout;
  std::size_t fields, whole, count; // of an element; of all elements; with the last bytes

  explicit Numbers(const Buffer &buffer)
      : layout(layoutOf(buffer.type)), fields(layout.fields.size()),
        whole(buffer.initial.size() / layout.stride * fields),
        count(whole + buffer.initial.size() % layout.stride) {}
  Field field(std::size_t i) const { return i < whole ? layout.fields[i % fields] : Field(); }
  /// Of the first byte of number `i`.
  std::size_t at(std::size_t i) const {
    return i < whole ? i / fields * layout.stride + layout.fields[i % fields].offset
                     : whole / fields * layout.stride + (i - whole);
  }
  /// Calls `use` with each number, its field and its first byte.
  template <class Use> void each(Use use) const {
    std::size_t i = 0, at = 0;
    for (; i < whole; at += layout.stride)
      for (const Field &field : layout.fields)
        use(i++, field, at + field.offset);
    for (; i < count; ++i, ++at)
      use(i, Field(), at);
  }
};

inline double relativeOf(const Field &field) {
  return field.kind == 'b' ? 1.6e-2 : field.size == 2 ? 2e-3 : field.size == 4 ? 1e-5 : 1e-12;
}

/// True if the numbers differ by no more than the tolerance; `scale` is the magnitude of what is
/// expected there.
inline bool areNear(const Field &field, const Tolerance &tolerance, double scale,
                    const unsigned char *wanted, const unsigned char *found) {
  if (std::equal(wanted, wanted + field.size, found))
    return true;
  if (!field.isFloating())
    return false;
  const double a = valueOf(field, wanted), b = valueOf(field, found);
  if (std::isnan(a) && std::isnan(b))
    return true;
  const double larger = std::max(std::fabs(a), std::fabs(b));
  const double allowed = tolerance.policy == 'd' ? relativeOf(field) * std::max(larger, scale)
                                                 : tolerance.relative * larger + tolerance.absolute;
  return tolerance.policy != 's' &&
         (a == b || (std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) <= allowed));
}

/// The root mean square of what is expected in each field.
inline std::vector<double> scalesOf(const Numbers &numbers, const Bytes &expected) {
  std::vector<double> sums(numbers.fields), finite(numbers.fields), scales;
  numbers.each([&](std::size_t i, const Field &field, std::size_t at) {
    const double value = field.isFloating() ? valueOf(field, &expected[at]) : NAN;
    if (!std::isfinite(value))
      return;
    sums[i % numbers.fields] += value * value;
    ++finite[i % numbers.fields];
  });
  for (std::size_t f = 0; f < numbers.fields; ++f)
    scales.push_back(finite[f] > 0 ? std::sqrt(sums[f] / finite[f]) : 0);
  return scales;
}

/// Marks the numbers that differ by more than the tolerance; empty if none does.
inline std::vector<bool> differences(const Buffer &buffer, const Tolerance &tolerance,
                                     const Bytes &expected, const Bytes &actual) {
  if (expected == actual)
    return {};
  const Numbers numbers(buffer);
  const std::vector<double> scales = scalesOf(numbers, expected);
  std::vector<bool> differ(numbers.count);
  bool any = false;
  numbers.each([&](std::size_t i, const Field &field, std::size_t at) {
    if (!areNear(field, tolerance, scales[i % numbers.fields], &expected[at], &actual[at]))
      differ[i] = any = true;
  });
  return any ? differ : std::vector<bool>();
}

inline std::size_t marked(const std::vector<bool> &marks) {
  return std::size_t(std::count(marks.begin(), marks.end(), true));
}

/// Results of the unedited kernel, run as often as they are needed.
struct Originals {
  const std::vector<Launch> &launches;
  bool areAltered;
  std::vector<std::vector<Contents>> runs = {};

  const Bytes &get(std::size_t run, std::size_t launch, std::size_t buffer) {
    while (runs.size() <= run) {
      runs.push_back(runOriginal(launches, areAltered));
      if (runs.back().empty()) // it ran through before
        runs.back() = runs.front();
    }
    return runs[run][launch][buffer];
  }
  /// True if two runs left something else in any buffer of the launch.
  bool vary(std::size_t launch) {
    for (std::size_t b = 0; b < launches[launch].buffers.size(); ++b)
      if (get(0, launch, b) != get(1, launch, b))
        return true;
    return false;
  }
};

/// How what the unedited kernel leaves in a buffer varies from run to run.
struct Variation {
  const Buffer &buffer;
  const Tolerance &tolerance;
  const Bytes &expected;
  Numbers numbers;
  std::vector<bool> marks;     // elements that some run left otherwise
  std::vector<double> spreads; // of each field of an element: the largest difference
  bool any = false;            // any element

  Variation(const Buffer &of, const Tolerance &within, const Bytes &first)
      : buffer(of), tolerance(within), expected(first), numbers(of), marks(numbers.count),
        spreads(numbers.fields) {}

  void add(const Bytes &run) {
    const std::vector<bool> other = differences(buffer, tolerance, expected, run);
    for (std::size_t i = 0; i < other.size(); ++i)
      if (other[i]) {
        marks[i] = any = true;
        double &spread = spreads[i % spreads.size()];
        spread = std::max(spread, distance(i, run));
      }
  }
  /// How far a floating-point element is from what is expected; 0 for others, and for what is not
  /// finite.
  double distance(std::size_t i, const Bytes &found) const {
    const Field field = numbers.field(i);
    if (!field.isFloating())
      return 0;
    const double a = valueOf(field, &expected[numbers.at(i)]),
                 b = valueOf(field, &found[numbers.at(i)]);
    return std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : 0;
  }
  /// True if the element is as near to what is expected as a run of the unedited kernel may be. A
  /// few runs do not show the largest difference there is.
  bool isNear(std::size_t i, const Bytes &actual) const {
    return distance(i, actual) <= 4 * spreads[i % spreads.size()];
  }
  /// Takes out elements that vary, and are near what is expected.
  void takeOut(std::vector<bool> &wrong, const Bytes &actual) const {
    for (std::size_t i = 0; any && i < wrong.size(); ++i)
      wrong[i] = wrong[i] && !(marks[i] && isNear(i, actual));
  }
  /// True if the wrong elements may be those that vary rarely, others in each run: about as many,
  /// and near.
  bool mayVary(const std::vector<bool> &wrong, const Bytes &actual) const {
    for (std::size_t i = 0; any && i < wrong.size(); ++i)
      if (wrong[i] && !isNear(i, actual))
        return false;
    return any && marked(wrong) <= 2 * marked(marks);
  }
};

/// Prints the first wrong element of a buffer.
inline void printWrong(const Buffer &buffer, const std::vector<bool> &wrong, const Bytes &expected,
                       const Bytes &actual) {
  const Numbers numbers(buffer);
  const std::size_t i = std::size_t(std::find(wrong.begin(), wrong.end(), true) - wrong.begin());
  const Field field = numbers.field(i);
  const std::string byte =
      numbers.fields > 1 ? " at byte " + std::to_string(field.offset) : std::string();
  std::printf("  %s[%zu]%s is %s, expected %s; %zu of %zu elements differ%s\n", buffer.name.c_str(),
              numbers.at(i) / numbers.layout.stride, byte.c_str(),
              textOf(field, &actual[numbers.at(i)]).c_str(),
              textOf(field, &expected[numbers.at(i)]).c_str(), marked(wrong), wrong.size(),
              buffer.output ? "" : " (the program's launch does not change it)");
}

/// Compares a buffer with what it should hold, and prints how it differs. Returns false if it does.
inline bool isRight(Originals &originals, std::size_t l, std::size_t b, const Bytes &actual) {
  const std::size_t mostRuns = 8;
  const Launch &launch = originals.launches[l];
  const Buffer &buffer = launch.buffers[b];
  const char *name = buffer.name.c_str();
  Bytes expected = buffer.after.empty() ? originals.get(0, l, b) : readFile(buffer.after);
  if (expected.size() != actual.size())
    fail(buffer.after + " does not have the size of buffer '" + buffer.name + "'");
  std::vector<bool> wrong = differences(buffer, launch.tolerance, expected, actual);
  if (wrong.empty())
    return true;
  // Is it the edited kernel, or does the unedited one not repeat this either?
  const Bytes &first = originals.get(0, l, b), &second = originals.get(1, l, b); // they stay there
  const bool vary = originals.vary(l);
  if (!vary && !differences(buffer, launch.tolerance, expected, first).empty()) {
    std::printf("  %s: the unedited kernel leaves something else than the program had, the same "
                "each time: compared with that\n",
                name);
    expected = first;
    wrong = differences(buffer, launch.tolerance, expected, actual);
    if (wrong.empty())
      return true;
  }
  Variation variation(buffer, launch.tolerance, expected);
  variation.add(first);
  variation.add(second);
  const std::size_t differing = marked(wrong);
  variation.takeOut(wrong, actual);
  for (std::size_t run = 2; vary && run < mostRuns && marked(wrong) > 0; ++run) {
    variation.add(originals.get(run, l, b));
    variation.takeOut(wrong, actual);
  }
  const std::size_t left = marked(wrong);
  if (left < differing)
    std::printf("  %s: %zu of %zu elements differ, as from run to run of the unedited kernel\n",
                name, differing - left, wrong.size());
  if (left == 0)
    return true;
  if (variation.mayVary(wrong, actual)) {
    std::printf("  %s: %zu more elements differ, about as many as from run to run of the unedited "
                "kernel\n",
                name, left);
    return true;
  }
  printWrong(buffer, wrong, expected, actual);
  return false;
}

/// Compares all buffers of a launch. Returns false if one differs.
inline bool compare(Originals &originals, std::size_t l, const Contents &results) {
  const Launch &launch = originals.launches[l];
  const bool isOfProgram = launch.isCaptured && !originals.areAltered;
  std::size_t compared = 0, different = 0;
  std::printf("%s, compared with %s:\n", launch.name.c_str(),
              isOfProgram ? "what the program had" : "the unedited kernel");
  for (std::size_t b = 0; b < launch.buffers.size(); ++b) {
    const Buffer &buffer = launch.buffers[b];
    if (!buffer.variable.empty() && !buffer.memory)
      continue;
    if (isOfProgram && buffer.after.empty())
      std::printf("  %s: what the program had afterwards is not known: compared with the unedited "
                  "kernel\n",
                  buffer.name.c_str());
    ++compared;
    different += !isRight(originals, l, b, results[b]);
  }
  if (different == 0)
    std::printf("  all %zu buffers are the same\n", compared);
  return different == 0;
}

/// Compares the launches with what the edited kernel left. Returns false if one differs; sets
/// `changes` if the kernel changes anything in one.
inline bool compareAll(Originals &originals, const std::vector<Contents> &results, bool &changes) {
  bool same = true;
  for (std::size_t l = 0; l < results.size(); ++l) {
    same = compare(originals, l, results[l]) && same;
    for (std::size_t b = 0; b < results[l].size(); ++b)
      changes = changes || results[l][b] != originals.launches[l].buffers[b].initial;
  }
  return same;
}

// ---- the program ----

/// Times the launch, each time on its initial data.
inline void timeRounds(Launch &launch, const Kernel &kernel, const Contents &results) {
  prepare(launch, kernel);
  start(launch, kernel); // the first is slower
  finish(launch);
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<float> times;
  float total = 0;
  for (const double rounds = number("rounds", 10); double(times.size()) < rounds && total < 2000;) {
    for (std::size_t b = 0; b < launch.buffers.size(); ++b)
      if (results[b] != launch.buffers[b].initial)
        fill(launch, launch.buffers[b]);
    float milliseconds = 0;
    check(cudaEventRecord(begin), "event");
    start(launch, kernel);
    check(cudaEventRecord(end), "event");
    check(cudaEventSynchronize(end), launch.name + " does not run through");
    check(cudaEventElapsedTime(&milliseconds, begin, end), "event");
    times.push_back(milliseconds);
    total += milliseconds;
  }
  release(launch);
  std::sort(times.begin(), times.end());
  if (!times.empty())
    std::printf("  time: min %.3f us, median %.3f us (%zu rounds)\n", times.front() * 1000.0f,
                times[times.size() / 2] * 1000.0f, times.size());
}

inline void readOptions(int argc, char **argv) {
  const std::string program = argv[0];
  folder = program.substr(0, program.rfind('/') + 1);
  if (folder.empty())
    folder = "./";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (argument.compare(0, 2, "--") != 0 || equals == argument.npos)
      fail(argument + ": expected --NAME=VALUE; the first lines of harness.cu say which");
    options[argument.substr(2, equals - 2)] = argument.substr(equals + 1);
  }
}

/// The captured launches, or the declared one.
inline std::vector<Launch> makeLaunches(const Kernel &kernel, void (*declare)(Launch &),
                                        const char *tolerance) {
  std::vector<Launch> launches;
  for (bool more = true; more;) {
    Launch launch;
    launch.tolerance = toleranceOf(tolerance);
    more = load(unsigned(launches.size()) + 1, kernel, launch);
    if (!more && !launches.empty())
      break;
    if (!more) {
      launch.name = "launch with declared or default values";
      declare(launch);
      addOtherVariables(launch, kernel);
    }
    const auto extent = [](const char *name, unsigned &of) { of = unsigned(number(name, of)); };
    extent("grid_x", launch.grid.x);
    extent("grid_y", launch.grid.y);
    extent("grid_z", launch.grid.z);
    extent("block_x", launch.block.x);
    extent("block_y", launch.block.y);
    extent("block_z", launch.block.z);
    launches.push_back(launch);
  }
  return launches;
}

inline std::vector<Contents> runAll(std::vector<Launch> &launches, const Kernel &kernel) {
  std::vector<Contents> results;
  for (Launch &launch : launches)
    results.push_back(runOnce(launch, kernel));
  return results;
}

inline void writeResults(const std::string &path, const std::vector<Contents> &results) {
  std::ofstream file(path, std::ios::binary);
  for (const Contents &contents : results)
    for (const Bytes &bytes : contents)
      file.write(reinterpret_cast<const char *>(bytes.data()), std::streamsize(bytes.size()));
  file.close();
  if (!file)
    fail("cannot write " + path + ": set TMPDIR to a folder with more space");
}

inline int run(const Kernel &kernel, void (*declare)(Launch &), const char *tolerance) {
  std::vector<Launch> launches = makeLaunches(kernel, declare, tolerance), others;
  number("rounds", 0);
  number("write", 0);
  const bool areAltered = number("altered", 0) != 0;
  for (const auto &[name, value] : options)
    if (!known[name])
      fail("--" + name + " is not an option here" +
           (launches[0].isCaptured ? ": the arguments are those in " + folder + "data" : ""));
  for (const Launch &launch : launches)
    for (const Launch &other : altered(launch))
      others.push_back(other);
  if (areAltered)
    launches.swap(others);
  const std::vector<Contents> results = runAll(launches, kernel);
  if (options.count("write")) { // this is `original`
    writeResults(options["write"], results);
    return 0;
  }
  Originals originals{launches, false};
  bool changes = false, same = compareAll(originals, results, changes);
  if (same && !others.empty()) {
    Originals of{others, true, {runOriginal(others, true)}};
    if (of.runs[0].empty())
      std::printf("note: the unedited kernel does not run through with other contents of its "
                  "outputs: not compared\n");
    else
      same = compareAll(of, runAll(others, kernel), changes);
  }
  if (same && !changes)
    std::printf("note: the kernel changes nothing here, so this says little\n");
  for (std::size_t l = 0; same && l < launches.size(); ++l) {
    if (launches.size() > 1)
      std::printf("%s:\n", launches[l].name.c_str());
    timeRounds(launches[l], kernel, results[l]);
  }
  if (!same)
    std::printf("the results are wrong: not timed\n");
  return same ? 0 : 1;
}

} // namespace kopt_harness
