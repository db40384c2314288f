#include "cli/support/configuration_file.hpp"

#include <iostream>

#include "hplcast/core/files.hpp"
#include "hplcast/core/hpl_parameters.hpp"

namespace hplcast::cli {

std::vector<core::HplParameters> read_configuration_file(const std::string& program, const std::string& path,
                                                         const core::HplParameters& defaults) {
  std::vector<core::HplParameters> configurations;
  std::vector<std::string> warnings;
  core::read_file(path, [&](std::istream& in, const std::string& name) {
    configurations = core::read_configurations(in, name, defaults, &warnings);
  });
  for (const std::string& warning : warnings) std::cerr << program << ": warning: " << warning << '\n';
  return configurations;
}

}  // namespace hplcast::cli
