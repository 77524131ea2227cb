// SPDX-License-Identifier: Apache-2.0
// Reads a certificate's two dates and compares them with this machine's clock.
#include "trireme/rpc/validity.h"

#include <fmt/chrono.h>

#include "trireme/rpc/openssl.h"

namespace trireme::rpc {
namespace {

std::string date_text(const std::tm& date) { return fmt::format("{:%Y-%m-%d %H:%M} UTC", date); }

std::string date_text(const ASN1_TIME* time) {
  std::tm date{};
  check_openssl(ASN1_TIME_to_tm(time, &date) == 1, "read a date");
  return date_text(date);
}

}  // namespace

std::string clock_fault(const std::string& certificate, std::time_t now) {
  const Certificate parsed = certificate_of_pem(certificate);
  const ASN1_TIME* const begin = X509_get0_notBefore(parsed.get());
  const ASN1_TIME* const end = X509_get0_notAfter(parsed.get());
  if (X509_cmp_time(begin, &now) < 0 && X509_cmp_time(end, &now) > 0) return {};
  return fmt::format(
      "the clock of this machine says {}, but its certificate for this job holds from {} to {}; set the clock (sudo timedatectl set-ntp "
      "true), or, if it is right, start the job again",
      date_text(fmt::gmtime(now)), date_text(begin), date_text(end));
}

}  // namespace trireme::rpc
