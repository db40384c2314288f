// Runs a fuzz target on all files of some folders, as a test of what was found once. With --seconds N (CPU time) and
// --seed S it goes on with random changes of these files, for compilers without libFuzzer: instead of the lines that
// are run it looks at the places that throw, and goes on with inputs that come to others. What ends it by a signal, or
// takes a minute of CPU time, is left in the file `found-by-fuzzing`.
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
/// Of a target whose bytes have no meaning by themselves (archives), as libFuzzer has it.
extern "C" std::size_t __attribute__((weak))
LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

namespace {

constexpr std::size_t most_bytes = 1 << 20, most_inputs = 4000;
std::string current;    // what is run
std::uint64_t way = 0;  // hash of the places that threw while it is run
bool counts_throws = false;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9e3779b97f4a7c15ULL ^ (hash >> 29U);
}

void save_and_die(int number) {
  const int file = ::open("found-by-fuzzing", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || ::write(file, current.data(), current.size()) < 0) ::_exit(126);
  constexpr char text[] = "found: see found-by-fuzzing\n";
  if (::write(2, text, sizeof text - 1) < 0) ::_exit(126);
  ::_exit(number == SIGVTALRM ? 124 : 125);
}

void run() {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
}

/// Random changes of texts: of bytes, lines, and words, which come from all of them.
class Changes {
 public:
  Changes(const std::vector<std::string>& inputs, unsigned seed) : random_(seed) {
    for (const std::string& text : inputs)
      for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = word_end(text, begin);
        if (end - begin < 60) words_.insert(text.substr(begin, end - begin));
        begin = end;
      }
    for (const char* word : {"-1",
                             "0",
                             "1e300",
                             "-1e300",
                             "1e-300",
                             "nan",
                             "inf",
                             "99999999999999999999",
                             "2147483648",
                             "-2147483648",
                             "18446744073709551615",
                             "null",
                             "true",
                             "[]",
                             "{}",
                             "[[[[",
                             "\"",
                             "\\u0000",
                             "&a [*a]",
                             "*a",
                             "!!binary",
                             "\r",
                             "\t",
                             "\xe9",
                             "%s",
                             ",,,,",
                             "\n\n"})
      words_.insert(word);
    all_words_.assign(words_.begin(), words_.end());
  }

  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_); }

  void change(std::string& text, const std::string& other) {
    if (text.empty()) text = other;
    const std::size_t at = text.empty() ? 0 : below(text.size());
    const std::size_t length = std::min(text.size() - at, std::size_t{1} << below(8));
    switch (text.empty() ? 3 : below(8)) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2: {
        const std::string part = text.substr(at, length);
        for (std::size_t i = below(below(20) == 0 ? 2000 : 4) + 1; i > 0 && text.size() < most_bytes; --i)
          text.insert(at, part);
        break;
      }
      case 3:
        text.insert(at, all_words_[below(all_words_.size())]);
        break;
      case 4:
        text = text.substr(0, at) + other.substr(other.empty() ? 0 : below(other.size()));
        break;
      case 5:
        std::swap(text[at], text[below(text.size())]);
        break;
      default: {  // another word in the place of one
        const std::size_t begin = word_begin(text, at);
        text.replace(begin, word_end(text, begin) - begin, all_words_[below(all_words_.size())]);
      }
    }
    if (text.size() > most_bytes) text.resize(most_bytes);
  }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::strchr("_.+-", c) != nullptr;
  }
  static std::size_t word_end(const std::string& text, std::size_t begin) {
    std::size_t end = begin + 1;
    while (is_word(text[begin]) && end < text.size() && is_word(text[end])) ++end;
    return end;
  }
  static std::size_t word_begin(const std::string& text, std::size_t at) {
    while (at > 0 && is_word(text[at]) && is_word(text[at - 1])) --at;
    return at;
  }

  std::mt19937_64 random_;
  std::set<std::string> words_;
  std::vector<std::string> all_words_;
};

Changes* changes = nullptr;

void go_on(std::vector<std::string> inputs, double seconds, unsigned seed) {
  Changes own(inputs, seed);
  changes = &own;
  static std::array<char, 1 << 16> stack;
  stack_t other = {};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  ::sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_handler = save_and_die;
  action.sa_flags = SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS, SIGVTALRM}) ::sigaction(number, &action, nullptr);
  const rlimit memory = {rlim_t{4} << 30U, rlim_t{4} << 30U};
  ::setrlimit(RLIMIT_AS, &memory);
  const std::clock_t begin = std::clock();
  const auto cpu_s = [&] { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; };
  std::set<std::uint64_t> ways;
  std::size_t runs = 0;
  for (double last_s = 0; last_s < seconds; ++runs) {
    current = inputs[own.below(inputs.size())];
    if (LLVMFuzzerCustomMutator != nullptr && own.below(4) > 0) {
      const std::size_t size = current.size();
      current.resize(most_bytes);
      current.resize(LLVMFuzzerCustomMutator(reinterpret_cast<std::uint8_t*>(current.data()), size, most_bytes,
                                             static_cast<unsigned>(own.below(1U << 31U))));
    } else {
      for (std::size_t i = own.below(4) + 1; i > 0; --i) own.change(current, inputs[own.below(inputs.size())]);
    }
    way = 0;
    counts_throws = true;
    const itimerval limit = {{0, 0}, {60, 0}};
    ::setitimer(ITIMER_VIRTUAL, &limit, nullptr);
    run();
    counts_throws = false;
    const double now_s = cpu_s();
    if (now_s - last_s > 5) {
      std::printf("%.1f s of CPU time: slow-%zu\n", now_s - last_s, runs);
      std::ofstream("slow-" + std::to_string(runs), std::ios::binary) << current;
    }
    last_s = now_s;
    if (ways.insert(way).second && inputs.size() < most_inputs) inputs.push_back(current);
  }
  std::printf("%zu runs, %zu ways of throwing, %.0f s of CPU time\n", runs, ways.size(), cpu_s());
}

}  // namespace

/// In place of that of the C++ library, which it calls: notes from where it is called.
extern "C" [[noreturn]] void __cxa_throw(void* thrown, void* type, void (*destroy)(void*)) {
  using Throw = void (*)(void*, void*, void (*)(void*));
  static const auto real = reinterpret_cast<Throw>(::dlsym(RTLD_NEXT, "__cxa_throw"));
  if (counts_throws) {
    std::array<void*, 6> callers = {};
    const int count = ::backtrace(callers.data(), static_cast<int>(callers.size()));
    for (int i = 1; i < count; ++i)
      way = mixed(way, reinterpret_cast<std::uintptr_t>(callers[static_cast<std::size_t>(i)]));
  }
  real(thrown, type, destroy);
  std::abort();
}

/// libFuzzer's, for custom mutators.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  std::string text(reinterpret_cast<const char*>(data), size);
  changes->change(text, text);
  text.resize(std::min(text.size(), most));
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

int main(int argc, char** argv) {
  std::vector<std::string> inputs;
  double seconds = 0;
  unsigned seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--seconds" || word == "--seed") {
      if (i + 1 == argc) return 2;
      (word == "--seed" ? seed = static_cast<unsigned>(std::atoi(argv[++i])) : seconds = std::atof(argv[++i]));
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(word)) {
      if (!entry.is_regular_file()) continue;
      std::ostringstream content;
      content << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      current = content.str();
      if (seconds == 0) std::printf("%s\n", entry.path().c_str());
      run();
      inputs.push_back(current);
    }
  }
  if (inputs.empty()) {
    std::fprintf(stderr, "no inputs\n");
    return 1;
  }
  if (seconds > 0) go_on(std::move(inputs), seconds, seed);
  return 0;
}
