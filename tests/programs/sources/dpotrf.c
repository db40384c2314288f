/* As of LAPACK: it stops at the first element that is not positive. */
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info) {
  *info = 0;
  for (int i = 0; i < *n && *info == 0; ++i)
    if (!(a[i * *lda + i] > 0)) *info = i + 1;
  (void)uplo;
}
