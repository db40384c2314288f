#pragma once

namespace hplcast::study {

/// Resources of this machine for a run.
struct LocalMachine {
  int cores = 1;               ///< physical cores that this process may use
  double memory_bytes = 0;     ///< installed; 0: not known
  double available_bytes = 0;  ///< free without swapping; 0: not known
  long max_map_count = 0;      ///< vm.max_map_count: memory maps that one process may have; 0: not known
};

LocalMachine local_machine();

}  // namespace hplcast::study
