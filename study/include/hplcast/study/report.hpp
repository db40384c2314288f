#pragma once

#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "hplcast/study/explain.hpp"
#include "hplcast/study/sweep_database.hpp"

namespace hplcast::study {

/// The content of a report.
struct ReportData {
  std::vector<core::HplRun> real;
  std::vector<core::Prediction> predictions;
  std::vector<ExplanationSummary> explanations;
  std::vector<SweepResult> sweep;    ///< of databases; their predictions are in `predictions`, too
  SweepCounts counts;                ///< of databases, added up
  std::vector<std::string> plans;    ///< texts of the plans of databases
  std::vector<std::string> sources;  ///< names of the files that the data come from
};

/// Kinds of files of a study that reports use.
enum class StudyFile { predictions, real_runs, explanation, other };

/// Reads a file into `data` if it holds predictions (JSON of `hplcast predict`), real runs (CSV with N and time_s, or
/// HPL's output) or an explanation (JSON of `hplcast explain`), and says which. @throws core::ParseError if it is one
/// of them with a mistake in it.
StudyFile add_study_file(std::istream& in, const std::string& name, ReportData& data);

/// Adds the results and the plans of a database.
void add_sweep(const SweepDatabase& database, ReportData& data);

/// One HTML page that needs nothing else: no network (it forbids itself any), and a small script only to sort tables.
/// Summary first, then the plots, where the time goes, all numbers, and what made them. Light or dark as the reader's
/// machine has it. @throws core::DomainError if there are no predictions.
void write_report(std::ostream& out, const ReportData& data);

/// A page with all measurements of a campaign over time, and its sensors below them, on one axis that a reader can
/// zoom. `files`: of the archive, by path. @throws core::ParseError if there is nothing with a time in it.
void write_campaign_page(std::ostream& out, const std::map<std::string, std::string>& files, const std::string& name);

/// A figure of a report as an SVG file of its own.
struct ReportPicture {
  std::string name;  ///< of the file, without ".svg": letters, digits and "-", different for each
  std::string svg;
};

/// All figures of the page that write_report() makes.
std::vector<ReportPicture> report_pictures(const ReportData& data);

}  // namespace hplcast::study
