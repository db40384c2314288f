#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "hplcast/core/files.hpp"
#include "hplcast/study/installed_programs.hpp"

namespace hplcast::study::testing {

/// Scripts that stand in for smpirun, mpirun and xhpl: they show what happens around the real ones.
class FakePrograms {
 public:
  /// An executable shell script with the lines of `body`.
  std::filesystem::path script(const std::string& name, const std::string& body) const {
    const std::filesystem::path path = folder_.path() / name;
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  std::filesystem::path folder() const { return folder_.path(); }

 private:
  core::TemporaryFolder folder_{"hplcast-test with space"};
};

/// Shell lines that print what HPL prints for the HPL.dat in the current folder (N, NB, P, Q and BCAST are read from
/// it).
inline std::string print_hpl_result(const std::string& time_s, const std::string& gflops) {
  return "field() { sed -n \"$1p\" HPL.dat | cut -d' ' -f1; }\n"
         "printf 'WR1%dC2C4 %d %d %d %d " +
         time_s + " " + gflops + "\\n' $(field 23) $(field 6) $(field 8) $(field 11) $(field 12)\n";
}

/// A simulation that works: what the runtime of the simulated program would leave.
inline const char* const good_statistics =
    "sha=$(sha256sum \"${cluster:-cluster.json}\" | cut -d' ' -f1)\n"
    "cat > statistics.json <<END\n"
    "{\"schema_version\": 2, \"cluster\": \"dahu\", \"model_sha256\": \"$sha\", \"model_source\": \"cluster.json\",\n"
    " \"simulator\": \"SimGrid 3.32.0\", \"mode\": \"exact\", \"fast_error_95_s\": 0, \"seed\": 1, \"noise\": true,\n"
    " \"ranks\": 4, \"deadlock\": false, \"end_s\": 2.5, \"times_s\": [2.0000000123],\n"
    " \"kernels\": {\"dgemm\": {\"calls\": 7, \"outside_range\": 2, \"time_s\": 1.5, \"flop\": 1e9}},\n"
    " \"messages\": {\"send\": {\"calls\": 3, \"outside_range\": 0, \"bytes\": 4096}}}\n"
    "END\n";

}  // namespace hplcast::study::testing
