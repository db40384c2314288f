// hplcast-cc, hplcast-cxx, hplcast-fc: what they refuse, and how they tell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// In a folder with main.c.
core::CommandResult compile(const std::string& source, const std::string& arguments,
                            const std::string& compiler = "hplcast-cc") {
  const std::filesystem::path folder = HPLCAST_BINARY_DIR "/tests/compilers";
  core::write_file(folder / "main.c", [&](std::ostream& out) { out << source; });
  core::Command command;
  command.program = "/bin/sh";
  command.arguments = {"-c", compiler + " " + arguments};
  command.environment["PATH"] = HPLCAST_BINARY_DIR "/bin:" + std::string(std::getenv("PATH"));
  command.directory = folder;
  command.timeout_s = 60;
  return core::run(command);
}

const std::string nothing = "#include <mpi.h>\nint main(void) { return 0; }\n";

TEST(Compilers, RefuseSharedLibrariesThatWouldBeExecuted) {
  const auto result = compile(nothing, "main.c /usr/lib/x/libopenblas.so -o main");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("libopenblas.so is a shared library, which a simulation cannot replace"));
}

TEST(Compilers, RefuseSharedLibrariesThatNeedARealMpi) {
  // As libscalapack-openmpi.so of Debian: nothing in its name says so.
  const std::string make =
      "--help >help; echo 'void of_mpi(void) {}' > m.c; echo 'void of_mpi(void); void solve(void) { of_mpi(); }' > s.c;"
      "gcc -shared -fPIC -Wl,-soname,libmpi.so.40 m.c -o libmpi.so.40 && gcc -shared -fPIC s.c ./libmpi.so.40 "
      "\"-Wl,-rpath,$PWD\" -o libsolver.so && gcc -shared -fPIC m.c -o libplain.so || exit 9; rm -f main; ";
  const std::string program = "#include <mpi.h>\nvoid solve(void);\nint main(void) { solve(); return 0; }\n";
  for (const std::string library : {"-L. -lsolver", "./libsolver.so"}) {
    const auto result = compile(program, make + "hplcast-cc main.c " + library + " -o main");
    EXPECT_EQ(result.status, 3) << result.output;
    EXPECT_THAT(result.output, HasSubstr("libsolver.so is a shared library that needs a real MPI (libmpi.so.40)"));
    EXPECT_FALSE(std::filesystem::exists(HPLCAST_BINARY_DIR "/tests/compilers/main"));
  }
  const auto harmless = compile(nothing, "main.c ./libplain.so -o main");
  EXPECT_EQ(harmless.status, 0) << harmless.output;
}

TEST(Compilers, LeaveOutEveryOtherBlas) {
  const auto result = compile(nothing,
                              "main.c /nowhere/libopenblas.a -lopenblas -lmkl_rt -lsatlas -lgslcblas -larmpl_lp64_mp "
                              "-lessl -lnvpl_blas_lp64_seq -lsci_gnu /nowhere/libarmpl.a -o main");
  EXPECT_EQ(result.status, 0) << result.output;
}

TEST(Compilers, LeaveOutBlasInEveryWayThatItIsNamed) {
  const auto result = compile(nothing,
                              "--help > help; for blas in '-l openblas' -Wl,-lopenblas '-Xlinker -lopenblas' "
                              "-Wl,--start-group,-lmkl_intel_lp64,-lmkl_core,--end-group -lcblas64 -l:libblas.a; do "
                              "hplcast-cc main.c $blas -o main || exit; readelf -d main | grep NEEDED; done");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("libhplcast-smpi"), Not(HasSubstr("blas")), Not(HasSubstr("mkl"))));
}

TEST(Compilers, NameFunctionsOfMpiThatSmpiLacks) {
  const auto result =
      compile("int MPI_Nonexistent(void);\nint main(void) { return MPI_Nonexistent(); }\n", "-w main.c -o main");
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.output, HasSubstr("SMPI lacks MPI functions that this program calls: MPI_Nonexistent"));
}

TEST(Compilers, NameRoutinesThatNothingHas) {
  const auto result =
      compile("void dgetrf_(void);\nint main(void) { dgetrf_(); return 0; }\n", "-w main.c -lblas -o main");
  EXPECT_EQ(result.status, 6);
  EXPECT_THAT(result.output, HasSubstr("nothing that is linked has: dgetrf_"));
}

TEST(Compilers, LinkTheInterfaceOfLapackInCAsItIsThereAndNameWhatIsMissing) {
  const std::string call = "int LAPACKE_dgetrf(void);\nint main(void) { return LAPACKE_dgetrf(); }\n";
  const auto found = compile(
      call,
      "--help > help; echo 'void dgetrf_(void); int LAPACKE_dgetrf(void) { dgetrf_(); return 0; }' > lapacke.c; "
      "gcc -fPIC -c lapacke.c && ar rc liblapacke.a lapacke.o && "
      "hplcast-cc -w main.c -L. -llapacke -lblas -o main && nm -D main");
  EXPECT_EQ(found.status, 0) << found.output;
  EXPECT_THAT(found.output, HasSubstr(" T LAPACKE_dgetrf"));
  const auto left_out = compile(call, "-w main.c -llapack -o main"),
             missing = compile(nothing, "main.c -lno_such -o main");
  EXPECT_EQ(left_out.status, 6);
  EXPECT_THAT(left_out.output, HasSubstr("nothing that is linked has: LAPACKE_dgetrf"));
  EXPECT_EQ(missing.status, 6);
  EXPECT_THAT(missing.output, HasSubstr("no static or shared library is there for: -lno_such"));
}

TEST(Compilers, CompileTheModuleOfRegionsWithDefaultsOfEightBytes) {
  const auto result = compile(nothing, "--help > help; cp \"" HPLCAST_SOURCE_DIR
                                       "\"/programs/include/hplcast/region.F90 . && "
                                       "hplcast-fc -fdefault-integer-8 -fdefault-real-8 -c region.F90");
  EXPECT_EQ(result.status, 0) << result.output;
}

TEST(Compilers, WarnOfOpenMp) {
  const auto result = compile(nothing, "-fopenmp -c main.c");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("threads are not simulated"));
}

TEST(Compilers, PassOnWhatTheCompilerSays) {
  EXPECT_NE(compile("int main(void) { return }\n", "main.c -o main").status, 0);
  EXPECT_EQ(compile(nothing, "-c main.c").status, 0);
  EXPECT_THAT(compile(nothing, "--help", "hplcast-fc").output, HasSubstr("Usage: hplcast-fc"));
}

TEST(Compilers, SayHowTheyAreUsed) {
  for (const auto& [compiler, example] : {std::pair{"hplcast-cc", "hplcast-cc -O2 solver.c -lblas -o solver-smpi"},
                                          std::pair{"hplcast-cxx", "hplcast-cxx -O2 solver.cpp -lblas -o solver-smpi"},
                                          std::pair{"hplcast-fc", "hplcast-fc -O2 solver.f90 -lblas -o solver-smpi"}}) {
    const auto nothing_at_all = compile(nothing, "", compiler), help = compile(nothing, "--help", compiler);
    EXPECT_EQ(nothing_at_all.status, 2) << compiler;
    EXPECT_THAT(nothing_at_all.output, HasSubstr(example));
    EXPECT_EQ(help.status, 0) << compiler;
    EXPECT_EQ(help.output, nothing_at_all.output);
    const auto no_files = compile(nothing, "-O2 -o nothing -lblas; status=$?; ls nothing; exit $status", compiler);
    EXPECT_EQ(no_files.status, 2) << compiler;
    EXPECT_THAT(no_files.output, AllOf(HasSubstr("no files to compile or link"), HasSubstr("cannot access")))
        << compiler;
  }
}

TEST(Compilers, PassOnQuestionsToTheCompiler) {
  for (const char* compiler : {"hplcast-cc", "hplcast-cxx", "hplcast-fc"}) {
    for (const char* question : {"--version", "-v", "-dumpversion", "-print-file-name=libc.so"}) {
      const auto result = compile(nothing, question, compiler);
      EXPECT_EQ(result.status, 0) << compiler << " " << question << ": " << result.output;
      EXPECT_NE(result.output, "") << compiler << " " << question;
      EXPECT_EQ(result.output.find("Usage: hplcast"), std::string::npos) << compiler << " " << question;
    }
  }
}

// A program that is not linked with hplcast's libraries has no such symbol.
TEST(Compilers, LinkFilesWhateverTheyAreCalledAndHowTheyAreTold) {
  const auto result =
      compile(nothing,
              "--help > help; rm -f a.out; cp main.c none; cp main.c 'a b.c'; ok() { nm -D --undefined-only \"$1\" | "
              "grep -q hplcast_before_mpi || { echo \"$1 is not linked\"; exit 9; }; }; hplcast-cc -x c none -o named "
              "&& ok named && echo '\"a b.c\" -DX=\"\\\"a b\\\"\" -o \"c d\"' > all.rsp && hplcast-cc @all.rsp && ok "
              "'c d' && echo main.c > inner.rsp && echo '-O2 @inner.rsp' > outer.rsp && hplcast-cc --output=outer "
              "@outer.rsp && ok outer && hplcast-cc --output last main.c -static -fvisibility=hidden && "
              "ok last && nm -D last | grep ' T main' && hplcast-cc main.c && ok a.out && echo @loop.rsp > "
              "loop.rsp && hplcast-cc @loop.rsp");
  EXPECT_EQ(result.status, 3) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("response files that name each other"), Not(HasSubstr("nm: "))));
  const auto no_name = compile(nothing, "main.c -o");
  EXPECT_EQ(no_name.status, 2);
  EXPECT_THAT(no_name.output, HasSubstr("-o: no value follows"));
}

TEST(Compilers, NameOutputsOfFortranAsGfortranDoes) {
  const std::string program = "program p\\nuse mpi\\ninteger e\\ncall mpi_init(e)\\nend program\\n";
  const auto result =
      compile(nothing, "--help > help; rm -rf f; mkdir f; cd f; printf '" + program +
                           "' > p.f95; cp p.f95 q.f90; printf '      subroutine s\\n      end\\n' > s.f; hplcast-fc -c "
                           "p.f95 s.f && hplcast-fc q.f90 && hplcast-fc -S q.f90 && hplcast-fc -E -cpp q.f90 && "
                           "hplcast-fc -x f95 p.f95 -o named && hplcast-fc p.o && ls -A");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output,
              AllOf(HasSubstr("subroutine user_main"), HasSubstr("a.out\nnamed\np.f95\np.o\nq.f90\nq.s\ns.f\ns.o\n")));
}

// A compiler that fails removes its output: run by root /dev/stdout of this machine, if that is a file at the time.
TEST(Compilers, LeaveTheStandardOutputToShells) {
  const auto result = compile(nothing,
                              "--help > help; printf 'program p\\nend program\\n' > text.f90; "
                              "hplcast-fc -E -cpp -v text.f90");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("subroutine user_main"), Not(HasSubstr("/dev/stdout"))));
}

TEST(Compilers, LinkInAFolderWhosePathHasAComma) {
  const auto result = compile(nothing,
                              "--help > help; rm -rf a,b; mkdir -p a,b/bin a,b/lib && "
                              "cp \"$(command -v hplcast-cc)\" a,b/bin && ln -s \"" HPLCAST_BINARY_DIR
                              "\"/lib/* a,b/lib && "
                              "a,b/bin/hplcast-cc main.c -o main && readelf -d main && "
                              "a,b/bin/hplcast-cc --count -c main.c && nm main.o");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, AllOf(HasSubstr("a,b/lib"), HasSubstr("hplcast_instructions")));
}

TEST(Compilers, LetObjectsOfFortranDependOnTheirSources) {
  const auto result = compile(nothing,
                              "--help > help; rm -rf d; mkdir d; cd d; printf 'program p\\nend program\\n' > p.F90; "
                              "hplcast-fc -MMD -c p.F90 && hplcast-fc -MMD -MF dep -c p.F90 -o q.o && "
                              "hplcast-fc -MMD -c p.F90 -o ./r && "
                              "hplcast-fc -MM p.F90 && echo depend && cat p.d dep r.d && LC_ALL=C ls -A");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output,
              testing::ContainsRegex("p.o: p.F90(.|\n)*depend\np.o: p.F90(.|\n)*\nq.o: p.F90(.|\n)*r: p.F90"));
  EXPECT_THAT(result.output, AllOf(HasSubstr("\ndep\np.F90\np.d\np.o\nq.o\nr\nr.d\n"), Not(HasSubstr("p.F90_"))));
}

TEST(Compilers, FindMainInAnArchive) {
  const auto result = compile(nothing,
                              "-c main.c && ar rc libmain.a main.o && "
                              "hplcast-cc libmain.a -o main && nm -D --defined-only main");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr(" T main")) << "else: could not resolve entry point";
}

// The loader gives a unique symbol (u) one place for all copies of a library, and each rank is a copy.
TEST(Compilers, GiveEachRankItsOwnStaticVariablesOfInlineFunctions) {
  const auto result = compile(
      "#include <mpi.h>\ninline int& calls() { static int count = 0; return count; }\n"
      "template <class T> struct Of { static T value; };\ntemplate <class T> T Of<T>::value = 1;\n"
      "int main(int, char**) { return ++calls() - Of<int>::value; }\n",
      "-x c++ main.c -x none -o main && nm main | grep -v ' [Uw] ' | grep -E 'calls|Of' | c++filt", "hplcast-cxx");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("calls()::count"));
  EXPECT_THAT(result.output, testing::Not(HasSubstr(" u "))) << result.output;
}

// Memory of its own, not malloc's: asking malloc for its size would end the program. By smpirun alone, as
// the runtime's delete is in use, too.
TEST(Compilers, LeaveAProgramItsOwnDelete) {
  const std::string source = R"(#include <mpi.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
extern int deleted;
#ifdef OWN
int deleted = 0;
static char pool[300000];
void* operator new(std::size_t size) {
  std::memset(pool, -1, 64);
  return size == 200000 ? pool + 64 : std::malloc(size);
}
void operator delete(void* memory) noexcept { memory == pool + 64 ? (void)++deleted : std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
#else
struct One { char bytes[200000]; };
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  One* volatile one = new One;
  delete one;
  std::printf("deleted %d\n", deleted);
  MPI_Finalize();
}
#endif
)";
  core::write_file(HPLCAST_BINARY_DIR "/tests/compilers/one.xml", [](std::ostream& out) {
    out << R"(<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">)"
           R"(<zone id="zone" routing="Full"><host id="host" speed="1Gf"/></zone></platform>)";
  });
  const std::string run = HPLCAST_SMPIRUN " -np 1 -platform one.xml --cfg=smpi/os:0:0:0 ", other = " && hplcast-cxx";
  const auto result = compile(source,
                              "--count -x c++ -DOWN -c main.c -o own.o" + other +
                                  " --count -x c++ -c main.c -o rest.o" + other + " own.o rest.o -o main && " + run +
                                  "./main && " + run + "\"" HPLCAST_BINARY_DIR "\"/tests/programs_deletes-smpi",
                              "hplcast-cxx");
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("deleted 1\n"));
}

TEST(Compilers, ProvideWhatBlacsNeeds) {
  const auto result = compile(
      "#include <mpi.h>\nint main(int argc, char** argv) { MPI_Datatype t; MPI_Init(&argc, &argv); MPI_Pcontrol(0);"
      " return MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &t) != MPI_SUCCESS || t != MPI_DOUBLE; }\n",
      "main.c -o main");
  EXPECT_EQ(result.status, 0) << result.output;
}

}  // namespace
}  // namespace hplcast
