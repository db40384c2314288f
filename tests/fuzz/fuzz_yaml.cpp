// The readers of campaign files, plans of sweeps and offers on arbitrary bytes; what short plans ask for.
#include <cstdint>
#include <sstream>
#include <string>

#include "cli/campaign/campaign_yaml.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/study/offer.hpp"
#include "hplcast/study/sweep_plan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hplcast;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    cli::read_campaign(text, "fuzz", "/nowhere");
  } catch (const core::Error&) {  // what bad input is meant to end with
  }
  try {
    std::istringstream in(text);
    const study::SweepPlan plan = study::read_plan(in, "fuzz", HPLCAST_SOURCE_DIR "/tests/fuzz/corpus/json");
    if (study::run_count(plan) < 50) study::runs_of(plan);
  } catch (const core::Error&) {
  }
  try {
    std::istringstream in(text);
    study::read_offers(in, "fuzz", HPLCAST_SOURCE_DIR "/tests/fuzz/corpus/json");
  } catch (const core::Error&) {
  }
  return 0;
}
