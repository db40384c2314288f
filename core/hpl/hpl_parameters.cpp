#include "hplcast/core/hpl_parameters.hpp"

#include <algorithm>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

// The macro pairs a name with its access: written once, used by CSV, JSON, comparison and printing.
#define HPLCAST_FIELD(field)                                                                            \
  HplField {                                                                                            \
#field, [](const HplParameters& p) { return static_cast<long long>(p.field); },                       \
        [](HplParameters& p, long long value) { p.field = static_cast<decltype(p.field)>(value); } \
  }

const std::vector<HplField>& hpl_fields() {
  static const std::vector<HplField> fields = {HPLCAST_FIELD(N),
                                               HPLCAST_FIELD(NB),
                                               HPLCAST_FIELD(P),
                                               HPLCAST_FIELD(Q),
                                               HPLCAST_FIELD(PMAP),
                                               HPLCAST_FIELD(PFACT),
                                               HPLCAST_FIELD(NBMIN),
                                               HPLCAST_FIELD(NDIV),
                                               HPLCAST_FIELD(RFACT),
                                               HPLCAST_FIELD(BCAST),
                                               HPLCAST_FIELD(DEPTH),
                                               HPLCAST_FIELD(SWAP),
                                               HPLCAST_FIELD(swap_threshold),
                                               HPLCAST_FIELD(L1),
                                               HPLCAST_FIELD(U),
                                               HPLCAST_FIELD(EQUIL),
                                               HPLCAST_FIELD(ALIGN)};
  return fields;
}

#undef HPLCAST_FIELD

namespace {

/// Limits that HPL's own input routine enforces.
struct Limits {
  const char* name;
  long long min;
  long long max;
};

constexpr long long int_max = 2147483647;
constexpr Limits limits[] = {{"N", 0, int_max},
                             {"NB", 1, int_max},
                             {"P", 1, int_max},
                             {"Q", 1, int_max},
                             {"PMAP", 0, 1},
                             {"PFACT", 0, 2},
                             {"NBMIN", 1, int_max},
                             {"NDIV", 2, int_max},
                             {"RFACT", 0, 2},
                             {"BCAST", 0, 5},
                             {"DEPTH", 0, int_max},
                             {"SWAP", 0, 2},
                             {"swap_threshold", 0, int_max},
                             {"L1", 0, 1},
                             {"U", 0, 1},
                             {"EQUIL", 0, 1},
                             {"ALIGN", 1, int_max}};

std::string expected(const Limits& limit, long long value) {
  if (limit.max < int_max) return std::to_string(limit.min) + " to " + std::to_string(limit.max);
  return value < limit.min ? "at least " + std::to_string(limit.min) : "at most " + std::to_string(limit.max);
}

int compare(const HplParameters& a, const HplParameters& b) {
  for (const HplField& field : hpl_fields()) {
    const long long left = field.get(a);
    const long long right = field.get(b);
    if (left != right) return left < right ? -1 : 1;
  }
  return 0;
}

}  // namespace

void HplParameters::validate() const {
  for (std::size_t i = 0; i < hpl_fields().size(); ++i) {
    const long long value = hpl_fields()[i].get(*this);
    if (value < limits[i].min || value > limits[i].max) {
      throw DomainError(limits[i].name, std::to_string(value), expected(limits[i], value));
    }
  }
  if (static_cast<long long>(P) * Q > int_max)
    throw DomainError("P x Q", static_cast<double>(P) * Q, "below 2^31 ranks");
}

bool operator==(const HplParameters& a, const HplParameters& b) {
  return compare(a, b) == 0;
}
bool operator<(const HplParameters& a, const HplParameters& b) {
  return compare(a, b) < 0;
}

double hpl_flop(double N) noexcept {
  return 2.0 / 3.0 * N * N * N + 3.0 / 2.0 * N * N;
}

double hpl_matrix_bytes(double N) noexcept {
  return 8 * N * N;
}

HplParameters without_unused(HplParameters parameters) {
  constexpr int mix = 2;
  if (parameters.SWAP != mix) parameters.swap_threshold = HplParameters{}.swap_threshold;
  return parameters;
}

std::string to_string(const HplParameters& parameters) {
  std::string text;
  for (const HplField& field : hpl_fields()) {
    text += (text.empty() ? "" : " ") + std::string(field.name) + "=" + std::to_string(field.get(parameters));
  }
  return text;
}

std::vector<const HplField*> varying_fields(const std::vector<HplParameters>& configurations,
                                            const std::vector<std::string>& without) {
  std::vector<const HplField*> fields;
  for (const HplField& field : hpl_fields()) {
    const bool varies = std::any_of(configurations.begin(), configurations.end(), [&](const HplParameters& one) {
      return field.get(one) != field.get(configurations.front());
    });
    if (varies && std::find(without.begin(), without.end(), field.name) == without.end()) fields.push_back(&field);
  }
  return fields;
}

}  // namespace hplcast::core
