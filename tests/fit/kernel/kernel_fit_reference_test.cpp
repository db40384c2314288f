// The published dgemm regressions of dahu, from their raw durations.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "hplcast/core/csv.hpp"
#include "hplcast/fit/kernel_fit.hpp"
#include "hplcast/fit/kernel_table.hpp"
#include "tests/support/reference_data.hpp"

namespace hplcast::fit {
namespace {

using core::Monomial;

const std::vector<std::pair<const char*, Monomial>> published_terms = {
    {"intercept", {0, 0, 0}}, {"mnk", {1, 1, 1}}, {"mn", {1, 1, 0}}, {"mk", {1, 0, 1}}, {"nk", {0, 1, 1}}};

GroupedTables raw_tables(const std::filesystem::path& file, const std::vector<std::string>& by) {
  GroupedTables tables;
  std::ifstream in(file);
  KernelCsvOptions options;
  options.by = by;
  add_kernel_csv(in, file.string(), options, tables);
  return tables;
}

double t_value(const PolynomialFit& fit, const Monomial& term) {
  for (std::size_t i = 0; i < fit.polynomial.terms().size(); ++i)
    if (fit.polynomial.terms()[i] == term) return fit.t_values[i];
  return 0;
}

// 1e-9: the reference prints 16 digits and was made by another QR; what is left is the rounding of both.
constexpr double published_tolerance = 1e-9;

void expect_near_relative(double found, double published, const std::string& what) {
  EXPECT_LE(std::abs(found - published), published_tolerance * std::abs(published))
      << what << ": " << found << " vs " << published;
}

TEST(DgemmFit, ReproducesThePublishedRegressions) {
  HPLCAST_REFERENCE_FILE(raw, "dgemm/dgemm_raw_data.csv");
  HPLCAST_REFERENCE_FILE(published, "dgemm/dgemm_agr_data.csv");
  const GroupedTables tables = raw_tables(raw, {"jobid", "node", "cpu"});
  std::ifstream in(published);
  core::CsvReader csv(in, published.string());
  int rows = 0;
  while (csv.next()) {
    ++rows;
    const auto text = [&](const char* column) { return std::string(csv.text(csv.column(column))); };
    const auto number = [&](const std::string& column) { return csv.number(csv.column(column)); };
    const std::string group = text("jobid") + " cpu " + text("cpu");
    const Intercept intercept = text("experiment") == "method" ? Intercept::published : Intercept::none;
    const KernelFit fit =
        fit_kernel(tables.at({text("jobid"), text("node"), text("cpu")}), published_options(intercept));
    ASSERT_TRUE(fit.ok()) << fit.reason;
    const PieceFit& piece = fit.pieces.front();
    for (const auto& [name, term] : published_terms) {
      expect_near_relative(piece.mu.polynomial.coefficient(term), number(name), group + " " + name);
      expect_near_relative(piece.sigma.polynomial.coefficient(term), number(name + std::string("_residual")),
                           group + " " + name + "_residual");
      if (term == Monomial{}) continue;
      expect_near_relative(t_value(piece.mu, term), number(std::string("tvalue_") + name), group + " t " + name);
      expect_near_relative(t_value(piece.sigma, term), number("tvalue_" + (name + std::string("_residual"))),
                           group + " t residual " + name);
    }
  }
  EXPECT_EQ(rows, 10);
}

TEST(DgemmFit, DefaultsKeepTheTotalTimeOfRealMeasurements) {
  HPLCAST_REFERENCE_FILE(raw, "dgemm/dgemm_raw_data.csv");
  for (const auto& [group, table] : raw_tables(raw, {"jobid", "node", "cpu"})) {
    const KernelFit fit = fit_kernel(table);
    ASSERT_TRUE(fit.ok()) << fit.reason;
    double predicted = 0;
    for (const ShapeSummary& one : table.shapes())
      predicted += static_cast<double>(one.count) * fit.model.cluster_law().at(one.shape).mean_s(one.shape);
    EXPECT_NEAR(predicted / table.total_s(), 1, 1e-8) << group[0];  // the score equation, solved to 1e-10 a value
    EXPECT_LT(fit.model.quality().mean_abs_relative_error, 0.08) << group[0];
  }
}

}  // namespace
}  // namespace hplcast::fit
