! Marks regions of a Fortran program, and its panels, as hplcast/region.h does for C (docs/use/any-program.md). A module
! to compile with the program, by hplcast-fc for simulations and by any compiler for real runs, where the marks do
! nothing unless `hplcast observe` is there:
!
!     use hplcast_region
!     if (hplcast_region_begins('stencil', nx, ny)) then    ! up to three sizes that its time depends on; or none
!       do ...                                              ! in a simulation not executed in the modes model and skip
!     end if
!     call hplcast_region_ends('stencil')
!
!     panel = hplcast_panel(panel, panels, round)             ! before each panel, counted from 0, in all ranks
module hplcast_region
  use iso_c_binding, only: c_char, c_double, c_int, c_long, c_null_char, c_funptr, c_null_funptr, c_associated, &
    c_f_procpointer, c_ptr, c_null_ptr
  implicit none
  private
  public :: hplcast_region_begins, hplcast_region_ends, hplcast_panel

  ! .true.: the code of the region is to be executed.
  interface hplcast_region_begins
    module procedure begins, begins_integer, begins_long, begins_real
  end interface

  interface
#ifdef HPLCAST_SIMULATED
    integer(c_int) function enter(name, m, n, k) bind(c, name='hplcast_region_begins')
      import :: c_char, c_double, c_int
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: m, n, k
    end function
    subroutine leave(name) bind(c, name='hplcast_region_ends')
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    integer(c_long) function go_on_at(panel, panels, round) bind(c, name='hplcast_panel')
      import :: c_long
      integer(c_long), value :: panel, panels, round
    end function
#else
    subroutine observed_begin(name, m, n, k) bind(c)
      import :: c_char, c_double
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: m, n, k
    end subroutine
    subroutine observed_end(name) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    ! Null as the first argument: wherever it is. The observer is loaded before the program, or it is not there.
    type(c_funptr) function dlsym(library, symbol) bind(c)
      import :: c_char, c_funptr, c_ptr
      type(c_ptr), value :: library
      character(kind=c_char), intent(in) :: symbol(*)
    end function
#endif
  end interface

  ! Kinds are named, for programs whose defaults are of 8 bytes (-fdefault-integer-8, -fdefault-real-8).
  real(c_double), parameter :: one = 1

contains

  logical function begins(name)
    character(*), intent(in) :: name
    begins = begin_with(name, one, one, one)
  end function

  logical function begins_integer(name, m, n, k)
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: m
    integer(c_int), intent(in), optional :: n, k
    real(c_double) :: sizes(3)
    sizes = [real(m, c_double), one, one]
    if (present(n)) sizes(2) = real(n, c_double)
    if (present(k)) sizes(3) = real(k, c_double)
    begins_integer = begin_with(name, sizes(1), sizes(2), sizes(3))
  end function

  logical function begins_long(name, m, n, k)
    integer, parameter :: long = selected_int_kind(18)
    character(*), intent(in) :: name
    integer(long), intent(in) :: m
    integer(long), intent(in), optional :: n, k
    real(c_double) :: sizes(3)
    sizes = [real(m, c_double), one, one]
    if (present(n)) sizes(2) = real(n, c_double)
    if (present(k)) sizes(3) = real(k, c_double)
    begins_long = begin_with(name, sizes(1), sizes(2), sizes(3))
  end function

  logical function begins_real(name, m, n, k)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: m
    real(c_double), intent(in), optional :: n, k
    real(c_double) :: sizes(3)
    sizes = [m, one, one]
    if (present(n)) sizes(2) = n
    if (present(k)) sizes(3) = k
    begins_real = begin_with(name, sizes(1), sizes(2), sizes(3))
  end function

#ifdef HPLCAST_SIMULATED

  logical function begin_with(name, m, n, k)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: m, n, k
    begin_with = enter(trim(name) // c_null_char, m, n, k) /= 0
  end function

  subroutine hplcast_region_ends(name)
    character(*), intent(in) :: name
    call leave(trim(name) // c_null_char)
  end subroutine

  integer function hplcast_panel(panel, panels, round)
    integer, intent(in) :: panel, panels, round
    hplcast_panel = int(go_on_at(int(panel, c_long), int(panels, c_long), int(round, c_long)))
  end function

#else

  logical function begin_with(name, m, n, k)
    character(*), intent(in) :: name
    real(c_double), intent(in) :: m, n, k
    logical, save :: asked = .false.
    type(c_funptr), save :: address = c_null_funptr
    procedure(observed_begin), pointer :: observe
    if (.not. asked) address = dlsym(c_null_ptr, 'hplcast_observed_region_begin' // c_null_char)
    asked = .true.
    begin_with = .true.
    if (.not. c_associated(address)) return
    call c_f_procpointer(address, observe)
    call observe(trim(name) // c_null_char, m, n, k)
  end function

  subroutine hplcast_region_ends(name)
    character(*), intent(in) :: name
    logical, save :: asked = .false.
    type(c_funptr), save :: address = c_null_funptr
    procedure(observed_end), pointer :: observe
    if (.not. asked) address = dlsym(c_null_ptr, 'hplcast_observed_region_end' // c_null_char)
    asked = .true.
    if (.not. c_associated(address)) return
    call c_f_procpointer(address, observe)
    call observe(trim(name) // c_null_char)
  end subroutine

  integer function hplcast_panel(panel, panels, round)
    integer, intent(in) :: panel, panels, round
    hplcast_panel = panel + 0 * (panels + round)
  end function

#endif

end module
