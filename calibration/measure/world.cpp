#include "hplcast/calibration/world.hpp"

#include <mpi.h>
#include <algorithm>
#include <cstdlib>

#include "hplcast/calibration/clock.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"

namespace hplcast::calibration {

namespace {

int blas_threads = 1;
constexpr int text_tag = 1;
constexpr std::size_t largest_piece_bytes = 1U << 30;  // counts of MPI are ints

/// Calls `move` with each piece of a text.
template <typename Move>
void in_pieces(std::string& text, Move move) {
  for (std::size_t at = 0; at < text.size(); at += largest_piece_bytes)
    move(text.data() + at, static_cast<int>(std::min(largest_piece_bytes, text.size() - at)));
}

/// MPI's and BLAS's own words about themselves.
core::SoftwareDescription describe_software() {
  core::SoftwareDescription software;
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  const std::string words(library, static_cast<std::size_t>(length));
  software.mpi_library = words.substr(0, words.find_first_of("\n,"));
  int version = 0, subversion = 0;
  MPI_Get_version(&version, &subversion);
  software.mpi_standard = std::to_string(version) + "." + std::to_string(subversion);
  const core::BlasDescription blas = core::blas_of_this_process();
  software.blas_config = blas.config;
  software.blas_library = blas.library;
  software.blas_file = blas.file.string();
  software.blas_core_type = blas.core_type;
  software.blas_threads = blas.threads > 0 ? blas.threads : blas_threads;
#ifdef __VERSION__
  software.compiler = "compiled by " __VERSION__;
#endif
  return software;
}

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  MPI_Init(&argc, &argv);
}

MpiSession::~MpiSession() {
  MPI_Finalize();
}

void MpiSession::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::abort();  // MPI_Abort is not declared to stay away
}

World::World() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(name, &length);
  hosts_ = gather_everywhere(std::string(name, static_cast<std::size_t>(length)));
  local_size_ = 0;
  for (int other = 0; other < size_; ++other) {
    if (hosts_[static_cast<std::size_t>(other)] != host()) continue;
    if (other < rank_) ++local_rank_;
    ++local_size_;
  }
}

void World::barrier() const {
  MPI_Barrier(MPI_COMM_WORLD);
}

void World::until_all_arrive(const std::function<void()>& meanwhile) const {
  MPI_Request all_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_here);
  for (int done = 0; done == 0;) {
    MPI_Test(&all_here, &done, MPI_STATUS_IGNORE);
    if (done == 0) meanwhile();
  }
}

void World::sleep_until_all_arrive() const {
  until_all_arrive([] { sleep_s(5e-3); });
}

std::string World::broadcast(std::string text, int root) const {
  unsigned long long size = text.size();
  MPI_Bcast(&size, 1, MPI_UNSIGNED_LONG_LONG, root, MPI_COMM_WORLD);
  text.resize(size);
  in_pieces(text, [&](char* piece, int count) { MPI_Bcast(piece, count, MPI_CHAR, root, MPI_COMM_WORLD); });
  return text;
}

std::vector<std::string> World::gather(std::string text) const {
  unsigned long long size = text.size();
  if (rank_ != 0) {
    MPI_Send(&size, 1, MPI_UNSIGNED_LONG_LONG, 0, text_tag, MPI_COMM_WORLD);
    in_pieces(text, [](char* piece, int count) { MPI_Send(piece, count, MPI_CHAR, 0, text_tag, MPI_COMM_WORLD); });
    return {};
  }
  std::vector<std::string> texts{std::move(text)};
  for (int other = 1; other < size_; ++other) {
    MPI_Recv(&size, 1, MPI_UNSIGNED_LONG_LONG, other, text_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    in_pieces(texts.emplace_back(size, '\0'), [&](char* piece, int count) {
      MPI_Recv(piece, count, MPI_CHAR, other, text_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }
  return texts;
}

std::string World::gather_rows(const std::function<void(std::ostream&)>& write) const {
  return core::joined(gather(core::written(write)), "");
}

std::vector<std::string> World::gather_everywhere(const std::string& text) const {
  std::vector<std::string> texts;
  for (int rank = 0; rank < size_; ++rank) texts.push_back(broadcast(text, rank));
  return texts;
}

double World::max(double value) const {
  double largest = value;
  MPI_Allreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

void use_blas_threads() {
  core::set_blas_threads(blas_threads);
}

CorePlace bind_rank(const World& world, const Topology& topology, const Binding& binding) {
  blas_threads = binding.threads;
  use_blas_threads();
  if (const auto found = core::blas_of_this_process().file;
      !binding.blas.empty() && !std::filesystem::equivalent(found, binding.blas))
    throw core::InputError("the ranks call " + found.string() + ", not " + binding.blas.string() +
                           "\n  hint: start them with mpirun -x LD_PRELOAD=" + binding.blas.string());
  std::vector<CorePlace> places = topology.bound_cores();
  if (binding.bind) {
    const int slots = std::max(1, static_cast<int>(topology.cores().size()) / std::max(1, binding.threads));
    const int local = binding.allow_oversubscription ? world.local_rank() % slots : world.local_rank();
    places = choose_cores(topology.cores(), places, local, binding.threads);
    topology.bind(places);
    if (topology.bound_cores() != places)
      throw core::InputError("the system does not keep the binding to core " + std::to_string(places.front().core) +
                             "\n  hint: look at the control group and at the launcher");
  }
  if (places.empty()) throw core::InputError("the process is bound to no core at all");
  const std::string mine = world.host() + " core " + std::to_string(places.front().core);
  const std::vector<std::string> all = world.gather_everywhere(mine);
  if (binding.bind && !binding.allow_oversubscription && std::count(all.begin(), all.end(), mine) > 1)
    throw core::InputError("several ranks are bound to " + mine +
                           "\n  hint: start at most one rank per core, and look at mpirun's --report-bindings");
  return places.front();
}

core::MeasurementContext describe_context(const World& world, const Topology& topology, const CorePlace& place) {
  core::MeasurementContext mine;
  if (world.local_rank() == 0) mine.machines.push_back(describe_machine(topology));
  for (core::MachineDescription& machine : mine.machines) machine.host = world.host();
  mine.software = describe_software();
  mine.ranks.push_back({world.rank(), world.host(), place.cpu, place.core});
  core::MeasurementContext all;
  for (const std::string& text : world.gather(core::written([&](std::ostream& out) { write_json(out, mine); }))) {
    const core::MeasurementContext one = core::read_context(core::TextStream(text), "description of a rank");
    all.machines.insert(all.machines.end(), one.machines.begin(), one.machines.end());
    all.ranks.insert(all.ranks.end(), one.ranks.begin(), one.ranks.end());
  }
  all.software = mine.software;
  return all;
}

}  // namespace hplcast::calibration
