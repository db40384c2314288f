// SMPI's collective operations where the algorithm that it chooses fails.
#include <smpi/smpi.h>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <stdexcept>

#include "hplcast/smpi_models/hplcast_program_messages.h"
#include "smpi-models/program/program.hpp"
#include "smpi-models/program/program_messages.hpp"
#include "smpi-models/simgrid_port/simgrid_port.hpp"

/// Algorithms, and what the functions of MPI call: the same from SimGrid 3.32 to 4.1; the header is not installed.
namespace simgrid::smpi {
using Alltoall = int(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
using Alltoallv = int(const void*, const int*, const int*, MPI_Datatype, void*, const int*, const int*, MPI_Datatype,
                      MPI_Comm);
using Allreduce = int(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
using ReduceScatter = int(const void*, void*, const int*, MPI_Datatype, MPI_Op, MPI_Comm);
using Gather = int(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
Alltoall alltoall__ring;
Alltoallv alltoallv__ring;
Allreduce allreduce__rab_rdb;
ReduceScatter reduce_scatter__default, reduce_scatter__mpich;
Gather gather__ompi, gather__ompi_basic_linear;
namespace colls {
extern Alltoall* alltoall;
extern Alltoallv* alltoallv;
extern Allreduce* allreduce;
extern ReduceScatter* reduce_scatter;
extern Gather* gather;
}  // namespace colls
}  // namespace simgrid::smpi

namespace hplcast::smpi_models {

namespace {

namespace smpi = simgrid::smpi;

/// Algorithms for powers of two ("pair", "rab1") are chosen for any number of ranks, and throw before they send
/// anything. `other`: what Open MPI and MPICH, or Intel MPI, do there.
template <auto* choice, auto* other, typename... Arguments>
void replace_powers_of_two(int (*)(Arguments...)) {
  static auto* const chosen = *choice;
  *choice = [](Arguments... arguments) {
    try {
      return chosen(arguments...);
    } catch (const std::invalid_argument&) {  // to be left before anything blocks
    }
    return other(arguments...);
  };
}

int ranks_of(MPI_Comm communicator) {
  int ranks = 0;
  PMPI_Comm_size(communicator, &ranks);
  return ranks;
}

}  // namespace

void mend_collectives() {
  replace_powers_of_two<&smpi::colls::alltoall, smpi::alltoall__ring>(smpi::alltoall__ring);
  replace_powers_of_two<&smpi::colls::alltoallv, smpi::alltoallv__ring>(smpi::alltoallv__ring);
  replace_powers_of_two<&smpi::colls::allreduce, smpi::allreduce__rab_rdb>(smpi::allreduce__rab_rdb);

  // Recursive halving gives wrong results where a rank gets nothing: Open MPI does not take it then.
  static auto* const reduce_scatter = smpi::colls::reduce_scatter;
  if (reduce_scatter != smpi::reduce_scatter__mpich)
    smpi::colls::reduce_scatter = [](const void* out, void* in, const int* counts, MPI_Datatype type, MPI_Op operation,
                                     MPI_Comm on) {
      const int* const end = counts + ranks_of(on);
      const bool halves = std::find(counts, end, 0) == end;
      return (halves ? reduce_scatter : smpi::reduce_scatter__default)(out, in, counts, type, operation, on);
    };

  // Open MPI gathers long blocks on few ranks by a first segment (of whole elements: perhaps a little less) and the
  // rest. Where that is a short message for SMPI, it mixes both up: a deadlock.
  constexpr int segment_bytes = 32768;
  static auto* const gather = smpi::colls::gather;
  if (gather == smpi::gather__ompi && port::setting<int>("smpi/async-small-thresh") > segment_bytes / 2)
    smpi::colls::gather = [](const void* out, int count, MPI_Datatype type, void* in, int in_count,
                             MPI_Datatype in_type, int root, MPI_Comm on) {
      constexpr int few = 8, long_bytes = 131072;
      int rank = 0;
      PMPI_Comm_rank(on, &rank);
      const std::size_t bytes = rank == root ? packed_bytes(in_count, in_type) : packed_bytes(count, type);
      const bool in_segments = bytes >= std::size_t{long_bytes} && ranks_of(on) < few;
      return (in_segments ? smpi::gather__ompi_basic_linear : gather)(out, count, type, in, in_count, in_type, root,
                                                                      on);
    };
}

}  // namespace hplcast::smpi_models

void hplcast_warn_of_scan(const char* function) {
  static int told = 0;
  if (told++ > 0) return;
  std::fprintf(stderr, "hplcast: warning: %s by an operation that does not commute: its results are wrong here\n",
               function);
}
