#include "hplcast/core/measurement.hpp"

#include <ostream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::core {

const char* const kernel_csv_header =
    "kernel,m,n,k,duration_s,start_s,host,cpu,core,content,error,busy_ranks,leading_dimension";
const char* const mpi_csv_header = "operation,scope,size_bytes,duration_s,start_s,host,peer,background,error";
const char* const imported_mpi_csv_header = "operation,scope,size_bytes,duration_s,source";

void write_row(std::ostream& out, const KernelMeasurement& row) {
  out << csv_field(row.kernel) << ',' << shortest(row.shape.m) << ',' << shortest(row.shape.n) << ','
      << shortest(row.shape.k) << ',' << (row.error.empty() ? shortest(row.duration_s) : "") << ','
      << shortest(row.start_s) << ',' << csv_field(row.host) << ',' << row.cpu << ',' << row.core << ','
      << csv_field(row.content) << ',' << csv_field(row.error) << ','
      << (row.busy_ranks > 0 ? std::to_string(row.busy_ranks) : "") << ','
      << (row.leading_dimension > 0 ? std::to_string(row.leading_dimension) : "") << '\n';
}

void write_row(std::ostream& out, const MpiMeasurement& row) {
  out << csv_field(row.operation) << ',' << csv_field(row.scope) << ',' << shortest(row.size_bytes) << ','
      << (row.error.empty() ? shortest(row.duration_s) : "") << ',' << shortest(row.start_s) << ','
      << csv_field(row.host) << ',' << csv_field(row.peer) << ',' << csv_field(row.background) << ','
      << csv_field(row.error) << '\n';
}

void write_imported_row(std::ostream& out, const MpiMeasurement& row) {
  out << csv_field(row.operation) << ',' << csv_field(row.scope) << ',' << shortest(row.size_bytes) << ','
      << shortest(row.duration_s) << ',' << csv_field(row.source) << '\n';
}

namespace {

/// A column that may be absent.
struct Optional {
  const CsvReader& csv;
  std::size_t index;
  Optional(const CsvReader& reader, const char* name) : csv(reader), index(reader.find_column(name)) {}
  bool there() const { return index != CsvReader::npos; }
  std::string text(const std::string& otherwise) const { return there() ? std::string(csv.text(index)) : otherwise; }
  double number(double otherwise) const { return csv.has(index) ? csv.number(index) : otherwise; }
  int integer(int least, int otherwise) const { return csv.has(index) ? csv.integer(index, least) : otherwise; }
};

constexpr double most_rows = 1e9, most_message_bytes = 1e15, most_duration_s = 1e9, least_duration_s = 1e-12;

double size_at_least_one(const CsvReader& csv, const Optional& column) {
  if (!column.there()) return 1;
  const double value = csv.number(column.index);
  if (!(value >= 1 && value <= most_rows))
    throw ParseError(csv.at(column.index),
                     "found " + shortest(value) + "; expected a size of at least 1, and at most 1e9");
  return value;
}

double duration_in(const CsvReader& csv, std::size_t column) {
  const double value = csv.positive(column);
  if (value > most_duration_s || value < least_duration_s)
    throw ParseError(csv.at(column), "found " + shortest(value) + "; expected a duration of 1e-12 to 1e9 s");
  return value;
}

}  // namespace

void read_kernel_csv(std::istream& in, const std::string& name, const std::string& default_kernel,
                     const std::function<void(const KernelMeasurement&)>& each) {
  read_kernel_csv(in, name, default_kernel, {},
                  [&](const KernelMeasurement& row, const std::vector<std::string>&) { each(row); });
}

void read_kernel_csv(std::istream& in, const std::string& name, const std::string& default_kernel,
                     const std::vector<std::string>& columns,
                     const std::function<void(const KernelMeasurement&, const std::vector<std::string>& texts)>& each) {
  CsvReader csv(in, name);
  const auto further = mapped(columns, [&](const std::string& column) { return csv.column(column); });
  std::vector<std::string> texts(columns.size());
  csv.refuse_misspelt({"kernel", "m", "n", "k", "duration_s", "start_s", "host", "node", "cpu", "core", "content",
                       "role", "error", "order", "transposed", "repetition", "busy_ranks", "leading_dimension"});
  const std::size_t duration = csv.column("duration_s");
  const Optional kernel(csv, "kernel"), m(csv, "m"), n(csv, "n"), k(csv, "k"), start(csv, "start_s"), cpu(csv, "cpu"),
      core(csv, "core"), content(csv, "content"), error(csv, "error"), busy_ranks(csv, "busy_ranks"),
      leading_dimension(csv, "leading_dimension");
  const Optional host(csv, csv.find_column("host") != CsvReader::npos ? "host" : "node");
  if (!m.there() && !n.there() && !k.there()) csv.column("m");
  while (csv.next()) {
    KernelMeasurement row;
    row.kernel = kernel.text(default_kernel);
    row.shape = {size_at_least_one(csv, m), size_at_least_one(csv, n), size_at_least_one(csv, k)};
    row.error = error.text("");
    if (row.error.empty()) row.duration_s = duration_in(csv, duration);
    row.start_s = start.number(0);
    row.host = host.text("");
    row.cpu = cpu.integer(0, 0);
    row.core = core.integer(0, 0);
    row.content = content.text("");
    row.busy_ranks = busy_ranks.integer(0, 0);
    row.leading_dimension = leading_dimension.integer(0, 0);
    for (std::size_t i = 0; i < further.size(); ++i) texts[i] = csv.text(further[i]);
    each(row, texts);
  }
}

void read_mpi_csv(std::istream& in, const std::string& name, const std::string& default_operation,
                  const std::function<void(const MpiMeasurement&)>& each) {
  CsvReader csv(in, name);
  csv.refuse_misspelt({"operation", "scope", "size_bytes", "duration_s", "start_s", "send_s", "recv_s", "host", "peer",
                       "background", "error", "pairs", "order", "repetition", "source"});
  const std::size_t size = csv.column("size_bytes");
  const Optional operation(csv, "operation"), scope(csv, "scope"), start(csv, "start_s"), host(csv, "host"),
      peer(csv, "peer"), background(csv, "background"), error(csv, "error"), pairs(csv, "pairs"), order(csv, "order"),
      source(csv, "source");
  const bool round_trip =
      csv.find_column("duration_s") == CsvReader::npos && csv.find_column("send_s") != CsvReader::npos;
  const std::size_t duration = round_trip ? csv.column("send_s") : csv.column("duration_s");
  const std::size_t recv = round_trip ? csv.column("recv_s") : 0;
  while (csv.next()) {
    MpiMeasurement row;
    row.operation = operation.text(round_trip ? "send" : default_operation);
    row.scope = scope.text("remote");
    if (row.scope != "local" && row.scope != "remote")
      throw ParseError(csv.at(scope.index), "found `" + row.scope + "`; expected local or remote");
    row.size_bytes = csv.non_negative(size);
    if (row.size_bytes > most_message_bytes)
      throw ParseError(csv.at(size), "found " + shortest(row.size_bytes) + "; expected at most 1e15 bytes");
    row.error = error.text("");
    if (row.error.empty()) row.duration_s = duration_in(csv, duration);
    row.start_s = start.number(0);
    row.host = host.text("");
    row.peer = peer.text("");
    row.background = background.text("none");
    row.pairs = pairs.integer(1, 1);
    row.order = order.integer(0, -1);
    row.source = source.text("");
    each(row);
    if (round_trip && row.error.empty()) {
      row.operation = "pingpong";
      row.duration_s += duration_in(csv, recv);
      each(row);
    }
  }
}

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
    if (csv.has(error)) continue;
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
