#include "hplcast/core/collective_run.hpp"

#include <ostream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::core {

const char* const collective_csv_header =
    "operation,size_bytes,count,ranks,hosts,level,duty,period_s,warm_up,duration_s,start_s,error";

void write_row(std::ostream& out, const CollectiveRun& run) {
  out << run.operation << ',' << shortest(run.size_bytes) << ',' << run.count << ',' << run.ranks << ',' << run.hosts
      << ',' << shortest(run.level) << ',' << shortest(run.duty) << ',' << shortest(run.period_s) << ','
      << (run.warm_up ? 1 : 0) << ',' << shortest(run.duration_s) << ',' << shortest(run.start_s) << ",\n";
}

void read_collective_csv(std::istream& in, const std::string& name,
                         const std::function<void(const CollectiveRun&)>& each) {
  CsvReader csv(in, name);
  if (csv.find_column("kind") != CsvReader::npos && csv.find_column("level") == CsvReader::npos)
    throw ParseError({name, 1, ""},
                     "found gaps of a clock loop (--method gaps, fwq, ftq); expected series of a collective "
                     "operation (--method collectives)",
                     "hplcast fit detours reads gaps");
  csv.refuse_misspelt({"operation", "size_bytes", "count", "ranks", "hosts", "level", "duty", "period_s", "warm_up",
                       "duration_s", "start_s", "error"});
  const std::size_t level = csv.column("level"), duration = csv.column("duration_s");
  const auto number = [&csv](const char* column) {
    const std::size_t place = csv.find_column(column);
    return place == CsvReader::npos ? 0.0 : csv.non_negative(place);
  };
  const std::size_t operation = csv.find_column("operation"), error = csv.find_column("error");
  while (csv.next()) {
    if (error != CsvReader::npos && !csv.text(error).empty()) continue;
    CollectiveRun run;
    if (operation != CsvReader::npos) run.operation = csv.text(operation);
    run.size_bytes = number("size_bytes");
    run.count = static_cast<long>(number("count"));
    run.ranks = static_cast<long>(number("ranks"));
    run.hosts = static_cast<long>(number("hosts"));
    run.level = csv.non_negative(level);
    if (run.level >= 1) throw ParseError(csv.at(level), "found " + shortest(run.level) + "; expected a ratio below 1");
    run.duty = number("duty");
    run.period_s = number("period_s");
    run.warm_up = number("warm_up") != 0;
    run.duration_s = csv.positive(duration);
    run.start_s = number("start_s");
    each(run);
  }
}

}  // namespace hplcast::core
