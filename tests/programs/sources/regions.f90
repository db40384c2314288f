! Regions of a Fortran program, with sizes of all types: says which were executed. Of the argument `name` or `size` one
! that cannot be written, too.
program regions
  use mpi
  use hplcast_region
  implicit none
  integer :: error, rank, executed
  character(8) :: what
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  executed = 0
  if (hplcast_region_begins('work  ', 10, 20)) then
    executed = executed + 1
  end if
  call hplcast_region_ends('work')
  if (hplcast_region_begins('plain')) executed = executed + 10
  call hplcast_region_ends('plain')
  if (hplcast_region_begins('real', 2.5d0, 3d0, 4d0)) executed = executed + 100
  call hplcast_region_ends('real')
  if (hplcast_region_begins('long', 10000000000_8)) executed = executed + 1000
  call hplcast_region_ends('long')
  call get_command_argument(1, what)
  if (what == 'name') then
    if (hplcast_region_begins('a,b')) executed = 0
  else if (what == 'size') then
    if (hplcast_region_begins('below', -1)) executed = 0
  end if
  if (rank == 0) print '(a,i0,a,es20.12)', 'executed ', executed, ', time ', mpi_wtime()
  call mpi_finalize(error)
end program
