# A recipe for Spack: spack repo add packaging/spack/spack_repo/hplcast
from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass  # before Spack 1 it is one of spack.package


class Hplcast(CMakePackage):
    """Predicts High-Performance Linpack by running HPL itself on the SimGrid/SMPI simulator."""

    # A folder with the sources: spack dev-build hplcast@develop
    version("develop")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")

    depends_on("boost+math")
    depends_on("cli11@2.1:")
    depends_on("eigen@3.4:3")
    depends_on("hwloc@2:")
    depends_on("libarchive")
    depends_on("nlohmann-json")
    depends_on("openblas")
    depends_on("openmpi@4.1:")
    depends_on("openssl")
    depends_on("random123")
    depends_on("simgrid@3.32,4.0:4.1+smpi")
    depends_on("sqlitecpp")
    depends_on("yaml-cpp")

    generator("ninja")

    def cmake_args(self):
        # HPL's source is fetched and its checksum verified, unless HPL_SOURCE names a folder or a tarball.
        return ["-DHPLCAST_BUILD_TESTS=OFF"]
