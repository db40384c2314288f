#include <algorithm>
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <utility>

#include "hplcast/core/csv.hpp"
#include "hplcast/core/errors.hpp"
#include "hplcast/core/process.hpp"
#include "hplcast/core/text.hpp"
#include "hplcast/study/installed_programs.hpp"
#include "hplcast/study/program_run.hpp"
#include "study/run/hpl_simulation.hpp"

namespace hplcast::study {

namespace fs = std::filesystem;

namespace {

/// 0 of nothing.
double share_of(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

/// By what the program itself says; empty if it is no program.
std::vector<std::string> needed_libraries(const fs::path& program) {
  const core::CommandResult result = core::run({"readelf", {"-dW", program.string()}});
  std::vector<std::string> libraries;
  const std::regex needed("\\(NEEDED\\).*\\[(.*)\\]");
  std::smatch found;
  for (const std::string& line : core::split(result.output, '\n'))
    if (std::regex_search(line, found, needed)) libraries.push_back(found[1]);
  return libraries;
}

bool matches(const std::string& library, const char* pattern) {
  return std::regex_search(library, std::regex(pattern));
}

bool have(const std::vector<std::string>& libraries, const char* pattern) {
  return std::any_of(libraries.begin(), libraries.end(), [&](const std::string& one) { return matches(one, pattern); });
}

std::string count_text(double calls) {
  return core::shortest(calls) + (calls == 1 ? " call" : " calls");
}

/// "solver-smpi" of "solver-smpi 1000".
std::string program_of(const ProgramRun& run) {
  return run.command.substr(0, run.command.find(' '));
}

/// Empty if it is not stored.
std::string observed_program(const core::ClusterModel& cluster) {
  return cluster.program ? std::filesystem::path(cluster.program->command).filename().string() : "";
}

/// A part of a sentence, that may be the reason for models that are missing.
std::string both_names(const ProgramRun& run, const core::ClusterModel& cluster) {
  const std::string observed = observed_program(cluster);
  return observed.empty() ? "" : " (the models are of " + observed + ", this is " + program_of(run) + ")";
}

/// "9.1 % of all calls: daxpy (10 calls, 8 %), dscal (2 calls, 1.1 %)": the routines that `is_meant`, by calls.
template <typename IsMeant>
std::string listed(const ProgramRun& run, const IsMeant& is_meant) {
  double all = 0, meant = 0;
  std::vector<std::pair<double, std::string>> routines;
  for (const auto& one : run.routines) {
    all += one.second.calls;
    if (!is_meant(one)) continue;
    meant += one.second.calls;
    routines.emplace_back(-one.second.calls, one.first);
  }
  if (routines.empty()) return "";
  std::sort(routines.begin(), routines.end());
  const auto text_of = [&](const auto& one) {
    return one.second + " (" + count_text(-one.first) + ", " + core::short_percent(share_of(-one.first, all)) + ")";
  };
  return core::short_percent(share_of(meant, all)) +
         " of all calls of routines: " + core::first_few(routines, 8, text_of);
}

/// Whether strides are aliased goes with the size of the matrix, and models of such ones are measured after the run.
std::string of_any_stride(const std::string& routine) {
  return core::is_strided(routine) ? routine.substr(0, routine.find('/')) + "/strided" : routine;
}

/// A program that calls less than half of what it called when it was observed has taken another way: contents, often.
std::string missing_calls(const ProgramRun& run, const core::ClusterModel& cluster) {
  if (!cluster.program) return "";
  std::set<std::string> observed, called;
  for (const auto& [name, model] : cluster.program->routines) observed.insert(of_any_stride(name));
  for (const auto& [name, region] : cluster.program->regions)
    if (!core::is_stretch(name)) observed.insert("region " + name);
  for (const auto& [name, use] : run.routines)
    if (use.calls > 0) called.insert(of_any_stride(name));
  for (const auto& [name, use] : run.regions)
    if (use.calls > 0) called.insert("region " + name);
  std::vector<std::string> missing;
  std::set_difference(observed.begin(), observed.end(), called.begin(), called.end(), std::back_inserter(missing));
  if (2 * missing.size() <= observed.size()) return "";
  return std::to_string(missing.size()) + " of " + std::to_string(observed.size()) +
         " observed routines and regions are not called here (" +
         core::first_few(missing, 5, [](const std::string& name) { return name; }) +
         "): is it the same program, and did its contents end it early? Products are 0 and norms 1 (--numerics run "
         "computes them)" +
         both_names(run, cluster);
}

/// Our platform gives the program the arguments that SimGrid would take; without it they would be lost, or come
/// changed.
void require_arguments_arrive(const ProgramRunRequest& request) {
  if (!platform_library({}).empty()) return;
  for (const std::string& argument : request.arguments)
    core::require(core::smpirun_word(argument) == argument, "argument of the program", argument,
                  "one that smpirun hands on as it is",
                  "libhplcast-platform.so, which restores others, is missing; expected in ../lib beside hplcast, or "
                  "where HPLCAST_PLATFORM_LIBRARY says");
}

/// Whether `--rest model` has something to go by; a program that has no rest needs nothing.
bool has_rest(const core::ClusterModel& cluster) {
  if (!cluster.program) return false;
  const core::ProgramModel& program = *cluster.program;
  const bool none_seen = program.observed.total_s > 0 && program.observed.rest_s <= 0;
  return none_seen || program.rest_s_per_call > 0 || program.rest_s_per_element > 0;
}

bool has_stretches(const core::ClusterModel& cluster) {
  if (!cluster.program) return false;
  const auto& regions = cluster.program->regions;
  return std::any_of(regions.begin(), regions.end(), [](const auto& one) { return core::is_stretch(one.first); });
}

/// Looks at the shared libraries that a program to be simulated needs. @throws core::Error if hplcast-cc did not link
/// it, or one of them is a BLAS, LAPACK or MPI that the simulation would not replace. @return warnings about others.
std::vector<std::string> check_linked_libraries(const fs::path& program) {
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    throw core::InputError(program.string() + ": " + why + "\n  hint: " + hint);
  };
  std::error_code error;
  if (!fs::is_regular_file(program, error))
    refuse(fs::is_directory(program, error) ? "a folder; expected a program" : "there is no such file",
           "the program is the first word after the options");
  const std::vector<std::string> libraries = needed_libraries(program);
  if (!have(libraries, "^libhplcast-smpi\\.so"))
    refuse("not a program for the simulator: it is not linked with libhplcast-smpi.so",
           "compile and link it with hplcast-cc, hplcast-cxx or hplcast-fc (docs/use/any-program.md)");
  std::vector<std::string> warnings;
  for (const std::string& one : libraries) {
    if (matches(one, "^lib(blas|cblas|openblas|mkl_|blis|flexiblas|atlas|lapack|armpl|essl)"))
      refuse("needs the shared library " + one + ", whose routines would be executed and take no simulated time",
             "link it with hplcast-cc, which leaves -lblas out and takes a static LAPACK");
    if (matches(one, "^lib(mpi|mpich|mpi_mpifh|pmpi)"))
      refuse("needs " + one + ", a real MPI", "all of it must be compiled with hplcast-cc, hplcast-cxx or hplcast-fc");
    if (matches(one, "^lib(gomp|omp|iomp5)"))
      warnings.push_back(one + ": the program uses OpenMP; a simulated rank is one core, and threads take no time");
    if (!matches(one,
                 "^(lib(c|m|dl|rt|pthread|gcc_s|stdc\\+\\+|gfortran|quadmath|simgrid|hplcast-smpi|gomp|omp|iomp5)|ld-"
                 "linux.*)\\.so"))
      warnings.push_back(
          one +
          ": a shared library has one copy of its variables for all ranks, and its calls of BLAS and MPI "
          "are not seen; link a static one");
  }
  return warnings;
}

}  // namespace

void require_real_program(const fs::path& program) {
  std::vector<std::string> libraries;
  try {
    libraries = needed_libraries(program);
  } catch (const core::ExternalError&) {
    return;  // without binutils it cannot be told
  }
  if (have(libraries, "^lib(hplcast-smpi|simgrid)\\.so"))
    throw core::InputError(program.string() +
                           ": linked for the simulator\n  hint: real runs are observed: the program that "
                           "mpicc or mpif90 has linked");
}

std::vector<std::string> check(const ProgramRunRequest& request) {
  if (request.ranks < 1) throw core::DomainError("-np", request.ranks, "at least 1");
  const int cores = request.cluster.hosts.total_cores();
  core::require(request.ranks <= cores, "-np", request.ranks,
                "at most " + std::to_string(cores) + ", the cores of cluster " + request.cluster.name,
                "`hplcast transform --add-nodes` makes a larger one, if messages between hosts are known");
  if (request.observation.energy) require_power(request.cluster);
  if (request.fast && !request.direct_messages)
    throw core::UsageError("--fast beside --messages smpi: SMPI has no such messages");
  if (request.fast && platform_library({}).empty())
    throw core::DomainError("--fast", "without libhplcast-platform.so", "that library, which has the messages");
  if (request.numerics && request.share_above_bytes > 0)
    throw core::UsageError(
        "--numerics run beside --share-above: shared memory has nothing that could be computed with");
  const bool needs_all = request.numerics || request.observation.energy || !request.counts.empty();
  if (needs_all && request.windows.kind != WindowRule::Kind::off)
    throw core::UsageError("--windows beside --numerics run, --energy or --count, which need all panels");
  std::vector<std::string> warnings = check_linked_libraries(request.program);
  require_one_simgrid(smpirun_to_run(request.smpirun), request.program);
  require_arguments_arrive(request);
  const auto& remote = request.cluster.network.values().remote;
  const int of_one_host = request.cluster.hosts.cores_of(0);
  if (request.ranks > of_one_host && !remote)
    throw core::DomainError(
        "-np", request.ranks,
        core::printed("at most %d, the cores of one host: messages between hosts were not measured", of_one_host));
  if (request.fast && request.ranks > of_one_host) {
    constexpr double short_bytes = 32768;  // of segments of collective operations
    if (2 * remote->cost(core::MessageCost::isend).mean_s(short_bytes) < short_bytes / remote->link_bytes_per_s())
      warnings.push_back(
          "--fast: messages below 64 KiB take nothing of the links, and hardly any time of their senders "
          "by `isend` of cluster " +
          request.cluster.name + ": many at once (segments of MPI_Bcast) are far too fast; simulate without it, too");
  }
  if (request.observation.energy) core::append(warnings, power_warnings(request.cluster));
  std::set<const core::AcceleratorModel*> without_power;
  for (int host = 0; request.observation.energy && host < request.cluster.hosts.count(); ++host) {
    const core::AcceleratorModel* const model = request.cluster.accelerators_of(host);
    if (model != nullptr && !model->power && without_power.insert(model).second)
      warnings.push_back("--energy: `accelerators` of " +
                         (request.cluster.hosts.has_kinds()
                              ? "kind " + request.cluster.hosts.kind_name(request.cluster.hosts.kind_of(host)) + " of "
                              : "") +
                         "cluster " + request.cluster.name + " has no `power`, so they draw nothing here");
  }
  if (request.rest == RestMode::model && !has_rest(request.cluster))
    warnings.push_back(
        "--rest model: cluster " + request.cluster.name +
        " has no times of the rest (rest_s_per_call, rest_s_per_element of its program), so code that is "
        "neither BLAS nor MPI nor a region takes none; fit program makes them of observed calls of BLAS");
  if (request.rest == RestMode::counted && !has_stretches(request.cluster))
    throw core::InputError("--rest counted: cluster " + request.cluster.name +
                           " has no models of code between calls of MPI\n  hint: simulate the observed runs with "
                           "--count FILE, and give the files to `hplcast fit program --counts`");
  if (!request.cluster.program && !request.cluster.has_accelerators()) {
    warnings.push_back("cluster " + request.cluster.name +
                       " has no routines of an observed program: only kernels of HPL take time; `hplcast fit program "
                       "ARCHIVE --cluster FILE` adds those of `hplcast observe`");
  } else if (request.cluster.program && request.rest == RestMode::zero) {
    const core::ObservedTime& seen = request.cluster.program->observed;
    constexpr double much = 0.05;
    const double unmodelled = share_of(seen.rest_s, seen.total_s - seen.mpi_s);
    if (unmodelled > much)
      warnings.push_back(
          core::short_percent(unmodelled) +
          " of the observed time outside of MPI was neither in BLAS nor in a region, and takes no time in "
          "this simulation: rates and times that the program prints of such code (loops of its own, STREAM) are far "
          "too good; --rest counted, model or bench, or regions (docs/use/any-program.md)");
  }
  return warnings;
}

std::vector<std::string> doubts(const ProgramRun& run, const core::ClusterModel& cluster) {
  std::vector<std::string> list;
  double all_s = run.routines_s() + run.regions_s() + run.rest_s;
  if (run.accelerators) {
    double kernels_s = 0;
    for (const auto& [name, use] : run.accelerators->kernels) {
      kernels_s += use.time_s;
      constexpr double much = 0.01;  // of the calls
      if (share_of(use.outside_range, use.calls) > much)
        list.push_back("kernel " + name +
                       " of the accelerators: " + core::short_percent(share_of(use.outside_range, use.calls)) +
                       " of its calls have sizes outside of those measured");
    }
    constexpr double much = 0.01;  // of the kernels' time
    if (run.accelerators->overlapped_s > much * kernels_s)
      list.push_back(core::short_percent(share_of(run.accelerators->overlapped_s, kernels_s)) +
                     " of the time of kernels of accelerators was beside kernels of other streams, each as fast as "
                     "alone: on a real one they share it");
    all_s += kernels_s;
  }
  const auto has_none = [](const auto& one) { return one.second.calls > 0 && !one.second.has_model; };
  if (const std::string routines = listed(run, has_none); !routines.empty())
    list.push_back("no time was taken by " + routines + ", because cluster " + cluster.name +
                   " has no model of these routines; observe a run that calls them" + both_names(run, cluster));
  for (const auto& [name, use] : run.routines) {
    constexpr double much = 0.01;  // of the time, or of the calls
    if (use.has_model && share_of(use.outside_range, use.calls) > much && share_of(use.time_s, all_s) > much) {
      list.push_back(name + ": " + core::short_percent(share_of(use.outside_range, use.calls)) +
                     " of its calls have sizes outside of those observed");
    }
  }
  for (const auto& [name, use] : run.regions)
    if (!use.has_model)
      list.push_back("region " + name + ": was not observed, took no time of its own (" + count_text(use.calls) + ")" +
                     both_names(run, cluster));
  if (const auto other = run.regions.find("stretches by mean"); other != run.regions.end()) {
    constexpr double much = 0.05;  // of the time
    if (share_of(other->second.time_s, all_s) > much)
      list.push_back(core::short_percent(share_of(other->second.time_s, all_s)) +
                     " of the time is of code between calls of MPI in functions that were not observed, at the mean "
                     "rate of all code: observe runs that make these calls (other grids, more ranks)");
  }
  constexpr double much_s = 1e-4;  // less is between reads of clocks of any program
  if (run.untimed_s > much_s)
    list.push_back("the program timed code that takes no time here, " + core::shortest(run.untimed_intervals) +
                   " times (" + core::printed("%.2g", run.untimed_s) +
                   " s of CPU time on this machine): the times and rates that it prints of that (STREAM: of memory) "
                   "mean nothing; --rest bench, or regions");
  if (const std::string lost = missing_calls(run, cluster); !lost.empty()) list.push_back(lost);
  if (run.sampling && run.sampling->deviation > smooth_deviation)
    list.push_back("near panel " + std::to_string(run.sampling->deviates_at_panel) + " the time per panel is " +
                   core::short_percent(run.sampling->deviation) +
                   " off a smooth curve; a change between windows would not be seen: more windows (--windows) show it");
  if (all_s <= 0)
    list.push_back(
        "nothing but messages took time: the program calls no BLAS that is modelled, or its contents stopped its "
        "algorithm at once");
  return list;
}

std::vector<std::string> notes(const ProgramRun& run, const core::ClusterModel& cluster) {
  if (!cluster.program) return {};
  std::vector<std::string> list;
  const std::string observed = observed_program(cluster), here = program_of(run);
  const bool is_one = here.find(observed) != std::string::npos || observed.find(here) != std::string::npos;
  if (!observed.empty() && !is_one) list.push_back("the models are of " + observed + ", this is " + here);
  const auto& routines = cluster.program->routines;
  const auto is_of_hpl = [&](const auto& one) {
    const std::string base = one.first.substr(0, one.first.find('/'));
    return one.second.calls > 0 && one.second.has_model && !core::is_mpi_function(base) &&
           routines.count(one.first) == 0 && routines.count(of_any_stride(one.first)) == 0 && routines.count(base) == 0;
  };
  if (const std::string of_hpl = listed(run, is_of_hpl); !of_hpl.empty())
    list.push_back(of_hpl +
                   " took the times of HPL's kernels, because the observed program did not call these routines");
  return list;
}

}  // namespace hplcast::study
