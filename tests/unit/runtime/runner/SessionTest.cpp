// SPDX-License-Identifier: Apache-2.0
#include "runtime/runner/Session.h"
#include "fakes/FakeDevice.h"
#include "fakes/StoredContents.h"
#include "runtime/runner/Fill.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <limits>
#include <sys/resource.h>

namespace {

using namespace kopt::runtime;
using kopt::fakes::FakeDevice;
using protocol::Message;

constexpr std::size_t kCount = 1000;

class SessionTest : public testing::Test {
protected:
  SessionTest() {
    char pattern[] = "/tmp/kopt-session-XXXXXX";
    folder = mkdtemp(pattern);
    // Twice the input, as far as the count goes.
    device.add("twice", [](const LaunchRequest &request) {
      const auto *in = FakeDevice::argument<const float *>(request, 0);
      auto *out = FakeDevice::argument<float *>(request, 1);
      for (std::uint32_t i = 0; i < FakeDevice::argument<std::uint32_t>(request, 2); ++i)
        out[i] = 2 * in[i];
      return Status{};
    });
  }
  ~SessionTest() override { std::filesystem::remove_all(folder); }

  Message ask(const std::string &line) {
    const auto reply = Message::parse(session.answer(line));
    EXPECT_TRUE(reply);
    return reply.value_or(Message("none"));
  }
  std::uint32_t load(const std::string &name) {
    return ask("load id=1 path=" + name).number<std::uint32_t>("module").value_or(0);
  }
  std::string launch(std::uint32_t module, std::uint32_t count = kCount,
                     const std::string &outRole = "out") {
    char hex[9];
    std::snprintf(hex, sizeof hex, "%02x%02x%02x%02x", count & 255, count >> 8 & 255,
                  count >> 16 & 255, count >> 24);
    return " a.module=" + std::to_string(module) + " a.grid=4,1,1 a.block=256,1,1 a.shared=0" +
           " a.buffer=in," + std::to_string(4 * kCount) + ",f32,uniform,-1,1,in" +
           " a.buffer=out," + std::to_string(4 * kCount) + ",f32,uniform,-1,1," + outRole +
           " a.arg=buffer,0,0 a.arg=buffer,1,0 a.arg=value," + hex;
  }
  Message run(const std::string &launched) {
    return ask("run id=9 input_seed=5 poison_seed=6 out=," + folder + "/out" + launched);
  }
  std::vector<float> output() { return floats(folder + "/out"); }
  static std::vector<float> input() {
    BufferSpec spec;
    spec.scalar = "f32";
    std::vector<float> drawn(kCount);
    drawContents(spec, 5, 0, 0, 4 * kCount, reinterpret_cast<std::byte *>(drawn.data()));
    return drawn;
  }
  std::vector<float> floats(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<float> out(bytes.size() / 4);
    std::memcpy(out.data(), bytes.data(), out.size() * 4);
    return out;
  }

  FakeDevice device;
  Session session{device, [this] { return device.elapsed; }};
  std::string folder;
};

int status(const Message &reply) { return reply.number<int>("status").value_or(-1); }

/// A kernel that follows pointers: within a struct, within a buffer, and from a variable of its
/// module.
class CapturedTest : public SessionTest {
protected:
  struct Argument {
    std::int32_t count;
    float *out;
  };
  CapturedTest() {
    device.variables[{"gather", "_ZL6factor"}] = std::string(4, '\0');
    device.add("gather", [this](const LaunchRequest &request) {
      const auto argument = FakeDevice::argument<Argument>(request, 0);
      const auto *rows = FakeDevice::argument<const float *const *>(request, 1);
      float factor = 0;
      std::memcpy(&factor, device.variables.at({"gather", "_ZL6factor"}).data(), sizeof factor);
      for (std::int32_t i = 0; i < argument.count; ++i)
        argument.out[i] = factor * *rows[i];
      return Status{};
    });
  }
  template <class T> std::string contents(const std::vector<T> &values) {
    return kopt::fakes::storeValues(folder, values);
  }
  /// Data at 4096 and rows (pointers into it) at 65536, as they lay when they were captured.
  std::string gather(const std::string &variable) {
    const std::vector<float> data{1, 2, 3, 4};
    const std::vector<std::uint64_t> rows{4096 + 12, 4096, 4096 + 4};
    return " a.module=" + std::to_string(load("gather")) +
           " a.grid=1,1,1 a.block=32,1,1 a.shared=0"
           " a.buffer=data,16,f32,captured,0,0,in a.buffer=rows,24,u64,captured,0,0,in"
           " a.buffer=out,12,f32,uniform,-1,1,out a.buffer=factor,4,f32,captured,0,0,in"
           " a.contents=0," +
           contents(data) + " a.contents=1," + contents(rows) + " a.contents=3," +
           contents(std::vector<float>{10}) + " a.symbol=3," + variable +
           " a.address=0,4096,0 a.address=1,65536,1"
           " a.arg=value,03000000000000000000000000000000,8,2,0 a.arg=buffer,1,0";
  }
};

TEST_F(CapturedTest, AddressesWithinStructsAndBuffersAndVariablesAreSet) {
  const Message reply = ask("run id=9 out=,," + folder + "/out," + gather("_ZL6factor"));
  ASSERT_EQ(reply.text("status"), "0") << reply.format();
  EXPECT_EQ(output(), (std::vector<float>{40, 10, 20}));
}

constexpr float kInfinite = std::numeric_limits<float>::infinity();

/// `out` gets the eight numbers that `data` has after `offset` bytes.
TEST_F(CapturedTest, NumbersAreMultipliedMovedWidenedAndPlacedFurther) {
  device.add("copy", [](const LaunchRequest &request) {
    std::memcpy(FakeDevice::argument<void *>(request, 1), FakeDevice::argument<void *>(request, 0),
                32);
    return Status{};
  });
  const std::string file = contents(std::vector<float>{1, -2, 3, kInfinite, 5, 6, 7, 8, 9, 10});
  const auto run = [&](const std::string &buffer, const std::string &more, unsigned offset = 0) {
    const Message reply =
        ask("run id=9 out=," + folder + "/out a.module=" + std::to_string(load("copy")) +
            " a.grid=1,1,1 a.block=32,1,1 a.shared=0 a.buffer=data," + buffer +
            ",in a.buffer=out,32,f32,uniform,-1,1,out a.contents=0," + file + " a.arg=buffer,0," +
            std::to_string(offset) + " a.arg=buffer,1,0" + more);
    EXPECT_EQ(reply.text("status"), "0") << reply.format();
    return output();
  };
  EXPECT_EQ(run("40,f32,captured,-1,1", ""), (std::vector<float>{1, -2, 3, kInfinite, 5, 6, 7, 8}));
  EXPECT_EQ(run("40,f32,captured,-1,1", " a.captured=0,0,0,1000"),
            (std::vector<float>{1000, -2000, 3000, kInfinite, 5000, 6000, 7000, 8000}));
  EXPECT_EQ(run("40,i32,captured,-1,1", " a.captured=0,0,0,1000"),
            (std::vector<float>{1, -2, 3, kInfinite, 5, 6, 7, 8}))
      << "integers stay";
  EXPECT_EQ(run("44,f32,captured,-1,1", " a.captured=0,4,0,1", 4),
            (std::vector<float>{1, -2, 3, kInfinite, 5, 6, 7, 8}));
  EXPECT_EQ(run("44,f32,captured,-1,1", " a.captured=0,4,0,2")[0], 0);
  EXPECT_EQ(run("32,f32,captured,-1,1", ""), // what lies beyond the buffer is left out
            (std::vector<float>{1, -2, 3, kInfinite, 5, 6, 7, 8}));
  const std::vector<float> moved = run("40,f32,captured,-1,1", " jitter=1 input_seed=7");
  EXPECT_NE(moved, run("40,f32,captured,-1,1", ""));
  EXPECT_EQ(moved, run("40,f32,captured,-1,1", " jitter=1 input_seed=7"));
  EXPECT_NE(moved, run("40,f32,captured,-1,1", " jitter=1 input_seed=8"));
  EXPECT_NEAR(moved[5], 6, 1e-6);
  const std::vector<float> structs =
      run("40,struct%208%20f32%200%20i32%204,captured,-1,1", " a.captured=0,0,0,10");
  EXPECT_EQ(structs, (std::vector<float>{10, -2, 30, kInfinite, 50, 6, 70, 8}));
  const std::vector<float> wide = run("80,f64,captured,-1,1", " a.drawn=0,f32");
  double second = 0;
  std::memcpy(&second, wide.data() + 2, sizeof second);
  EXPECT_EQ(second, -2);
}

TEST_F(CapturedTest, WhatIsReadBackHoldsTheAddressesItWasCapturedWith) {
  std::string launched = gather("_ZL6factor");
  launched.replace(launched.find("captured,0,0,in a.buffer=out"), 15, "captured,0,0,inout");
  const Message reply = ask("run id=9 out=," + folder + "/rows," + folder + "/out," + launched);
  ASSERT_EQ(reply.text("status"), "0") << reply.format();
  std::ifstream file(folder + "/rows", std::ios::binary);
  std::uint64_t rows[3] = {};
  file.read(reinterpret_cast<char *>(rows), sizeof rows);
  EXPECT_EQ(rows[0], 4096u + 12);
  EXPECT_EQ(rows[2], 4096u + 4);
}

TEST_F(CapturedTest, AModuleWithoutAVariableThatIsOnlyReadGoesWithoutIt) {
  const Message reply = ask("run id=9 out=,," + folder + "/out," + gather("_ZL5other"));
  ASSERT_EQ(reply.text("status"), "0") << reply.format();
  EXPECT_EQ(output(), (std::vector<float>{0, 0, 0}));
  // One that the launch writes has to be there.
  std::string launched = gather("_ZL5other");
  launched.replace(launched.find("factor,4,f32,captured,0,0,in"), 28,
                   "factor,4,f32,captured,0,0,inout");
  const Message refused = ask("run id=9 out=,," + folder + "/out," + launched);
  EXPECT_EQ(refused.text("status"), "1") << refused.format();
  EXPECT_NE(refused.text("detail").find("_ZL5other"), std::string::npos);
}

TEST_F(CapturedTest, DamagedContentsAreTheMachinesFaultAndNamed) {
  const std::string launched = gather("_ZL6factor");
  const std::string path = contents(std::vector<float>{1, 2, 3, 4});
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(-1, std::ios::end)
      .put('\x55');
  const Message reply = ask("run id=9 out=,," + folder + "/out," + launched);
  EXPECT_EQ(reply.verb(), "error") << reply.format();
  EXPECT_EQ(reply.text("code"), "environment");
  EXPECT_NE(reply.text("text").find(path), std::string::npos) << reply.format();
}

TEST_F(CapturedTest, GivenValuesComeFromTheRequestOrFromAFileOfBareBytes) {
  const auto withFactor = [&](const std::string &fields) {
    std::string launched = gather("_ZL6factor");
    launched.replace(launched.find("factor,4,f32,captured"), 21, "factor,4,f32,values");
    const std::size_t begin = launched.find(" a.contents=3,");
    launched.replace(begin, launched.find(' ', begin + 1) - begin, fields);
    return ask("run id=9 out=,," + folder + "/out," + launched);
  };
  const Message written = withFactor(" a.values=3,0000a041"); // 20
  ASSERT_EQ(written.text("status"), "0") << written.format();
  EXPECT_EQ(output(), (std::vector<float>{80, 20, 40}));

  const std::string path = folder + "/factors.bin";
  const float factors[] = {5, 77}; // of a larger problem: the first is taken
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(factors), sizeof factors);
  const Message read = withFactor(" a.contents=3," + path);
  ASSERT_EQ(read.text("status"), "0") << read.format();
  EXPECT_EQ(output(), (std::vector<float>{20, 5, 10}));

  const std::string cut = folder + "/cut.bin";
  std::ofstream(cut, std::ios::binary) << "ab";
  const Message refused = withFactor(" a.contents=3," + cut);
  EXPECT_EQ(refused.verb(), "error") << refused.format();
  EXPECT_NE(refused.text("text").find(cut + " holds 2 bytes, the buffer has 4"), std::string::npos)
      << refused.format();
}

TEST_F(CapturedTest, MalformedFieldsAreRefusedByName) {
  const std::string good = gather("_ZL6factor");
  const auto refused = [&](const std::string &from, const std::string &to,
                           const std::string &field) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    const Message reply = ask("run id=9 out=,,," + bad);
    EXPECT_EQ(reply.verb(), "error");
    EXPECT_NE(reply.text("text").find(field), std::string::npos) << reply.format();
  };
  refused("a.contents=0,", "a.contents=7,", "a.contents");
  refused("a.contents=3,", "a.other=3,", "a.contents");
  refused("a.symbol=3,", "a.symbol=4,", "a.symbol");
  refused("a.address=0,4096,0", "a.address=0,4096,2", "a.address");
  refused(",8,2,0", ",9,2,0", "a.arg");
  refused(",8,2,0", ",8,3,0", "a.arg");
  refused(",8,2,0", ",8,2,13", "a.arg");
  refused(",8,2,0", ",8,2", "a.arg");
}

TEST_F(SessionTest, HelloDescribesTheDevice) {
  const Message reply = ask("hello version=10 id=4");
  EXPECT_EQ(reply.verb(), "ok");
  EXPECT_EQ(reply.number<int>("id"), 4);
  EXPECT_EQ(reply.text("name"), "Fake GPU");
  EXPECT_EQ(reply.text("arch"), "sm_90");
}

TEST_F(SessionTest, AnotherVersionIsRefused) {
  const Message reply = ask("hello version=1 id=4");
  EXPECT_EQ(reply.verb(), "error");
  EXPECT_NE(reply.text("text").find("version 10"), std::string::npos);
}

TEST_F(SessionTest, EveryLineIsAnswered) {
  for (const char *line : {"", "=", "dance id=1", "run id=2", "time id=3 a.module=1", "load"})
    EXPECT_NE(session.answer(line), "") << line;
  EXPECT_EQ(ask("dance id=1").text("code"), "request");
  EXPECT_EQ(ask("run id=2").text("code"), "request");
  EXPECT_FALSE(session.ended());
}

TEST_F(SessionTest, RunReturnsWhatTheKernelMade) {
  const Message reply = run(launch(load("twice")));
  ASSERT_EQ(status(reply), 0) << reply.text("detail");
  const std::vector<float> in = input(), out = output();
  ASSERT_EQ(out.size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i)
    ASSERT_EQ(out[i], 2 * in[i]);
  EXPECT_EQ(reply.list("unwritten"), (std::vector<std::string>{"0", "0"}));
  EXPECT_EQ(device.launches, 1u); // nothing was left poisoned, so one launch tells all
  EXPECT_EQ(device.liveAllocations(), 0u);
}

TEST_F(SessionTest, EveryStageIsTimed) {
  double now = 0;
  Session timed{device, [&now] { return now += 1; }};
  timed.answer("load id=1 path=twice");
  const auto reply = Message::parse(timed.answer("run id=9 out=," + folder + "/out" + launch(1)));
  ASSERT_TRUE(reply);
  std::map<std::string, double> stages;
  for (const std::vector<std::string> &stage : reply->lists("stage"))
    stages[stage.at(0)] = protocol::parseNumber<double>(stage.at(1)).value_or(0);
  for (const char *name :
       {"allocate", "draw", "fill", "launch", "check", "read", "unwritten", "free"})
    EXPECT_GT(stages[name], 0) << name;
  EXPECT_EQ(stages.size(), 8u);
}

TEST_F(SessionTest, AFileThatIsNoneIsTheMachines) {
  const Message reply = ask("run id=9 out=,/dev/full" + launch(load("twice")));
  EXPECT_EQ(reply.verb(), "error");
  EXPECT_EQ(reply.text("code"), "environment");
  EXPECT_NE(reply.text("text").find("/dev/full"), std::string::npos);
}

TEST_F(SessionTest, TheFileMayBeAnotherOneNextTime) {
  const std::uint32_t module = load("twice");
  run(launch(module));
  std::filesystem::rename(folder + "/out", folder + "/kept");
  run(launch(module, 0));
  EXPECT_NE(output(), floats(folder + "/kept"));
  run(launch(module));
  EXPECT_EQ(output(), floats(folder + "/kept"));
}

TEST_F(SessionTest, UnwrittenElementsAreCountedExactly) {
  const Message reply = run(launch(load("twice"), kCount - 17));
  ASSERT_EQ(status(reply), 0);
  EXPECT_EQ(reply.list("unwritten"), (std::vector<std::string>{"0", "17"}));
  EXPECT_EQ(device.launches, 2u);
}

TEST_F(SessionTest, PaddingNeedNotBeWritten) {
  // Elements of 8 bytes: a float, a byte, and three of padding.
  const auto members = [&](std::size_t last) {
    device.add("members" + std::to_string(last), [last](const LaunchRequest &request) {
      auto *out = FakeDevice::argument<std::byte *>(request, 1);
      for (std::size_t i = 0; i < last; ++i) {
        const float value = float(i);
        std::memcpy(out + 8 * i, &value, sizeof value);
        out[8 * i + 4] = std::byte(i);
      }
      return Status{};
    });
    std::string launched = launch(load("members" + std::to_string(last)));
    const std::size_t at = launched.find("f32", launched.find("a.buffer=out"));
    launched.replace(at, 3, protocol::encode("struct 8 f32 0 u8 4"));
    return run(launched);
  };
  const Message all = members(kCount / 2);
  ASSERT_EQ(status(all), 0) << all.text("detail");
  EXPECT_EQ(all.list("unwritten"), (std::vector<std::string>{"0", "0"}));
  const Message some = members(kCount / 2 - 3);
  ASSERT_EQ(status(some), 0) << some.text("detail");
  EXPECT_EQ(some.list("unwritten"), (std::vector<std::string>{"0", "15"})) << "bytes of members";
}

TEST_F(SessionTest, SharedMemoryIsAskedForAnewBeforeEachLaunch) {
  std::vector<std::uint64_t> seeds;
  device.add("nothing", [&](const LaunchRequest &request) {
    seeds.push_back(request.scratchSeed);
    return Status{};
  });
  const std::string launched = launch(load("nothing"));
  ASSERT_EQ(status(run(" scratch=3" + launched)), 0);
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{6, 7})); // the second on the inverted poison
  ASSERT_EQ(status(run(launched)), 0);
  EXPECT_EQ(seeds, (std::vector<std::uint64_t>{6, 7, 0, 0}));
}

TEST_F(SessionTest, WritingTheValueOfThePoisonIsNotUnwritten) {
  // Writes back what it finds in the first half, but never the same under the inverted poison.
  std::vector<float> seen(kCount);
  bool first = true;
  device.add("echo", [&](const LaunchRequest &request) {
    auto *out = FakeDevice::argument<float *>(request, 1);
    if (first)
      std::memcpy(seen.data(), out, 4 * kCount);
    first = false;
    std::memcpy(out, seen.data(), 4 * kCount);
    return Status{};
  });
  const Message reply = run(launch(load("echo")));
  ASSERT_EQ(status(reply), 0);
  EXPECT_EQ(reply.list("unwritten"), (std::vector<std::string>{"0", "0"}));
}

TEST_F(SessionTest, InPlaceBuffersBeginFilled) {
  device.add("nothing", [](const LaunchRequest &) { return Status{}; });
  const Message reply = run(launch(load("nothing"), 0, "inout"));
  ASSERT_EQ(status(reply), 0);
  EXPECT_EQ(reply.list("unwritten"), (std::vector<std::string>{"0", "0"}));
  for (const float value : output()) {
    ASSERT_GE(value, -1);
    ASSERT_LE(value, 1);
  }
}

TEST_F(SessionTest, GuardZonesOnBothSides) {
  device.add("over", [](const LaunchRequest &request) {
    FakeDevice::argument<float *>(request, 1)[kCount + 2] = 0;
    return Status{};
  });
  device.add("under", [](const LaunchRequest &request) {
    FakeDevice::argument<float *>(request, 1)[-3] = 0;
    return Status{};
  });
  const Message over = run(launch(load("over")));
  EXPECT_EQ(status(over), int(StatusCode::GuardTouched));
  EXPECT_EQ(over.text("detail"), "wrote past the end of out: at element 1002 of 1000");
  const Message under = run(launch(load("under")));
  EXPECT_EQ(status(under), int(StatusCode::GuardTouched));
  EXPECT_EQ(under.text("detail"), "wrote before the start of out: at element -3");
}

TEST_F(SessionTest, ReadOnlyBuffersMustNotChange) {
  device.add("spoil", [](const LaunchRequest &request) {
    FakeDevice::argument<float *>(request, 0)[41] = 9;
    return Status{};
  });
  const Message reply = run(launch(load("spoil")));
  EXPECT_EQ(status(reply), int(StatusCode::InputChanged));
  EXPECT_EQ(reply.text("detail"), "wrote to the read-only in: element 41 changed");
}

TEST_F(SessionTest, EmulatedDeviceGetsExactAllocations) {
  device.info.kind = "emulated";
  std::size_t touched = 0;
  device.add("look", [&](const LaunchRequest &request) {
    // The fake allocates one byte more than asked for and paints it.
    touched = std::size_t(FakeDevice::argument<const unsigned char *>(request, 0)[4 * kCount]);
    return Status{};
  });
  run(launch(load("look")));
  EXPECT_EQ(touched, 0xEEu);
}

TEST_F(SessionTest, AFaultIsTheLastReply) {
  device.add("fault",
             [](const LaunchRequest &) { return Status{StatusCode::Fault, "illegal address"}; });
  const Message reply = run(launch(load("fault")));
  EXPECT_EQ(status(reply), int(StatusCode::Fault));
  EXPECT_EQ(reply.text("detail"), "illegal address");
  EXPECT_TRUE(reply.has("last"));
  EXPECT_TRUE(session.ended());
}

TEST_F(SessionTest, LackOfMemoryIsNotTheCandidates) {
  device.info.memoryBytes = 100;
  const Message reply = run(launch(load("twice")));
  EXPECT_EQ(reply.verb(), "error");
  EXPECT_EQ(reply.text("code"), "environment");
}

TEST_F(SessionTest, AFileThatCannotBeMadeIsNamed) {
  const Message reply = ask("run id=9 out=," + folder + "/missing/out" + launch(load("twice")));
  EXPECT_EQ(reply.text("code"), "environment");
  EXPECT_NE(reply.text("text").find(folder + "/missing/out"), std::string::npos);
}

TEST_F(SessionTest, ADiskWithoutRoomIsNotTheCandidates) {
  const std::uint32_t module = load("twice");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit little{100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  const Message reply = run(launch(module));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(reply.text("code"), "environment");
  EXPECT_NE(reply.text("text").find("cannot write " + folder + "/out"), std::string::npos);
}

TEST_F(SessionTest, HelloSaysWhetherTheDriversMemoryCanBeReached) {
  EXPECT_EQ(ask("hello version=10 id=1 probe=" + folder).text("shared"), "1");
  EXPECT_EQ(ask("hello version=10 id=1 probe=/proc/0/fd/3").text("shared"), "0");
}

TEST_F(SessionTest, ProfileReturnsCounters) {
  const Message reply = ask("profile id=3" + launch(load("twice")));
  ASSERT_EQ(status(reply), 0);
  ASSERT_EQ(reply.lists("counter").size(), 1u);
  EXPECT_EQ(reply.lists("counter")[0], (std::vector<std::string>{"launch__block_size", "256"}));
}

TEST_F(SessionTest, CountsFromRestoredBuffersInEveryPass) {
  std::vector<float> seen;
  device.add("increment", [&](const LaunchRequest &request) {
    auto *data = FakeDevice::argument<float *>(request, 1);
    seen.push_back(data[0]);
    data[0] += 1;
    return Status{};
  });
  const std::string inPlace = launch(load("increment"), kCount, "inout");
  Message reply = ask("profile id=3 metrics=known.a,other" + inPlace);
  ASSERT_EQ(status(reply), 0) << reply.text("detail");
  EXPECT_EQ(reply.lists("counter").size(), 2u) << "the block's size, and the one metric there is";
  EXPECT_FALSE(reply.has("no_counters"));
  ASSERT_EQ(seen.size(), 4u) << "once for the facts, three passes";
  EXPECT_EQ(seen[1], seen[0]);
  EXPECT_EQ(seen[3], seen[0]);
  device.noCounters = "counters are denied";
  reply = ask("profile id=4 metrics=known.a" + inPlace);
  EXPECT_EQ(status(reply), 0);
  EXPECT_EQ(reply.text("no_counters"), "counters are denied");
  EXPECT_EQ(reply.lists("counter").size(), 1u);
}

TEST_F(SessionTest, RatesAreThoseThatWereMeasured) {
  device.rates = {3e12, 2.9e12, 5e13, 0, 1.2e12, "fp64: no units"};
  const Message reply = ask("rates id=3");
  EXPECT_EQ(status(reply), 0);
  EXPECT_EQ(reply.number<double>("dram_bytes"), 3e12);
  EXPECT_EQ(reply.number<double>("dram_copy_bytes"), 2.9e12);
  EXPECT_EQ(reply.number<double>("fp32"), 5e13);
  EXPECT_FALSE(reply.has("fp64")) << "a rate that is not known is absent, not zero";
  EXPECT_EQ(reply.number<double>("instructions"), 1.2e12);
  EXPECT_EQ(reply.text("missing"), "fp64: no units");
  EXPECT_TRUE(reply.has("stage"));
}

TEST_F(SessionTest, ModulesComeAndGo) {
  EXPECT_EQ(status(ask("load id=1 path=unheard")), int(StatusCode::LaunchFailed));
  const std::uint32_t module = load("twice");
  EXPECT_EQ(status(ask("unload id=2 module=" + std::to_string(module))), 0);
  EXPECT_EQ(run(launch(module)).text("code"), "environment");
}

TEST_F(SessionTest, WithoutADeviceTheReasonIsTheReply) {
  const auto reply = Message::parse(answerWithoutDevice("hello version=10 id=8", "no driver"));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text("code"), "no-device");
  EXPECT_EQ(reply->text("text"), "no driver");
  EXPECT_EQ(reply->number<int>("id"), 8);
}

} // namespace
