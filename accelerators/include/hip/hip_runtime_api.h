/* HIP as programs call it, for accelerators that are not there: declarations only. The library that a program is linked
 * with is behind them: one that simulates (accelerators/simulated), or one whose streams are threads of the CPU
 * (accelerators/fake). A function of HIP that is not declared here is in neither. Names and meaning are those of HIP 5
 * and later (https://rocm.docs.amd.com/projects/HIP); what differs is said beside the function. */
#ifndef HPLCAST_HIP_RUNTIME_API_H
#define HPLCAST_HIP_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

/* Programs that have something to say to us, such as HPLCAST_HOST_KERNEL, ask for this. */
#define HPLCAST_ACCELERATOR 1

#ifdef __cplusplus
extern "C" {
#endif

#define HPLCAST_HIP_ERRORS(X)               \
  X(hipSuccess, 0)                          \
  X(hipErrorInvalidValue, 1)                \
  X(hipErrorOutOfMemory, 2)                 \
  X(hipErrorDeinitialized, 4)               \
  X(hipErrorInvalidConfiguration, 9)        \
  X(hipErrorInvalidMemcpyDirection, 21)     \
  X(hipErrorInvalidDeviceFunction, 98)      \
  X(hipErrorNoDevice, 100)                  \
  X(hipErrorInvalidDevice, 101)             \
  X(hipErrorInvalidHandle, 400)             \
  X(hipErrorNotReady, 600)                  \
  X(hipErrorCooperativeLaunchTooLarge, 720) \
  X(hipErrorUnknown, 999)
#define HPLCAST_ENUMERATOR(name, number) name = number,
typedef enum hipError_t { HPLCAST_HIP_ERRORS(HPLCAST_ENUMERATOR) } hipError_t;

typedef enum hipMemcpyKind {
  hipMemcpyHostToHost = 0,
  hipMemcpyHostToDevice = 1,
  hipMemcpyDeviceToHost = 2,
  hipMemcpyDeviceToDevice = 3,
  hipMemcpyDefault = 4
} hipMemcpyKind;

typedef struct ihipStream_t* hipStream_t;
typedef struct ihipEvent_t* hipEvent_t;

enum { hipStreamDefault = 0, hipStreamNonBlocking = 1 };
enum { hipEventDefault = 0, hipEventBlockingSync = 1, hipEventDisableTiming = 2 };
enum {
  hipHostMallocDefault = 0,
  hipHostMallocPortable = 1,
  hipHostMallocMapped = 2,
  hipHostMallocWriteCombined = 4,
  hipHostMallocNumaUser = 0x20000000,
  hipHostMallocCoherent = 0x40000000
};
#define hipHostMallocNonCoherent 0x80000000u
enum { hipHostRegisterDefault = 0, hipHostRegisterPortable = 1, hipHostRegisterMapped = 2 };

typedef struct dim3 {
  uint32_t x, y, z;
#ifdef __cplusplus
  constexpr dim3(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
#endif
} dim3;

typedef struct hipDeviceProp_t {
  char name[256];
  char gcnArchName[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int clockRate; /* kHz */
  int multiProcessorCount;
  int major, minor;
  int cooperativeLaunch;
  int canMapHostMemory;
  int pciBusID, pciDeviceID, pciDomainID;
} hipDeviceProp_t;

/* Devices. A rank sees the accelerators of its host. */
hipError_t hipInit(unsigned flags);
hipError_t hipGetDeviceCount(int* count);
hipError_t hipSetDevice(int device);
hipError_t hipGetDevice(int* device);
hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device);
hipError_t hipDeviceSynchronize(void);
hipError_t hipDeviceReset(void);
hipError_t hipMemGetInfo(size_t* available, size_t* total);
hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);
const char* hipGetErrorString(hipError_t error);
const char* hipGetErrorName(hipError_t error);

/* Memory. That of a simulated device is address space without content; pinned memory of the host is real. */
hipError_t hipMalloc(void** memory, size_t bytes);
hipError_t hipFree(void* memory);
hipError_t hipHostMalloc(void** memory, size_t bytes, unsigned flags);
hipError_t hipHostFree(void* memory);
hipError_t hipHostRegister(void* memory, size_t bytes, unsigned flags);
hipError_t hipHostUnregister(void* memory);
hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned flags);

hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind);
hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind);
hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream);
hipError_t hipMemset(void* memory, int value, size_t bytes);
hipError_t hipMemsetAsync(void* memory, int value, size_t bytes, hipStream_t stream);

/* Streams. Null is the default stream: it waits for all that are not hipStreamNonBlocking, and they for it. */
hipError_t hipStreamCreate(hipStream_t* stream);
hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags);
hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority);
hipError_t hipStreamDestroy(hipStream_t stream);
hipError_t hipStreamSynchronize(hipStream_t stream);
hipError_t hipStreamQuery(hipStream_t stream);
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags);

hipError_t hipEventCreate(hipEvent_t* event);
hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags);
hipError_t hipEventDestroy(hipEvent_t event);
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream);
hipError_t hipEventSynchronize(hipEvent_t event);
hipError_t hipEventQuery(hipEvent_t event);
hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end);

/* Launches: `arguments` points to each argument of the kernel. */
hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                           hipStream_t stream);
hipError_t hipLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream);

/* --- our own: what the headers below and compilers of HIP call --------------------------------------------------- */

/* Tells the name of a kernel ("pack_rows"; a mangled one is told by a compiler of HIP) and its type as the compiler
 * mangles it; `type` is null where the name has it. */
void hplcastNameKernel(const void* kernel, const char* name, const char* type);
/* Tells what does the work of a kernel on the CPU: `invoke(function, arguments)` calls it with the arguments of the
 * launch, once for the whole grid. Returns 0. */
int hplcastHostKernel(const void* kernel, const char* name, const char* type, void (*function)(void),
                      void (*invoke)(void (*function)(void), void** arguments));
/* The host looks at memory that a kernel may write while it runs, before it reads; and has written there. */
void hplcastBeforeLoad(const volatile void* address, size_t bytes);
void hplcastAfterStore(const volatile void* address, size_t bytes);

#ifdef __cplusplus
}

/* C++ leaves out what C has to say, and types of pointers. */
inline hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event) {
  return hipStreamWaitEvent(stream, event, 0);
}
template <typename T>
hipError_t hipMalloc(T** memory, size_t bytes) {
  return hipMalloc(reinterpret_cast<void**>(memory), bytes);
}
template <typename T>
hipError_t hipHostMalloc(T** memory, size_t bytes, unsigned flags = hipHostMallocDefault) {
  return hipHostMalloc(reinterpret_cast<void**>(memory), bytes, flags);
}
template <typename Kernel>
hipError_t hipLaunchCooperativeKernel(Kernel kernel, dim3 grid, dim3 block, void** arguments, unsigned shared_bytes,
                                      hipStream_t stream) {
  return hipLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared_bytes,
                                    stream);
}
#endif

#endif
