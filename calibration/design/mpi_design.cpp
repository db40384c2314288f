#include "hplcast/calibration/mpi_design.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "hplcast/calibration/dgemm_design.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/random_stream.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

constexpr std::array<const char*, 10> operation_names = {"recv", "isend", "send",     "pingpong",       "iprobe",
                                                         "test", "wtime", "exchange", "send_unmatched", "one_way"};
constexpr long smallest_unmatched_bytes = 64;
constexpr long largest_message_bytes = std::numeric_limits<int>::max();

/// The member of a sorted list that is nearest in ratio.
long nearest(const std::vector<long>& sorted, double size) {
  const auto above = std::lower_bound(sorted.begin(), sorted.end(), size,
                                      [](long member, double value) { return static_cast<double>(member) < value; });
  if (above == sorted.begin()) return *above;
  if (above == sorted.end()) return sorted.back();
  const double below = static_cast<double>(*(above - 1));
  return size / below < static_cast<double>(*above) / size ? *(above - 1) : *above;
}

std::vector<long> log_uniform_sizes(const MpiDesignOptions& options, core::RandomStream& random) {
  const double low = std::log(static_cast<double>(options.min_bytes));
  const double width = std::log(static_cast<double>(options.max_bytes)) - low;
  std::vector<long> sizes{options.min_bytes};
  const long inner = std::max(0L, options.count - 2);
  for (long i = 0; i < inner; ++i) {
    const double position = (static_cast<double>(i) + random.uniform()) / static_cast<double>(inner);
    const long size = std::lround(std::exp(low + width * position));
    sizes.push_back(std::clamp(size, options.min_bytes, options.max_bytes));
  }
  if (options.count > 1) sizes.push_back(options.max_bytes);
  if (!options.among.empty()) {
    for (long& size : sizes) size = nearest(options.among, static_cast<double>(size));
  }
  return sizes;
}

/// Headers make the true limit of a protocol a little less than the power of two in its name.
std::vector<long> sizes_around_limits(const MpiDesignOptions& options) {
  std::vector<long> sizes;
  for (long power = smallest_unmatched_bytes; power <= options.max_bytes; power *= 2) {
    sizes.push_back(power - power / 16);
    sizes.push_back(power);
  }
  return sizes;
}

std::vector<long> sizes_of(MpiOperation operation, const MpiDesignOptions& options, const std::vector<long>& sizes) {
  switch (operation) {
    case MpiOperation::iprobe:
    case MpiOperation::test:
      return std::vector<long>(sizes.size(), 1);
    case MpiOperation::wtime:
      return std::vector<long>(sizes.size(), 0);
    case MpiOperation::send_unmatched:
      return sizes_around_limits(options);
    default:
      return sizes;
  }
}

void validate(const MpiDesignOptions& options) {
  if (options.min_bytes < 1) throw core::DomainError("min bytes", options.min_bytes, "at least 1");
  if (options.max_bytes < options.min_bytes || options.max_bytes > largest_message_bytes)
    throw core::DomainError("max bytes", options.max_bytes, "min bytes to 2^31 - 1 (one MPI message)");
  if (options.count < 1) throw core::DomainError("count", options.count, "at least 1");
  if (options.repetitions < 1) throw core::DomainError("repetitions", options.repetitions, "at least 1");
  if (options.operations.empty()) throw core::DomainError("number of operations", 0.0, "at least 1");
  require_few_rows(static_cast<double>(options.count) * options.repetitions *
                   static_cast<double>(options.operations.size()));
}

/// The sizes that follow from a given list.
MpiDesignOptions completed(MpiDesignOptions options) {
  if (options.among.empty()) return options;
  std::sort(options.among.begin(), options.among.end());
  options.min_bytes = options.among.front();
  options.max_bytes = options.among.back();
  return options;
}

}  // namespace

const char* to_string(MpiOperation operation) {
  return operation_names[static_cast<std::size_t>(operation)];
}

MpiOperation mpi_operation_from_name(const std::string& name) {
  const auto found = std::find(operation_names.begin(), operation_names.end(), name);
  if (found != operation_names.end()) return static_cast<MpiOperation>(found - operation_names.begin());
  throw core::DomainError("operation", name, "one of " + core::comma_separated(operation_names));
}

std::vector<MpiOperation> all_mpi_operations() {
  std::vector<MpiOperation> all;
  for (std::size_t i = 0; i < operation_names.size(); ++i) {
    if (static_cast<MpiOperation>(i) != MpiOperation::one_way) all.push_back(static_cast<MpiOperation>(i));
  }
  return all;
}

MpiDesign make_mpi_design(const MpiDesignOptions& given) {
  const MpiDesignOptions options = completed(given);
  validate(options);
  core::RandomStream random({options.seed, core::stream_design, 1, 0});
  const std::vector<long> sizes = log_uniform_sizes(options, random);
  MpiDesign design;
  for (const MpiOperation operation : options.operations) {
    for (const long size : sizes_of(operation, options, sizes)) {
      for (int repetition = 0; repetition < options.repetitions; ++repetition) {
        design.push_back({operation, size, repetition});
      }
    }
  }
  if (design.empty()) {
    throw core::DomainError("max bytes", options.max_bytes, "at least 64 for a design of send_unmatched alone");
  }
  core::shuffle(design, random);
  return design;
}

std::vector<long> doubling_pairs(long most) {
  if (most < 1) throw core::DomainError("pairs", most, "at least 1");
  std::vector<long> pairs;
  for (long count = 1; count < most; count *= 2) pairs.push_back(count);
  pairs.push_back(most);
  return pairs;
}

MpiDesign make_saturation_design(const SaturationDesignOptions& options) {
  const MpiDesignOptions sizes_of_it{options.min_bytes, options.max_bytes, options.count, {}, options.repetitions};
  validate(sizes_of_it);
  if (options.pairs.empty()) throw core::DomainError("numbers of pairs", 0.0, "at least one");
  require_few_rows(static_cast<double>(options.count) * options.repetitions *
                   static_cast<double>(options.pairs.size()));
  core::RandomStream random({options.seed, core::stream_design, 2, 0});
  const std::vector<long> sizes = log_uniform_sizes(sizes_of_it, random);
  MpiDesign design;
  for (const long pairs : options.pairs) {
    if (pairs < 1) throw core::DomainError("pairs", pairs, "at least 1");
    if (std::count(options.pairs.begin(), options.pairs.end(), pairs) > 1)
      throw core::DomainError("pairs", pairs, "each number once");
    for (const long size : sizes) {
      for (int repetition = 0; repetition < options.repetitions; ++repetition)
        design.push_back({MpiOperation::one_way, size, repetition, pairs});
    }
  }
  core::shuffle(design, random);
  return design;
}

double estimated_s(const MpiDesign& design, double bandwidth_bytes_per_s) {
  if (!(bandwidth_bytes_per_s > 0)) {
    throw core::DomainError("bandwidth", bandwidth_bytes_per_s, "a positive number of bytes/s");
  }
  constexpr double per_call_s = 1e-4;  // the handshake before each call, see measure_mpi.cpp
  double total_s = 0;
  for (const MpiCall& call : design) {
    // recv waits twice the time of a message; an exchange has three that may come one after the other.
    const bool three = call.operation == MpiOperation::recv || call.operation == MpiOperation::exchange;
    double legs = three ? 3 : 2;
    if (call.operation == MpiOperation::one_way) legs = static_cast<double>(std::max(1L, call.pairs));
    total_s += per_call_s + legs * static_cast<double>(call.size_bytes) / bandwidth_bytes_per_s;
    if (call.operation == MpiOperation::send_unmatched) total_s += late_receiver_s;
  }
  return total_s;
}

long max_bytes(const MpiDesign& design) {
  long largest = 0;
  for (const MpiCall& call : design) largest = std::max(largest, call.size_bytes);
  return largest;
}

}  // namespace hplcast::calibration
