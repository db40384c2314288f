#include "hplcast/study/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "hplcast/core/errors.hpp"

namespace hplcast::study {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

core::HplParameters configuration(long long N, int P, int Q) {
  core::HplParameters parameters;
  parameters.N = N;
  parameters.P = P;
  parameters.Q = Q;
  return parameters;
}

/// Two grids of three sizes; the first four are measured, with errors of +10 %.
ReportData small_study() {
  ReportData data;
  for (const auto& [P, Q] : {std::pair(1, 1), std::pair(2, 1)}) {
    for (const long long N : {1000, 2000, 3000}) {
      core::Prediction prediction;
      prediction.parameters = configuration(N, P, Q);
      prediction.time_s = 2;
      prediction.gflops = 11.0 * P;
      prediction.seed = 7;
      prediction.cluster = "a <cluster> & \"more\"";
      prediction.model_sha256 = "abc123";
      prediction.simulator = "SimGrid 3.32";
      prediction.mode = "exact";
      prediction.kernels["dgemm"] = {10, 4, 1.0 * P, 1e9};
      prediction.kernels["dlaswp01T"] = {10, 0, 0.5 * P, 0};
      data.predictions.push_back(prediction);
      if (data.real.size() < 4) {
        core::HplRun run;
        run.parameters = prediction.parameters;
        run.gflops = 10.0 * P;
        data.real.push_back(run);
      }
    }
  }
  data.sources = {"my file.csv"};
  return data;
}

/// Without the names of columns that a phone shows beside each cell.
std::string page_of(const ReportData& data) {
  std::ostringstream out;
  write_report(out, data);
  return std::regex_replace(out.str(), std::regex(" data-h=\"[^\"]*\""), "");
}

TEST(Report, BeginsWithTheSummary) {
  const std::string page = page_of(small_study());
  EXPECT_THAT(
      page, HasSubstr("The predictions of 4 configurations are off by 10.0 % in the median, and by 10.0 % at worst."));
  EXPECT_LT(page.find("off by"), page.find("<svg viewBox=\"0 0"));
}

TEST(Report, BeginsWithTheVerdictOfADisturbedMachine) {
  ReportData data = small_study();
  data.real.push_back(data.real.front());
  data.real.back().gflops *= 2;
  data.real.push_back(data.real.back());
  const std::string page = page_of(data);
  EXPECT_THAT(page, HasSubstr("<p class=\"lead\"><b>Not valid: the machine was disturbed"));
  EXPECT_THAT(page, HasSubstr(" at worst (not valid)."));
}

TEST(Report, ShowsEnergyThatWasMeasuredAndPredicted) {
  ReportData data = small_study();
  EXPECT_THAT(page_of(data), Not(HasSubstr("<h2>Energy</h2>")));
  data.real.front().energy_j = 400;
  data.real.front().mean_power_w = 200;
  EXPECT_THAT(page_of(data), Not(HasSubstr("<h2>Energy</h2>"))) << "it was not predicted";
  data.predictions.front().energy = core::Energy();
  data.predictions.front().energy->energy_j = 420;
  data.predictions.front().energy->mean_power_w = 210;
  const std::string page = page_of(data);
  EXPECT_THAT(page, HasSubstr("<h2>Energy</h2>"));
  EXPECT_THAT(page, HasSubstr("+5.0 %")) << "210 W for 200 W";
  data.real.clear();
  EXPECT_THAT(page_of(data), HasSubstr("energy [kJ]")) << "of predictions alone";
  EXPECT_THAT(page_of(data), HasSubstr("<td>0.4200</td><td>210.0</td>"));
}

TEST(Report, NeedsNothingFromOutside) {
  const std::string page = page_of(small_study());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
  // The namespace of SVG is a name, not an address to load.
  const std::string rest = std::regex_replace(page, std::regex("xmlns=\"[^\"]*\"|http-equiv"), "");
  EXPECT_THAT(rest, Not(HasSubstr("http")));
  EXPECT_THAT(rest, Not(HasSubstr("url(//")));
}

TEST(Report, EscapesWhatComesFromFiles) {
  const std::string page = page_of(small_study());
  EXPECT_THAT(page, HasSubstr("a &lt;cluster&gt; &amp; &quot;more&quot;"));
  EXPECT_THAT(page, Not(HasSubstr("<cluster>")));
}

TEST(Report, EveryTagThatIsOpenedIsClosed) {
  const std::string page = page_of(small_study());
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-zA-Z0-9]+)([^>]*)>");
  for (auto match = std::sregex_iterator(page.begin(), page.end(), tag); match != std::sregex_iterator(); ++match) {
    const std::string name = (*match)[2];
    const std::string rest = (*match)[3];
    if (name == "meta" || name == "link" || (!rest.empty() && rest.back() == '/')) continue;
    if ((*match)[1] == "/") {
      ASSERT_FALSE(open.empty()) << name;
      EXPECT_EQ(open.back(), name);
      open.pop_back();
    } else {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(Report, ShowsShareOfTimeExtrapolationAndOrigin) {
  const std::string page = page_of(small_study());
  // dgemm 1 s and row swaps 0.5 s of each rank's 2 s.
  EXPECT_THAT(page, HasSubstr("<td>50.0 %</td><td>0.0 %</td><td>25.0 %</td><td>0.0 %</td><td>25.0 %</td>"));
  EXPECT_THAT(page, HasSubstr("<td>dgemm</td><td>60</td><td>40.0 %</td>"));
  EXPECT_THAT(page, HasSubstr("abc123"));
  EXPECT_THAT(page, HasSubstr("my file.csv"));
}

TEST(Report, ListsTheDoubtsAboutTheModelOnce) {
  ReportData data = small_study();
  EXPECT_THAT(page_of(data), Not(HasSubstr("Doubts about the model")));
  for (core::Prediction& prediction : data.predictions) prediction.model_doubts = {"dgemm: drift: +5 % <of time>"};
  const std::string page = page_of(data);
  const std::string line = "<li>a &lt;cluster&gt; &amp; &quot;more&quot;: dgemm: drift: +5 % &lt;of time&gt;</li>";
  EXPECT_THAT(page, HasSubstr("<h2>Doubts about the model</h2>"));
  const std::size_t first = page.find(line);
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(page.find(line, first + 1), std::string::npos);
}

/// The last prediction of the small study, of N = 3000, as one that was sampled.
ReportData sampled_study() {
  ReportData data = small_study();
  core::Prediction& prediction = data.predictions.back();
  prediction.parameters.NB = 100;
  prediction.error_95_s = 0.01;
  core::Sampling& sampling = prediction.sampling.emplace();
  sampling.share = 0.4;
  sampling.windows = {{0, 6, 0.7, 0}, {24, 6, 0.3, 0}};
  sampling.pieces = {{6, 9, 0.6, 0.05}, {15, 9, 0.4, 0.05}};
  return data;
}

TEST(Report, MarksSampledPredictions) {
  EXPECT_THAT(page_of(small_study()), Not(HasSubstr("ampled")));
  const std::string page = page_of(sampled_study());
  EXPECT_THAT(page, HasSubstr("1 of 6 predictions is sampled"));
  EXPECT_THAT(page, HasSubstr("is at most 0.50 % of the time"));
  EXPECT_THAT(page, HasSubstr("<th>95 % error</th><th>panels simulated</th>"));
  EXPECT_THAT(page, HasSubstr("<td>0.50 %</td><td>40.0 %</td>"));
  EXPECT_THAT(page, HasSubstr("<td></td><td>all</td>"));
  EXPECT_THAT(page, HasSubstr("of sampled predictions extrapolated"));
}

TEST(Report, ShowsTheWindowsOfSampledPredictions) {
  const ReportData data = sampled_study();
  EXPECT_THAT(page_of(data), HasSubstr("remaining order of the matrix"));
  const std::vector<ReportPicture> pictures = report_pictures(data);
  const auto windows =
      std::find_if(pictures.begin(), pictures.end(), [](const auto& one) { return one.name == "windows-1"; });
  ASSERT_NE(windows, pictures.end());
  // (2/3 (3000^3 - 2400^3) + 3/2 (3000^2 - 2400^2)) / 0.7 s
  EXPECT_THAT(windows->svg, HasSubstr("remaining order 3,000 to 2,400: 12.56 Gflop/s"));
  EXPECT_THAT(windows->svg, HasSubstr("class=\"band\""));
}

TEST(Report, CutsABandThatIsManyTimesAsHighAsTheCurve) {
  ReportData data = sampled_study();
  EXPECT_THAT(page_of(data), Not(HasSubstr("The band is cut")));
  data.predictions.back().sampling->pieces.back().error_95_s = 0.39;
  const std::vector<ReportPicture> pictures = report_pictures(data);
  const auto windows =
      std::find_if(pictures.begin(), pictures.end(), [](const auto& one) { return one.name == "windows-1"; });
  ASSERT_NE(windows, pictures.end());
  // The rate of the whole run is the highest, 22 Gflop/s, and 30 % more are shown: no label of the axis is beyond.
  EXPECT_THAT(windows->svg, HasSubstr(">20</text>"));
  EXPECT_THAT(windows->svg, Not(HasSubstr(">40</text>")));
  EXPECT_THAT(page_of(data), HasSubstr("The band is cut: it goes up to "));
}

TEST(Report, OfOneConfigurationIsItsHeadingAndABarInsteadOfADot) {
  ReportData data = small_study();
  data.predictions.resize(1);
  data.real.clear();
  core::Prediction& one = data.predictions.front();
  one.time_s = 7200;
  one.hosts = 4;
  one.threads_per_rank = 16;
  one.interval.emplace();
  one.interval->low_gflops = 10;
  one.interval->high_gflops = 12;
  one.interval->sd = 0.05;
  one.interval->terms = {{"run", 0.03, 0, std::nullopt, "an idle machine"},
                         {"machine", 0.04, 0, std::nullopt, "its drift"}};
  one.energy.emplace();
  one.energy->mean_power_w = 2500;
  one.energy->energy_j = 18e6;
  one.energy->gflops_per_w = 0.0044;
  const std::string page = page_of(data);
  for (const char* text :
       {" (4 hosts, 1 rank of 16 threads): 11.00 Gflop/s predicted</h1>",
        "4 hosts, 1 rank of 16 threads (P x Q = 1 x 1), N = 1,000", "<b>11.00</b><span>Gflop/s predicted<",
        "<b>10.0 to 12.0</b><span>Gflop/s in 90 % of real runs<", "<b>2.00 h</b>", "<b>2.50 kW</b>", "<b>5.00 kWh</b>",
        "Where the time goes", "machine, 4 %: its drift</text>", "run, 3 %: an idle machine</text>"})
    EXPECT_THAT(page, HasSubstr(text));
  // 0.04^2 and 0.03^2 of 0.05^2; the larger one above.
  EXPECT_THAT(page, HasSubstr(">36 %<"));
  EXPECT_LT(page.find(">64 %<"), page.find(">36 %<"));
  EXPECT_THAT(page, Not(HasSubstr("Gflop/s over the order of the matrix")));
  EXPECT_THAT(page, Not(HasSubstr("1 predictions")));
  data.predictions.push_back(one);
  data.predictions.back().gflops = 12;
  EXPECT_THAT(page_of(data), HasSubstr("<b>11.50 +- 6.4</b><span>Gflop/s predicted, mean of 2 seeds"));
}

TEST(Report, ShowsWhereTheTimeGoesAsABarAndThatOfTheRealRun) {
  ReportData data = small_study();
  data.explanations.emplace_back();
  ExplanationSummary& run = data.explanations.front();
  run.parameters = configuration(3000, 2, 1);  // the largest of its grid
  run.predicted_s = 2;
  run.real_s = 2.5;
  run.real_kernels_s = {{"dgemm", 2.4}, {"dtrsm", 0.2}};  // of both ranks
  run.real_messages_s = 0.4;
  run.real_waiting_s = 0.3;
  const std::string page = page_of(data);
  for (const core::Prediction& one : data.predictions)
    EXPECT_THAT(page, HasSubstr(">N=" + std::to_string(one.parameters.N) + " NB=")) << "all, as they are few";
  EXPECT_THAT(page, HasSubstr("<title>dgemm: 1.00 s, 50.0 %</title>"));
  EXPECT_THAT(page, HasSubstr("<title>communication and waiting: 0.500 s, 25.0 %</title>"));
  EXPECT_THAT(page, HasSubstr(">the same, real<"));
  EXPECT_THAT(page, HasSubstr("<title>dgemm: 1.20 s, 60.0 %</title>"));
  EXPECT_THAT(page, HasSubstr("<title>messages: 0.400 s, 20.0 %</title>"));
  EXPECT_THAT(page, HasSubstr("<title>waiting: 0.300 s, 15.0 %</title>"));
  EXPECT_THAT(page, HasSubstr("<title>between calls: 0.500 s, 25.0 %</title>")) << "2.5 s less all others";
}

TEST(Report, TellsBlockSizesApartByTheirMarks) {
  ReportData data = small_study();
  EXPECT_THAT(page_of(data), HasSubstr("predicted (line: median)"));
  const std::vector<core::Prediction> same = data.predictions;
  for (core::Prediction one : same) {
    one.parameters.NB = 192;
    data.predictions.push_back(one);
  }
  const std::string page = page_of(data);
  EXPECT_THAT(page, HasSubstr("measured, NB 128"));
  EXPECT_THAT(page, HasSubstr("predicted, NB 192"));
  EXPECT_THAT(page, Not(HasSubstr("predicted (line: median)")));
}

TEST(Report, OfASweepMarksSampledPredictions) {
  ReportData data = sampled_study();
  data.real.clear();
  for (const core::Prediction& prediction : data.predictions)
    data.sweep.push_back({{{"N", std::to_string(prediction.parameters.N)}}, prediction});
  const std::string page = page_of(data);
  EXPECT_THAT(page, HasSubstr("1 of 6 predictions is sampled"));
  EXPECT_THAT(page, HasSubstr("<td>0.50 %</td><td>40.0 %</td>"));
  EXPECT_THAT(page, HasSubstr("remaining order of the matrix"));
}

TEST(Report, HasAPlotForEachGridAndOneForTheErrors) {
  const std::string page = page_of(small_study());
  EXPECT_THAT(page, HasSubstr("<h3>P x Q = 1 x 1</h3>"));
  EXPECT_THAT(page, HasSubstr("<h3>P x Q = 2 x 1</h3>"));
  EXPECT_THAT(page, HasSubstr("predicted [Gflop/s]</text>"));
  EXPECT_THAT(page, HasSubstr("measured [Gflop/s]</text>"));
}

TEST(Report, OfPredictionsAloneHasNoComparison) {
  ReportData data = small_study();
  data.real.clear();
  const std::string page = page_of(data);
  EXPECT_THAT(page, HasSubstr("6 predictions; none of these configurations has been run"));
  EXPECT_THAT(page, Not(HasSubstr("All comparisons")));
  EXPECT_THAT(page, Not(HasSubstr("Predicted over measured")));
}

TEST(Report, WithoutPredictionsIsRefused) {
  EXPECT_THROW(page_of({}), core::DomainError);
}

TEST(StudyFiles, AreToldApart) {
  ReportData data;
  const auto kind = [&](const std::string& text) {
    std::istringstream in(text);
    return add_study_file(in, "file", data);
  };
  std::ostringstream predictions;
  core::write_predictions(predictions, small_study().predictions);
  EXPECT_EQ(kind(predictions.str()), StudyFile::predictions);
  EXPECT_EQ(data.predictions.size(), 6U);
  EXPECT_EQ(kind("N,NB,P,Q,time_s\n1000,128,1,1,2.0\n"), StudyFile::real_runs);
  EXPECT_EQ(kind("WR11C2C4 1000 128 1 1 2.00 0.33\n"), StudyFile::real_runs);
  EXPECT_EQ(kind("[0] MPI startup(): of Intel\nWR11C2C4 1000 128 1 1 2.00 0.33\n"), StudyFile::real_runs);
  EXPECT_EQ(data.real.size(), 3U);
  EXPECT_EQ(kind("N,NB,P,Q\n1000,128,1,1\n"), StudyFile::other);
  EXPECT_EQ(kind("N,NB,P,Q,seed,model_sha256,time_s\n1000,128,1,1,1,ab,2.0\n"), StudyFile::other) << "predicted";
  EXPECT_EQ(kind("WARNING: no device\nWriting results\n"), StudyFile::other);
  EXPECT_EQ(kind("kernel,m,n,k,duration_s\ndgemm,1,1,1,1\n"), StudyFile::other);
  EXPECT_EQ(kind("{\"schema_version\": 1, \"name\": \"cluster\"}"), StudyFile::other);
  EXPECT_EQ(kind(""), StudyFile::other);
  EXPECT_THROW(kind("{\"model_sha256\": 1, \"parameters\": 2}"), core::ParseError);
  EXPECT_EQ(data.sources.size(), 4U);
}

TEST(CampaignPage, ShowsMeasurementsAndSensorsOnOneAxis) {
  std::string cores = "host,time_s,quantity,sensor,value\n", card = cores;
  for (int second = 0; second < 5; ++second) {
    for (int core = 0; core < 64; ++core)
      cores += "h," + std::to_string(10 + second) + ",frequency_hz,cpu" + std::to_string(core) + ",2.1e9\n";
    card +=
        "h," + std::to_string(10 + second) + ",received_bytes,eth0," + std::to_string(1000 * second * second) + "\n";
  }
  const std::map<std::string, std::string> files = {
      {"measurements/01-dgemm.csv",
       "kernel,m,n,k,duration_s,start_s,host,cpu,content\ndgemm,1000,1000,100,0.01,20,h,0,random\n"
       "dgemm,10,10,10,0.01,90,h,0,random\n"},
      {"measurements/02-own-stream.csv", "run,start_s,host,GB/s\n0,30,h,12.5\n"},
      {"measurements/03-thresholds.json", "{}"},
      {"monitoring/01-dgemm.csv", cores},
      {"monitoring/02-own-stream.csv", card}};
  std::ostringstream out;
  write_campaign_page(out, files, "tiny & more");
  const std::string page = out.str();
  EXPECT_THAT(page, HasSubstr("Measurements of tiny &amp; more over time"));
  for (const char* words : {"<h3>01-dgemm: large calls</h3>", "Gflop/s per rank", "<h3>02-own-stream</h3>", "GB/s",
                            "<h3>Frequency</h3>", "Of 64 sensors", "<h3>Received</h3>", "bytes per s"})
    EXPECT_THAT(page, HasSubstr(words));
  // From the first reading at 10 s to the command at 30 s: the call at 90 s is too short to tell a speed.
  EXPECT_THAT(page, HasSubstr("data-min=\"10\" data-max=\"30\""));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THROW(write_campaign_page(out, {{"start", "1"}}, "x"), core::ParseError);
}

TEST(CampaignPage, KeepsASingleLowReadingOfMany) {
  std::string readings = "host,time_s,quantity,sensor,value\n";
  for (int second = 0; second <= 10000; ++second)
    readings +=
        "h," + std::to_string(second) + ",frequency_hz,cpu0," + (second == 0 || second == 5001 ? "1e9" : "2e9") + "\n";
  std::ostringstream out;
  write_campaign_page(out, {{"monitoring/01-dgemm.csv", readings}}, "long");
  const std::string page = out.str(), begin = "class=\"s1-line\" d=\"M";
  const std::size_t at = page.rfind(begin);  // the first one is the legend's
  ASSERT_NE(at, std::string::npos);
  const std::string path = page.substr(at + begin.size(), page.find('"', at + begin.size()) - at - begin.size());
  const auto points = std::count(path.begin(), path.end(), 'L');
  EXPECT_TRUE(points > 3000 && points < 6000) << points;
  const std::string low = path.substr(path.find(' '), path.find('L') - path.find(' ') + 1);
  EXPECT_NE(path.find(low, path.find('L')), std::string::npos) << "that of 5001 s is as low as the first one";
}

}  // namespace
}  // namespace hplcast::study
