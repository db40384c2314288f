// Every command of the built program, found by asking the program itself: a new command is tested as soon as it is
// there.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/run_hplcast.hpp"

namespace hplcast::test {
namespace {

using Words = std::vector<std::string>;

Words with(Words words, const std::string& word) {
  words.push_back(word);
  return words;
}

std::string joined(const Words& words) {
  std::string text = "hplcast";
  for (const std::string& word : words) text += " " + word;
  return text;
}

/// The names in the section "Subcommands:" of a help text.
Words subcommands_in(const std::string& help) {
  Words names;
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

struct CommandHelp {
  Words command;
  Outcome help;
};

std::vector<CommandHelp> find_commands(const Words& prefix, const std::string& help) {
  std::vector<CommandHelp> commands;
  for (const std::string& name : subcommands_in(help)) {
    const Words command = with(prefix, name);
    commands.push_back({command, run_hplcast_words(with(command, "--help"))});
    for (const CommandHelp& deeper : find_commands(command, commands.back().help.output)) commands.push_back(deeper);
  }
  return commands;
}

const std::vector<CommandHelp>& all_commands() {
  static const std::vector<CommandHelp> all = find_commands({}, run_hplcast_words({"--help"}).output);
  return all;
}

TEST(Commands, AreFoundInTheHelp) {
  EXPECT_GE(all_commands().size(), 7U) << run_hplcast_words({"--help"}).output;
}

TEST(Commands, HelpOfEveryCommandExitsWithZeroAndHasAnExample) {
  for (const auto& [command, help] : all_commands()) {
    EXPECT_EQ(help.status, 0) << joined(command);
    const std::size_t example = help.output.find("Example:\n");
    ASSERT_NE(example, std::string::npos) << joined(command) << "\n" << help.output;
    EXPECT_NE(help.output.find("hplcast ", example), std::string::npos) << joined(command) << "\n" << help.output;
  }
}

TEST(Commands, UnknownOptionsAreWrongUsageOfEveryCommand) {
  for (const auto& [command, help] : all_commands()) {
    const auto outcome = run_hplcast_words(with(command, "--no-such-option"));
    EXPECT_EQ(outcome.status, 2) << joined(command) << "\n" << outcome.output;
    EXPECT_EQ(outcome.output.rfind(joined(command) + ": ", 0), 0U) << outcome.output;
  }
}

TEST(Commands, NoCommandOrAnUnknownOneIsWrongUsage) {
  EXPECT_EQ(run_hplcast_words({}).status, 2);
  EXPECT_EQ(run_hplcast_words({"no-such-command"}).status, 2);
}

TEST(Commands, VersionIsPrinted) {
  const auto outcome = run_hplcast_words({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output.rfind("hplcast 0.", 0), 0U) << outcome.output;
}

}  // namespace
}  // namespace hplcast::test
