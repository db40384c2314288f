#include "hplcast/platforms/run_files.hpp"

#include <array>
#include <ostream>

#include "hplcast/core/errors.hpp"
#include "hplcast/core/kernel_shape.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::platforms {

namespace {

#define HPLCAST_MACRO(NAME, ...) "HPLCAST_" #NAME,
#define HPLCAST_NOISE(NAME, ...) "HPLCAST_NOISE_" #NAME,
constexpr std::array macro_names = {HPLCAST_KERNELS(HPLCAST_MACRO)};
constexpr std::array noise_names = {HPLCAST_NOISE_FAMILIES(HPLCAST_NOISE)};
#undef HPLCAST_MACRO
#undef HPLCAST_NOISE

constexpr std::array<const char*, 3> order_names = {"HPLCAST_CPU_BLOCK", "HPLCAST_CPU_CYCLIC", "HPLCAST_CPU_LIST"};

std::string hexadecimal(double value) {
  return core::printed("%a", value);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += std::string("\\") + c;
    } else if (byte < 0x20 || byte > 0x7e || c == '?') {  // ?: no trigraphs
      result += core::printed("\\%03o", static_cast<unsigned>(byte));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

/// "{3, (const TYPE[]){a, b, c}}" without the outer braces, "0, 0" for an empty list.
template <typename Range, typename Text>
std::string counted_array(const char* type, const Range& range, const Text& text) {
  if (range.empty()) return "0, 0";
  return std::to_string(range.size()) + ", (const " + type + "[]){" + core::joined(range, ", ", text) + "}";
}

std::string term(const core::Monomial& monomial) {
  return "{" + std::to_string(monomial.m) + ", " + std::to_string(monomial.n) + ", " + std::to_string(monomial.k) + "}";
}

std::string polynomial(const core::Polynomial& polynomial) {
  if (polynomial.empty()) return "{0, 0, 0}";
  return "{" + counted_array("hplcast_term", polynomial.terms(), term) + ",\n     (const double[]){" +
         core::joined(polynomial.coefficients(), ", ", hexadecimal) + "}}";
}

std::string piece(const core::LawPiece& piece) {
  const auto mode = [](const core::MixtureMode& m) {
    return "{" + hexadecimal(m.probability) + ", " + hexadecimal(m.mean) + ", " + hexadecimal(m.sd) + "}";
  };
  return "\n    {" + hexadecimal(piece.from) + ",\n     " + polynomial(piece.law.mu()) + ",\n     " +
         polynomial(piece.law.sigma()) + ",\n     " + noise_names.at(static_cast<std::size_t>(piece.law.noise())) +
         ", " + counted_array("hplcast_mode", piece.law.modes(), mode) + "}";
}

void write_law(std::ostream& out, int host, int cpu, const core::PiecewiseLaw& law) {
  out << "  {" << host << ", " << cpu << ", " << term(law.split()) << ", "
      << counted_array("hplcast_law_piece", law.pieces(), piece) << "},\n";
}

void write_kernel_laws(std::ostream& out, const std::string& name, const core::KernelModel& model) {
  out << "static const hplcast_law hplcast_laws_" << name << "[] = {\n";
  write_law(out, -1, -1, model.cluster_law());
  for (const core::CpuLaw& own : model.overrides()) write_law(out, own.host, own.cpu, own.law);
  out << "};\n\n";
}

void write_kernel_row(std::ostream& out, const std::string& name, const core::KernelModel& model) {
  const auto sizes = [](const core::KernelShape& s) {
    return "{" + hexadecimal(s.m) + ", " + hexadecimal(s.n) + ", " + hexadecimal(s.k) + "}";
  };
  const core::ShapeRange range = model.range().value_or(core::ShapeRange{{0, 0, 0}, {0, 0, 0}});
  out << "  {" << quoted(name) << ", " << quoted(model.level()) << ", " << model.overrides().size() + 1
      << ", hplcast_laws_" << name << ", " << (model.range() ? 1 : 0) << ", " << sizes(range.min) << ", "
      << sizes(range.max) << "},\n";
}

void write_macros(std::ostream& out) {
  for (std::size_t i = 0; i < macro_names.size(); ++i) {
    std::string parameters;
    std::string arguments;
    for (const char size : std::string("mnk")) {
      const bool taken = core::kernel_sizes[i].find(size) != std::string_view::npos;
      if (taken) parameters += (parameters.empty() ? "" : ", ") + std::string(1, size);
      arguments += taken ? std::string(", (") + size + ")" : ", 1";
    }
    out << "#define " << macro_names[i] << "(" << parameters << ") hplcast_kernel_call(" << macro_names[i] << arguments
        << ")\n";
  }
}

/// Cores, CPUs and their order, of Hosts::Values or HostKind.
template <typename Shape>
std::string cores_text(const Shape& shape) {
  const std::string cpus = core::joined(shape.rank_to_cpu.list, ", ", [](int cpu) { return std::to_string(cpu); });
  return std::to_string(shape.cores) + ", " + std::to_string(shape.cpus) + ", " +
         order_names.at(static_cast<std::size_t>(shape.rank_to_cpu.kind)) + ", " +
         (cpus.empty() ? "0" : "(const int[]){" + cpus + "}");
}

void write_tables(std::ostream& out, const core::ClusterModel& cluster) {
  for (const auto& [name, model] : cluster.kernels) {
    if (!core::kernel_from_name(name))
      throw core::DomainError("kernel", name, "a kernel of HPL (docs/models/kernel-models.md)");
    write_kernel_laws(out, name, model);
  }
  if (!cluster.kernels.empty()) {
    out << "static const hplcast_kernel_table hplcast_kernels[] = {\n";
    for (const auto& [name, model] : cluster.kernels) write_kernel_row(out, name, model);
    out << "};\n\n";
  }
  const core::Hosts::Values& hosts = cluster.hosts.values();
  if (!hosts.kinds.empty()) {
    out << "static const hplcast_host_kind hplcast_kinds[] = {\n";
    for (const core::HostKind& kind : hosts.kinds)
      out << "  {" << quoted(kind.name) << ", " << quoted(kind.hosts) << ", " << cores_text(kind) << "},\n";
    out << "};\n\n";
  }
  out << "static const hplcast_model_table hplcast_model = {\n  HPLCAST_MODEL_TABLE_VERSION, HPLCAST_MODEL_NAME, "
         "HPLCAST_MODEL_SHA256,\n  "
      << quoted(hosts.names) << ", " << cores_text(hosts) << ",\n  "
      << hexadecimal(cluster.network.scope(core::Scope::local).max_bytes) << ", "
      << hexadecimal(cluster.network.scope(core::Scope::remote).max_bytes) << ",\n  " << cluster.kernels.size() << ", "
      << (cluster.kernels.empty() ? "0" : "hplcast_kernels") << ",\n  " << hosts.kinds.size() << ", "
      << (hosts.kinds.empty() ? "0" : "hplcast_kinds") << "\n};\n";
}

}  // namespace

void write_model_h(std::ostream& out, const core::ClusterModel& cluster) {
  out << "/* Made by hplcast from a cluster model; do not edit. C99. See docs/formats/model-h.md. */\n"
      << "#ifndef HPLCAST_MODEL_H_INCLUDED\n#define HPLCAST_MODEL_H_INCLUDED\n\n"
      << "#include \"hplcast/smpi_models/hplcast_smpi.h\"\n\n"
      << "#define HPLCAST_MODEL_NAME " << quoted(cluster.name) << "\n"
      << "#define HPLCAST_MODEL_SHA256 " << quoted(core::cluster_sha256(cluster)) << "\n\n"
      << "/* One call of a kernel by the calling rank. */\n";
  write_macros(out);
  out << "\n/* The models; define HPLCAST_MODEL_NO_TABLES to have the macros only. */\n#ifndef "
         "HPLCAST_MODEL_NO_TABLES\n";
  write_tables(out, cluster);
  out << "#endif\n#endif\n";
}

void write_hostfile(std::ostream& out, const core::ClusterModel& cluster, int ranks) {
  const core::Hosts& hosts = cluster.hosts;
  if (ranks < 1) throw core::DomainError("ranks", ranks, "at least 1");
  core::require(ranks <= hosts.total_cores(), "ranks", ranks,
                "at most the " + std::to_string(hosts.total_cores()) + " cores of cluster " + cluster.name + " (" +
                    hosts.text() + ")",
                "choose a grid with P*Q within that, or a larger cluster");
  for (int rank = 0; rank < ranks; ++rank)
    out << hosts.names()[static_cast<std::size_t>(hosts.place_of(rank).host)] << '\n';
}

std::vector<std::string> smpi_options() {
  return {
      // Time passes in our models only; host-speed stops SMPI from asking for the speed of this machine.
      "--cfg=smpi/simulate-computation:no",
      "--cfg=smpi/host-speed:1f",
      // HPL's globals are harmless once its timers are replaced: no copy of the program for each rank.
      "--cfg=smpi/privatization:no",
      // Delays are exact to a picosecond; smpirun's own default is a nanosecond.
      "--cfg=surf/precision:1e-12",
      "--cfg=maxmin/precision:1e-9",
  };
}

}  // namespace hplcast::platforms
