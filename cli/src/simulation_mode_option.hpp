#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "choice.hpp"
#include "hplcast/study/predict.hpp"

namespace hplcast::cli {

/// --mode. `note` is put at the end of its help.
inline void add_simulation_mode(CLI::App& command, study::SimulationMode& mode, const std::string& note = "") {
  add_choice<study::SimulationMode>(
      command, "--mode", mode,
      {{"auto", study::SimulationMode::automatic},
       {"exact", study::SimulationMode::exact},
       {"fast", study::SimulationMode::fast}},
      "exact: every message of HPL; fast: most exchanges inside panels are computed at once; auto: fast where it saves "
      "more than some seconds" +
          note);
}

}  // namespace hplcast::cli
