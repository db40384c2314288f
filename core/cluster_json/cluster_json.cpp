#include <algorithm>
#include <ostream>

#include "core/base/described_json.hpp"
#include "core/cluster_json/cluster_pieces.hpp"
#include "hplcast/core/cluster_model.hpp"
#include "hplcast/core/doubts.hpp"
#include "hplcast/core/files.hpp"
#include "hplcast/core/json.hpp"
#include "hplcast/core/measurement.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/core/topology.hpp"

namespace hplcast::core {

using namespace detail;

// --- hosts ---

static Json own_json(const RankToCpu& map) {
  if (map.kind == RankToCpu::Kind::list) return map.list;
  return map.kind == RankToCpu::Kind::block ? "block" : "cyclic";
}

static void take_own(const Node& node, RankToCpu& map) {
  if (node.raw().is_array()) {
    map.kind = RankToCpu::Kind::list;
    map.list = FieldReader::read<std::vector<int>>(node);
    return;
  }
  const std::string text = node.text();
  if (text != "block" && text != "cyclic")
    node.fail("found \"" + text + "\"; expected block, cyclic or a list of CPUs");
  map.kind = text == "block" ? RankToCpu::Kind::block : RankToCpu::Kind::cyclic;
}

/// Fields that Hosts::Values and HostKind have in common.
template <typename Fields, typename Shape>
static void describe_shape(Fields& fields, Shape& values) {
  HPLCAST_FIELDS(values, cores, cpus);
  fields.if_given("rank_to_cpu", values.rank_to_cpu);
  fields.if_any("memory_bytes", values.memory_bytes, at_least_zero);
}

namespace {

/// `per_host` 0 stands alone.
struct OwnAccelerators {
  std::optional<AcceleratorModel>& model;
  bool empty() const { return !model; }
};

bool says_none(const Json& json) {
  return json.is_object() && json.size() == 1 && json.contains("per_host") && json.at("per_host") == 0;
}

Json own_json(const OwnAccelerators& own) {
  return own.model->per_host > 0 ? FieldWriter::json_of(*own.model) : Json{{"per_host", 0}};
}

void take_own(const Node& node, OwnAccelerators& own) {
  own.model = says_none(node.raw()) ? AcceleratorModel() : FieldReader::read<AcceleratorModel>(node);
  if (says_none(node.raw())) own.model->per_host = 0;
}

}  // namespace

HPLCAST_DESCRIPTION(HostKind, kind) {
  HPLCAST_FIELDS(kind, name, hosts);
  describe_shape(fields, kind);
  fields.if_any("link_share", kind.link_share, positive, 1);
  OwnAccelerators accelerators{kind.accelerators};
  fields.if_any("accelerators", accelerators);
}

HPLCAST_DESCRIPTION(Hosts::Values, values) {
  fields("names", values.names);
  describe_shape(fields, values);
  fields.if_any("threads_per_rank", values.threads_per_rank, nullptr, 1);
  fields.if_any("kinds", values.kinds);
}

// --- detours ---

static Json own_json(const DetourDuration& duration) {
  return std::visit(
      [](const auto& one) {
        Json json = {{"law", one.kind}};
        Visitor{[&](const ConstantDuration& law) { json["mean_s"] = law.constant_s; },
                [&](const ExponentialDuration& law) { json["mean_s"] = law.expected_s; },
                [&](const UniformDuration& law) {
                  json["least_s"] = law.least_s;
                  json["most_s"] = law.most_s;
                },
                [&](const QuantileDuration& law) { json["quantiles_s"] = law.quantiles_s; }}(one);
        return json;
      },
      duration);
}

static void take_own(const Node& node, DetourDuration& duration) {
  refuse_others(node, {"law", "mean_s", "least_s", "most_s", "quantiles_s"});
  for (const char* key : {"mean_s", "least_s", "most_s"})
    if (node.has(key)) at_least_zero(node.at(key));
  const std::string law = node.at("law").text();
  const auto is = [&](const char* kind, const std::vector<std::string>& parameters) {
    if (law != kind) return false;
    for (const char* key : {"mean_s", "least_s", "most_s", "quantiles_s"})
      if (node.has(key) && std::find(parameters.begin(), parameters.end(), key) == parameters.end())
        node.at(key).fail("not a parameter of the law " + law);
    return true;
  };
  if (is(ConstantDuration::kind, {"mean_s"})) {
    duration = ConstantDuration{node.at("mean_s").number()};
  } else if (is(ExponentialDuration::kind, {"mean_s"})) {
    duration = ExponentialDuration{node.at("mean_s").number()};
  } else if (is(UniformDuration::kind, {"least_s", "most_s"})) {
    duration = UniformDuration{node.at("least_s").number(), node.at("most_s").number()};
  } else if (is(QuantileDuration::kind, {"quantiles_s"})) {
    duration = QuantileDuration{node.at("quantiles_s").numbers()};
  } else {
    node.at("law").fail("found \"" + law + "\"; expected constant, exponential, uniform or quantiles");
  }
}

HPLCAST_DESCRIPTION(DetourSource::Values, values) {
  std::string kind = std::visit([](const auto& times) { return times.kind; }, values.times);
  const auto* const is_periodic = std::get_if<PeriodicDetours>(&values.times);
  PeriodicDetours periodic = is_periodic == nullptr ? PeriodicDetours() : *is_periodic;
  std::optional<std::vector<int>> cores;
  if (!values.cores.empty()) cores = values.cores;
  fields("name", values.name);
  fields("kind", kind);
  fields("period_s", values.period_s, positive);
  HPLCAST_RULED_IF_ANY(at_least_zero, periodic, jitter_s, phase_s);
  HPLCAST_FIELDS(values, duration, per);
  fields.if_given("in_kernels", values.in_kernels);
  fields.if_any("cores", cores);
  const bool poisson = kind == PoissonDetours::kind;
  fields.check("kind", poisson || kind == PeriodicDetours::kind, "periodic or poisson");
  const char* const none = "none: only of periodic detours; these are poisson";
  fields.check("jitter_s", !poisson || periodic.jitter_s == 0, none);
  fields.check("phase_s", !poisson || !periodic.phase_s, none);
  fields.check("cores", !cores || !cores->empty(), "numbers of cores, or no `cores` at all: all of a host");
  values.times = poisson ? DetourTimes(PoissonDetours()) : DetourTimes(periodic);
  values.cores = cores.value_or(std::vector<int>());
}

// --- programs ---

HPLCAST_DESCRIPTION(RegionModel, region) {
  std::optional<double> factor;
  std::optional<KernelModel> model;
  if (region.mode == RegionMode::factor) factor = region.factor;
  if (region.mode == RegionMode::model) model = region.model;
  fields("mode", region.mode);
  fields.if_any("factor", factor, positive);
  fields.if_any("model", model);
  fields.if_any("calls", region.calls);
  fields.if_any("time_s", region.time_s, at_least_zero);
  fields.check("factor", region.mode != RegionMode::factor || factor,
               "a field `factor`: with no factor this mode says nothing");
  fields.check("model", region.mode != RegionMode::model || model,
               "a field `model`: with no model this mode says nothing");
  region.factor = factor.value_or(1);
  region.model = model.value_or(KernelModel());
}

HPLCAST_DESCRIPTION(ObservedTime, observed) {
  HPLCAST_RULED(at_least_zero, observed, total_s, routines_s, mpi_s, rest_s);
}

HPLCAST_DESCRIPTION(ProgramModel, program) {
  HPLCAST_FIELDS_IF_ANY(program, command, observed);
  HPLCAST_RULED_IF_ANY(at_least_zero, program, rest_s_per_call, rest_s_per_element);
  fields("routines", program.routines);
  fields.if_any("regions", program.regions);
}

// --- uncertainty ---

HPLCAST_DESCRIPTION(EstimatedSd, one) {
  fields("sd", one.sd, at_least_zero);
  fields.if_any("nu", one.nu);
  fields.check("nu", one.nu == 0 || one.nu >= 1, "degrees of freedom of at least 1, or none: as if `sd` were known");
}

HPLCAST_DESCRIPTION(Uncertainty, uncertainty) {
  for (const ErrorGroup group : error_groups) fields.if_any(to_string(group), uncertainty.of(group));
  fields("days", uncertainty.days);
  HPLCAST_FIELDS_IF_ANY(uncertainty, between_days, drift, pieces);
  fields.if_any("piece_s", uncertainty.piece_s, at_least_zero);
}

// --- columns whose lines share sets of the caches ---

HPLCAST_DESCRIPTION(EstimatedRatio, one) {
  fields("ratio", one.ratio, positive);
  fields("standard_error", one.standard_error, at_least_zero);
}

HPLCAST_DESCRIPTION(AliasedColumns, aliased) {
  HPLCAST_FIELDS(aliased, bytes, kernels);
  fields.check("bytes", aliased.bytes >= aliased_bytes && (aliased.bytes & (aliased.bytes - 1)) == 0,
               "a power of two of at least 4096");
}

// --- accelerators ---

HPLCAST_DESCRIPTION(HandshakeModel, handshake) {
  HPLCAST_FIELDS(handshake, flag, columns);
  fields.if_any("pivot", handshake.pivot);
  HPLCAST_RULED(at_least_zero, handshake, column_s, column_s_per_row, update_s_per_element);
}

HPLCAST_DESCRIPTION(AcceleratorKernel, one) {
  HPLCAST_FIELDS_IF_ANY(one, m, n, k);
  HPLCAST_FIELDS_IF_ANY(one, model, handshake);
  fields.if_any("power_w", one.power_w, at_least_zero);
  fields.check("model", one.model.has_value() != one.handshake.has_value(), "either `model` or `handshake`");
}

HPLCAST_DESCRIPTION(CopyModel, copy) {
  fields("latency_s", copy.latency_s, at_least_zero);
  fields("bytes_per_s", copy.bytes_per_s, positive);
  fields.if_any("pageable_bytes_per_s", copy.pageable_bytes_per_s, positive);
}

HPLCAST_DESCRIPTION(DeviceMessage, one) {
  fields("latency_s", one.latency_s, at_least_zero);
  fields("bytes_per_s", one.bytes_per_s, positive);
  fields.if_any("accelerators", one.accelerators);
  fields.check("accelerators", !one.accelerators || *one.accelerators >= 2, "an integer of at least 2");
}

HPLCAST_DESCRIPTION(DeviceMessages, messages) {
  HPLCAST_FIELDS_IF_ANY(messages, near, local, remote);
  fields.check("near", !messages.near || messages.near->accelerators, "with `accelerators`: how many are near");
  const auto has_number = [](const std::optional<DeviceMessage>& one) { return one && one->accelerators; };
  fields.check("local", !has_number(messages.local) && !has_number(messages.remote), "`accelerators` in `near` only");
}

HPLCAST_DESCRIPTION(AcceleratorPower, power) {
  HPLCAST_RULED(at_least_zero, power, idle_w, waiting_w, busy_w);
}

HPLCAST_DESCRIPTION(AcceleratorModel, model) {
  fields.if_any("name", model.name);
  HPLCAST_RULED(positive, model, per_host, memory_bytes, compute_units);
  HPLCAST_RULED(at_least_zero, model, launch_s, start_s, gap_s, record_s, sync_s, flag_s);
  HPLCAST_FIELDS(model, to_device, from_device, within_device);
  HPLCAST_FIELDS_IF_ANY(model, messages, power);
  fields("kernels", model.kernels);
}

// --- the whole ---

namespace {

struct JsonText {
  std::string& text;
};

Json own_json(const JsonText& json) {
  return parse_json<Json>(json.text.empty() ? "{}" : json.text);
}

void take_own(const Node& node, JsonText& json) {
  json.text = json_text(node.object());
  if (node.has("control")) (void)FieldReader::read<Control>(node.at("control"), detail::Reading::any);
}

void kernels(const Node& node) {
  const std::vector<std::string> known(kernel_names.begin(), kernel_names.end());
  for (const auto& [name, value] : node.object().items())
    if (!kernel_from_name(name)) node.below(value, name).note("not a kernel of HPL", name_hint(name, known));
}

}  // namespace

HPLCAST_DESCRIPTION(ClusterModel, cluster) {
  int version = cluster.needed_schema_version();
  JsonText provenance{cluster.provenance};
  fields("schema_version", version);  // the reader has looked at it already
  HPLCAST_FIELDS(cluster, name, hosts);
  fields("kernels", cluster.kernels, kernels);
  HPLCAST_FIELDS_IF_ANY(cluster, aliased, empty_call_s);
  fields("network", cluster.network);
  HPLCAST_FIELDS_IF_ANY(cluster, power, detours, program, uncertainty, accelerators);
  fields.if_given("provenance", provenance);
  for (const auto& [name, duration_s] : cluster.empty_call_s)
    fields.check("empty_call_s", kernel_from_name(name) && duration_s > 0, "kernels of HPL, and more than 0 s");
}

namespace {

template <typename T>
std::vector<Problem> problems_of(const Json& json, Rule rule = nullptr) {
  std::vector<Problem> problems;
  const Node root(json, "", "", &problems);
  root.attempt([&] {
    if (rule != nullptr) rule(root);
    (void)FieldReader::read<T>(root);
  });
  return problems;
}

/// @throws ParseError with the first problem, and the number of the others.
template <typename T>
void throw_problems_of(const Json& json, const std::string& file, Rule rule = nullptr) {
  const std::vector<Problem> problems = problems_of<T>(json, rule);
  if (problems.empty()) return;
  const Problem& first = problems.front();
  std::string hint = first.hint;
  if (problems.size() > 1)
    hint += (hint.empty() ? "" : "\n  ") + std::to_string(problems.size() - 1) +
            " more problems; `hplcast check-cluster` lists those of a cluster.json";
  throw ParseError({file, 0, first.field}, first.message, hint);
}

void check_overrides(const Node& node, const KernelModel& model, const Hosts& hosts) {
  for (const CpuLaw& one : model.overrides()) {
    const bool is_host = one.host < hosts.count();
    if (!is_host || one.cpu >= hosts.cpus_of(one.host))
      node.at("overrides")
          .fail("host " + std::to_string(one.host) + " cpu " + std::to_string(one.cpu) + "; expected hosts below " +
                std::to_string(hosts.count()) + " and CPUs below " +
                std::to_string(is_host ? hosts.cpus_of(one.host) : hosts.most_cpus()));
  }
}

/// Checks the references to hosts in all parts of a cluster.
void check_hosts(const Node& root, const ClusterModel& cluster) {
  for (const auto& [name, model] : cluster.kernels)
    check_overrides(root.at("kernels").at(name.c_str()), model, cluster.hosts);
  if (cluster.power) root.at("power").made([&] { check_power(*cluster.power, cluster.hosts); });
  if (root.has("detours")) {
    root.at("detours").made([&] {
      check_detours(cluster.detours);
      check_detour_cores(cluster.detours, cluster.hosts.most_cores());
    });
  }
  root.at("hosts").made([&] { check_links(cluster); });
  const auto check_kernels = [&](const Node& accelerators, const AcceleratorModel& model) {
    for (const auto& [name, one] : model.kernels)
      if (one.model)
        check_overrides(accelerators.at("kernels").at(name.c_str()).at("model"), *one.model, cluster.hosts);
  };
  if (cluster.accelerators) check_kernels(root.at("accelerators"), *cluster.accelerators);
  const std::vector<HostKind>& kinds = cluster.hosts.values().kinds;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    if (kinds[kind].accelerators)
      check_kernels(root.at("hosts").at("kinds").at(kind).at("accelerators"), *kinds[kind].accelerators);
  if (!cluster.program) return;
  for (const auto& [routine, model] : cluster.program->routines)
    check_overrides(root.at("program").at("routines").at(routine.c_str()), model, cluster.hosts);
}

}  // namespace

std::vector<Problem> detail::schema_problems(const Json& cluster) {
  return problems_of<ClusterModel>(cluster, [](const Node& root) {
    root.attempt([&] { check_schema(root, ClusterModel::oldest_schema_version, ClusterModel::schema_version); });
  });
}

void write_cluster(std::ostream& out, const ClusterModel& cluster) {
  Json json = FieldWriter::json_of(cluster);
  if (cluster.hosts.has_kinds()) collect_kinds(json, cluster.hosts);
  out << json_text(json, 2) << '\n';
}

ClusterModel read_cluster(std::istream& in, const std::string& name) {
  Json json = parse_json(in, name);
  const Node root(json, name);
  root.object();
  check_schema(root, ClusterModel::oldest_schema_version, ClusterModel::schema_version);
  throw_problems_of<ClusterModel>(json, name);
  if (root.has("power") && root.at("power").has("one_core_w"))  // versions 1 and 2
    json["power"] = own_json(power_from_four_numbers(root.at("power"), root.at("hosts").at("cores").integer<int>()));
  if (root.at("hosts").has("kinds")) expand_kinds(json, name, FieldReader::read<Hosts>(root.at("hosts")));
  auto cluster = FieldReader::read<ClusterModel>(root);
  check_hosts(root, cluster);
  return cluster;
}

std::string cluster_sha256(const ClusterModel& cluster) {
  return sha256_hex(written([&](std::ostream& out) { write_cluster(out, cluster); }));
}

std::string kernel_model_json(const KernelModel& model) {
  return json_text(own_json(model), 2);
}

std::string network_model_json(const NetworkModel& model) {
  return json_text(own_json(model), 2);
}

std::map<std::string, KernelModel> read_kernel_models(std::istream& in, const std::string& name) {
  const Json json = parse_json(in, name);
  throw_problems_of<std::map<std::string, KernelModel>>(json, name, kernels);
  return FieldReader::read<std::map<std::string, KernelModel>>(Node(json, name));
}

NetworkModel read_network_model(std::istream& in, const std::string& name) {
  Json json = parse_json(in, name);
  for (const char* more : {"smpi", "report"})  // what `fit network` says beside the model
    if (json.is_object()) json.erase(more);
  throw_problems_of<NetworkModel>(json, name);
  return FieldReader::read<NetworkModel>(Node(json, name));
}

std::string read_provenance(std::istream& in, const std::string& name) {
  const Json json = parse_json(in, name);
  return json_text(Node(json, name).object());
}

namespace {

struct DetourFile {
  std::vector<DetourSource> detours;
  std::string report;
};

HPLCAST_DESCRIPTION(DetourFile, file) {
  JsonText report{file.report};
  fields("detours", file.detours);
  fields.if_any("report", report);
}

}  // namespace

std::string detours_json(const std::vector<DetourSource>& sources) {
  return Json({{"detours", FieldWriter::json_of(sources)}}).dump(2);
}

std::vector<DetourSource> read_detours(std::istream& in, const std::string& name) {
  const Json json = parse_json(in, name);
  const Node root(json, name);
  refuse_cluster(root, "what `hplcast fit detours -o` writes");
  throw_problems_of<DetourFile>(json, name);
  auto sources = FieldReader::read<DetourFile>(root).detours;
  root.at("detours").made([&] { check_detours(sources); });
  return sources;
}

}  // namespace hplcast::core
