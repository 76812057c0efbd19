// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/RangeProfiler.h"

#include <cstring>
#include <gmock/gmock.h>

namespace {

using namespace kopt::runtime;
using namespace kopt::runtime::cuda;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// A CUPTI that knows two metrics, needs three passes, and says of each call what the test wants.
struct FakeCupti {
  std::map<std::string, cupti::Result> fails; ///< by member
  int passes = 3, submitted = 0, hosts = 0, enabled = 0;
  const std::uint8_t *counterData =
      nullptr; ///< where the session writes to: its first configuration says
  std::size_t ranges = 1;
  double first = 7;
};
FakeCupti *fake = nullptr;

cupti::Result answer(const char *member) {
  const auto found = fake->fails.find(member);
  return found == fake->fails.end() ? cupti::kOk : found->second;
}

cupti::Api fakeApi() {
  cupti::Api api;
  api.initialize = [](auto *) { return answer("initialize"); };
  api.chipName = [](auto *p) {
    p->chipName = "GX100";
    return answer("chipName");
  };
  api.counterAvailability = [](auto *p) {
    p->imageSize = 8;
    return answer("counterAvailability");
  };
  api.hostInitialize = [](auto *p) {
    ++fake->hosts;
    p->host = reinterpret_cast<cupti::HostObject *>(fake);
    return std::strcmp(p->chipName, "GX100") == 0 ? answer("hostInitialize") : 46;
  };
  api.hostDeinitialize = [](auto *) {
    --fake->hosts;
    return answer("hostDeinitialize");
  };
  api.addMetrics = [](auto *p) -> cupti::Result {
    for (std::size_t i = 0; i < p->count; ++i)
      if (std::string(p->names[i]).rfind("known", 0) != 0)
        return 1;
    return cupti::kOk;
  };
  api.configImageSize = [](auto *p) {
    p->imageSize = 16;
    return answer("configImageSize");
  };
  api.configImage = [](auto *p) { return p->imageSize == 16 ? answer("configImage") : 1; };
  api.passes = [](auto *p) {
    p->passes = std::size_t(fake->passes);
    return answer("passes");
  };
  api.evaluate = [](auto *p) {
    for (std::size_t i = 0; i < p->count; ++i)
      p->values[i] = i == 0 ? fake->first : double(p->counterData[0]);
    return answer("evaluate");
  };
  api.enable = [](auto *p) {
    ++fake->enabled;
    fake->counterData = nullptr;
    p->profiler = reinterpret_cast<cupti::RangeProfilerObject *>(fake);
    return answer("enable");
  };
  api.disable = [](auto *) {
    --fake->enabled;
    return answer("disable");
  };
  api.counterDataSize = [](auto *p) {
    p->counterDataSize = p->maxRanges * 32;
    return answer("counterDataSize");
  };
  api.counterDataInitialize = [](auto *) { return answer("counterDataInitialize"); };
  api.setConfig = [](auto *p) {
    fake->submitted = 0;
    if (!fake->counterData)
      fake->counterData = p->counterData;
    EXPECT_EQ(p->counterData, fake->counterData) << "CUPTI would write to where it was";
    return p->maxRangesPerPass == 1 ? answer("setConfig") : 1;
  };
  api.start = [](auto *) { return answer("start"); };
  api.stop = [](auto *p) {
    p->allPassesSubmitted = ++fake->submitted == fake->passes;
    return answer("stop");
  };
  api.decode = [](auto *) { return answer("decode"); };
  api.counterDataInfo = [](auto *p) {
    p->ranges = fake->ranges;
    return answer("counterDataInfo");
  };
  return api;
}

class RangeProfilerTest : public testing::Test {
protected:
  void SetUp() override { fake = &cupti_; }

  Status collect(Counters &out, Status launch = {}) {
    std::string why;
    const auto profiler = RangeProfiler::open(fakeApi(), nullptr, 0, why);
    if (!profiler)
      return {StatusCode::DeviceError, why};
    return profiler->collect({"known.a", "other", "known.b"},
                             {[this] {
                                log_ += "p";
                                return Status{};
                              },
                              [this, launch] {
                                log_ += "l";
                                return launch;
                              }},
                             out);
  }

  FakeCupti cupti_;
  std::string log_;
};

TEST_F(RangeProfilerTest, TakesAsManyPassesAsItNeedsEachFromTheSameState) {
  Counters out;
  const Status status = collect(out);
  ASSERT_TRUE(status.ok()) << status.detail;
  EXPECT_EQ(log_, "plplplplplpl") << "the first passes of a session are not kept";
  EXPECT_THAT(out, ElementsAre(Pair("known.a", 7), Pair("known.b", 0)))
      << "a metric that the chip does not have is absent";
  EXPECT_EQ(cupti_.enabled, 0);
  EXPECT_EQ(cupti_.hosts, 0);
}

TEST_F(RangeProfilerTest, AValueThatIsNoNumberIsAbsent) {
  cupti_.first = std::numeric_limits<double>::quiet_NaN();
  Counters out;
  ASSERT_TRUE(collect(out).ok());
  EXPECT_THAT(out, ElementsAre(Pair("known.b", 0)));
}

TEST_F(RangeProfilerTest, EveryCallThatFailsIsNamedAndLeavesNoCounters) {
  for (const char *member :
       {"initialize", "chipName", "counterAvailability", "hostInitialize", "configImageSize",
        "configImage", "passes", "evaluate", "enable", "disable", "counterDataSize",
        "counterDataInitialize", "setConfig", "start", "stop", "decode", "counterDataInfo"}) {
    cupti_ = {};
    cupti_.fails[member] = 26;
    Counters out;
    const Status status = collect(out);
    EXPECT_EQ(status.code, StatusCode::DeviceError) << member;
    EXPECT_THAT(status.detail, HasSubstr("(26)")) << member;
    EXPECT_TRUE(out.empty()) << member;
    if (std::string(member) != "enable")
      EXPECT_EQ(cupti_.enabled, 0) << member << " left the profiler on";
  }
}

TEST_F(RangeProfilerTest, DeniedCountersComeWithTheRemedy) {
  cupti_.fails["counterAvailability"] = cupti::kInsufficientPrivileges;
  Counters out;
  EXPECT_THAT(collect(out).detail, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

TEST_F(RangeProfilerTest, AFaultOfTheKernelIsTheKernels) {
  Counters out;
  const Status status = collect(out, {StatusCode::Fault, "illegal address"});
  EXPECT_EQ(status.code, StatusCode::Fault);
  EXPECT_EQ(log_, "pl");
  EXPECT_TRUE(out.empty());
}

TEST_F(RangeProfilerTest, NeverEndsWhereCuptiNeverDoes) {
  cupti_.passes = 1 << 20;
  Counters out;
  EXPECT_THAT(collect(out).detail, HasSubstr("not complete"));
}

TEST_F(RangeProfilerTest, MoreKernelsThanOneAreNotCountedAsOne) {
  cupti_.ranges = 2;
  Counters out;
  EXPECT_THAT(collect(out).detail, HasSubstr("2 ranges"));
}

// /usr/local/cuda may have a CUPTI: it is kopt that decides whether it is used.
TEST(Cupti, IsLookedForWhereKoptSays) {
  for (const char *list : {"", "/nonexistent/libcupti.so:/dev/null"}) {
    setenv("KOPT_CUPTI", list, 1);
    cupti::Api api;
    std::string why;
    EXPECT_FALSE(cupti::load(api, why)) << list;
    EXPECT_THAT(why, HasSubstr("CUPTI was not found"));
  }
  unsetenv("KOPT_CUPTI");
}

// What CUPTI itself knows of names and passes: its host side needs no GPU.
TEST(Metrics, AreThoseOfTheChip) {
#ifdef KOPT_TEST_CUPTI
  setenv("KOPT_CUPTI", KOPT_TEST_CUPTI, 1);
#endif
  cupti::Api api;
  std::string why;
  if (!cupti::load(api, why))
    GTEST_SKIP() << why;
  MetricSet set(api, "GH100", {});
  ASSERT_TRUE(set.select({"smsp__inst_executed.sum", "no_such__metric.sum",
                          "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
                         why))
      << why;
  EXPECT_THAT(set.names(),
              ElementsAre(testing::StrEq("smsp__inst_executed.sum"),
                          testing::StrEq("dram__throughput.avg.pct_of_peak_sustained_elapsed")));
  EXPECT_GE(set.passes(), 1u);
  EXPECT_FALSE(set.select({"no_such__metric.sum"}, why));
  EXPECT_THAT(why, HasSubstr("GH100 has none"));
  EXPECT_FALSE(MetricSet(api, "NOCHIP", {}).select({"smsp__inst_executed.sum"}, why));
  EXPECT_THAT(why, HasSubstr("cuptiProfilerHostInitialize"));
}

} // namespace
