"""Runs the recipe for Spack with a stand-in for Spack, and compares what it depends on with what CMake asks for; the same
of the recipe for EasyBuild. The Debian packages, that recipe and the module are of the version of CMakeLists.txt.

usage: check_recipe.py SOURCE_FOLDER
"""

import re
import sys
import types
from pathlib import Path

# What find_package() of CMake finds is in which package of Spack; None: no package of its own.
PACKAGES = {
    "Boost": "boost", "CLI11": "cli11", "Eigen3": "eigen", "MPI": "openmpi", "OpenBLAS": "openblas",
    "OpenSSL": "openssl", "Python3": "python", "PkgConfig": "pkgconfig", "SQLiteCpp": "sqlitecpp", "SimGrid": "simgrid",
    "nlohmann_json": "nlohmann-json", "yaml-cpp": "yaml-cpp", "Threads": None,
    "rocblas": None,  # of ROCm, where there is one
}
MODULES = {"hwloc": "hwloc", "libarchive": "libarchive", "yaml-cpp": "yaml-cpp"}  # of pkg_check_modules()
NOT_INSTALLED = ("tests", "bench")  # -DHPLCAST_BUILD_TESTS=OFF


def run_recipe(recipe):
    """The names in depends_on(), after a run with a package module that knows what a CMakePackage may use."""
    depends, versions = {}, []
    spack = types.ModuleType("spack.package")
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    cmake.CMakePackage = type("CMakePackage", (), {})
    spack.version = lambda name, **_: versions.append(name)
    spack.generator = lambda name: None

    def depends_on(spec, **_):
        depends[re.match(r"[a-z0-9-]+", spec).group()] = spec

    spack.depends_on = depends_on
    spack.__all__ = ["version", "generator", "depends_on"]
    parent = ""
    for name in cmake.__name__.split("."):
        parent = f"{parent}.{name}".strip(".")
        sys.modules[parent] = types.ModuleType(parent)
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": spack, cmake.__name__: cmake})
    names = {"__name__": "package"}
    exec(compile(recipe.read_text(), str(recipe), "exec"), names)
    arguments = next(one for name, one in names.items() if name == recipe.parent.name.capitalize())().cmake_args()
    assert versions, "the recipe has no version"
    assert all(re.fullmatch(r"-D\w+=\S*", one) for one in arguments), arguments
    return depends, arguments


def asked_by_cmake(source):
    lists = [source / "CMakeLists.txt", *source.glob("*/CMakeLists.txt")]
    text = "\n".join(one.read_text() for one in lists if one.parent.name not in NOT_INSTALLED)
    text = re.sub(r"#.*", "", text)
    found = set(re.findall(r"find_package\((\S+)", text))
    modules = set(re.findall(r"pkg_check_modules\(\S+ (?:REQUIRED )?(?:IMPORTED_TARGET )?([a-z0-9-]+)", text))
    return found, modules, text


def problems_of_easybuild(source, names):
    """Its dependencies are those of Spack's recipe, but for those of the toolchain and compilers."""
    recipe = next((source / "packaging/easybuild").glob("hplcast-*.eb"))
    found = {"SYSTEM": "system", "SOURCE_TAR_GZ": "tarball"}
    exec(compile(recipe.read_text(), str(recipe), "exec"), found)
    has = {one[0].lower().replace("_", "-") for one in found["builddependencies"] + found["dependencies"]}
    for name in names - {"c", "cxx", "openblas", "openmpi"}:
        if {"pkgconfig": "pkgconf"}.get(name, name) not in has:
            yield f"{recipe.name} does not depend on {name}"
    if not recipe.name.startswith(f"{found['name']}-{found['version']}-"):
        yield f"{recipe.name} is of {found['name']} {found['version']}"


def versions(source):
    """Texts of other files that name the version, and what they should be."""
    version = re.search(r"project\(hplcast VERSION ([0-9.]+)", (source / "CMakeLists.txt").read_text()).group(1)
    for path, text in (("debian/changelog", f"hplcast ({version})"), ("modules/hplcast.lua", f'"Version: {version}"'),
                       (f"easybuild/hplcast-{version}-foss-2024a.eb", f"version = '{version}'")):
        file = source / "packaging" / path
        if not file.is_file() or text not in file.read_text():
            yield f"packaging/{path}: not of version {version} of CMakeLists.txt"


def main(source):
    recipes = source / "packaging/spack/spack_repo/hplcast/packages"
    depends, arguments = run_recipe(recipes / "hplcast/package.py")
    run_recipe(recipes / "sqlitecpp/package.py")
    found, modules, text = asked_by_cmake(source)
    problems = [f"CMake asks for {name}, which this test does not know" for name in found - set(PACKAGES)]
    problems += [f"CMake asks for {name}, which this test does not know" for name in modules - set(MODULES)]
    for name in [PACKAGES.get(one) for one in found] + [MODULES.get(one) for one in modules]:
        if name and name not in depends:
            problems.append(f"the recipe does not depend on {name}")
    known = {one for one in [*PACKAGES.values(), *MODULES.values()] if one}
    for name in set(depends) - known - {"c", "cxx", "cmake", "ninja", "random123"}:
        problems.append(f"the recipe depends on {name}, which nothing in CMake asks for")
    least = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)", text).group(1)
    if depends.get("cmake") != f"cmake@{least}:":
        problems.append(f"the recipe has {depends.get('cmake')}, and CMakeLists.txt asks for {least}")
    for one in arguments:
        option = one[2:].split("=")[0]
        if not re.search(rf"\b{option}\b", text):
            problems.append(f"the recipe sets {option}, which CMakeLists.txt does not have")
    problems += [*problems_of_easybuild(source, set(depends)), *versions(source)]
    for one in problems:
        print("packaging:", one, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(Path(sys.argv[1])))
