#pragma once

#include <string>
#include <vector>

#include "figure.hpp"
#include "hplcast/study/report.hpp"
#include "sweep_view.hpp"

namespace hplcast::study {

/// The part of a report that is about a sweep.
class SweepReport {
 public:
  /// `data` must outlive this, with results of a sweep in it.
  explicit SweepReport(const ReportData& data);

  const std::string& title() const { return title_; }  ///< the plan's name; may be empty
  /// The answer: question, fastest and slowest, what matters, what is missing.
  std::string summary_html() const;
  /// Figures, influence, all results.
  std::string body_html() const;
  std::vector<Figure> figures() const;
  /// The fastest and the slowest of each N, with a name for each: the largest N first.
  std::vector<std::pair<std::string, const core::Prediction*>> extremes() const;

 private:
  std::string most_per_watt_html() const;
  std::string ties_with(const SweepResult& best) const;
  std::string findings_html() const;
  std::string orders_html() const;
  std::string gaps_html() const;
  std::string influence_html() const;
  std::string results_html() const;
  std::string grid_finding() const;

  const ReportData& data_;
  const std::vector<SweepResult>& results_;
  std::string title_;
  std::string question_;
  std::vector<std::string> names_;   ///< of the plan's factors
  std::vector<std::string> others_;  ///< the same without N, if there are others
  std::vector<ViewFactor> factors_;
  std::vector<const SweepResult*> by_rate_;  ///< the fastest first
};

}  // namespace hplcast::study
