#include "campaign_section.hpp"

#include "hplcast/core/names.hpp"

namespace hplcast::cli {

Section::Section(const YAML::Node& node, std::string file, std::string name)
    : node_(node), file_(std::move(file)), name_(std::move(name)) {
  if (!node_.IsDefined() || node_.IsNull()) return;
  if (!node_.IsMap()) fail("", "found something else than keys with values");
}

bool Section::has(const std::string& key) {
  known_.insert(key);
  return node_.IsMap() && node_[key].IsDefined() && !node_[key].IsNull();
}

void Section::read_quantity(const std::string& key, double& value, double (*parse)(const std::string&)) {
  std::string text;
  read(key, text);
  if (text.empty()) return;
  try {
    value = parse(text);
  } catch (const core::Error& error) {
    fail(key, error.what());
  }
}

YAML::Node Section::list(const std::string& key) {
  if (!has(key)) return {};
  if (!node_[key].IsSequence()) fail(key, "expected a list");
  return node_[key];
}

void Section::finish() const {
  if (!node_.IsMap()) return;
  for (const auto& entry : node_) {
    const std::string key = entry.first.as<std::string>();
    if (known_.count(key) != 0) continue;
    throw core::ParseError(location(entry.first, key), "unknown key",
                           core::name_hint(key, {known_.begin(), known_.end()}));
  }
}

void Section::fail(const std::string& key, const std::string& message) const {
  const YAML::Node at = !key.empty() && node_.IsMap() && node_[key].IsDefined() ? node_[key] : node_;
  throw core::ParseError(location(at, key), message);
}

core::Location Section::location(const YAML::Node& node, const std::string& key) const {
  const int line = node.Mark().line;
  return {file_, line < 0 ? 0 : static_cast<std::size_t>(line) + 1,
          name_ + (name_.empty() || key.empty() ? "" : ".") + key};
}

}  // namespace hplcast::cli
