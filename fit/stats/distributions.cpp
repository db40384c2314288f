#include "hplcast/fit/distributions.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace hplcast::fit {

double normal_quantile(double probability) {
  return boost::math::quantile(boost::math::normal(), probability);
}

double students_t_quantile(double freedom, double probability) {
  return boost::math::quantile(boost::math::students_t(freedom), probability);
}

double students_t_tail(double freedom, double value) {
  return boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), value));
}

double chi_squared_quantile(double freedom, double probability) {
  return boost::math::quantile(boost::math::chi_squared(freedom), probability);
}

double fisher_f_quantile(double numerator, double denominator, double probability) {
  return boost::math::quantile(boost::math::fisher_f(numerator, denominator), probability);
}

double fisher_f_tail(double numerator, double denominator, double value) {
  return boost::math::cdf(boost::math::complement(boost::math::fisher_f(numerator, denominator), value));
}

}  // namespace hplcast::fit
