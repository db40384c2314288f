#include "results_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/files.hpp"

namespace hplcast::study {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  core::throw_write_error(what, path, errno);
}

std::string number_or_nothing(const std::optional<double>& value) {
  return value ? core::shortest(*value) : "";
}

std::string line(const RealRunRow& row, const ResultsKind& kind) {
  std::ostringstream text;
  for (const core::HplField& field : core::hpl_fields()) text << field.get(row.run.parameters) << ',';
  text << core::shortest(row.run.time_s) << ',' << core::shortest(row.run.gflops) << ','
       << (!row.run.residual_checked ? "unchecked"
           : row.run.residual_passed ? "passed"
                                     : "failed")
       << ',' << row.repetition << ',' << row.start << ',' << row.order << ',' << (row.oversubscribed ? 1 : 0)
       << (kind.instrumented ? ",1" : "");
  if (kind.power)
    text << ',' << number_or_nothing(row.run.energy_j) << ',' << number_or_nothing(row.run.mean_power_w) << ','
         << core::csv_field(row.power_sensors);
  text << '\n';
  return text.str();
}

}  // namespace

ResultsFile::ResultsFile(const std::filesystem::path& path, ResultsKind kind) : path_(path), kind_(kind) {
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail(path, "open");
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      throw core::Error(core::ExitCode::bad_input, path.string() + " is being written by another session");
    }
    read();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

ResultsFile::~ResultsFile() {
  ::close(descriptor_);
}

std::string ResultsFile::header() const {
  std::ostringstream text;
  for (const core::HplField& field : core::hpl_fields()) text << field.name << ',';
  text << "time_s,gflops,residual,repetition,start,order,oversubscribed" << (kind_.instrumented ? ",instrumented" : "")
       << (kind_.power ? ",energy_j,mean_power_w,power_sensors\n" : "\n");
  return text.str();
}

void ResultsFile::read() {
  std::string text;
  core::read_file(path_, [&](std::istream& in, const std::string&) {
    text.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  });
  const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (whole == 0) {
    // Only what a session of ours leaves when it is stopped in its very first write may be replaced.
    if (header().compare(0, text.size(), text) != 0) {
      throw core::ParseError({path_.string(), 1, ""}, "not the results of real runs", "choose another output file");
    }
    if (::ftruncate(descriptor_, 0) != 0) fail(path_, "write");
    return write_whole(header());
  }
  if (text.compare(0, header().size(), header()) != 0) {
    throw core::ParseError({path_.string(), 1, ""}, "other columns than those of real runs; expected " + header(),
                           "choose another output file; runs with --phases or --trace, and those with --power, have "
                           "more columns, and files of their own");
  }
  if (whole < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(whole)) != 0) fail(path_, "write");

  std::istringstream rows(text.substr(0, whole));
  core::CsvReader csv(rows, path_.string());
  while (csv.next()) {
    core::HplParameters parameters;
    for (const core::HplField& field : core::hpl_fields()) field.set(parameters, csv.integer(csv.column(field.name)));
    done_.emplace(parameters, static_cast<int>(csv.integer(csv.column("repetition"))));
    last_order_ = std::max(last_order_, static_cast<std::size_t>(csv.integer(csv.column("order"))));
  }
}

bool ResultsFile::has(const core::HplParameters& parameters, int repetition) const {
  return done_.count({parameters, repetition}) > 0;
}

void ResultsFile::append(const RealRunRow& row) {
  write_whole(line(row, kind_));
  done_.emplace(row.run.parameters, row.repetition);
  last_order_ = std::max(last_order_, row.order);
}

void ResultsFile::write_whole(const std::string& text) {
  if (::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      ::fsync(descriptor_) != 0) {
    fail(path_, "write");
  }
}

}  // namespace hplcast::study
