// hplcast-hipcc: what it takes, what it refuses, and how it tells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hplcast/core/files.hpp"
#include "hplcast/core/process.hpp"

namespace hplcast {
namespace {

using testing::HasSubstr;

core::CommandResult hipcc(const std::string& source, const std::string& arguments,
                          const std::string& name = "main.cpp") {
  const std::filesystem::path folder = HPLCAST_BINARY_DIR "/tests/hipcc";
  core::write_file(folder / name, [&](std::ostream& out) { out << source; });
  core::Command command;
  command.program = HPLCAST_BINARY_DIR "/bin/hplcast-hipcc";
  std::istringstream words(arguments);
  for (std::string word; words >> word;) command.arguments.push_back(word);
  command.directory = folder;
  command.timeout_s = 60;
  return core::run(command);
}

bool has_clang() {
  return core::read_text(HPLCAST_BINARY_DIR "/bin/hplcast-hipcc").find("\nclang=''") == std::string::npos;
}

const std::string head = "#include <hip/hip_runtime.h>\n#include <mpi.h>\n";

TEST(CompilerOfHip, NamesFunctionsThatAreNotThere) {
  const auto unknown = hipcc(head + "int main() { void* p; return hipMallocManaged(&p, 8, 0); }\n", "main.cpp -o main");
  EXPECT_EQ(unknown.status, 3) << unknown.output;
  EXPECT_THAT(unknown.output, HasSubstr("this HIP and rocBLAS, those of hplcast, have no: hipMallocManaged"));
  const auto declared =
      hipcc(head + "extern \"C\" int rocblas_zgemm();\nint main() { return rocblas_zgemm(); }\n", "main.cpp -o main");
  EXPECT_EQ(declared.status, 3) << declared.output;
  EXPECT_THAT(declared.output, HasSubstr("have no: rocblas_zgemm"));
}

TEST(CompilerOfHip, TakesLaunchesOfTemplatesAndObjectsOfItsOwn) {
  if (!has_clang()) GTEST_SKIP() << "skipped: no clang, which compiles kernel<<<grid, block>>>()";
  const std::string source = head +
                             "namespace inner { template <int n> __global__ void work(int m, double* a) {\n"
                             "  __shared__ double s[n]; s[threadIdx.x] = m; __syncthreads(); a[0] = fabs(s[0]); } }\n"
                             "int main() { inner::work<64><<<2, 64, 0, 0>>>(1, nullptr); return 0; }\n";
  const auto compiled = hipcc(source, "-O2 -c main.cpp -o main.o");
  EXPECT_EQ(compiled.status, 0) << compiled.output;
  const auto linked = hipcc(source, "main.o -lamdhip64 -lrocblas -o main");
  EXPECT_EQ(linked.status, 0) << linked.output;
}

TEST(CompilerOfHip, LeavesOutOptionsForDevices) {
  if (!has_clang()) GTEST_SKIP() << "skipped: no clang, which compiles kernel<<<grid, block>>>()";
  const std::string source =
      "#include <mpi.h>\n__global__ void work(int* a) { a[threadIdx.x] = 1; }\n"
      "int main() { work<<<1, 64>>>(nullptr); return 0; }\n";
  const auto hip = hipcc(source,
                         "-x hip --offload-arch=gfx90a -fgpu-rdc -mcode-object-version=5 -mprintf-kind=hostcall "
                         "-mno-cumode --offload-compress -O2 device.cpp -o device",
                         "device.cpp");
  EXPECT_EQ(hip.status, 0) << hip.output;
}

TEST(CompilerOfHip, LeavesOutOptionsOfNvccForDevices) {
  if (!has_clang()) GTEST_SKIP() << "skipped: no clang, which compiles kernel<<<grid, block>>>()";
  const std::string source =
      "#include <mpi.h>\n__global__ void work(int* a) { a[threadIdx.x] = 1; }\n"
      "int main() { work<<<1, 64>>>(nullptr); return 0; }\n";
  for (const std::string options :
       {"-arch=sm_80 -gencode arch=compute_80,code=sm_80 -Xcompiler -Wall -Xcompiler=-Wall,-Wextra -ccbin=mpicxx -G "
        "-maxrregcount=64 --generate-code=arch=compute_80,code=[compute_80,sm_80] --maxrregcount 64 -lineinfo "
        "--cuda-path=/usr/local/cuda -Xptxas -v -Xptxas=-O3 --ptxas-options=-v -forward-unknown-to-host-compiler -x cu "
        "-std=c++17 -MD -MT device.o -MF device.d --threads 2 -t=2",
        "--extended-lambda -expt-relaxed-constexpr --use_fast_math -rdc true -cudart static -Werror all-warnings "
        "-Xlinker=-rpath,/nowhere -Xlinker -z -Xlinker now --compiler-options -fPIC --default-stream legacy -Xcudafe "
        "--diag_suppress=177 -diag-suppress 177 -mllvm -option -Xarch_device -O3 -Xarch_host -O1 -lcudadevrt "
        "--optimize 2 --include-path . --define-macro X=1 --library m -L /nowhere -l cudart"}) {
    const auto cuda = hipcc(source, options + " device.cu -o device", "device.cu");
    EXPECT_EQ(cuda.status, 0) << options << '\n' << cuda.output;
    EXPECT_EQ(cuda.output, "") << options;
  }
  const auto object = hipcc(source, "-dc device.cu -o device.o", "device.cu");
  EXPECT_EQ(object.status, 0) << object.output;
  EXPECT_EQ(hipcc(source, "device.o -o device").status, 0) << "-dc makes an object";
  const auto device_code = hipcc(source, "-ptx device.cu", "device.cu");
  EXPECT_EQ(device_code.status, 3);
  EXPECT_THAT(device_code.output, HasSubstr("-ptx: no code is made for devices"));
  EXPECT_THAT(hipcc(source, "--default-stream per-thread -c device.cu", "device.cu").output,
              HasSubstr("not simulated"));
  const auto no_value = hipcc(source, "device.cu -arch", "device.cu");
  EXPECT_EQ(no_value.status, 2);
  EXPECT_THAT(no_value.output, HasSubstr("-arch: no value follows"));
}

TEST(CompilerOfHip, ReadsFiftyFilesOfOptionsAndNoMore) {
  const std::filesystem::path folder = HPLCAST_BINARY_DIR "/tests/hipcc";
  std::string options;
  for (int i = 1; i <= 51; ++i) {
    const std::string name = "options-" + std::to_string(i);
    core::write_file(folder / name, [&](std::ostream& out) { out << "-DOPTION_" << i << "=1\n"; });
    options += " --options-file " + name;
  }
  const std::string source = "int main() { return OPTION_1 - OPTION_50; }\n";
  const auto more = hipcc(source, "-c main.cpp" + options),
             fifty = hipcc(source, options.substr(0, options.rfind(" --")) + " -c main.cpp");
  EXPECT_EQ(fifty.status, 0) << fifty.output;
  EXPECT_EQ(more.status, 3);
  EXPECT_THAT(more.output, HasSubstr("options-51: more than 50 files of options"));
  core::write_file(folder / "loop", [](std::ostream& out) { out << "-optf loop\n"; });
  EXPECT_THAT(hipcc(source, "-optf loop -c main.cpp").output, HasSubstr("do they name each other?"));
}

TEST(CompilerOfHip, TakesKernelsThatCallTheCLibrary) {
  const std::string source =
      head +
      "#include <cassert>\n#include <cmath>\n#include <cstdio>\n"
      "__global__ void work(int n, double* a, float* b, int* c) {\n"
      "  assert(n > 0); if (std::isnan(a[0])) printf(\"%g\\n\", a[0]);\n"
      "  a[0] = exp(a[1]) + std::log(a[2]) + pow(a[3], 2.0) + abs(n) + std::abs(a[4]); b[0] = "
      "sqrtf(b[1]) + fabs(b[2]);\n"
      "  atomicMax(c, n); atomicAdd(a, 1.0); a[1] = __shfl_up(a[0], 1);\n"
      "  a[0] = rsqrt(a[1]) + max(a[0], 1) + ldexp(a[0], 2); b[0] = rsqrtf(b[1]); c[0] = min(n, "
      "2); int e; a[1] = isnan(a[0]) ? frexp(a[0], &e) : tgamma(a[1]) + std::max(a[0], a[1]);\n"
      "  double s, t; sincos(a[0], &s, &t); atomicCAS(c, 1, 2); atomicAdd(a, 1); atomicOr(c, n);\n"
      "  if (__any(n) && __all_sync(~0u, n) && __popc(n) > __ffs(n)) c[1] = __clz(n);\n"
      "  double2 d = make_double2(1, n); a[2] = d.y + __ldg(a); __syncwarp(); }\n"
      "int larger(int a) { using namespace std; return max(a, 2) + ::min(a, 2); }\n"
      "int main() { return std::exp(1.0) > 2 ? 0 : 1; }\n";
  const auto result = hipcc(source, "-c main.cpp");
  EXPECT_EQ(result.status, 0) << result.output;
}

TEST(CompilerOfHip, BringsTheWordsOfHipAlong) {
  const auto result = hipcc("__global__ void work(int* a) { a[threadIdx.x] = 1; }\n", "-fsyntax-only main.cpp");
  EXPECT_EQ(result.status, 0) << result.output;
}

TEST(CompilerOfHip, KnowsCudaByItsOwnNames) {
  if (!has_clang()) GTEST_SKIP() << "skipped: no clang, which compiles kernel<<<grid, block>>>()";
  const std::string source =
      "#include <cublas_v2.h>\n#include <mpi.h>\n"
      "__global__ void twice(int n, double* a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] *= 2; "
      "}\n"
      "int main() {\n  double *a, *h, one = 1; cudaStream_t stream; cudaDeviceProp about; cublasHandle_t blas;\n"
      "  if (cudaMalloc(&a, 800) != cudaSuccess || cudaMallocHost(&h, 800) != cudaSuccess) return 1;\n"
      "  cudaGetDeviceProperties(&about, 0); cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);\n"
      "  if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) return 1;\n  cublasSetStream(blas, stream);\n"
      "  twice<<<1, 100, 0, stream>>>(100, a);\n"
      "  cublasDgemm(blas, CUBLAS_OP_N, CUBLAS_OP_T, 10, 10, 10, &one, a, 10, a, 10, &one, a, 10);\n"
      "  cudaMemcpyAsync(h, a, 800, cudaMemcpyDeviceToHost, stream); cudaStreamSynchronize(stream);\n"
      "  return cudaGetLastError();\n}\n";
  const auto linked = hipcc(source, "-O2 main.cu -lcudart -lcublas -o cuda", "main.cu");
  EXPECT_EQ(linked.status, 0) << linked.output;
  const auto unknown = hipcc("int main() { void* p; return cudaMallocManaged(&p, 8, 0); }\n", "-c main.cu", "main.cu");
  EXPECT_EQ(unknown.status, 3) << unknown.output;
  EXPECT_THAT(unknown.output, HasSubstr("have no: cudaMallocManaged"));
}

TEST(CompilerOfHip, PassesOnWhatTheCompilerSays) {
  const auto result = hipcc(head + "int main() { return }\n", "main.cpp -o main");
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.output, HasSubstr("error"));
}

}  // namespace
}  // namespace hplcast
