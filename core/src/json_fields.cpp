#include "json_fields.hpp"

#include <algorithm>

#include "hplcast/core/names.hpp"

namespace hplcast::core::detail {

void check_schema(const Node& root, int oldest, int latest) {
  const int found = root.at("schema_version").integer<int>();
  if (found >= oldest && found <= latest) return;
  const std::string expected = oldest == latest
                                   ? "version " + std::to_string(latest)
                                   : "versions " + std::to_string(oldest) + " to " + std::to_string(latest);
  root.at("schema_version")
      .fail("found version " + std::to_string(found) + "; this hplcast reads " + expected,
            found > latest ? "the file was written by a newer hplcast" : "make the file anew with this hplcast");
}

void refuse_others(const Node& node, const std::vector<std::string>& known) {
  for (const auto& [key, value] : node.object().items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    Node(value, node.file(), node.pointer() + "/" + key).fail("unknown key", name_hint(key, known));
  }
}

void refuse_cluster(const Node& root, const std::string& expected) {
  if (root.has("hosts") && root.has("kernels") && root.has("network"))
    root.fail("this is a cluster.json; expected " + expected);
}

}  // namespace hplcast::core::detail
