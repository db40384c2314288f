#include "energy_options.hpp"

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "picture.hpp"
#include "quantities.hpp"

namespace hplcast::cli {

void add_energy(CLI::App& command, study::Observation& observation) {
  command
      .add_flag("--energy", observation.energy,
                "energy, mean power and Gflop/s per W; the cluster must have `power` (docs/use/energy.md)")
      ->group("Energy");
  CLI::Option* trace = command
                           .add_option("--power-trace", observation.power_trace,
                                       "power over time: CSV, or a picture (.svg, .png); turns on --energy")
                           ->type_name("FILE")
                           ->group("Energy");
  command.add_option("--bin", observation.bin_s, "time that a row of --power-trace is the mean of (default 1s)")
      ->transform(as_time_limit())
      ->needs(trace)
      ->type_name("DURATION")
      ->group("Energy");
  command.add_flag("--power-hosts", observation.power_hosts, "a column for every host in --power-trace")
      ->needs(trace)
      ->group("Energy");
}

PowerTraceFile::PowerTraceFile(study::Observation& observation) {
  if (!observation.power_trace.empty()) observation.energy = true;
  const std::string ending = observation.power_trace.extension();
  if (ending == ".pdf" || ending == ".eps" || ending == ".jpg" || ending == ".jpeg")
    throw core::UsageError("--power-trace " + observation.power_trace.string() +
                           ": expected a name in .csv, or of a picture in .svg or .png");
  if (ending != ".svg" && ending != ".png") return;
  require_picture(observation.power_trace);
  picture_ = observation.power_trace;
  folder_.emplace("hplcast-power");
  csv_ = folder_->path() / "power.csv";
  observation.power_trace = csv_;
}

void PowerTraceFile::finish() const {
  if (picture_.empty()) return;
  PlotPanel panel{"", "time [s]", "power [W]", false, false, {}, {}};
  core::read_file(csv_, [&](std::istream& in, const std::string& name) {
    core::CsvReader reader(in, name);
    const std::size_t first = reader.column("power_w");
    const std::size_t begin = reader.column("time_s"), length = reader.column("duration_s");
    for (std::size_t column = first; column < reader.header().size(); ++column)
      panel.series.push_back(
          {column == first ? "all hosts and the network" : reader.header()[column], PlotSeries::Style::line, {}});
    while (reader.next()) {
      const double middle_s = reader.number(begin) + reader.number(length) / 2;
      for (std::size_t i = 0; i < panel.series.size(); ++i)
        panel.series[i].values.emplace_back(middle_s, reader.number(first + i));
    }
  });
  write_picture(picture_, {"Power over time", {panel}});
}

}  // namespace hplcast::cli
