#include "cli/support/command.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "hplcast/core/errors.hpp"

namespace hplcast::cli {
namespace {

/// A program with one command that throws what the test wants.
struct Outcome {
  int status;
  std::string out;
  std::string err;
};

Outcome run_with(const std::vector<const char*>& arguments, const std::function<void()>& callback) {
  Command app("test", "hplcast");
  app.require_subcommand(1);
  add_command(app, "predict", "d", "hplcast predict x.json").callback(callback);
  std::vector<const char*> argv = {"hplcast"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::ostringstream out, err;
  const int status = run_program(app, static_cast<int>(argv.size()), argv.data(), out, err);
  return {status, out.str(), err.str()};
}

TEST(Program, ErrorsBecomeMessagesWithTheCommandAndTheirExitCode) {
  const auto outcome = run_with({"predict"}, [] { throw core::DomainError("N", -1, "at least 1"); });
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.err, "hplcast predict: `N` is -1; expected at least 1\n");
  EXPECT_EQ(outcome.out, "");
}

TEST(Program, ExternalFailuresExitWithSix) {
  EXPECT_EQ(run_with({"predict"}, [] { throw core::ExternalError("smpirun", 1, "no"); }).status, 6);
  EXPECT_EQ(run_with({"predict"}, [] { throw std::runtime_error("unforeseen"); }).status, 6);
}

TEST(Program, WrongUsageExitsWithTwoAndPointsToTheHelp) {
  const auto outcome = run_with({"predict", "--no-such-option"}, [] {});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("hplcast predict: "), std::string::npos);
  EXPECT_NE(outcome.err.find("hplcast predict --help"), std::string::npos);
  EXPECT_EQ(run_with({}, [] {}).status, 2);
}

TEST(Program, AnUnknownCommandIsNamed) {
  const auto outcome = run_with({"predikt", "--fast"}, [] {});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "hplcast: there is no command `predikt`; did you mean `predict`?\n  hint: hplcast --help\n");
}

TEST(Program, OptionsNeedAValueAndFlagsTakeNone) {
  const auto status_and_words = [](const char* word, const char* value) {
    Command app("test", "hplcast");
    Command& command = add_command(app, "predict", "d", "hplcast predict x.json");
    std::string output;
    bool force = false;
    command.add_option("-o,--output", output, "file");
    command.add_flag("--force", force, "do it");
    std::vector<const char*> argv = {"hplcast", "predict", word};
    if (value != nullptr) argv.push_back(value);
    std::ostringstream out, err;
    const int status = run_program(app, static_cast<int>(argv.size()), argv.data(), out, err);
    return std::pair(status, err.str().substr(0, err.str().find('\n')));
  };
  EXPECT_EQ(status_and_words("--force", nullptr).first, 0);
  EXPECT_EQ(status_and_words("-o", "x").first, 0);
  EXPECT_EQ(status_and_words("-o", ""),
            std::pair(2, std::string("hplcast predict: --output: expected a value; found nothing")));
  EXPECT_EQ(status_and_words("--output=", nullptr).second, status_and_words("-o", "").second);
  EXPECT_EQ(status_and_words("--force=0", nullptr),
            std::pair(2, std::string("hplcast predict: --force takes no value")));
  EXPECT_EQ(status_and_words("-o=a", "--output=b"),
            std::pair(2, std::string("hplcast predict: --output is given 2 times; expected once")));
}

TEST(Program, HelpGoesToTheOutputAndEndsWithTheExample) {
  const auto outcome = run_with({"predict", "--help"}, [] { FAIL(); });
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("Example:\n  hplcast predict x.json"), std::string::npos);
  EXPECT_EQ(outcome.err, "");
}

TEST(Warnings, ThatDifferInNumbersOnlyAreSaidOnce) {
  ::testing::internal::CaptureStderr();
  warn_once_each(
      {"N=10 is small", "the model a is doubtful", "N=20 is small", "the model a is doubtful", "N=1.5 is small"});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "warning: N=10 is small\n  and 2 more that differ in numbers only\nwarning: the model a is doubtful\n");
}

}  // namespace
}  // namespace hplcast::cli
