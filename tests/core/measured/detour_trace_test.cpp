#include "hplcast/core/detour_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/core/errors.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::HasSubstr;

DetourTrace read(const std::string& text, const std::string& name = "gaps.csv") {
  std::istringstream in(text);
  return read_detour_trace(in, name);
}

std::string error_of(const std::string& text) {
  try {
    read(text);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

const std::string header = std::string(detour_csv_header) + "\n";

TEST(DetourTrace, IsReadAsItWasWritten) {
  std::ostringstream out;
  out << header;
  write_row(out, {DetourRowKind::epoch, "", 0, 1790000000, 0, 0, 0});
  write_row(out, {DetourRowKind::gap, "a,b", 3, 0.25, 1e-5, 0, 0});
  write_row(out, {DetourRowKind::gap, "a,b", 3, 0.5, 2e-5, 0, 0});
  write_row(out, {DetourRowKind::window, "a,b", 3, 0.125, 10, 0, 2.6e-8});
  const DetourTrace trace = read(out.str());
  EXPECT_EQ(trace.epoch_unix_s, 1790000000);
  ASSERT_EQ(trace.cores.size(), 1U);
  EXPECT_EQ(trace.cores[0].host, "a,b");
  EXPECT_EQ(trace.cores[0].core, 3);
  ASSERT_EQ(trace.cores[0].events.size(), 2U);
  EXPECT_EQ(trace.cores[0].events[1].start_s, 0.5);
  EXPECT_EQ(trace.cores[0].events[1].duration_s, 2e-5);
  EXPECT_EQ(trace.cores[0].watched_s(), 10);
  EXPECT_EQ(trace.cores[0].resolution_s, 2.6e-8);
}

TEST(DetourTrace, OfACoreWithoutDetoursIsItsWindow) {
  const DetourTrace trace = read(header + "window,a,0,0,10,0,0\n");
  ASSERT_EQ(trace.cores.size(), 1U);
  EXPECT_EQ(trace.cores[0].events.size(), 0U);
  EXPECT_EQ(trace.cores[0].lost_s(), 0);
}

TEST(DetourTrace, MayHaveItsColumnsInAnyOrderAndOthers) {
  const DetourTrace trace = read("duration_s,colour,start_s,core,kind,host\n1e-5,red,1,0,gap,a\n1e-5,red,2,0,gap,a\n");
  EXPECT_EQ(trace.cores[0].events.size(), 2U);
  EXPECT_EQ(trace.notes.size(), 1U);  // no window
}

TEST(DetourTrace, OfFixedWorkIsWhatItTookLonger) {
  const DetourTrace trace =
      read(header + "fwq,a,0,0,0.001,5,0\nfwq,a,0,0.001,0.0015,5,0\nfwq,a,0,0.0025,0.0010005,5,0\n");
  ASSERT_EQ(trace.cores[0].events.size(), 1U);  // half a microsecond is below the threshold
  EXPECT_EQ(trace.cores[0].events[0].start_s, 0.001);
  EXPECT_NEAR(trace.cores[0].events[0].duration_s, 0.0005, 1e-12);
  EXPECT_EQ(trace.cores[0].resolution_s, 0.001);
}

TEST(DetourTrace, OfFixedTimeIsWhatWasNotDoneInIt) {
  std::string text = header;
  for (int i = 0; i < 100; ++i)
    text += "ftq,a,0," + std::to_string(0.001 * i) + ",0.001," + (i == 50 ? "7500" : "10000") + ",0\n";
  const DetourTrace trace = read(text);
  EXPECT_NEAR(trace.cores[0].resolution_s, 0.001, 1e-9);
  // A detour of 100 ms at the end of a quantum makes it longer, and starts no less known.
  EXPECT_NEAR(read(text + "ftq,a,0,0.1,0.101,10000,0\n").cores[0].resolution_s, 0.001, 1e-9);
  ASSERT_EQ(trace.cores[0].events.size(), 1U);
  EXPECT_NEAR(trace.cores[0].events[0].duration_s, 0.00025, 1e-12);
  EXPECT_NEAR(trace.cores[0].watched_s(), 0.1, 1e-9);
}

TEST(DetourTrace, IsReadFromNetgaugesSelfish) {
  const DetourTrace trace = read(
      "# Info:   (0): Netgauge v2.4\n# Minimal cycle length [ns]: 22.5\n# Measurement period [s]: 3\n"
      "1000000\t5000\n2000000000\t7000\n# CPU overhead due to noise: 0.0004%\n",
      "out/node7.dat");
  ASSERT_EQ(trace.cores.size(), 1U);
  EXPECT_EQ(trace.format, "selfish");
  EXPECT_EQ(trace.cores[0].host, "node7");
  EXPECT_NEAR(trace.cores[0].watched_s(), 3, 1e-12);
  EXPECT_NEAR(trace.cores[0].events[1].start_s, 2, 1e-12);
  EXPECT_NEAR(trace.cores[0].events[1].duration_s, 7e-6, 1e-15);
}

// Logarithms are taken of durations.
TEST(DetourTrace, HasNoDetoursOfNoTimeOfSelfish) {
  const DetourTrace trace = read("# Netgauge\n1000\t0\n5000\t900\n3000000000\t0\n", "node7.dat");
  ASSERT_EQ(trace.cores[0].events.size(), 1U);
  EXPECT_NEAR(trace.cores[0].events[0].duration_s, 9e-7, 1e-15);
  EXPECT_NEAR(trace.cores[0].watched_s(), 3 - 1e-6, 1e-9);
  EXPECT_TRUE(read("# Netgauge\n1000\t0\n5000\t0\n", "node7.dat").cores[0].events.empty());
}

TEST(DetourTrace, IsReadFromFtq) {
  std::string text = "# Frequency 10000\n";
  for (int i = 0; i < 200; ++i) text += std::to_string(5000000 + 100000L * i) + " " + (i == 20 ? "600" : "1000") + "\n";
  const DetourTrace trace = read(text, "ftq_0.dat");
  EXPECT_EQ(trace.format, "ftq");
  ASSERT_EQ(trace.cores[0].events.size(), 1U);
  EXPECT_NEAR(trace.cores[0].events[0].start_s, 0.007, 1e-12);
  EXPECT_NEAR(trace.cores[0].events[0].duration_s, 4e-5, 1e-12);
  EXPECT_NEAR(trace.cores[0].watched_s(), 0.02, 1e-12);
}

// FTQ's deadlines keep their raster: what comes behind a detour is shorter, or nothing.
TEST(DetourTrace, HasLongDetoursOfFtqWhole) {
  std::string text;
  const auto quantum = [&](long start_ns, long work) {
    text += std::to_string(start_ns) + " " + std::to_string(work) + "\n";
  };
  for (long i = 0; i < 20; ++i) quantum(100000 * i, 1000);
  quantum(2000000, 600);  // 350 us from 2.060 ms on
  quantum(2410000, 0);    // two deadlines are over already
  quantum(2410000, 0);
  quantum(2410025, 0);
  quantum(2410050, 900);
  for (long i = 25; i < 40; ++i) quantum(100000 * i, i == 30 ? 200 : 1000);  // 80 us
  const DetourTrace trace = read(text, "ftq_0.dat");
  const auto& events = trace.cores[0].events;
  ASSERT_EQ(events.size(), 2U);
  EXPECT_NEAR(events[0].start_s, 0.002, 1e-12);
  constexpr double unit_s = 1e-7;  // of work: one of them more or less is rounding
  EXPECT_NEAR(events[0].duration_s, 3.5e-4, unit_s);
  EXPECT_NEAR(events[1].duration_s, 8e-5, unit_s);
  EXPECT_NEAR(trace.cores[0].watched_s(), 0.004, 1e-12);
}

TEST(DetourTraces, OfThreadsOfFtqAreCoresOfOneHost) {
  const auto thread = [](int number) {
    const std::string n = std::to_string(number);
    return read("# Frequency 10000\n# thread " + n + ", core -1\n0 1000\n100000 1000\n200000 900\n",
                "out/a_b_" + n + ".dat");
  };
  const DetourTrace joined = join_traces({thread(0), thread(12)});
  ASSERT_EQ(joined.cores.size(), 2U);
  EXPECT_EQ(joined.cores[0].host, "a_b");
  EXPECT_EQ(joined.cores[1].host, "a_b");
  EXPECT_EQ(joined.cores[1].core, 12);
  EXPECT_FALSE(joined.common_clock);
  EXPECT_TRUE(join_traces({thread(0)}).common_clock);
  // A number that is no thread is part of the host's name.
  const std::string text = "# Frequency 10000\n# thread 0, core -1\n0 1000\n100000 1000\n200000 900\n";
  EXPECT_EQ(read(text, "gros_12.dat").cores.at(0).host, "gros_12");
}

TEST(DetourTrace, IsReadFromRtlaInSums) {
  const DetourTrace trace = read(
      "                         Operating System Noise\nduration:   0 00:00:10 | time is in us\n"
      "CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW          NMI          "
      "IRQ\n"
      "  0 #9           9000000         1800    99.98000         300           40           5            0        "
      "2500\n"
      "  3 #9           9000000            0   100.00000           0            0           0            0           "
      "0\n",
      "node1.txt");
  EXPECT_EQ(trace.format, "osnoise");
  ASSERT_EQ(trace.summaries.size(), 2U);
  EXPECT_NEAR(trace.summaries[0].lost_s, 1.8e-3, 1e-12);
  EXPECT_NEAR(trace.summaries[0].longest_s, 4e-5, 1e-12);
  EXPECT_EQ(trace.summaries[0].events, 2505);
  EXPECT_EQ(trace.summaries[1].core, 3);
}

TEST(DetourTrace, SaysWhatIsWrong) {
  EXPECT_THAT(error_of(""), HasSubstr("no line of data"));
  EXPECT_THAT(error_of(header), HasSubstr("no measurement"));
  EXPECT_THAT(error_of(header + "gap,a,0,1,1e-5,0,0\n"), HasSubstr("tells nothing about how often"));
  EXPECT_THAT(error_of(header + "gap,a,0,2,1e-5,0,0\ngap,a,0,1,1e-5,0,0\n"), HasSubstr("gaps.csv:3"));
  EXPECT_THAT(error_of(header + "gap,a,0,2,1e-5,0,0\ngap,a,0,1,1e-5,0,0\n"), HasSubstr("time runs backwards"));
  EXPECT_THAT(error_of(header + "gap,a,0,1,2,0,0\ngap,a,0,2,1e-5,0,0\n"),
              HasSubstr("beyond the beginning of the next"));
  EXPECT_THAT(error_of(header + "window,a,0,0,1,0,0\ngap,a,0,2,1e-5,0,0\n"), HasSubstr("not inside a window"));
  EXPECT_THAT(error_of(header + "hole,a,0,1,1e-5,0,0\n"), HasSubstr("expected epoch, window, gap"));
  EXPECT_THAT(error_of(header + "gap,a,0,1,-1e-5,0,0\n"), HasSubstr("duration_s"));
  EXPECT_THAT(error_of("kind,host,core,start_s,duration_s\nftq,a,0,1,0.1\n"), HasSubstr("`work`"));
  EXPECT_THAT(error_of(header + "gap,a,0,1e300,1e-5,0,0\n"), HasSubstr("at most 1e10 s"));
  EXPECT_THAT(error_of(header + "window,a,0,0,2,0,0\nwindow,a,0,1,2,0,0\n"), HasSubstr("begins in the one before"));
  EXPECT_THAT(error_of("1e300\t20\n"), HasSubstr("1e19"));
  EXPECT_THAT(error_of("1000\t20\n"), HasSubstr("expected at least two"));
  EXPECT_THAT(error_of("2000\t20\n1000\t20\n"), HasSubstr("time runs backwards"));
  EXPECT_THAT(error_of("one two\n"), HasSubstr("expected a number"));
  EXPECT_THAT(error_of("1 2 3\n"), HasSubstr("expected two numbers"));
  EXPECT_THAT(error_of("CPU Period Runtime Noise x\n"), HasSubstr("a line per CPU"));
  EXPECT_THAT(error_of("CPU Period Runtime Noise x\n0 #1 100 200 1 2 3 4\n"), HasSubstr("less noise than runtime"));
}

/// It took 20 s, and all memory, to look for its sources.
TEST(DetourTrace, TimesThatAreNoneAreNoDetours) {
  const DetourTrace trace = read("# Netgauge selfish\n1000\t20\n2000\t1e-320\n3000\t20\n");
  EXPECT_EQ(trace.cores.at(0).events.size(), 2U);
}

TEST(DetourTraces, AreJoinedOnOneClock) {
  DetourTrace a = read(header + "epoch,,,1000,,,\nwindow,a,0,0,2,0,0\ngap,a,0,1,1e-3,0,0\n");
  DetourTrace b = read(header + "epoch,,,1010,,,\nwindow,a,0,0,2,0,1e-6\ngap,a,0,1.5,1e-3,0,0\nwindow,b,0,0,2,0,0\n");
  const DetourTrace joined = join_traces({b, a});
  EXPECT_EQ(joined.epoch_unix_s, 1000);
  EXPECT_TRUE(joined.common_clock);
  ASSERT_EQ(joined.cores.size(), 2U);
  EXPECT_EQ(joined.cores[0].watched_s(), 4);
  EXPECT_EQ(joined.cores[0].events[1].start_s, 11.5);
  EXPECT_EQ(joined.cores[0].resolution_s, 1e-6);
  EXPECT_THROW(join_traces({a, a}), ParseError);
  // One measurement cut into turns without a pause: 0.1 + 0.2 is above 0.3.
  a = read(header + "epoch,,,1000,,,\nwindow,a,0,0.1,0.2,0,0\n");
  b = read(header + "epoch,,,1000,,,\nwindow,a,0,0.3,0.2,0,0\n");
  EXPECT_EQ(join_traces({a, b}).cores[0].windows.size(), 2U);
}

}  // namespace
}  // namespace hplcast::core
