#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hplcast::core {

class ExternalError;

/// An external program to run. Arguments go to it as they are: no shell.
struct Command {
  std::string program = {};  ///< a path, or a name that PATH finds
  std::vector<std::string> arguments = {};
  std::map<std::string, std::string> environment = {};  ///< added to ours
  std::filesystem::path directory = {};                 ///< empty: ours
  std::filesystem::path output = {};                    ///< file for stdout and stderr together; empty: captured
  double timeout_s = 0;                                 ///< 0: none
  /// Called with the process id while it runs, about every 100 ms, in the first second more often (progress, memory);
  /// may be empty.
  std::function<void(int pid)> while_running = {};
  bool despite_interrupts = false;  ///< runs to its end after these signals, too: for cleaning up
  /// "the simulation of N=1000": names it in messages, and has its output shown (show_output()).
  std::string purpose = {};
};

struct CommandResult {
  int status = 0;  ///< exit status; 128 + signal if killed by one
  bool timed_out = false;
  std::string output;  ///< if captured
  double wall_s = 0;
};

/// Runs a program in a process group of its own and waits. At a timeout, at SIGINT, SIGTERM or SIGHUP to us (after
/// catch_interrupts()), on exceptions from while_running, and when we are killed outright, the program is ended with
/// everything that it has started: SIGTERM to its group, SIGKILL to all descendants 2 s later. A process between us and
/// the program does that (guard.hpp).
/// @throws ExternalError if it cannot be started. A non-zero status is a value: run_checked().
CommandResult run(const Command& command);

/// run(), and @throws program_failure() unless the status is 0. Output that was captured is then left in a file below
/// the folder for temporary files.
CommandResult run_checked(const Command& command);

/// "smpirun was ended by signal 11 (Segmentation fault)", "mpirun did not end within 60 s".
std::string how_it_ended(const Command& command, const CommandResult& result);

/// The error for a program that failed: in one line its purpose, `how`, and the file of its output
/// (`command.output`); then `details` (lines, may be empty), the program's own message, and how to see more.
ExternalError program_failure(const Command& command, int status, const std::string& how,
                              const std::string& details = "");

/// The line of a program's output that tells most: the first one of hplcast's own programs, else the first one about an
/// error, else the last one. Empty if there is none.
std::string telling_line(std::istream& output);

/// From now on run() copies what programs with a purpose print to `out` as well, with their command, while they run.
/// nullptr: no longer.
void show_output(std::ostream* out);

/// Whether show_output() has been given a stream.
bool output_is_shown();

/// Shows whole lines there as the output of a program with that purpose; nothing without a stream.
void show_text(const std::string& purpose, const std::string& lines);

/// The command as one would type it, quoted, for messages and logs.
std::string to_string(const Command& command);

/// A word as a shell would want it, in quotes where it needs them.
std::string shell_quoted(const std::string& text);

/// Path of a program found in PATH, or empty.
std::filesystem::path find_program(const std::string& name);

/// The file of the running program; empty if the system does not tell.
std::filesystem::path own_executable();

/// Installs handlers so that SIGINT, SIGTERM and SIGHUP (unless it is ignored: nohup) make run() stop its child and
/// throw an Error with exit code 128 + signal.
void catch_interrupts();

/// For the main function of a program, before anything else. Standard input, output or error that are closed become
/// /dev/null, which cannot be written: else the next file that is opened would take their place. A file that reaches
/// the limit of sizes (ulimit -f) gives an error as a full disk does, not SIGXFSZ.
void settle_in();

/// Name of this host; "?" if the system does not tell.
std::string host_name();

/// Unix time, in s.
double unix_time_s();

/// "2026-11-22T16:03:05Z".
std::string utc_now();

/// How an MPI program is started on this machine or on the hosts of a file: each rank is bound to as many cores as its
/// BLAS has threads, because the model of a kernel is that of a rank with these cores.
struct MpiLaunch {
  int ranks = 1;
  int threads = 1;                         ///< of BLAS and OpenMP, in each rank
  std::filesystem::path hostfile;          ///< empty: this machine
  bool oversubscribe = false;              ///< more ranks than cores: not bound, and slower than real
  std::string mpirun = "mpirun";           ///< Open MPI's, or Slurm's srun (then the hosts are those of the job)
  std::vector<std::string> options = {};   ///< more options for it, before the program
  std::vector<std::string> exported = {};  ///< environment variables that the ranks get, besides those of threads
  bool bind = true;                        ///< ranks to cores; false: not, unless `options` say so
  std::filesystem::path blas = {};         ///< shared library that they get in place of the one they are linked with
};

/// The mpirun (or srun) command that runs `program` so.
Command mpirun_command(const MpiLaunch& launch, const std::filesystem::path& program);

// --- which BLAS a process, a program or a library is: by its own words, or by its file ---

/// A BLAS in its own words.
struct BlasDescription {
  std::string library;         ///< name and version ("OpenBLAS 0.3.21", "BLIS 0.9.0"); else the name of its file
  std::string config;          ///< how it was built; empty: it does not say
  std::string core_type;       ///< kernels that it picked for this CPU; empty: it does not say
  int threads = 0;             ///< that it would use; 0: it does not say
  std::filesystem::path file;  ///< the shared library, without symbolic links
};

/// The one that this process calls, however it was linked or preloaded.
/// @throws InputError if some routines of HPL come from another library than cblas_dgemm does
BlasDescription blas_of_this_process();

/// Tells the BLAS of this process, by its own call (OpenBLAS, BLIS, MKL; others read the environment only). An OpenBLAS
/// beside it that nothing calls gets one thread.
void set_blas_threads(int threads);

/// A shared library, by its path or as the loader finds it ("libblis.so.4"); it is loaded in a process of its own.
/// @throws InputError if it cannot be loaded, or has no C interface (cblas_dgemm)
BlasDescription blas_of_library(const std::filesystem::path& library);

/// The shared library that the loader would give a program. Nothing: it has its own inside, or is no program that is
/// loaded.
std::optional<BlasDescription> blas_of_program(const std::filesystem::path& program);

}  // namespace hplcast::core
