#include "hplcast/core/simulation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "hplcast/core/files.hpp"
#include "tests/support/errors_in.hpp"

namespace hplcast::core {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::error_in;

SimulationSettings settings_from(const std::string& text) {
  std::istringstream in(text);
  return read_simulation_settings(in, "settings.json");
}

std::string refusal(const std::string& fields) {
  return error_in([&] { settings_from("{\"schema_version\": 1, " + fields + "}"); });
}

std::string text_of(const SimulationSettings& settings) {
  std::ostringstream out;
  write_simulation_settings(out, settings);
  return out.str();
}

TEST(SimulationSettings, HaveDefaults) {
  EXPECT_EQ(text_of(settings_from("{\"schema_version\": 1}")), text_of({}));
  const SimulationSettings settings;
  EXPECT_EQ(settings.seed, 1U);
  EXPECT_TRUE(settings.noise && settings.network_noise && settings.detours);
  EXPECT_FALSE(settings.program || settings.energy || settings.window);
}

TEST(SimulationSettings, NameNoFilesThatAreNotUtf8) {
  SimulationSettings settings;
  settings.observation.trace =
      "gr\xF6\xDF"
      "er.json";  // Latin-1
  EXPECT_THAT(error_in([&] { text_of(settings); }),
              AllOf(HasSubstr("is not UTF-8: a name of a host, a program, a folder"), HasSubstr("\"trace\":\"gr")));
}

TEST(SimulationSettings, AreReadAsTheyWereWritten) {
  SimulationSettings settings;
  settings.cluster = "c.json";
  settings.result = "s.json";
  settings.seed = 18446744073709551615U;
  settings.noise = settings.network_noise = settings.detours = false;
  settings.fast = true;
  settings.fast_panels = 3;
  settings.window = IndexRange{512, 583};
  settings.program = ProgramSettings{RestMode::bench, true, "/lib/libblas.so", 1U << 20, "", ""};
  settings.energy = EnergySettings{0.25, true};
  settings.observation = {"trace.json", IndexRange{0, 3}, 0.5, 1.5, true, "progress", true};
  settings.diagnosis = {false, false, false, true, {2, 16, 3}};
  const std::string text = text_of(settings);
  EXPECT_THAT(text, HasSubstr("\"seed\": 18446744073709551615,"));
  const SimulationSettings read = settings_from(text);
  EXPECT_EQ(text_of(read), text);
  EXPECT_EQ(read.seed, settings.seed);
  EXPECT_EQ(read.window->last, 583);
  EXPECT_EQ(read.program->rest, RestMode::bench);
  EXPECT_EQ(read.program->share_above_bytes, 1U << 20);
  EXPECT_EQ(read.energy->bin_s, 0.25);
  EXPECT_EQ(read.observation.trace_ranks->last, 3);
  EXPECT_EQ(read.diagnosis.sampled_exchanges.period, 16);
}

TEST(SimulationSettings, RefuseWhatNobodyKnowsAndNonsense) {
  EXPECT_THAT(refusal("\"sead\": 2"), AllOf(HasSubstr("settings.json"), HasSubstr("/sead"), HasSubstr("`seed`")));
  EXPECT_THAT(refusal("\"diagnosis\": {\"polling\": true}"), HasSubstr("/diagnosis/polling"));
  EXPECT_THAT(refusal("\"seed\": -1"), HasSubstr("/seed"));
  EXPECT_THAT(refusal("\"seed\": \"12\""), HasSubstr("expected an integer"));
  EXPECT_THAT(refusal("\"noise\": \"off\""), HasSubstr("expected true or false"));
  EXPECT_THAT(refusal("\"fast_panels\": -1"), HasSubstr("/fast_panels"));
  EXPECT_THAT(refusal("\"window\": {\"first\": 8, \"last\": 7}"), HasSubstr("/window/last"));
  EXPECT_THAT(refusal("\"program\": {\"rest\": \"some\"}"), HasSubstr("zero, model, bench or counted"));
  EXPECT_THAT(refusal("\"energy\": {\"bin_s\": -1}"), HasSubstr("/energy/bin_s"));
  EXPECT_THAT(refusal("\"observation\": {\"trace_begin_s\": -1}"), HasSubstr("/observation/trace_begin_s"));
  EXPECT_THAT(refusal("\"diagnosis\": {\"sampled_exchanges\": {\"run\": 4, \"period\": 4}}"),
              HasSubstr("from 1 to period - 1"));
}

TEST(SimulationSettings, OfAnotherVersionAreRefusedWithAHint) {
  EXPECT_THAT(error_in([] { settings_from("{\"schema_version\": 2}"); }), HasSubstr("a newer hplcast"));
  EXPECT_THAT(error_in([] { settings_from("{\"schema_version\": 0}"); }), HasSubstr("anew"));
  EXPECT_THAT(error_in([] { settings_from("{}"); }), HasSubstr("schema_version"));
}

TEST(SimulationSettings, HavePathsBesideTheirFile) {
  const TemporaryFolder folder("hplcast-test");
  const std::filesystem::path file = folder.path() / "settings.json";
  write_file(file, [](std::ostream& out) {
    out << R"({"schema_version": 1, "cluster": "a/c.json", "result": "/b/s.json",
                   "program": {"real_blas": "lib/libx.so"}})";
  });
  const SimulationSettings settings = read_simulation_settings(file);
  EXPECT_EQ(settings.cluster, (folder.path() / "a/c.json").string());
  EXPECT_EQ(settings.result, "/b/s.json");
  EXPECT_EQ(settings.program->real_blas, (folder.path() / "lib/libx.so").string());
  EXPECT_EQ(settings.observation.trace, "");
  write_file(file, [](auto& out) { out << R"({"schema_version": 1, "program": {"real_blas": "libblas.so.3"}})"; });
  EXPECT_EQ(read_simulation_settings(file).program->real_blas, "libblas.so.3") << "the loader finds it";
}

TEST(IndexRange, IsOfTwoNumbers) {
  EXPECT_EQ(index_range_from("ranks", "3-17").last, 17);
  for (const char* wrong : {"3", "3-", "-3", "5-3", "a-b", "1-2x"})
    EXPECT_THAT(error_in([&] { index_range_from("ranks", wrong); }), HasSubstr("ranks")) << wrong;
}

TEST(SimulationProgress, IsALineOfOneLength) {
  const SimulationProgress begun{0, 0, 0}, on{0.25, 123456.789, 1e12};
  EXPECT_EQ(progress_line(begun).size(), progress_line(on).size());
  const TemporaryFolder folder("hplcast-test");
  EXPECT_FALSE(read_progress(folder.path() / "progress").has_value());
  write_file(folder.path() / "progress", [&](std::ostream& out) { out << progress_line(on); });
  EXPECT_EQ(read_progress(folder.path() / "progress")->simulated_s, on.simulated_s);
}

SimulationResult full_result() {
  SimulationResult result;
  result.cluster = "dahu";
  result.simulator = "SimGrid 3.32";
  result.mode = "fast";
  result.seed = 18446744073709551615U;
  result.ranks = 2;
  result.times_s = {0.1, 1.0 / 3};
  result.kernels["dgemm"] = {2, 1, 0.5, 16};
  result.messages["send"] = {3, 0, 4096};
  result.panels = SimulatedPanels{8, {0, 0.5, 1}, {{"kernels/dgemm/calls", {0, 1, 2}}}};
  result.program.emplace();
  result.program->routines["dgemm"] = {2, 1, 0.5, 16, true};
  result.program->unfinished = {1};
  result.detours_s = {0.25, 0};
  result.phases = {{"update", {1, 2}, {0.5, 1}, {0, 0}, {0.25, 0.5}, {}}};
  result.energy.emplace();
  result.energy->energy.states = {{"dgemm", 0.5, 10}};
  result.energy->trace = {0.5, 0.75, {1, 2}, {{"node-1", {1, 2}}}};
  result.blocked = {{1, "recv", 0, 1, 7, 0.5, "swap"}};
  return result;
}

std::string text_of(const SimulationResult& result) {
  std::ostringstream out;
  write_simulation_result(out, result);
  return out.str();
}

SimulationResult result_from(const std::string& text) {
  std::istringstream in(text);
  return read_simulation_result(in, "statistics.json");
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(SimulationResult, IsReadAsItWasWritten) {
  for (const SimulationResult& result : {SimulationResult(), full_result()}) {
    const std::string text = text_of(result);
    const SimulationResult read = result_from(text);
    EXPECT_EQ(text_of(read), text);
    EXPECT_EQ(read.seed, result.seed);
    EXPECT_EQ(read.times_s, result.times_s);
    EXPECT_EQ(read.energy.has_value(), result.energy.has_value());
  }
}

TEST(SimulationResult, LeavesOutWhatThereIsNot) {
  const std::string text = text_of(SimulationResult());
  for (const char* name : {"panels", "program", "detours_s", "phases", "energy", "blocked"})
    EXPECT_THAT(text, ::testing::Not(HasSubstr(name)));
}

TEST(SimulationResult, IsRefusedIfItIsOldMissesSomethingOrHasMore) {
  const std::string text = text_of(full_result());
  const auto refused = [&](const std::string& from, const std::string& to) {
    return error_in([&] { result_from(changed(text, from, to)); });
  };
  EXPECT_THAT(refused("\"schema_version\": 2", "\"schema_version\": 1"),
              AllOf(HasSubstr("version 1"), HasSubstr("anew")));
  EXPECT_THAT(refused("\"ranks\": 2,", ""), AllOf(HasSubstr("/ranks"), HasSubstr("missing")));
  EXPECT_THAT(refused("\"outside_range\"", "\"outside\""), HasSubstr("/kernels/dgemm"));
  EXPECT_THAT(refused("\"ranks\": 2,", "\"ranks\": 2, \"hosts\": 1,"), HasSubstr("unknown key"));
  EXPECT_THAT(refused("\"deadlock\": false", "\"deadlock\": 0"), HasSubstr("true or false"));
}

}  // namespace
}  // namespace hplcast::core
