#include "hplcast/study/report.hpp"

#include <algorithm>
#include <iostream>

#include "cli/commands/commands.hpp"
#include "cli/support/input_files.hpp"
#include "hplcast/calibration/archive.hpp"
#include "hplcast/study/compare.hpp"

namespace hplcast::cli {

namespace {

struct ReportOptions {
  std::vector<std::string> inputs;
  std::string output;
  std::string pictures;
};

/// Files of a folder that may hold predictions or runs, by name. Not those below it: HPL's output of runs that stand in
/// a CSV already would count twice.
std::vector<fs::path> candidates_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path& path = entry.path();
    const fs::path kind = path.extension();
    if (entry.is_regular_file() &&
        (kind == ".json" || kind == ".csv" || kind == ".out" || (kind == ".db" && study::is_sqlite_file(path, "hplc"))))
      files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

study::StudyFile add_file(const fs::path& path, study::ReportData& data) {
  if (study::is_sqlite_file(path)) {
    study::add_sweep(study::SweepDatabase(path, study::SweepDatabase::Access::read), data);
    return study::StudyFile::predictions;
  }
  return read_from(path, study::add_study_file, data);
}

study::ReportData read_inputs(const std::vector<std::string>& inputs) {
  study::ReportData data;
  for (const fs::path input : inputs) {
    if (fs::is_directory(input)) {
      for (const fs::path& file : candidates_in(input)) {
        try {
          add_file(file, data);
        } catch (const study::EmptyDatabase& error) {
          warn(error.what());
        }
      }
    } else if (add_file(input, data) == study::StudyFile::other) {
      throw core::ParseError(
          {input.string(), 0, ""},
          "neither predictions (JSON, database) nor real runs (CSV or HPL's output) nor an explanation (JSON)");
    }
  }
  if (data.predictions.empty())
    throw InputError("no predictions in the files given\n  hint: `hplcast predict -o FILE.json` makes them");
  return data;
}

/// Every figure as NAME.svg and NAME.png.
void write_pictures(const fs::path& folder, const std::vector<study::ReportPicture>& pictures) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) throw InputError("cannot make " + folder.string() + ": " + error.message());
  const bool png = can_draw_png();
  for (const study::ReportPicture& picture : pictures) {
    write_picture(folder / (picture.name + ".svg"), picture.svg);
    if (png) write_picture(folder / (picture.name + ".png"), picture.svg);
  }
  if (!png) warn("SVG only: rsvg-convert is not installed; apt-get install librsvg2-bin");
}

/// Several clusters in one page are what some studies are about; compared with real runs they are a mistake.
void tell_models(const study::ReportData& data) {
  const std::vector<std::string> models = study::models_of(data.predictions);
  if (models.size() < 2 || data.real.empty()) return;
  constexpr std::size_t most = 5;
  std::string list;
  for (std::size_t i = 0; i < std::min(most, models.size()); ++i) list += (i == 0 ? "" : ", ") + models[i];
  warn("predictions of " + std::to_string(models.size()) + " models are compared with the same real runs: " + list +
       (models.size() > most ? " ..." : ""));
  if (study::mixed_models(data.predictions))
    std::cerr
        << "  some configurations are predicted with several of them: the page takes these for several seeds, and "
           "shows their median\n";
}

/// One archive of a campaign: its measurements over time.
void report_campaign(const ReportOptions& options) {
  if (options.inputs.size() > 1 || !options.pictures.empty())
    throw core::UsageError("an archive of a campaign makes a page of its own; give it alone, and no --pictures");
  const fs::path path = options.inputs.front();
  const auto files = calibration::read_archive(path);
  write_result(options.output,
               [&](std::ostream& out) { study::write_campaign_page(out, files, path.stem().string()); });
}

void run_report(const ReportOptions& options) {
  if (std::any_of(options.inputs.begin(), options.inputs.end(), calibration::has_archive_name))
    return report_campaign(options);
  require_place_of(options.pictures);
  const study::ReportData data = read_inputs(options.inputs);
  require_other_file(options.output, data.sources);  // in a folder, too
  warn_of_repeated(data.sources);
  tell_models(data);
  write_result(options.output, [&](std::ostream& out) { study::write_report(out, data); });
  if (!options.pictures.empty()) write_pictures(options.pictures, study::report_pictures(data));
  tell(core::counted(data.predictions.size(), "prediction") + ", " + core::counted(data.real.size(), "real run"));
}

}  // namespace

void setup_report(Command& app) {
  Command& command = add_command(app, "report", "Show predictions and real runs as one HTML page",
                                 "hplcast report predictions.json real.csv -o report.html");
  auto& options = command.runs<ReportOptions>(run_report);
  command.add_option(
      "inputs", options.inputs,
      "predictions, databases of sweeps, real runs, explanations, or folders with such files; or one archive of "
      "a campaign, for its measurements and sensors over time",
      required, reads("DIR|FILE"));
  command.add_option("-o,--output", options.output, "the page (default: the standard output)", writes("report.html"));
  command.add_option("--pictures", options.pictures, "folder for its figures as SVG and PNG files", of_type("DIR"));
}

}  // namespace hplcast::cli
