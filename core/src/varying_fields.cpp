#include "hplcast/core/varying_fields.hpp"

#include <algorithm>

namespace hplcast::core {

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
