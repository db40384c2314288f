#include "hplcast/core/process.hpp"

// BLAS libraries as they are loaded. OpenBLAS, BLIS, MKL and ATLAS have calls of their own that tell what they are.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <regex>
#include <sstream>

#include "hplcast/core/errors.hpp"

namespace hplcast::core {

namespace fs = std::filesystem;

namespace {

/// All that HPL and the measuring programs call.
constexpr std::array routines = {"cblas_dgemm", "cblas_dtrsm", "cblas_dgemv", "cblas_dger",  "cblas_dtrsv",
                                 "cblas_daxpy", "cblas_dcopy", "cblas_dscal", "cblas_dswap", "cblas_idamax"};

template <typename Function>
Function* function(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

/// Where a routine comes from; empty: nowhere.
fs::path origin(void* library, const char* routine) {
  Dl_info info{};
  const void* const address = ::dlsym(library, routine);
  if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::path(info.dli_fname) : file;
}

/// A library that is loaded already, for questions to itself only.
class Loaded {
 public:
  explicit Loaded(const fs::path& file) : handle_(::dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD), ::dlclose) {}

  template <typename Function>
  Function* find(const char* name) const {
    return handle_ == nullptr ? nullptr : function<Function>(handle_.get(), name);
  }

 private:
  std::unique_ptr<void, int (*)(void*)> handle_;
};

void describe_open_blas(const Loaded& loaded, BlasDescription& blas) {
  auto* const config = loaded.find<char*()>("openblas_get_config");
  if (config == nullptr) return;
  blas.config = config();
  // "OpenBLAS 0.3.21 DYNAMIC_ARCH ...": name and version are the first two words.
  blas.library = blas.config.substr(0, blas.config.find(' ', blas.config.find(' ') + 1));
  if (auto* const core = loaded.find<char*()>("openblas_get_corename")) blas.core_type = core();
  if (auto* const threads = loaded.find<int()>("openblas_get_num_threads")) blas.threads = threads();
}

void describe_blis(const Loaded& loaded, BlasDescription& blas) {
  auto* const version = loaded.find<const char*()>("bli_info_get_version_str");
  if (version == nullptr) return;
  blas.library = std::string("BLIS ") + version();
  auto* const id = loaded.find<int()>("bli_arch_query_id");
  auto* const name = loaded.find<const char*(int)>("bli_arch_string");
  if (id != nullptr && name != nullptr) blas.core_type = name(id());
  if (auto* const threads = loaded.find<std::int64_t()>("bli_thread_get_num_threads"))
    blas.threads = static_cast<int>(std::max<std::int64_t>(1, threads()));  // -1: not said, which is one
}

void describe_mkl(const Loaded& loaded, BlasDescription& blas) {
  auto* const version = loaded.find<void(char*, int)>("MKL_Get_Version_String");
  if (version == nullptr) return;
  char text[256] = "";
  version(text, sizeof text - 1);
  blas.config = text;
  std::smatch number;
  blas.library =
      std::regex_search(blas.config, number, std::regex("Version ([0-9.]+)")) ? "MKL " + number[1].str() : "MKL";
  if (auto* const threads = loaded.find<int()>("MKL_Get_Max_Threads")) blas.threads = threads();
  struct {  // MKLVersion of mkl_types.h
    int major, minor, update;
    const char *status, *build, *processor, *platform;
  } whole{};
  if (auto* const get = loaded.find<void(void*)>("MKL_Get_Version")) get(&whole);
  if (whole.processor != nullptr) blas.core_type = whole.processor;
}

BlasDescription description_of(const fs::path& file) {
  BlasDescription blas;
  blas.file = file;
  blas.library = file.filename().string();
  const Loaded loaded(file);
  if (loaded.find<void()>("ATL_buildinfo") != nullptr) blas.library = "ATLAS (" + blas.library + ")";
  describe_open_blas(loaded, blas);
  describe_blis(loaded, blas);
  describe_mkl(loaded, blas);
  return blas;
}

/// In the process that asks for itself: a line for each field, or one that begins with "!": what is wrong.
std::string report_of(const fs::path& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return std::string("!") + ::dlerror();
  for (const char* routine : {"cblas_dgemm", "dgemm_"}) {
    const fs::path file = origin(handle, routine);
    if (file.empty()) continue;
    const BlasDescription blas = description_of(file);
    std::string config = blas.config;
    std::replace(config.begin(), config.end(), '\n', ' ');
    return std::string(routine) + '\n' + blas.library + '\n' + config + '\n' + blas.core_type + '\n' +
           std::to_string(blas.threads) + '\n' + blas.file.string() + '\n';
  }
  return "!it has neither cblas_dgemm nor dgemm_";
}

/// Loading a BLAS starts its threads: not in here.
std::string report_of_child(const fs::path& library) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) throw Error(ExitCode::external_failure, "no pipe for a look at " + library.string());
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    const std::string report = report_of(library);
    const bool whole = ::write(ends[1], report.data(), report.size()) == static_cast<ssize_t>(report.size());
    ::_exit(whole ? 0 : 1);
  }
  ::close(ends[1]);
  std::string report;
  char piece[4096];
  for (ssize_t got = 0; pid > 0 && (got = ::read(ends[0], piece, sizeof piece)) > 0;)
    report.append(piece, static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  if (pid > 0) ::waitpid(pid, &status, 0);
  return status == 0 && !report.empty() ? report : "!it ended the process that loaded it";
}

/// @param routine the one that was found
BlasDescription description_in(const std::string& report, std::string& routine) {
  std::istringstream in(report);
  BlasDescription blas;
  std::string threads, file;
  for (std::string* line : {&routine, &blas.library, &blas.config, &blas.core_type, &threads, &file})
    std::getline(in, *line);
  blas.threads = std::atoi(threads.c_str());
  blas.file = file;
  return blas;
}

}  // namespace

BlasDescription blas_of_this_process() {
  const fs::path file = origin(RTLD_DEFAULT, routines.front());
  for (const char* routine : routines)
    if (const fs::path other = origin(RTLD_DEFAULT, routine); other != file)
      throw InputError(std::string(routine) + " comes from " + other.string() + ", " + routines.front() + " from " +
                       file.string() + "\n  hint: a BLAS to measure needs the whole C interface");
  return description_of(file);
}

void set_blas_threads(int threads) {
  const fs::path file = origin(RTLD_DEFAULT, routines.front());
  const Loaded loaded(file);
  if (auto* const blis = loaded.find<void(std::int64_t)>("bli_thread_set_num_threads")) blis(threads);
  if (auto* const mkl = loaded.find<void(int)>("MKL_Set_Num_Threads")) mkl(threads);
  auto* const open_blas = function<void(int)>(RTLD_DEFAULT, "openblas_set_num_threads");
  if (open_blas != nullptr) open_blas(loaded.find<void(int)>("openblas_set_num_threads") != nullptr ? threads : 1);
}

BlasDescription blas_of_library(const fs::path& library) {
  const std::string report = report_of_child(library);
  std::string routine;
  BlasDescription blas = description_in(report, routine);
  if (report.front() == '!')
    throw InputError(library.string() + " is no BLAS that can be loaded: " + report.substr(1) +
                     "\n  hint: expected a shared library with the C interface, such as "
                     "/usr/lib/x86_64-linux-gnu/blis-pthread/libblis.so.4");
  if (routine != routines.front())
    throw InputError(library.string() + " has dgemm_, but not the C interface (cblas_dgemm) that HPL calls here");
  return blas;
}

std::optional<BlasDescription> blas_of_program(const fs::path& program) {
  CommandResult result;
  try {
    result = run({"ldd", {program.string()}});
  } catch (const Error&) {
    return std::nullopt;  // no ldd here
  }
  std::istringstream lines(result.output);
  const std::regex library(
      R"(^\s*lib(blas|cblas|openblas|mkl_rt|blis|flexiblas|atlas|satlas|tatlas|armpl)[^ ]* => (/.+) \(0x)");
  for (std::string line; result.status == 0 && std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_search(line, match, library)) continue;
    const std::string report = report_of_child(match[2].str());
    std::string routine;
    if (report.front() != '!') return description_in(report, routine);
  }
  return std::nullopt;
}

}  // namespace hplcast::core
