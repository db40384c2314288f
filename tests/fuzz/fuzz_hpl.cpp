// The readers of HPL's own texts on arbitrary bytes: HPL.dat, HPL's output, CSV of runs.
#include <cstdint>
#include <sstream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/hpl_parameters.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hplcast;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto attempt = [&](auto read) {
    std::istringstream in(text);
    try {
      read(in);
    } catch (const core::Error&) {  // what bad input is meant to end with
    }
  };
  attempt([](std::istream& in) { core::read_hpl_dat(in, "fuzz"); });
  attempt([](std::istream& in) { core::read_hpl_output(in, "fuzz", {}); });
  attempt([](std::istream& in) { core::read_hpl_csv(in, "fuzz", {}); });
  return 0;
}
