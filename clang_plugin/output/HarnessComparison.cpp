// SPDX-License-Identifier: Apache-2.0
#include "clang_plugin/output/HarnessSupport.h"

namespace kopt::frontend {

const char *const kHarnessComparison = R"cuda(
namespace kopt_harness {

// ---- comparison ----

/// The results of the unedited kernel for the same launches: the program `original` writes them to a file. Altered ones
/// it may not run through or end: then there are none.
std::vector<Contents> runOriginal(const std::vector<Launch> &launches, bool areAltered) {
  const std::string program = folder + "original";
  if (access(program.c_str(), X_OK) != 0)
    fail("there is no " + program + " to compare with: build.sh builds it");
  const char *temporary = std::getenv("TMPDIR");
  std::string path = std::string(temporary && *temporary ? temporary : "/tmp") + "/kopt-harness-XXXXXX";
  const int descriptor = mkstemp(&path[0]);
  if (descriptor < 0)
    fail("cannot write to " + path + ": set TMPDIR to a folder for temporary files");
  close(descriptor);
  std::vector<std::string> words(1, program);
  for (const std::pair<const std::string, std::string> &option : options)
    words.push_back("--" + option.first + "=" + option.second);
  words.push_back("--write=" + path);
  if (areAltered)
    words.push_back("--altered=1");
  // What has been done so far took longer than one run of `original` should.
  const double limit = 10 + 3 * std::difftime(std::time(0), began);
  std::string command = areAltered ? " timeout " + std::to_string(static_cast<int>(limit)) : "";
  for (const std::string &word : words) {
    command += " '";
    for (const char c : word)
      command += c == '\'' ? std::string("'\\''") : std::string(1, c);
    command += "'";
  }
  std::fflush(stdout);
  const int status = std::system((command.substr(1) + (areAltered ? " >/dev/null 2>&1" : " >/dev/null")).c_str());
  std::vector<Contents> all;
  std::ifstream file(path.c_str(), std::ios::binary);
  std::remove(path.c_str()); // what is open stays readable
  if (areAltered && status != 0)
    return all;
  for (const Launch &launch : launches) {
    all.push_back(Contents());
    for (const Buffer &buffer : launch.buffers) {
      all.back().push_back(Bytes(buffer.initial.size()));
      Bytes &bytes = all.back().back();
      file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
  }
  if (status != 0)
    fail("the unedited kernel does not run through: " + program);
  if (!file || file.peek() != std::ifstream::traits_type::eof())
    fail(program + " has other buffers than this program: remove it, and build again with build.sh");
  return all;
}

/// Numbers of a buffer: the fields of its elements, and then the bytes of an incomplete last element.
struct Numbers {
  Layout layout;
  std::size_t elements, bytes;

  explicit Numbers(const Buffer &buffer)
      : layout(layoutOf(buffer.type)), elements(buffer.initial.size() / layout.stride), bytes(buffer.initial.size()) {}
  std::size_t count() const { return elements * layout.fields.size() + bytes % layout.stride; }
  Field field(std::size_t i) const {
    return i < elements * layout.fields.size() ? layout.fields[i % layout.fields.size()] : Field{'u', 1, 0};
  }
  std::size_t at(std::size_t i) const {
    const std::size_t whole = elements * layout.fields.size();
    return i < whole ? i / layout.fields.size() * layout.stride + layout.fields[i % layout.fields.size()].offset
                     : elements * layout.stride + (i - whole);
  }
};

double relativeOf(const Field &field) {
  return field.kind == 'b' ? 1.6e-2 : field.size == 2 ? 2e-3 : field.size == 4 ? 1e-5 : 1e-12;
}

/// True if the numbers differ by no more than the tolerance; `scale` is the magnitude of what is expected there.
bool areNear(const Field &field, const Tolerance &tolerance, double scale, const unsigned char *wanted,
             const unsigned char *found) {
  if (std::equal(wanted, wanted + field.size, found))
    return true;
  if (!isFloating(field))
    return false;
  const double a = valueOf(field, wanted), b = valueOf(field, found);
  if (std::isnan(a) && std::isnan(b))
    return true;
  const double larger = std::max(std::fabs(a), std::fabs(b));
  double allowed = 0;
  if (tolerance.policy == 'd')
    allowed = relativeOf(field) * std::max(larger, scale);
  if (tolerance.policy == 'u')
    allowed = tolerance.relative * larger + tolerance.absolute;
  return tolerance.policy != 's' && (a == b || (std::isfinite(a) && std::isfinite(b) && std::fabs(a - b) <= allowed));
}

/// Marks the numbers that differ by more than the tolerance; empty if none does.
std::vector<bool> differences(const Buffer &buffer, const Tolerance &tolerance, const Bytes &expected,
                              const Bytes &actual) {
  if (expected == actual)
    return std::vector<bool>();
  const Numbers numbers(buffer);
  std::vector<double> scales; // of each field: the root mean square of what is expected
  for (std::size_t f = 0; f < numbers.layout.fields.size(); ++f) {
    double sum = 0;
    std::size_t finite = 0;
    const Field &field = numbers.layout.fields[f];
    for (std::size_t i = 0; isFloating(field) && i < numbers.elements; ++i) {
      const double value = valueOf(field, &expected[i * numbers.layout.stride + field.offset]);
      if (std::isfinite(value)) {
        sum += value * value;
        ++finite;
      }
    }
    scales.push_back(finite ? std::sqrt(sum / static_cast<double>(finite)) : 0);
  }
  std::vector<bool> differ(numbers.count());
  bool any = false;
  const std::size_t stride = numbers.layout.stride, fields = numbers.layout.fields.size(), step = 4096;
  for (std::size_t first = 0; first < numbers.elements; first += step) {
    const std::size_t last = std::min(numbers.elements, first + step);
    if (std::memcmp(&expected[first * stride], &actual[first * stride], (last - first) * stride) == 0)
      continue;
    for (std::size_t e = first; e < last; ++e)
      for (std::size_t f = 0; f < fields; ++f) {
        const std::size_t at = e * stride + numbers.layout.fields[f].offset;
        if (!areNear(numbers.layout.fields[f], tolerance, scales[f], &expected[at], &actual[at]))
          differ[e * fields + f] = any = true;
      }
  }
  for (std::size_t i = numbers.elements * fields; i < differ.size(); ++i)
    if (expected[numbers.at(i)] != actual[numbers.at(i)])
      differ[i] = any = true;
  return any ? differ : std::vector<bool>();
}

std::size_t marked(const std::vector<bool> &marks) {
  return static_cast<std::size_t>(std::count(marks.begin(), marks.end(), true));
}

/// Results of the unedited kernel, run as often as they are needed.
struct Originals {
  const std::vector<Launch> &launches;
  bool areAltered;
  std::vector<std::vector<Contents> > runs;

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
  std::vector<bool> marks;     // elements that some run left otherwise
  bool any;                    // any of them
  std::vector<double> spreads; // of each field of an element: the largest difference

  Variation(const Buffer &of, const Tolerance &within, const Bytes &first)
      : buffer(of), tolerance(within), expected(first), marks(Numbers(of).count()), any(false),
        spreads(layoutOf(of.type).fields.size()) {}

  void add(const Bytes &run) {
    const std::vector<bool> other = differences(buffer, tolerance, expected, run);
    const Numbers numbers(buffer);
    for (std::size_t i = 0; i < other.size(); ++i)
      if (other[i]) {
        marks[i] = any = true;
        double &spread = spreads[i % spreads.size()];
        spread = std::max(spread, distance(numbers, i, run));
      }
  }
  /// How far a floating-point element is from what is expected; 0 for others, and for what is not finite.
  double distance(const Numbers &numbers, std::size_t i, const Bytes &found) const {
    const Field field = numbers.field(i);
    if (!isFloating(field))
      return 0;
    const double a = valueOf(field, &expected[numbers.at(i)]), b = valueOf(field, &found[numbers.at(i)]);
    return std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : 0;
  }
  /// True if the element is as near to what is expected as a run of the unedited kernel may be. A few runs do not
  /// show the largest difference there is.
  bool isNear(const Numbers &numbers, std::size_t i, const Bytes &actual) const {
    return distance(numbers, i, actual) <= 4 * spreads[i % spreads.size()];
  }
  /// Takes out elements that vary, and are near what is expected.
  void takeOut(std::vector<bool> &wrong, const Bytes &actual) const {
    const Numbers numbers(buffer);
    for (std::size_t i = 0; any && i < wrong.size(); ++i)
      wrong[i] = wrong[i] && !(marks[i] && isNear(numbers, i, actual));
  }
  /// True if the wrong elements may be those that vary rarely, others in each run: about as many, and near.
  bool mayVary(const std::vector<bool> &wrong, const Bytes &actual) const {
    const Numbers numbers(buffer);
    for (std::size_t i = 0; any && i < wrong.size(); ++i)
      if (wrong[i] && !isNear(numbers, i, actual))
        return false;
    return any && marked(wrong) <= 2 * marked(marks);
  }
};

/// Compares a buffer with what it should hold, and prints how it differs. Returns false if it does.
bool isRight(Originals &originals, std::size_t l, std::size_t b, const Bytes &actual) {
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
  const Bytes &first = originals.get(0, l, b), &second = originals.get(1, l, b); // they stay where they are
  if (differences(buffer, launch.tolerance, first, second).empty() &&
      !differences(buffer, launch.tolerance, expected, first).empty() && !originals.vary(l)) {
    std::printf("  %s: the unedited kernel leaves something else than the program had, the same each time: compared "
                "with that\n", name);
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
  const bool vary = originals.vary(l);
  for (std::size_t run = 2; vary && run < mostRuns && marked(wrong) > 0; ++run) {
    variation.add(originals.get(run, l, b));
    variation.takeOut(wrong, actual);
  }
  const std::size_t left = variation.any ? marked(wrong) : differing;
  if (left < differing)
    std::printf("  %s: %zu of %zu elements differ, as from run to run of the unedited kernel\n", name, differing - left,
                wrong.size());
  if (left && variation.mayVary(wrong, actual)) {
    std::printf("  %s: %zu more elements differ, about as many as from run to run of the unedited kernel\n", name, left);
    return true;
  }
  if (left == 0)
    return true;
  const Numbers numbers(buffer);
  const std::size_t i = static_cast<std::size_t>(std::find(wrong.begin(), wrong.end(), true) - wrong.begin());
  const Field field = numbers.field(i);
  const std::string byte = numbers.layout.fields.size() > 1 ? " at byte " + std::to_string(field.offset) : "";
  std::printf("  %s[%zu]%s is %s, expected %s; %zu of %zu elements differ%s\n", name,
              numbers.at(i) / numbers.layout.stride, byte.c_str(), textOf(field, &actual[numbers.at(i)]).c_str(),
              textOf(field, &expected[numbers.at(i)]).c_str(), left, wrong.size(),
              buffer.output ? "" : " (the program's launch does not change it)");
  return false;
}

/// Compares all buffers of a launch. Returns false if one differs.
bool compare(Originals &originals, std::size_t l, const Contents &results) {
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
      std::printf(
          "  %s: what the program had afterwards is not known: compared with the unedited kernel\n",
          buffer.name.c_str());
    ++compared;
    different += !isRight(originals, l, b, results[b]);
  }
  if (different == 0)
    std::printf("  all %zu buffers are the same\n", compared);
  return different == 0;
}

bool changesNothing(const Launch &launch, const Contents &results) {
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    if (results[b] != launch.buffers[b].initial)
      return false;
  return true;
}

/// Compares altered launches. Returns false if one differs; sets `changes` if the kernel changes anything in one.
bool compareAltered(std::vector<Launch> &launches, const Kernel &kernel, bool &changes) {
  Originals originals = {launches, true, std::vector<std::vector<Contents> >()};
  bool same = true;
  originals.runs.push_back(runOriginal(launches, true));
  if (!launches.empty() && originals.runs[0].empty()) {
    std::printf("note: the unedited kernel does not run through with other contents of its outputs: not compared\n");
    return true;
  }
  for (std::size_t l = 0; l < launches.size(); ++l) {
    const Contents results = runOnce(launches[l], kernel);
    same = compare(originals, l, results) && same;
    changes = changes || !changesNothing(launches[l], results);
  }
  return same;
}

/// Times the launch, each time on its initial data.
void timeRounds(Launch &launch, const Kernel &kernel, const Contents &results) {
  std::vector<const Buffer *> changed;
  for (std::size_t b = 0; b < launch.buffers.size(); ++b)
    if (results[b] != launch.buffers[b].initial)
      changed.push_back(&launch.buffers[b]);
  prepare(launch, kernel);
  start(launch, kernel); // the first is slower
  check(cudaDeviceSynchronize(), launch.name + " does not run through");
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<float> times;
  float total = 0;
  for (double rounds = number("rounds", 10);
       static_cast<double>(times.size()) < rounds && total < 2000;) {
    for (const Buffer *buffer : changed)
      fill(launch, *buffer);
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

void readOptions(int argc, char **argv) {
  const std::string program = argv[0];
  const std::size_t slash = program.rfind('/');
  folder = slash == program.npos ? "./" : program.substr(0, slash + 1);
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    if (argument.compare(0, 2, "--") != 0 || equals == argument.npos)
      fail(argument + ": expected --NAME=VALUE; the first lines of harness.cu say which");
    options[argument.substr(2, equals - 2)] = argument.substr(equals + 1);
  }
}

int run(const Kernel &kernel, void (*declare)(Launch &), const char *tolerance) {
  std::vector<Launch> launches;
  for (bool more = true; more;) {
    Launch launch = Launch();
    launch.tolerance = toleranceOf(tolerance);
    more = load(static_cast<unsigned>(launches.size()) + 1, kernel, launch);
    if (!more && !launches.empty())
      break;
    if (!more) {
      launch.name = "launch with declared or default values";
      declare(launch);
      addOtherVariables(launch, kernel);
    }
    launch.grid = dim3(static_cast<unsigned>(number("grid_x", launch.grid.x)),
                       static_cast<unsigned>(number("grid_y", launch.grid.y)),
                       static_cast<unsigned>(number("grid_z", launch.grid.z)));
    launch.block = dim3(static_cast<unsigned>(number("block_x", launch.block.x)),
                        static_cast<unsigned>(number("block_y", launch.block.y)),
                        static_cast<unsigned>(number("block_z", launch.block.z)));
    launches.push_back(launch);
  }
  number("rounds", 0);
  number("write", 0);
  const bool areAltered = number("altered", 0) != 0;
  for (const std::pair<const std::string, std::string> &option : options)
    if (!known[option.first])
      fail("--" + option.first + " is not an option here" +
           (launches[0].isCaptured ? ": the arguments are those in " + folder + "data"
                                   : std::string()));
  const std::string write = options["write"];
  options.erase("write");
  std::vector<Launch> others;
  for (const Launch &launch : launches)
    for (const Launch &other : altered(launch))
      others.push_back(other);
  if (areAltered)
    launches.swap(others);
  std::vector<Contents> results;
  for (Launch &launch : launches)
    results.push_back(runOnce(launch, kernel));
  if (!write.empty()) { // this is `original`
    std::ofstream file(write.c_str(), std::ios::binary);
    for (const Contents &contents : results)
      for (const Bytes &bytes : contents)
        file.write(reinterpret_cast<const char *>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    file.close();
    if (!file)
      fail("cannot write " + write + ": set TMPDIR to a folder with more space");
    return 0;
  }
  Originals originals = {launches, false, std::vector<std::vector<Contents> >()};
  bool same = true, changes = false;
  for (std::size_t l = 0; l < launches.size(); ++l) {
    same = compare(originals, l, results[l]) && same;
    changes = changes || !changesNothing(launches[l], results[l]);
  }
  if (same && !others.empty())
    same = compareAltered(others, kernel, changes);
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
)cuda";

} // namespace kopt::frontend
