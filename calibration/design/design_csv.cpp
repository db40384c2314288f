#include <ostream>

#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/calibration/mpi_design.hpp"
#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"

namespace hplcast::calibration {

namespace {

/// A column that may be missing.
int repetition_of(const core::CsvReader& csv, std::size_t column) {
  return column == core::CsvReader::npos ? 0 : csv.integer(column, 0);
}

void refuse_empty(bool empty, const std::string& name) {
  if (empty) throw core::ParseError({name, 0, ""}, "the design has no rows", "make one with `hplcast design`");
}

}  // namespace

void write_design(std::ostream& out, const DgemmDesign& design) {
  out << "order,m,n,k,content,role,transposed,repetition\n";
  std::size_t order = 0;
  for (const DgemmCall& call : design)
    out << order++ << ',' << call.shape.m << ',' << call.shape.n << ',' << call.shape.k << ','
        << to_string(call.content) << ',' << to_string(call.role) << ',' << (call.transposed ? 1 : 0) << ','
        << call.repetition << '\n';
}

DgemmDesign read_dgemm_design(std::istream& in, const std::string& name) {
  core::CsvReader csv(in, name);
  csv.refuse_misspelt({"order", "m", "n", "k", "content", "role", "transposed", "repetition"});
  const std::size_t m = csv.column("m"), n = csv.column("n"), k = csv.column("k");
  const std::size_t content = csv.find_column("content"), role = csv.find_column("role");
  const std::size_t transposed = csv.find_column("transposed"), repetition = csv.find_column("repetition");
  DgemmDesign design;
  while (csv.next()) {
    DgemmCall call;
    call.shape = {csv.integer(m, 1), csv.integer(n, 1), csv.integer(k, 1)};
    if (content != core::CsvReader::npos) call.content = csv.made(content, Content::parse);
    if (role != core::CsvReader::npos) call.role = csv.made(role, core::from_name<DgemmRole>);
    call.transposed = transposed == core::CsvReader::npos || csv.integer(transposed, 0) != 0;
    call.repetition = repetition_of(csv, repetition);
    design.push_back(call);
  }
  refuse_empty(design.empty(), name);
  return design;
}

void write_design(std::ostream& out, const MpiDesign& design) {
  const bool has_pairs = !design.empty() && design.front().pairs > 0;
  out << "order,operation,size_bytes,repetition" << (has_pairs ? ",pairs" : "") << '\n';
  std::size_t order = 0;
  for (const MpiCall& call : design) {
    out << order++ << ',' << to_string(call.operation) << ',' << call.size_bytes << ',' << call.repetition;
    if (has_pairs) out << ',' << call.pairs;
    out << '\n';
  }
}

MpiDesign read_mpi_design(std::istream& in, const std::string& name) {
  core::CsvReader csv(in, name);
  csv.refuse_misspelt({"order", "operation", "size_bytes", "repetition", "pairs"});
  const std::size_t operation = csv.column("operation"), size = csv.column("size_bytes");
  const std::size_t repetition = csv.find_column("repetition"), pairs = csv.find_column("pairs");
  MpiDesign design;
  while (csv.next()) {
    design.push_back({csv.made(operation, core::from_name<MpiOperation>), csv.integer(size, 0),
                      repetition_of(csv, repetition), pairs == core::CsvReader::npos ? 0 : csv.integer(pairs, 1)});
    const MpiCall& call = design.back();
    if (call.operation == MpiOperation::panel && (call.size_bytes == 0 || call.size_bytes % panel_row_bytes != 0))
      throw core::ParseError(csv.at(size), "found " + std::to_string(call.size_bytes) +
                                               " bytes of a panel; expected a multiple of 1024 (rows of 128 columns)");
  }
  refuse_empty(design.empty(), name);
  return design;
}

}  // namespace hplcast::calibration
