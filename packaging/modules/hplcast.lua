-- An environment module (Lmod) of an installation by `cmake --install build --prefix PREFIX`. Put it into a folder of
-- MODULEPATH as hplcast/0.1.0.lua, and set the prefix; SimGrid and MPI are those that it was built with.
local prefix = os.getenv("HPLCAST_PREFIX") or "/opt/hplcast/0.1.0"

help([[hplcast predicts High-Performance Linpack by running HPL itself on the SimGrid/SMPI simulator.]])
whatis("Name: hplcast")
whatis("Version: 0.1.0")

depends_on("simgrid", "openmpi")
prepend_path("PATH", pathJoin(prefix, "bin"))
prepend_path("MANPATH", pathJoin(prefix, "share/man"))
prepend_path("CMAKE_PREFIX_PATH", prefix)
prepend_path("PYTHONPATH", pathJoin(prefix, "lib/python3/dist-packages"))
prepend_path("XDG_DATA_DIRS", pathJoin(prefix, "share"))
