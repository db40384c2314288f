#include <algorithm>
#include <cmath>
#include <istream>
#include <map>
#include <ostream>
#include <set>
#include <tuple>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/fit/comparison.hpp"
#include "hplcast/study/interval.hpp"

namespace hplcast::study {

namespace {

constexpr std::size_t least_configurations = 3;  // of which a bias and a scatter say something

std::vector<std::string> all_columns() {
  std::vector<std::string> all = {"date", "cluster", "model_sha256", "kind"};
  for (const core::HplField& field : core::hpl_fields()) all.emplace_back(field.name);
  for (const char* name : {"real_gflops", "predicted_gflops", "interval_percent", "low_gflops", "high_gflops"})
    all.emplace_back(name);
  return all;
}

std::string line_of(const LedgerRow& row) {
  const auto text = [](const std::optional<double>& value) { return value ? core::shortest(*value) : std::string(); };
  std::string line;
  for (const std::string* one : {&row.date, &row.cluster, &row.model_sha256, &row.kind})
    line += core::csv_field(*one) + ",";
  for (const core::HplField& field : core::hpl_fields()) line += std::to_string(field.get(row.parameters)) + ",";
  return line + core::shortest(row.real_gflops) + "," + core::shortest(row.predicted_gflops) + "," +
         (row.low_gflops ? core::shortest(row.level_percent) : "") + "," + text(row.low_gflops) + "," +
         text(row.high_gflops);
}

/// A configuration and its prediction.
auto compared(const LedgerRow& row) {
  return std::tie(row.cluster, row.model_sha256, row.kind, row.parameters, row.predicted_gflops);
}
using Rates = std::map<decltype(compared(LedgerRow())), std::multiset<double>>;  // of its runs

/// Whether two comparisons may be of the same runs, one perhaps of more: in all that both have compared, the rates of
/// one are among those of the other. On another occasion hardly all are printed with the same digits.
bool may_be_same(const Rates& one, const Rates& other) {
  for (const auto& [key, rates] : one) {
    const auto found = other.find(key);
    if (found == other.end()) continue;
    const auto& [few, many] =
        std::minmax(rates, found->second, [](const auto& a, const auto& b) { return a.size() < b.size(); });
    if (!std::includes(many.begin(), many.end(), few.begin(), few.end())) return false;
  }
  return true;
}

bool have_one_unit(const LedgerRow& row) {
  constexpr double most = 30;
  const double ratio = row.predicted_gflops / row.real_gflops;
  return ratio < most && ratio > 1 / most;
}

LedgerRow read_row(const core::CsvReader& csv) {
  LedgerRow row;
  const auto text = [&](const char* name) { return std::string(csv.text(csv.column(name))); };
  row.date = text("date");
  row.cluster = text("cluster");
  row.model_sha256 = text("model_sha256");
  row.kind = text("kind");
  row.parameters = core::read_hpl_fields(csv, {});
  row.real_gflops = csv.positive(csv.column("real_gflops"));
  row.predicted_gflops = csv.positive(csv.column("predicted_gflops"));
  if (!have_one_unit(row))
    throw core::ParseError(csv.at(csv.column("real_gflops")),
                           "found " + text("real_gflops") + " beside a prediction of " + text("predicted_gflops") +
                               "; expected both in Gflop/s",
                           "a rate in another unit (Tflop/s, flop/s), or a run that failed");
  if (const std::size_t low = csv.find_column("low_gflops"); csv.has(low)) {
    row.low_gflops = csv.positive(low);
    row.high_gflops = csv.positive(csv.column("high_gflops"));
    row.level_percent = csv.positive(csv.column("interval_percent"));
    if (!(*row.low_gflops <= *row.high_gflops && row.level_percent < 100))
      throw core::ParseError(csv.at(low), "found " + text("low_gflops") + " to " + text("high_gflops") + " with " +
                                              text("interval_percent") +
                                              " %; expected the lower bound first, and less than 100 %");
  }
  return row;
}

/// Errors, ln(real time / predicted time), of the runs of one configuration on one occasion.
using Repetitions = std::vector<double>;
using Occasion = std::map<std::pair<core::HplParameters, std::string>, Repetitions>;  // by configuration and model

constexpr std::size_t several = 3;  // occasions, or models, that say how they differ

/// A variance without the scatter of the runs behind each value.
double without_runs(double variance, const std::vector<Repetitions>& all, const PastErrors& past) {
  double scatter = 0;
  for (const Repetitions& one : all)
    if (past.run) scatter += past.run->sd * past.run->sd / static_cast<double>(one.size());
  return std::max(0.0, variance - scatter / static_cast<double>(all.size()));
}

/// All configurations of an occasion share its error, so that they are one value of what the next occasion will be. By
/// median differences, from five occasions on: one that went wrong does not make those that did not wide.
bool tell_occasions_apart(const std::map<std::string, Occasion>& occasions, const std::vector<Repetitions>& all,
                          PastErrors& past) {
  std::vector<std::vector<double>> centres;
  std::vector<double> means;
  for (const auto& [date, occasion] : occasions) {
    std::vector<double>& own = centres.emplace_back();
    for (const auto& [key, one] : occasion) own.push_back(core::median(one));
    means.push_back(core::mean(own));
  }
  const std::optional<core::EstimatedSd> within = pooled_sd(centres);
  const std::optional<core::EstimatedSd> between = pooled_sd({means});
  if (means.size() < several || !within || !between) return false;
  past.bias = core::median(means);
  constexpr double median_variance = 1.5707963;  // pi / 2 over that of a mean: the bias is uncertain, too
  past.machine = between;
  past.machine->sd *= std::sqrt(1 + median_variance / static_cast<double>(means.size()));
  past.discrepancy = within;
  past.discrepancy->sd = std::sqrt(without_runs(within->sd * within->sd, all, past));
  return true;
}

/// The centres of the configurations scatter by the model's errors and by what is left of the runs' own scatter.
void add_discrepancy(const std::vector<Repetitions>& all, PastErrors& past) {
  if (all.size() < least_configurations) return;
  const fit::SampleSummary centres = fit::summarize(core::mapped(all, core::median));
  const double variance = centres.sd * centres.sd, n = static_cast<double>(all.size());
  past.bias = centres.mean;
  // The bias is uncertain, too.
  past.discrepancy = core::EstimatedSd{std::sqrt(without_runs(variance, all, past) + variance / n), n - 1};
}

}  // namespace

std::optional<core::EstimatedSd> pooled_sd(const std::vector<std::vector<double>>& groups) {
  constexpr std::size_t least_pairs = 3, most_partners = 1000;
  // Normal values of standard deviation 1: the median difference; the density of differences there times the median,
  // squared and halved; covariance of "below the median" of two pairs with a value in common (its variance is 1/4).
  constexpr double median_difference = 0.9538726, sharpness = 0.0918807, covariance = 0.0266016;
  std::vector<double> differences;
  double variance = 0;  // of how many differences are below the median
  double squares = 0, freedom = 0;
  for (const std::vector<double>& values : groups) {
    const std::size_t before = differences.size(), step = 1 + values.size() / most_partners;
    const auto n = static_cast<double>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      for (std::size_t j = i % step; j < i; j += step) {
        differences.push_back(std::abs(values[i] - values[j]));
        squares += differences.back() * differences.back() / n;
      }
    const double overlaps = 2 * (n / static_cast<double>(step) - 2);
    variance += static_cast<double>(differences.size() - before) * (0.25 + overlaps * covariance);
    freedom += std::max(0.0, n - 1);
  }
  if (differences.size() < least_pairs) return std::nullopt;
  const auto pairs = static_cast<double>(differences.size());
  const double nu = sharpness * pairs * pairs / variance;
  // The median of so few is known too badly, and is not robust: one wrong value of four is in half of the differences.
  if (nu < 2) return core::EstimatedSd{std::sqrt(squares / freedom), freedom};
  return core::EstimatedSd{core::median(std::move(differences)) / median_difference, nu};
}

std::string kind_of(const core::Prediction& prediction) {
  if (prediction.model_levels.empty()) return "plain";
  return core::joined(prediction.model_levels, " ", [](const auto& level) { return level.first + "=" + level.second; });
}

std::vector<LedgerRow> read_ledger(std::istream& in, const std::string& name) {
  core::CsvReader csv(in, name);
  csv.refuse_unknown(all_columns());
  for (const char* needed : {"real_gflops", "predicted_gflops"})
    if (csv.find_column(needed) == core::CsvReader::npos)
      throw core::ParseError({name, 1, needed}, "no such column; found " + core::comma_separated(csv.header()),
                             "a ledger is what `hplcast compare --append-to-ledger` writes, in Gflop/s");
  std::vector<LedgerRow> rows;
  while (csv.next()) rows.push_back(read_row(csv));
  return rows;
}

void write_ledger(std::ostream& out, const std::vector<LedgerRow>& rows) {
  out << core::joined(all_columns(), ",") << '\n';
  for (const LedgerRow& row : rows) out << line_of(row) << '\n';
}

std::vector<LedgerRow> ledger_rows(const Comparison& comparison, const std::vector<core::Prediction>& predicted,
                                   const std::string& date) {
  std::map<core::HplParameters, const core::Prediction*> of;
  for (const core::Prediction& one : predicted) of.emplace(core::without_unused(one.parameters), &one);
  std::vector<LedgerRow> rows;
  for (const ComparedConfiguration& compared : comparison.rows) {
    const core::Prediction& prediction = *of.at(compared.parameters);
    LedgerRow row;
    row.date = date;
    row.cluster = prediction.cluster;
    row.model_sha256 = prediction.model_sha256;
    row.kind = kind_of(prediction);
    row.parameters = compared.parameters;
    row.predicted_gflops = compared.predicted_median;
    if (compared.interval) {
      row.low_gflops = compared.interval->low_gflops;
      row.high_gflops = compared.interval->high_gflops;
      row.level_percent = compared.interval->level_percent;
    }
    for (const double gflops : compared.real_gflops) {
      row.real_gflops = gflops;
      if (have_one_unit(row)) rows.push_back(row);
    }
  }
  return rows;
}

std::size_t append(std::vector<LedgerRow>& ledger, const std::vector<LedgerRow>& rows) {
  std::map<std::string, Rates> occasions;
  for (const LedgerRow& row : ledger) occasions[row.date][compared(row)].insert(row.real_gflops);
  Rates own, known;
  for (const LedgerRow& row : rows) own[compared(row)].insert(row.real_gflops);
  for (auto& [date, rates] : occasions)
    if (may_be_same(own, rates) || (!rows.empty() && date == rows.front().date))
      for (auto& [key, of_key] : rates) known[key].merge(of_key);
  std::vector<LedgerRow> added;
  for (const LedgerRow& row : rows)
    if (known[compared(row)].extract(row.real_gflops).empty()) added.push_back(row);
  ledger.insert(ledger.end(), added.begin(), added.end());
  return added.size();
}

PastErrors past_errors(const std::vector<LedgerRow>& ledger, const core::Prediction& prediction) {
  PastErrors past;
  std::map<std::string, Occasion> occasions;
  std::set<std::string> models;
  for (const LedgerRow& row : ledger) {
    if (row.cluster != prediction.cluster || row.kind != kind_of(prediction)) continue;
    occasions[row.date][{row.parameters, row.model_sha256}].push_back(std::log(row.predicted_gflops / row.real_gflops));
    models.insert(row.model_sha256);
  }
  past.occasions = occasions.size();
  std::vector<Repetitions> all;
  for (const auto& [date, occasion] : occasions) {
    for (const auto& [key, one] : occasion) {
      if (one.size() > 1) past.repeated_runs += one.size();
      all.push_back(one);
    }
  }
  past.configurations = all.size();
  past.run = pooled_sd(all);
  if (!tell_occasions_apart(occasions, all, past)) add_discrepancy(all, past);
  past.has_model_errors =
      models == std::set<std::string>{prediction.model_sha256} || (past.machine && models.size() >= several);
  return past;
}

}  // namespace hplcast::study
