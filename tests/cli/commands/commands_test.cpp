// Every command of the built program, found by asking the program itself: a new command is tested as soon as it is
// there.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hplcast/core/files.hpp"
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

/// The names in the sections of a help text that list commands.
Words subcommands_in(const std::string& help) {
  Words names;
  std::istringstream lines(help);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    static const std::set<std::string> sections = {
        "Subcommands:", "Start:", "Measure and fit:", "Predict:", "Check:", "Change:", "Files:"};
    if (sections.count(line) > 0) {
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
  const auto nothing = run_hplcast_words({});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_EQ(nothing.output, run_hplcast_words({"--help"}).output) << "all commands, and three ways to begin";
  EXPECT_NE(nothing.output.find("Three usual ways to begin:"), std::string::npos) << nothing.output;
  EXPECT_EQ(run_hplcast_words({"no-such-command"}).status, 2);
}

TEST(Commands, ExamplesOfTheHelpWorkFromAnyFolder) {
  const core::TemporaryFolder elsewhere("hplcast-elsewhere");
  const auto help = run_hplcast_words({"check-cluster", "--help"}, elsewhere.path().string());
  const std::string start = "Example:\n  hplcast check-cluster ";
  const std::size_t begin = help.output.find(start);
  ASSERT_NE(begin, std::string::npos) << help.output;
  const std::string path = help.output.substr(begin + start.size());
  const auto outcome = run_hplcast_words({"check-cluster", path.substr(0, path.find('\n'))}, elsewhere.path().string());
  EXPECT_EQ(outcome.status, 0) << path << outcome.output;
}

TEST(Commands, VersionIsPrinted) {
  const auto outcome = run_hplcast_words({"--version"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output.rfind("hplcast 0.", 0), 0U) << outcome.output;
}

}  // namespace
}  // namespace hplcast::test
