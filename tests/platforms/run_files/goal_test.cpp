#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "hplcast/core/errors.hpp"
#include "hplcast/platforms/run_files.hpp"

namespace hplcast::platforms {
namespace {

using ::testing::HasSubstr;

std::string event(int rank, const char* category, const char* name, double begin_us, double end_us,
                  const std::string& arguments = "") {
  std::ostringstream text;
  text << R"({"ph":"X","cat":")" << category << R"(","name":")" << name << R"(","pid":0,"tid":)" << rank << R"(,"ts":)"
       << begin_us << R"(,"dur":)" << end_us - begin_us << (arguments.empty() ? "" : ",\"args\":{" + arguments + "}")
       << "}";
  return text.str();
}

std::string message(int rank, const char* name, double begin_us, double end_us, int peer, double waited_us = 0) {
  std::ostringstream arguments;
  arguments << R"("peer":)" << peer << R"(,"tag":7,"bytes":800,"waited_us":)" << waited_us;
  return event(rank, "mpi", name, begin_us, end_us, arguments.str());
}

std::string goal_of(const std::vector<std::string>& events) {
  std::string text = R"({"traceEvents":[{"ph":"M","name":"thread_name","pid":0,"tid":0,"args":{"name":"rank 0"}})";
  for (const std::string& one : events) text += ",\n" + one;
  std::istringstream in(text + "]}");
  std::ostringstream out;
  write_goal(out, in, "trace.json");
  return out.str();
}

void expect_refused(const std::vector<std::string>& events, const std::string& reason) {
  try {
    FAIL() << goal_of(events);
  } catch (const core::ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr(reason));
  }
}

// Rank 0 works 2 us, sends, works 1.5 us to the end. Rank 1 asks for the message, works 1 us, polls for 0.5 us beside 2
// us of waiting, and waits for the message.
TEST(Goal, HasWorkMessagesAndWhatRequiresWhat) {
  EXPECT_EQ(
      goal_of({event(0, "kernel", "dgemm", 0, 2), message(0, "send", 2, 4, 1), event(0, "kernel", "dgemm", 4, 5.5),
               message(1, "irecv", 0, 0, 0), event(1, "kernel", "dgemm", 0, 1), message(1, "iprobe", 1, 3.5, 0, 2),
               message(1, "wait", 3.5, 4, 0, 0.5)}),
      "num_ranks 2\n"
      "\nrank 0 {\n"
      "l1: calc 2000\n"
      "l2: send 800b to 1 tag 7\nl2 requires l1\n"
      "l3: calc 1500\nl3 requires l2\n"
      "}\n"
      "\nrank 1 {\n"
      "l1: recv 800b from 0 tag 7\n"
      "l2: calc 1000\n"
      "l3: calc 500\nl3 requires l2\n"
      "l4: calc 0\nl4 requires l3\nl4 requires l1\n"
      "}\n");
}

TEST(Goal, HasRanksWithoutRowsInTheirPanels) {
  EXPECT_EQ(
      goal_of({event(0, "phase", "factorisation", 0, 2), event(0, "kernel", "idamax", 0, 2),
               message(0, "send", 2, 3, 1), event(1, "phase", "factorisation", 0, 2), message(1, "recv", 0, 3, 0)}),
      "num_ranks 2\n\nrank 0 {\nl1: calc 2000\nl2: send 800b to 1 tag 7\nl2 requires l1\n}\n"
      "\nrank 1 {\nl1: recv 800b from 0 tag 7\n}\n");
}

TEST(Goal, RefusesTracesOfPartOfARun) {
  expect_refused({message(0, "send", 0, 1, 1), event(1, "kernel", "dgemm", 0, 1)},
                 "of the messages of rank 0 to rank 1 with tag 7 1 are only sent");
  expect_refused({message(1, "recv", 0, 1, 0), event(0, "kernel", "dgemm", 0, 1)}, "1 are only received");
  expect_refused({event(1, "kernel", "dgemm", 0, 1)}, "it has 1 ranks, the last one is 1");
  expect_refused({message(0, "send", 0, 1, 5)}, "a message whose other side is not known");
  expect_refused({event(0, "mpi", "MPI_Allreduce", 0, 1)}, "MPI_Allreduce");
  expect_refused({}, "found no events");
}

}  // namespace
}  // namespace hplcast::platforms
