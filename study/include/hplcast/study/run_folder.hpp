#pragma once

#include <filesystem>
#include <vector>

#include "hplcast/study/predict.hpp"

namespace hplcast::study {

/// The files of write_run_folder().
inline const std::vector<const char*> run_folder_files = {"platform.xml", "hostfile", "model.h", "HPL.dat", "run.sh"};

/// Writes a folder in which `run.sh` runs HPL by plain smpirun, without hplcast: platform.xml with SMPI's settings,
/// hostfile, model.h, HPL.dat. Of the request cluster, parameters, seed, noise and programs.smpirun count. The time is
/// that of `predict --mode exact` where platform.xml is its platform, too (docs/formats/platform-xml.md says what that
/// loses).
/// @throws what check() throws; core::Error if a file cannot be written.
void write_run_folder(const PredictionRequest& request, const std::filesystem::path& folder);

/// Folders of runs that earlier calls of write_run_folder() have left at `base` or in it, without those of `folders`,
/// which are about to be written: they would look like a part of the new ones.
std::vector<std::filesystem::path> other_run_folders(const std::filesystem::path& base,
                                                     const std::vector<std::filesystem::path>& folders);

}  // namespace hplcast::study
