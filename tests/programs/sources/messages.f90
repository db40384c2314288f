! Messages of Fortran: prints "wrong COUNT". An even number of ranks, four or more.
program messages
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, error, request(2), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2), half, place, wrong, all, i
  double precision :: out(100)
  double precision, volatile :: in(100), more(100)  ! they change after MPI_Irecv has returned
  logical :: ended
  integer :: type
  integer(MPI_ADDRESS_KIND) :: address
  complex(8) :: factors(2)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  wrong = 0
  out = [(rank * 1000d0 + i, i = 1, 100)]
  call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, request(1), error)
  call MPI_Isend(out, 100, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, request(2), error)
  call MPI_Waitall(2, request, statuses, error)
  call expect(statuses(MPI_SOURCE, 1) == before(rank), 'source')
  call expect(in(100) == before(rank) * 1000d0 + 100, 'content')
  call expect(all_null(request), 'null requests')

  call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, before(rank), 2, MPI_COMM_WORLD, request(1), error)
  call MPI_Irecv(more, 100, MPI_DOUBLE_PRECISION, rank, 3, MPI_COMM_WORLD, request(2), error)
  call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, rank, 3, MPI_COMM_WORLD, error)
  call MPI_Waitany(2, request, place, status, error)
  call expect(place == 2 .and. status(MPI_TAG) == 3, 'the second has come')
  call MPI_Send(out, 50, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 2, MPI_COMM_WORLD, error)
  ended = .false.
  do while (.not. ended)
    call MPI_Test(request(1), ended, status, error)
  end do
  call expect(in(50) == before(rank) * 1000d0 + 50, 'MPI_Test')
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, i, error)
  call expect(i == 50, 'MPI_Get_count')

  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half, error)
  call MPI_Sendrecv(out, 1, MPI_DOUBLE_PRECISION, 0, 4, in, 1, MPI_DOUBLE_PRECISION, 0, 4, MPI_COMM_SELF, status, error)
  call expect(in(1) == out(1), 'MPI_COMM_SELF')
  call MPI_Comm_rank(half, place, error)
  call MPI_Sendrecv(out, 1, MPI_DOUBLE_PRECISION, mod(place + 1, ranks / 2), 5, in, 1, MPI_DOUBLE_PRECISION, &
                    mod(place + ranks / 2 - 1, ranks / 2), 5, half, status, error)
  call expect(in(1) == mod(rank + ranks - 2, ranks) * 1000d0 + 1, 'a half')
  call expect(status(MPI_SOURCE) == mod(place + ranks / 2 - 1, ranks / 2), 'its source')
  call MPI_Comm_free(half, error)

  call MPI_Recv_init(in, 100, MPI_DOUBLE_PRECISION, rank, 6, MPI_COMM_WORLD, request(1), error)
  call MPI_Start(request(1), error)
  call MPI_Send(out, 100, MPI_DOUBLE_PRECISION, rank, 6, MPI_COMM_WORLD, error)
  call MPI_Wait(request(1), MPI_STATUS_IGNORE, error)
  call expect(in(100) == out(100), 'MPI_Start')
  call MPI_Request_free(request(1), error)

  ! Signal 11, or another result, by SMPI's own functions of Fortran
  call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 1, rank == 0), rank, half, error)
  call expect((half == MPI_COMM_NULL) .eqv. (rank == 0), 'MPI_UNDEFINED')
  if (rank > 0) call MPI_Comm_free(half, error)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks - 1], [.true.], .false., half, error)
  call expect((half == MPI_COMM_NULL) .eqv. (rank == ranks - 1), 'a grid that is too small for all')
  if (rank < ranks - 1) call MPI_Comm_free(half, error)
  in = 0
  in(rank + 1) = rank + 1
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  call expect(sum(in) == ranks * (ranks + 1) / 2, 'MPI_Allgather in place')
  in(1:2) = [1d0, rank + 1d0]
  call MPI_Exscan(MPI_IN_PLACE, in, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  if (rank > 0) call expect(in(1) == rank .and. in(2) == rank * (rank + 1) / 2, 'MPI_Exscan in place')
  in(1) = rank
  call MPI_Iallreduce(MPI_IN_PLACE, in, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, request(1), error)
  call MPI_Wait(request(1), MPI_STATUS_IGNORE, error)
  call expect(in(1) == ranks - 1, 'MPI_Iallreduce in place')
  call MPI_Get_address(out, address, error)
  call MPI_Type_create_struct(1, [5], [address], [MPI_DOUBLE_PRECISION], type, error)
  call MPI_Type_commit(type, error)
  call MPI_Bcast(MPI_BOTTOM, 1, type, 1, MPI_COMM_WORLD, error)
  call expect(out(5) == 1005 .and. out(6) == rank * 1000 + 6, 'MPI_BOTTOM')
  call MPI_Type_free(type, error)
  factors = (1, 2)
  call MPI_Allreduce(MPI_IN_PLACE, factors, 2, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, error)
  call expect(abs(factors(2) - (1, 2)**ranks) < 1d-9 * abs(factors(2)), 'a complex product')

  call MPI_Reduce(wrong, all, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print '(a, i0)', 'wrong ', all
  call MPI_Finalize(error)

contains

  integer function before(r)
    integer, intent(in) :: r
    before = mod(r + ranks - 1, ranks)
  end function

  logical function all_null(list)
    integer, intent(in) :: list(:)
    integer :: j
    all_null = .true.
    do j = 1, size(list)
      if (list(j) /= MPI_REQUEST_NULL) all_null = .false.
    end do
  end function

  subroutine expect(truth, what)
    logical, intent(in) :: truth
    character(*), intent(in) :: what
    if (truth) return
    wrong = wrong + 1
    print *, 'rank', rank, what
  end subroutine
end program
