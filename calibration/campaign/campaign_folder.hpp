#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hplcast/calibration/campaign.hpp"

namespace hplcast::calibration {

/// The files of a campaign. Only one process works in a folder at a time.
class CampaignFolder {
 public:
  /// Makes the folder, or opens that of the same campaign; of steps that have not been measured yet, `plan` may differ
  /// from what is there. @throws as run_campaign().
  CampaignFolder(std::filesystem::path path, const CampaignPlan& plan, bool resume);
  ~CampaignFolder();
  CampaignFolder(const CampaignFolder&) = delete;
  CampaignFolder& operator=(const CampaignFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Unix time of the first start: what start_s counts from in all measurements.
  double start_unix_s() const noexcept { return start_unix_s_; }

  std::filesystem::path design(const CampaignStep& step) const { return path_ / "designs" / (step.name + ".csv"); }
  /// File of a step, or of one piece of it.
  std::filesystem::path result(const CampaignStep& step, const CampaignChunk* piece = nullptr) const;
  std::filesystem::path monitoring(const CampaignStep& step, const CampaignChunk* piece = nullptr) const;
  std::filesystem::path surroundings(const std::string& file) const { return path_ / "surroundings" / file; }
  /// For the output of a command that failed; `what` it was for becomes a name.
  std::filesystem::path failure(const std::string& what) const;
  std::filesystem::path work() const { return path_ / "work"; }  ///< for files that nobody needs afterwards

  bool is_done(const CampaignStep& step) const { return std::filesystem::exists(result(step)); }
  bool is_done(const CampaignStep& step, const CampaignChunk& piece) const {
    return is_done(step) || std::filesystem::exists(result(step, &piece));
  }
  /// Whether anything of a step has been measured.
  bool is_begun(const std::string& step) const;
  /// Whether the campaign file is another one than before.
  bool is_changed() const noexcept { return changed_; }
  /// Adds the rows of a control measurement to control.csv.
  void add_control(const std::filesystem::path& rows) const;
  /// Joins the pieces of a step to one file each, and removes them. @throws core::InputError if all calls of the step
  /// failed: then it counts as not measured.
  void finish(const CampaignStep& step, const std::vector<CampaignChunk>& chunks) const;

  std::filesystem::path position() const { return work() / "position"; }  ///< the row that is being measured
  /// @throws core::InputError if the wall clock, which start_s counts on, is before an earlier look at it.
  void check_clock(const std::string& what);
  /// Appends a line about a command to log.txt and log.jsonl.
  void log(const std::string& what, const std::string& command, int status, double wall_s) const;

 private:
  void lock();
  void remove_leftovers() const;
  void require_same(const CampaignPlan& plan) const;
  void write_plan(const CampaignPlan& plan) const;
  void refuse_failures(const CampaignStep& step) const;

  std::filesystem::path path_;
  double start_unix_s_ = 0;
  double latest_unix_s_ = 0;
  int lock_ = -1;
  bool changed_ = false;
};

}  // namespace hplcast::calibration
