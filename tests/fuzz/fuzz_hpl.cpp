// The readers of HPL's own texts on arbitrary bytes: HPL.dat, HPL's output, CSV of runs.
#include <cstdint>

#include "hplcast/core/hpl_parameters.hpp"
#include "tests/fuzz/fuzzed_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hplcast;
  const test::FuzzedText attempt(data, size);
  attempt([](std::istream& in) { core::read_hpl_dat(in, "fuzz"); });
  attempt([](std::istream& in) { core::read_hpl_output(in, "fuzz", {}); });
  attempt([](std::istream& in) { core::read_hpl_csv(in, "fuzz", {}); });
  attempt([](std::istream& in) { core::read_configurations(in, "fuzz"); });
  attempt([](std::istream& in) { core::read_real_runs(in, "fuzz"); });
  return 0;
}
