// Performance logs of ReFrame (published ones, both forms), results of Ramble, jobs of Slurm; damaged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/imported.hpp"

namespace hplcast::core {
namespace {

using testing::HasSubstr;

std::vector<PerflogRow> read_rows(const std::string& text) {
  std::istringstream in(text);
  return read_perflog(in, "x.log");
}

void expect_log_refused(const std::string& text, const std::string& place, const std::string& words) {
  try {
    read_rows(text);
    FAIL() << "expected an error: " << text;
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("x.log" + place));
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

// A line as the runs of Alaska have it (github.com/stackhpc/hpc-tests, Apache-2.0).
constexpr const char* log_line =
    "2020-09-15T08:35:13+01:00|reframe 3.0-dev6 (rev: 3f0c45d4)|Hpl_single on alaska:ib-gcc9-openmpi4-ucx using hpl|"
    "jobid=6828|Gflops=835.24|Gflops|ref=None (l=None, u=None)|num_procs=32,num_nodes=1,single,git=7aebe04-dirty\n";

TEST(Perflog, ReadsALineOfVersion3) {
  const std::vector<PerflogRow> rows = read_rows(log_line);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].time_s, 1600155313);  // 07:35:13 UTC
  EXPECT_EQ(rows[0].system + "/" + rows[0].partition, "alaska/ib-gcc9-openmpi4-ucx");
  EXPECT_EQ(rows[0].test + "/" + rows[0].environment + "/" + rows[0].jobid, "Hpl_single/hpl/6828");
  EXPECT_EQ(rows[0].variable, "Gflops");
  EXPECT_EQ(rows[0].value, 835.24);
  EXPECT_FALSE(rows[0].reference.has_value());
}

TEST(Perflog, ReadsLimitsAndZones) {
  const PerflogRow row = read_rows(
      "2020-09-15T08:35:13-02:30|reframe 4.0|T on s using e|jobid=1|a=b=2e3|MB/s|ref=2100 (l=-0.1, u=0.2)|x\n")[0];
  EXPECT_EQ(row.time_s, 1600155313 + 3 * 3600 + 1800);
  EXPECT_EQ(row.variable, "a=b");
  EXPECT_EQ(row.value, 2000);
  EXPECT_EQ(row.reference.value(), 2100);
  EXPECT_EQ(row.lower.value(), -0.1);
  EXPECT_EQ(row.upper.value(), 0.2);
  EXPECT_EQ(row.partition, "");
  for (const std::string zone : {"+05:30", "+0530"}) {
    const std::string line =
        "2020-09-15T13:05:13" + zone + "|reframe 4.0|T on s using e|jobid=1|a=1|s|ref=1 (l=0, u=0)|x\n";
    EXPECT_EQ(read_rows(line)[0].time_s, 1600155313) << zone;
  }
}

TEST(Perflog, ReadsTablesOfVersion4AndNewHeadersInThem) {
  const auto rows = read_rows(
      "job_completion_time,display_name,system,partition,environ,jobid,result,bw_value,bw_unit,bw_ref,t_value,t_unit\n"
      "2024-05-24T10:00:00+00:00,T %p=1,s,p,e,7,pass,12.5,GB/s,13,0.25,s\n"
      "2024-05-24T11:00:00+00:00,T %p=1,s,p,e,8,fail,,,,null,\n"
      "null,T %p=1,s,p,e,-1,fail,null,null,null,null,null\n"
      "\xEF\xBB\xBF"
      "result|job_completion_time|system|jobid|name|Gflops_value|Gflops_lower_thres\r\n"
      "pass|2024-05-25T10:00:00.123456+00:00|s|9|U|99|-0.05\r\n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].variable + rows[1].variable + rows[2].variable, "bwtGflops");
  EXPECT_EQ(rows[0].reference.value(), 13);
  EXPECT_EQ(rows[1].unit, "s");
  EXPECT_EQ(rows[2].test, "U");
  EXPECT_EQ(rows[2].lower.value(), -0.05);
  EXPECT_EQ(rows[2].result, "pass");
}

TEST(Perflog, RefusesHalfALogAndOtherLocales) {
  const std::string whole = log_line;
  expect_log_refused(whole + whole.substr(0, 120), ":2", "fields");
  expect_log_refused(whole.substr(0, whole.size() - 1) + whole, ":1", "two records");
  expect_log_refused(
      "2020-09-15T08:35:13+01:00|reframe 3.0|T on s using e|jobid=1|G=835,24|G|ref=None (l=None, u=None)|x\n", ":1",
      "`835,24`");
  expect_log_refused("15.09.2020 08:35|reframe 3.0|T on s using e|jobid=1|G=8|G|ref=None (l=None, u=None)|x\n", ":1",
                     "`15.09.2020 08:35`");
  expect_log_refused("2020-09-15T08:35:13+01:00|reframe 3.0|T on s using e|jobid=1|G=nan|G|ref=0 (l=None, u=None)|x\n",
                     ":1", "`nan`");
  expect_log_refused("job_completion_time|a_value\n2020-09-15T08:35:13+01:00\n", ":2", "1 fields");
  expect_log_refused("job_completion_time|a_value\n2020-09-15T08:35:13|1\n", ":2", "time zone");
  expect_log_refused("", "", "no value");
  expect_log_refused("hello\n", ":1", "ReFrame");
}

std::vector<RambleRun> ramble_runs(const std::string& experiments) {
  std::istringstream in("{\"experiments\": [" + experiments + "]}");
  return read_ramble(in, "results.json");
}

// As Ramble's ExperimentResult.to_dict() and its application hpl have it: values are text.
constexpr const char* ramble_experiment =
    R"({"name": "hpl.standard.n1", "RAMBLE_STATUS": "SUCCESS", "n_nodes": "1", "RAMBLE_VARIABLES": {"mpi": "x"},
        "CONTEXTS": [{"name": "null", "display_name": "null", "foms": []},
                     {"name": "problem-name", "display_name": "N-NB-P-Q = 3000-128-1-2",
                      "foms": [{"name": "Time", "value": "0.50", "units": "s", "origin": "hpl"},
                               {"name": "GFlops", "value": 36.0, "units": "GFLOP/s", "origin": "hpl"}]}]})";

TEST(Ramble, RunsOfHplAreFound) {
  const std::vector<RambleRun> runs = ramble_runs(ramble_experiment);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].experiment + " " + runs[0].status, "hpl.standard.n1 SUCCESS");
  EXPECT_EQ(runs[0].N, 3000);
  EXPECT_EQ(runs[0].NB * 100 + runs[0].P * 10 + runs[0].Q, 12812);
  EXPECT_EQ(runs[0].time_s, 0.5);
  EXPECT_EQ(runs[0].gflops, 36);
}

TEST(Ramble, TellsItsStatusByEitherNameAndMayHaveExperimentsWithoutContexts) {
  std::string text = ramble_experiment;
  text.replace(text.find("RAMBLE_STATUS"), 13, "EXPERIMENT_STATUS");
  const std::vector<RambleRun> runs = ramble_runs(R"({"name": "hpl.failed", "EXPERIMENT_STATUS": "FAILED"}, )" + text);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].status, "SUCCESS");
}

TEST(Ramble, RefusesOtherResults) {
  std::string text = ramble_experiment;
  EXPECT_THROW(ramble_runs(text.replace(text.find("0.50"), 4, "0,50")), ParseError);
  text = ramble_experiment;
  EXPECT_THROW(ramble_runs(text.replace(text.find("3000-128"), 8, "3000x128")), ParseError);
  EXPECT_THROW(ramble_runs(R"({"name": "osu.x"})"), ParseError);
  EXPECT_THROW(ramble_runs(R"({"name": "osu.x", "CONTEXTS": []})"), ParseError) << "no run of HPL";
}

std::vector<SlurmEnergy> slurm_jobs(const std::string& lines) {
  std::istringstream in(lines);
  return read_sacct(in, "jobs.txt");
}

TEST(Sacct, JoulesOfJobsAndSteps) {
  const std::vector<SlurmEnergy> jobs = slurm_jobs(
      "\xEF\xBB\xBF"
      "JobID|JobName|NNodes|Elapsed|ConsumedEnergyRaw|State\n"
      "12|hpl|2|1-00:00:10||COMPLETED\n"
      "12.batch|batch|1|00:01:40|0|COMPLETED\n"
      "12.extern|extern|2|00:01:40|18446744073709551614|COMPLETED\n"
      "12.0|xhpl|2|1-01:01:40|50000|COMPLETED\n");
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].job + " " + jobs[0].name + " " + jobs[0].nodes + " " + jobs[0].state, "12.0 xhpl 2 COMPLETED");
  EXPECT_EQ(jobs[0].elapsed_s, 86400 + 3600 + 100);
  EXPECT_EQ(jobs[0].energy_j, 50000);
  EXPECT_EQ(slurm_jobs("JobID|Elapsed|ConsumedEnergy\n7|00:10.500|2.5M\n")[0].energy_j, 2.5e6);
  EXPECT_EQ(slurm_jobs("JobID|Elapsed|ConsumedEnergyRaw\r\n7|00:10.500|2500\r\n")[0].energy_j, 2500);
}

// sacct writes names as they are, and quotes nothing.
TEST(Sacct, NamesMayHaveQuotationMarks) {
  const std::vector<SlurmEnergy> jobs = slurm_jobs(
      "JobID|JobName|Elapsed|ConsumedEnergyRaw\n"
      "12.0|my \"best\" run, 2|00:01:40|50000\n"
      "13.0|\"a|00:01:40|50000\n"
      "14.0|\"b\"|00:01:40|50000\n");
  ASSERT_EQ(jobs.size(), 3U);
  EXPECT_EQ(jobs[0].name, "my \"best\" run, 2");
  EXPECT_EQ(jobs[1].name, "\"a");
  EXPECT_EQ(jobs[2].name, "\"b\"");
}

TEST(Sacct, RefusesOtherTables) {
  EXPECT_THROW(slurm_jobs("JobID|Elapsed|ConsumedEnergyRaw\n1|00:00:10|\n"), ParseError) << "no energy";
  EXPECT_THROW(slurm_jobs("JobID|Elapsed|ConsumedEnergyRaw\n1|00:00:10|12 kJ\n"), ParseError);
  EXPECT_THROW(slurm_jobs("JobID|Elapsed|ConsumedEnergyRaw\n1|ten|12\n"), ParseError);
  EXPECT_THROW(slurm_jobs("JobID|Elapsed|ConsumedEnergyRaw\n1|00:00:10\n"), ParseError);
  EXPECT_THROW(slurm_jobs("JobID|Elapsed\n1|00:00:10\n"), ParseError) << "no column of energy";
}

}  // namespace
}  // namespace hplcast::core
