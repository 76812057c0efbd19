// SPDX-License-Identifier: Apache-2.0
#include "driver/model/Json.h"

#include "unit/model/EachChange.h"
#include "unit/model/SampleRecords.h"

#include <gmock/gmock.h>

namespace kopt {
namespace {

using testing::HasSubstr;

/// What a record is after it was text on a wire.
template <class T> Result<T> overTheWire(const T &record) {
  return fromJson<T>(nlohmann::json::parse(toJson(record).dump()));
}

/// Each change of a single value is in the JSON, and survives.
template <class T> void expectEveryFieldTravels(T record) {
  const std::string before = canonicalJson(record);
  std::size_t changes = 0;
  eachChange(record, "", [&](const std::string &path) {
    ++changes;
    EXPECT_NE(canonicalJson(record), before) << path;
    const Result<T> read = overTheWire(record);
    ASSERT_TRUE(read) << path << ": " << read.error().what;
    EXPECT_EQ(canonicalJson(*read), canonicalJson(record)) << path;
  });
  EXPECT_GT(changes, 3u);
  EXPECT_EQ(canonicalJson(record), before);
}

TEST(Json, HasEveryFieldOfEveryRecord) {
  expectEveryFieldTravels(fullWorkload());
  expectEveryFieldTravels(fullDeclaration());
  expectEveryFieldTravels(fullCandidate());
  expectEveryFieldTravels(fullTrial());
  expectEveryFieldTravels(fullDevice());
  expectEveryFieldTravels(DeviceConfig{});
  expectEveryFieldTravels(fullDiagnosis());
  expectEveryFieldTravels(TimeOptions{});
}

TEST(Json, KeepsNumbersAndBytesExactly) {
  Trial trial = fullTrial();
  trial.buildLog = std::string("not UTF-8: \xff\xfe and \0 zero", 27);
  trial.counters = {{"third", 1.0 / 3},
                    {"tiny", 5e-324},
                    {"minus zero", -0.0},
                    {"nan", std::nan("")},
                    {"inf", std::numeric_limits<double>::infinity()},
                    {"less", -std::numeric_limits<double>::infinity()}};
  const Result<Trial> read = overTheWire(trial);
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->buildLog, trial.buildLog);
  for (const auto &[name, value] : trial.counters) {
    const double other = read->counters.at(name);
    EXPECT_TRUE(std::isnan(value) ? std::isnan(other) : other == value) << name;
    EXPECT_EQ(std::signbit(other), std::signbit(value)) << name;
  }
  const Result<Workload> workload = overTheWire(fullWorkload());
  ASSERT_TRUE(workload);
  EXPECT_EQ(std::get<ValueArg>(workload->launches[0].arguments[1]).bytes,
            std::string("\x00\xff\x40", 3));
}

TEST(Json, HasKeysAndNamesThatPeopleRead) {
  const nlohmann::json trial = toJson(fullTrial());
  EXPECT_EQ(trial["candidate"]["launch"]["shared_bytes"], "W * 4");
  EXPECT_EQ(trial["candidate"]["launch"]["block"], nlohmann::json({"W", "1", "1"}));
  EXPECT_EQ(trial["verdict"], "Ambiguous");
  EXPECT_EQ(trial["checks"][0]["state"], "passed");
  EXPECT_EQ(trial["timings"][0]["cache_mode"], "cold");
  EXPECT_EQ(trial["purpose"], "search");
  EXPECT_EQ(toJson(fullWorkload())["launches"][0]["arguments"][1]["bytes"], "00ff40");
  EXPECT_TRUE(toJson(Trial{})["speedup"].is_null());
}

TEST(Json, NamesThePlaceOfWhatItDoesNotTake) {
  const auto problem = [](auto change) {
    nlohmann::json document = toJson(fullWorkload());
    change(document["launches"][0]);
    const Result<Workload> read = fromJson<Workload>(document);
    EXPECT_FALSE(read);
    return read ? std::string() : read.error().what;
  };
  using Json = nlohmann::json;
  EXPECT_THAT(problem([](Json &launch) { launch.erase("weight"); }),
              HasSubstr("missing 'weight' at /launches/0"));
  EXPECT_THAT(problem([](Json &launch) { launch["wieght"] = 1; }),
              HasSubstr("unknown 'wieght' at /launches/0"));
  EXPECT_THAT(problem([](Json &launch) { launch["weight"] = "much"; }),
              HasSubstr("/launches/0/weight"));
  EXPECT_THAT(problem([](Json &launch) { launch["stack_bytes"] = -1; }),
              HasSubstr("out of range at /launches/0/stack_bytes"));
  EXPECT_THAT(problem([](Json &launch) { launch["grid"] = {1, 2}; }),
              HasSubstr("array of 3 at /launches/0/grid"));
  EXPECT_THAT(problem([](Json &launch) { launch["buffers"][0]["fill"]["kind"] = "odd"; }),
              HasSubstr("unknown name 'odd' at /launches/0/buffers/0/fill/kind"));
  EXPECT_THAT(problem([](Json &launch) { launch["arguments"][1]["bytes"] = "0g"; }),
              HasSubstr("/launches/0/arguments/1/bytes"));
  EXPECT_THAT(problem([](Json &launch) { launch["arguments"][1]["bytes"] = "000"; }),
              HasSubstr("even number"));
}

} // namespace
} // namespace kopt
