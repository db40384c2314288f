// Every command of the built program, found by asking the program itself: a new command is tested as soon as it is
// there.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "../support/run_hplcast.hpp"

namespace {

using hplcast::test::Outcome;
using hplcast::test::run_hplcast;

/// The names in the section "Subcommands:" of a help text.
std::vector<std::string> subcommands_in(const std::string& help) {
  std::vector<std::string> names;
  std::istringstream lines(help);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "Subcommands:") {
      inside = true;
    } else if (line.empty()) {
      inside = false;
    } else if (inside && line.size() > 2 && line[0] == ' ' && line[1] == ' ' && line[2] != ' ') {
      std::string name;
      std::istringstream(line) >> name;
      names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> all_commands(const std::string& prefix) {
  std::vector<std::string> commands;
  for (const std::string& name : subcommands_in(run_hplcast(prefix + "--help").output)) {
    commands.push_back(prefix + name);
    for (const std::string& deeper : all_commands(prefix + name + " ")) commands.push_back(deeper);
  }
  return commands;
}

TEST(Commands, AreFoundInTheHelp) {
  EXPECT_GE(all_commands("").size(), 1U) << run_hplcast("--help").output;
}

TEST(Commands, HelpOfEveryCommandExitsWithZeroAndHasAnExample) {
  for (const std::string& command : all_commands("")) {
    const Outcome help = run_hplcast(command + " --help");
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_NE(help.output.find("Example:\n  hplcast"), std::string::npos) << command << "\n" << help.output;
  }
}

TEST(Commands, UnknownOptionsAreWrongUsageOfEveryCommand) {
  for (const std::string& command : all_commands("")) {
    const Outcome outcome = run_hplcast(command + " --no-such-option");
    EXPECT_EQ(outcome.status, 2) << command << "\n" << outcome.output;
    EXPECT_EQ(outcome.output.rfind("hplcast " + command + ": ", 0), 0U) << outcome.output;
  }
}

TEST(Commands, NoCommandOrAnUnknownOneIsWrongUsage) {
  EXPECT_EQ(run_hplcast("").status, 2);
  EXPECT_EQ(run_hplcast("no-such-command").status, 2);
}

TEST(Commands, VersionIsPrinted) {
  const Outcome outcome = run_hplcast("--version");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output.rfind("hplcast 0.", 0), 0U) << outcome.output;
}

}  // namespace
