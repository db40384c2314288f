#include "hplcast/core/hpl_parameters.hpp"

#include <algorithm>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::core {

// The macro pairs a name with its access: written once, used by CSV, HPL.dat, JSON, comparison and printing.
#define HPLCAST_FIELD(field, ...)                                                                 \
  HplField {                                                                                      \
#field, [](const HplParameters& p) { return static_cast<long long>(p.field); },                 \
        [](HplParameters& p, long long value) { p.field = static_cast<decltype(p.field)>(value); }, \
        __VA_ARGS__ \
  }

const std::vector<HplField>& hpl_fields() {
  using Names = std::vector<std::string>;
  static const Names sides = {"left", "crout", "right"}, sides_said = {"Left", "Crout", "Right"};
  static const Names forms = {"transposed", "no-transposed"};
  static const std::vector<HplField> fields = {
      HPLCAST_FIELD(N, 1),  // HPL takes 0, and does nothing then
      HPLCAST_FIELD(NB, 1),
      HPLCAST_FIELD(P, 1),
      HPLCAST_FIELD(Q, 1),
      HPLCAST_FIELD(PMAP, 0, {"row", "column"}, {"Row-major", "Column-major"}),
      HPLCAST_FIELD(PFACT, 0, sides, sides_said),
      HPLCAST_FIELD(NBMIN, 1),
      HPLCAST_FIELD(NDIV, 2),
      HPLCAST_FIELD(RFACT, 0, sides, sides_said),
      HPLCAST_FIELD(BCAST, 0, {"1ring", "1ringM", "2ring", "2ringM", "long", "longM"},
                    {"1ring", "1ringM", "2ring", "2ringM", "Blong", "BlongM"}),
      HPLCAST_FIELD(DEPTH, 0),
      HPLCAST_FIELD(SWAP, 0, {"bin-exch", "long", "mix"}, {"Binary-exchange", "Spread-roll", "Mix"}),
      HPLCAST_FIELD(swap_threshold, 0),
      HPLCAST_FIELD(L1, 0, forms, forms),
      HPLCAST_FIELD(U, 0, forms, forms),
      HPLCAST_FIELD(EQUIL, 0, {"no", "yes"}, {"no", "yes"}),
      HPLCAST_FIELD(ALIGN, 1)};
  return fields;
}

#undef HPLCAST_FIELD

const HplField* find_hpl_field(const std::string& name) {
  for (const HplField& field : hpl_fields())
    if (name == field.name) return &field;
  return nullptr;
}

namespace {

std::string expected(const HplField& field, long long value) {
  if (!field.names.empty()) return std::to_string(field.least) + " to " + std::to_string(field.most());
  return value < field.least ? "at least " + std::to_string(field.least) : "at most " + std::to_string(field.most());
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

void require_real_size(const HplParameters& run, int hosts, double free_bytes) {
  const std::string N = std::to_string(run.N);
  if (run.N < 1) throw DomainError("N", N, "at least 1");
  const double needed_bytes = hpl_matrix_bytes(static_cast<double>(run.N)) / hosts;
  require(free_bytes <= 0 || needed_bytes <= free_bytes, "N", N,
          printed("a matrix that fits the free memory: it needs %.0f MB per host, %.0f MB are free", needed_bytes / 1e6,
                  free_bytes / 1e6));
}

void HplParameters::validate() const {
  for (const HplField& field : hpl_fields()) {
    const long long value = field.get(*this);
    if (value < field.least || value > field.most())
      throw DomainError(field.name, std::to_string(value), expected(field, value));
  }
  require(static_cast<long long>(P) * Q <= 2147483647, "P x Q", static_cast<double>(P) * Q, "below 2^31 ranks");
}

bool operator==(const HplParameters& a, const HplParameters& b) {
  return compare(a, b) == 0;
}
bool operator<(const HplParameters& a, const HplParameters& b) {
  return compare(a, b) < 0;
}

HplParameters without_unused(HplParameters parameters) {
  constexpr int mix = 2;
  if (parameters.SWAP != mix) parameters.swap_threshold = HplParameters{}.swap_threshold;
  return parameters;
}

HplParameters same_until(int panel, HplParameters parameters) {
  constexpr int spread_roll = 1, mix = 2;
  const long long behind = (parameters.N + parameters.NB - 1) / parameters.NB - panel;
  const long long blocks = behind / parameters.Q - parameters.DEPTH - 1;  // the last one need not be whole
  if (parameters.SWAP == mix && blocks > 1 && parameters.NB > parameters.swap_threshold) parameters.SWAP = spread_roll;
  return without_unused(parameters);
}

long local_rows(long rows, long block, int index, int count) noexcept {
  const long blocks = rows / block;
  const long mine = blocks / count + (index < blocks % count ? 1 : 0);
  return mine * block + (index == blocks % count ? rows % block : 0);
}

long leading_dimension(const HplParameters& parameters, int rank) noexcept {
  const int row = parameters.PMAP == 0 ? rank / parameters.Q : rank % parameters.P;
  const long rows = std::max(1L, local_rows(static_cast<long>(parameters.N), parameters.NB, row, parameters.P));
  long leading = (rows + parameters.ALIGN - 1) / parameters.ALIGN * parameters.ALIGN;
  while ((leading & (leading - 1)) == 0) leading += parameters.ALIGN;
  return leading;
}

long most_aliased_dimension(const HplParameters& parameters) noexcept {
  long most = 1;
  for (int row = 0; row < parameters.P; ++row) {
    const long one = leading_dimension(parameters, parameters.PMAP == 0 ? row * parameters.Q : row);
    if (columns_apart_bytes(one) > columns_apart_bytes(most)) most = one;
  }
  return most;
}

std::string to_string(const HplParameters& parameters) {
  return joined(hpl_fields(), " ", [&](const HplField& field) {
    return std::string(field.name) + "=" + std::to_string(field.get(parameters));
  });
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
