#include "hplcast/study/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ProgramOutput output(const std::string& text) {
  return {"out.txt", text, std::nullopt};
}

std::string message_of(const ProgramOutput& one, const std::string& time_from) {
  try {
    time_in(one, {time_from, ""});
  } catch (const core::Error& error) {
    return error.what();
  }
  return "none";
}

const std::string pattern = "time ([^ ]+) s";

TEST(TimeFrom, TakesTheGroupOfTheOneMatch) {
  EXPECT_EQ(time_in(output("solving\ntime 1.25e-3 s for N=100\n"), {pattern, ""}), 1.25e-3);
  EXPECT_EQ(time_in({"run.json", "nothing", 7.5}, {}), 7.5) << "of the whole run";
}

TEST(TimeFrom, TellsWhatIsWrongWithAPatternOrAnOutput) {
  EXPECT_THAT(message_of(output("done\n"), pattern), AllOf(HasSubstr("out.txt"), HasSubstr("found no match")));
  EXPECT_THAT(message_of(output("time 1 s\n\ntime 2 s\n"), pattern),
              AllOf(HasSubstr("found 2 matches, the first in line 1"), HasSubstr("out.txt:3")));
  EXPECT_THAT(message_of(output("time 1 s, time 2 s\n"), pattern), HasSubstr("found 2 matches"));
  for (const char* text : {"fast", "1,5", "0", "-1", "inf", "nan", "1s"})
    EXPECT_THAT(message_of(output("time " + std::string(text) + " s"), pattern),
                AllOf(HasSubstr("found '" + std::string(text) + "'"), HasSubstr("number of seconds above 0")));
  EXPECT_THAT(message_of(output("time 1 s"), "time ([0-9"), HasSubstr("expected a regular expression"));
  EXPECT_THAT(message_of(output("time 1 s"), "time [0-9]+ s"), HasSubstr("expected one group"));
  EXPECT_THAT(message_of(output("time 1 s"), "(time) ([0-9]+) s"), HasSubstr("expected one group"));
  EXPECT_THAT(message_of({"run.json", "", -1.0}, ""), HasSubstr("says nothing of the time")) << "an error of -511 %";
  EXPECT_THAT(message_of(output("time 1 s"), ""), HasSubstr("says nothing of the time of the whole run"));
}

TEST(TimeFrom, SurvivesLongOutputs) {
  std::string text(1000000, 'x');
  for (std::size_t i = 0; i < text.size(); i += 100) text[i] = '\n';
  EXPECT_EQ(time_in(output(text + "\ntime 2 s\n"), {"^.*time ([0-9]+)", ""}), 2);
  // One line, of which std::regex made a stack of a frame per letter: a crash.
  const std::string line = "time " + std::string(300000, 'x') + "\n";
  EXPECT_EQ(time_in(output(line + "time 2 s\n"), {"time (.*) s", ""}), 2);
  std::string bar;
  for (int i = 0; i < 20000; ++i) bar += "[====      ]\r";
  EXPECT_EQ(time_in(output(bar + "time 2 s\r\n"), {"^time (.*) s$", ""}), 2);
}

TEST(TimeFrom, IsFoundOnceAnywhereInALongLine) {
  for (std::size_t place = 0; place < 12000; place += 31) {
    const std::string line = "{" + std::string(place, ' ') + "\"time\": 12.75," + std::string(12000 - place, ' ') + "}";
    EXPECT_EQ(time_in(output(line), {"\"time\": ([0-9.]+)", ""}), 12.75) << place;
  }
  const std::string line = "time 1 s" + std::string(9000, ' ') + "time 2 s";
  EXPECT_EQ(time_in(output(line), {"^time (.) s", ""}), 1);
  EXPECT_EQ(time_in(output(line), {"time (.) s$", ""}), 2);
  EXPECT_THAT(message_of(output(line), pattern), HasSubstr("found 2 matches"));
}

ProgramOutput ran(const std::string& source, const std::string& program, const std::string& arguments, int ranks) {
  return {source, "time 1 s", 1.0, program, arguments, ranks};
}

std::string refusal_of(const std::vector<ProgramOutput>& real, const std::vector<ProgramOutput>& predicted) {
  try {
    compare_programs(real, predicted, {});
  } catch (const core::Error& error) {
    return error.what();
  }
  return "none";
}

// NAS has its classes in the names of programs: other configurations may be of other programs.
TEST(ComparePrograms, RefusesSeveralProgramsOrRanksAsOneConfiguration) {
  const ProgramOutput solver = ran("a.zip", "solver", "100", 2), other = ran("b.zip", "other", "100", 2);
  const ProgramOutput predicted = ran("run.json", "solver-smpi", "100", 2);
  EXPECT_THAT(refusal_of({solver, other}, {predicted}), HasSubstr("a.zip is of solver, b.zip is of other"));
  EXPECT_THAT(refusal_of({solver}, {predicted, ran("run-2.json", "other-smpi", "100", 2)}),
              HasSubstr("run.json is of solver-smpi, run-2.json is of other-smpi"));
  EXPECT_THAT(refusal_of({solver, ran("b.zip", "solver", "100", 4)}, {predicted}),
              HasSubstr("a.zip is on 2 ranks, b.zip is on 4 ranks"));
  EXPECT_THAT(refusal_of({solver}, {ran("run.json", "solver-smpi", "100", 1)}),
              HasSubstr("a.zip is on 2 ranks, run.json is on 1 rank"));
  EXPECT_EQ(refusal_of({solver, output("time 1 s")}, {predicted}).find("cannot be compared"), std::string::npos)
      << "nobody knows what a text is of";
  const auto configuration = [](ProgramOutput one) {
    one.text += " by " + one.program.substr(0, 5);
    return one;
  };
  EXPECT_EQ(compare_programs({configuration(solver), configuration(other)},
                             {configuration(predicted), configuration(ran("c.json", "other-smpi", "100", 2))},
                             {"", "by (.*)"})
                .rows.size(),
            2U);
}

TEST(ComparePrograms, TellsOfArgumentsThatDiffer) {
  const ProgramOutput predicted = ran("run.json", "solver-smpi", "200", 2);
  EXPECT_THAT(compare_programs({ran("a.zip", "solver", "100", 2)}, {predicted}, {}).warnings,
              ElementsAre(HasSubstr("a.zip `100`, run.json `200`")));
  EXPECT_THAT(compare_programs({ran("a.zip", "solver", "200", 2)}, {predicted}, {}).warnings, testing::IsEmpty());
}

TEST(ComparePrograms, SayThatTheMachineWasDisturbed) {
  const ProgramOutput predicted = ran("run.json", "solver-smpi", "100", 2);
  const auto reasons = [&](double time_s, std::optional<core::Control> control) {
    ProgramOutput run = ran("b.zip", "solver", "100", 2);
    run.time_s = time_s;
    run.control = std::move(control);
    return compare_programs({ran("a.zip", "solver", "100", 2), run}, {predicted}, {}).disturbances;
  };
  const auto control = [](double low_s, double high_s, double cpu_s) {
    return core::Control{"640x640x640", (low_s + high_s) / 2, low_s, high_s, cpu_s, 0};
  };
  EXPECT_THAT(reasons(1.05, std::nullopt), testing::IsEmpty());
  EXPECT_THAT(reasons(1.05, control(0.0100, 0.0105, 0.0100)), testing::IsEmpty());
  EXPECT_THAT(reasons(1.5, std::nullopt), ElementsAre("runs of one configuration differ by 40 %"));  // 0.5 / 1.25
  EXPECT_THAT(reasons(1, control(0.012, 0.012, 0.010)), ElementsAre(HasSubstr("processor time by 20 %")));
  EXPECT_THAT(reasons(1, control(0.010, 0.012, 0.011)), ElementsAre("the control changed during a run by 20 %"));
  ProgramComparison comparison;
  EXPECT_EQ(validity_text(comparison), "");
  comparison.disturbances = {"x"};
  EXPECT_THAT(validity_text(comparison), testing::AllOf(testing::StartsWith("Not valid:"), HasSubstr("observe")));
  std::ostringstream json;
  write_program_comparison(json, comparison);
  EXPECT_THAT(json.str(), HasSubstr("\"valid\": false"));
}

TEST(ComparePrograms, KnowsPredictions) {
  EXPECT_TRUE(is_program_run(R"({"schema_version": 1, "time_s": 1.5, "output": "time 2 s"})"));
  EXPECT_FALSE(is_program_run(R"({"time": 1.5})")) << "a program may print JSON";
  EXPECT_FALSE(is_program_run("{ time 1 s"));
  EXPECT_FALSE(is_program_run(""));
}

TEST(ComparePrograms, MatchesConfigurationsAndTakesMedians) {
  const OutputPatterns patterns{pattern, "N=([0-9]+) on (\\d+x\\d+)"};
  const std::vector<ProgramOutput> real = {output("time 1 s N=100 on 1x2"), output("time 1.2 s N=100 on 1x2"),
                                           output("time 1.1 s N=100 on 1x2"), output("time 4 s N=200 on 1x2"),
                                           output("time 9 s N=300 on 1x2")};
  const std::vector<ProgramOutput> predicted = {output("time 1.21 s N=100 on 1x2"), output("time 3 s N=200 on 1x2"),
                                                output("time 1 s N=100 on 2x1")};
  const ProgramComparison comparison = compare_programs(real, predicted, patterns);
  ASSERT_EQ(comparison.rows.size(), 2u);
  EXPECT_EQ(comparison.rows[0].configuration, "100 1x2");
  EXPECT_EQ(comparison.rows[0].real_median, 1.1);
  EXPECT_NEAR(comparison.rows[0].real_spread, 0.2 / 1.1, 1e-15);
  EXPECT_NEAR(comparison.rows[0].error, 0.1, 1e-15) << "predicted to be too slow";
  EXPECT_EQ(comparison.rows[1].error, -0.25);
  EXPECT_NEAR(comparison.summary.median_abs_error, 0.175, 1e-15);
  EXPECT_EQ(comparison.summary.max_abs_error, 0.25);
  EXPECT_NEAR(comparison.summary.bias, -0.075, 1e-15);
  EXPECT_THAT(comparison.unmatched_real, ElementsAre("300 1x2"));
  EXPECT_THAT(comparison.unmatched_predicted, ElementsAre("100 2x1"));
}

TEST(ComparePrograms, TakesAllForOneConfigurationWithoutAPattern) {
  const ProgramComparison comparison =
      compare_programs({output("time 1 s"), output("time 3 s")}, {output("time 2 s")}, {pattern, ""});
  ASSERT_EQ(comparison.rows.size(), 1u);
  EXPECT_EQ(comparison.rows[0].error, 0);
}

TEST(ComparePrograms, RefusesConfigurationsOfWhichNoneIsOnBothSides) {
  EXPECT_THROW(compare_programs({output("time 1 s N=1")}, {output("time 1 s N=2")}, {pattern, "N=(\\d)"}), core::Error);
  EXPECT_THROW(compare_programs({output("time 1 s N=1")}, {output("time 1 s N=1")}, {pattern, "N=\\d"}),
               core::UsageError);
}

TEST(ComparePrograms, ReadsWhatRunWrites) {
  std::istringstream in(R"({"time_s": 2.5, "output": "time 1 s\n"})"), other(R"({"predictions": []})");
  const ProgramOutput read = read_program_output(in, "run.json");
  EXPECT_EQ(read.time_s, 2.5);
  EXPECT_EQ(read.text, "time 1 s\n");
  EXPECT_THROW(read_program_output(other, "predictions.json"), core::ParseError);
}

}  // namespace
}  // namespace hplcast::study
