from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass  # before Spack 1 it is one of spack.package


class Sqlitecpp(CMakePackage):
    """C++ interface of SQLite. Spack has no recipe of its own (2026-07)."""

    homepage = "https://github.com/SRombauts/SQLiteCpp"
    git = "https://github.com/SRombauts/SQLiteCpp.git"

    version("3.3.1", tag="3.3.1")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.5:", type="build")
    depends_on("sqlite")

    def cmake_args(self):
        return ["-DSQLITECPP_INTERNAL_SQLITE=OFF", "-DBUILD_SHARED_LIBS=ON"]
