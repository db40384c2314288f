#include "hplcast/core/measurement.hpp"

#include <algorithm>
#include <ostream>

#include "core/base/described_json.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/statistics.hpp"

namespace hplcast::core {

const char* const control_csv_header = "rank,host,core,start_s,shape,calls,wall_s,cpu_s,sd_s,round_trip_s";

void write_row(std::ostream& out, const ControlRow& row) {
  out << row.rank << ',' << csv_field(row.host) << ',' << row.core << ',' << shortest(row.start_s) << ',' << row.shape
      << ',' << row.calls << ',' << shortest(row.wall_s) << ',' << shortest(row.cpu_s) << ',' << shortest(row.sd_s)
      << ',' << shortest(row.round_trip_s) << '\n';
}

std::vector<ControlRows> read_controls(std::istream& in, const std::string& name) {
  CsvReader csv(in, name);
  const std::size_t rank = csv.column("rank"), host = csv.column("host"), core = csv.column("core"),
                    start = csv.column("start_s"), shape = csv.column("shape"), calls = csv.column("calls"),
                    wall = csv.column("wall_s"), cpu = csv.column("cpu_s"), sd = csv.column("sd_s"),
                    round_trip = csv.column("round_trip_s");
  std::vector<ControlRows> controls;
  while (csv.next()) {
    ControlRow row;
    row.rank = csv.integer(rank, 0);
    row.host = csv.text(host);
    row.core = csv.integer(core, 0);
    row.start_s = csv.number(start);
    row.shape = csv.text(shape);
    row.calls = csv.integer(calls, 1);
    row.wall_s = csv.positive(wall);
    row.cpu_s = csv.positive(cpu);
    row.sd_s = csv.non_negative(sd);
    row.round_trip_s = csv.non_negative(round_trip);
    if (row.rank == 0) controls.emplace_back();
    if (controls.empty() || row.rank != static_cast<int>(controls.back().size()))
      throw ParseError(csv.at(rank),
                       "found rank " + std::to_string(row.rank) + "; expected " +
                           std::to_string(controls.empty() ? 0 : controls.back().size()) + " or 0",
                       "a control has a row per rank, in their order");
    if (const std::string& first = controls.front().empty() ? row.shape : controls.front().front().shape;
        row.shape != first)
      throw ParseError(csv.at(shape), "found " + row.shape + " after " + first + "; expected one shape",
                       "controls of different shapes cannot be compared");
    controls.back().push_back(std::move(row));
  }
  return controls;
}

Control summarized(const std::vector<ControlRows>& controls) {
  if (controls.empty()) throw DomainError("number of controls", 0.0, "at least 1");
  std::vector<double> walls, cpus, round_trips;
  for (const ControlRows& rows : controls) {
    const ControlRow& slowest = *std::max_element(
        rows.begin(), rows.end(), [](const ControlRow& a, const ControlRow& b) { return a.wall_s < b.wall_s; });
    walls.push_back(slowest.wall_s);
    cpus.push_back(slowest.cpu_s);
    if (rows.front().round_trip_s > 0) round_trips.push_back(rows.front().round_trip_s);
  }
  const auto [low, high] = std::minmax_element(walls.begin(), walls.end());
  return {controls.front().front().shape,
          median(walls),
          *low,
          *high,
          median(cpus),
          round_trips.empty() ? 0 : median(round_trips)};
}

std::optional<Control> control_of(const ClusterModel& cluster) {
  const detail::Json json = parse_json<detail::Json>(cluster.provenance);
  const detail::Node provenance(json, cluster.name, "/provenance");
  if (!provenance.has("control")) return std::nullopt;
  return detail::FieldReader::read<Control>(provenance.at("control"), detail::Reading::any);
}

}  // namespace hplcast::core
