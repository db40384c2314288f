/* A simulated HPL is a shared object that smpirun loads. Started by itself it would jump to address 0; with a loader
 * and an entry point it says how it is started. The linker is told about both: HPLCAST_LOADER, hplcast_started_alone.
 */
#include <unistd.h>

#ifdef HPLCAST_LOADER

const char hplcast_loader[] __attribute__((section(".interp"))) = HPLCAST_LOADER;

#if defined(__x86_64__) || defined(__i386__)
#define ENTRY __attribute__((force_align_arg_pointer, noreturn))
#else
#define ENTRY __attribute__((noreturn))
#endif

ENTRY void hplcast_started_alone(void);

ENTRY void hplcast_started_alone(void) {
  static const char text[] =
      "this is a simulated HPL: it runs under SimGrid's smpirun\n"
      "  hint: `hplcast predict CLUSTER.json -N 1000 -P 2 -Q 2` starts it; `hplcast emit CLUSTER.json --run DIR` "
      "writes "
      "a folder with the smpirun command\n";
  const ssize_t told = write(STDERR_FILENO, text, sizeof text - 1);
  _exit(told < 0 ? 1 : 2);
}

#endif
