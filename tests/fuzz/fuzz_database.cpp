// Histories and databases of sweeps on arbitrary bytes.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/study/history.hpp"
#include "hplcast/study/history_check.hpp"
#include "hplcast/study/history_models.hpp"
#include "hplcast/study/sweep_database.hpp"

namespace {

using namespace hplcast;

template <typename Read>
void attempt(const std::filesystem::path& path, const std::string& text, Read read) {
  std::ofstream(path, std::ios::binary) << text;
  try {
    read();
  } catch (const core::Error&) {  // what bad input is meant to end with
  }
  for (const char* beside : {"-journal", "-wal", "-shm"}) std::filesystem::remove(path.string() + beside);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const core::TemporaryFolder folder("hplcast-fuzz");
  static const std::filesystem::path path = folder.path() / "database";
  const std::string text(reinterpret_cast<const char*>(data), size);
  attempt(path, text, [] {
    const study::HistoryDatabase history(path, study::HistoryDatabase::Access::read);
    history.counts();
    history.changes();
    history.outliers();
    history.verdicts();
    for (const study::StoredCampaign& campaign : history.campaigns()) history.hosts(campaign.id);
    for (const study::FactorInfo& factor : study::known_factors()) history.series("", factor.name, 0);
    study::day_to_day(history, {});
    study::check_history(history, {});
  });
  attempt(path, text, [] {
    const study::SweepDatabase sweep(path, study::SweepDatabase::Access::read);
    sweep.counts();
    sweep.failures();
    sweep.skipped();
    sweep.plans();
    std::ostringstream csv;
    study::write_sweep_csv(csv, sweep.results());
  });
  return 0;
}
