! A Fortran program of BLAS and MPI: functions of BLAS, clocks of Fortran, and messages.
program clocks
  use mpi
  implicit none
  integer :: error, rank, ranks, n, i
  integer(8) :: first, last, rate
  real(8) :: slept
  real(4) :: sdot
  real(8) :: dnrm2, elapsed, total, before, after
  complex(8) :: zdotc
  real(8), allocatable :: x(:), y(:), a(:, :)
  real(4), allocatable :: s(:)
  complex(8), allocatable :: z(:)
  real(4) :: parts(2), used, again, seconds, since
  integer :: values(8), clock_at(2, 8)
  character(8) :: date
  character(12) :: hour
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  n = 200
  allocate(x(n), y(n), a(n, n), s(n), z(n))
  x = 1; y = 2; a = 3; s = 1; z = (1, 1)
  call mpi_barrier(mpi_comm_world, error)
  elapsed = mpi_wtime()
  call system_clock(first, rate)
  call cpu_time(before)
  do i = 1, 10
    call dgemv('N', n, n, 1d0, a, n, x, 1, 0d0, y, 1)
    call dscal(n, 2d0, x, 1)
  end do
  call cpu_time(after)
  call system_clock(last)
  elapsed = mpi_wtime() - elapsed
  slept = mpi_wtime()
  call sleep(1000)
  call sleep(500_8)
  slept = mpi_wtime() - slept
  call etime(parts, used)
  call dtime(parts, again)
  call sleep(90000)
  call dtime(parts, again)
  call second(seconds)
  since = secnds(0.0)
  call date_and_time(date, hour, values=values)
  clock_at = -1
  call date_and_time(values=clock_at(2, :))
  ! Functions that return single precision and complex numbers: two conventions exist.
  total = dnrm2(n, x, 1) + sdot(n, s, 1, s, 1) + dble(zdotc(n, z, 1, z, 1))
  call mpi_allreduce(mpi_in_place, total, 1, mpi_double_precision, mpi_sum, mpi_comm_world, error)
  if (rank == 0) then
    print '(a,es20.12,a,es20.12,a,es20.12)', 'elapsed ', elapsed, ' ticks ', dble(last - first) / dble(rate), &
      ' cpu ', after - before
    print '(a,f8.3,a,f10.3)', 'total per rank ', total / ranks, ' slept ', slept
    print '(5(a,f12.1))', 'etime ', used, ' dtime ', again, ' own ', parts(1), ' system ', parts(2), ' second ', seconds
    print '(a,f12.1,6a,i6,a,8i5)', 'secnds ', since, ' date ', date, ' at ', hour, '|', ' unix ', time(), ' is ', values
    print '(a,f12.1)', 'since yesterday ', secnds(86000.0)
    print '(a,8i5,a,i3)', 'by columns ', clock_at(2, :), ' between them ', maxval(clock_at(1, :))
  end if
  call mpi_finalize(error)
end program
