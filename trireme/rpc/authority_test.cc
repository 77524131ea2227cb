// SPDX-License-Identifier: Apache-2.0
// Tests of a job's certificates: names, roles, validity, another job's authority.
#include "trireme/rpc/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/testing/thrown_error.h"
#include "trireme/rpc/openssl.h"
#include "trireme/rpc/validity.h"

namespace trireme::rpc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Seconds kHour{3600};

bool issued_by(const Credentials& credentials, const std::string& authority) {
  using Store = std::unique_ptr<X509_STORE, Freed<X509_STORE_free>>;
  using Check = std::unique_ptr<X509_STORE_CTX, Freed<X509_STORE_CTX_free>>;
  const Store store(X509_STORE_new());
  X509_STORE_add_cert(store.get(), certificate_of_pem(authority).get());
  const Certificate certificate = certificate_of_pem(credentials.certificate);
  const Check check(X509_STORE_CTX_new());
  X509_STORE_CTX_init(check.get(), store.get(), certificate.get(), nullptr);
  return X509_verify_cert(check.get()) == 1;
}

TEST(Authority, CertificatesNameTheirOwner) {
  const Authority authority = Authority::create();
  const Credentials credentials = authority.issue({.role = "node", .name = "3"}, {"10.1.2.3", "::1", "lab-3"}, kHour);
  const Identity identity = identity_of_certificate(credentials.certificate);
  EXPECT_EQ(identity.role, "node");
  EXPECT_EQ(identity.name, "3");
  EXPECT_TRUE(issued_by(credentials, authority.certificate()));
  const Certificate certificate = certificate_of_pem(credentials.certificate);
  EXPECT_EQ(X509_check_ip_asc(certificate.get(), "10.1.2.3", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate.get(), "::1", 0), 1);
  EXPECT_EQ(X509_check_host(certificate.get(), "lab-3", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_host(certificate.get(), "lab-4", 0, 0, nullptr), 0);
}

TEST(Authority, AnotherJobsIsNotAccepted) {
  const Credentials credentials = Authority::create().issue({.role = "node", .name = "0"}, {}, kHour);
  EXPECT_FALSE(issued_by(credentials, Authority::create().certificate()));
}

TEST(Authority, SkewedClocksAreBorneExpiryIsNot) {
  const Authority authority = Authority::create();
  const Credentials expired = authority.issue({.role = "node", .name = "0"}, {}, -2 * Authority::kClockSlack);
  EXPECT_FALSE(issued_by(expired, authority.certificate()));
  const Credentials now = authority.issue({.role = "node", .name = "0"}, {}, Seconds{1});
  const Certificate certificate = certificate_of_pem(now.certificate);
  time_t early = ::time(nullptr) - std::time_t{5} * 3600;
  EXPECT_LT(X509_cmp_time(X509_get0_notBefore(certificate.get()), &early), 0);
}

TEST(Authority, AWrongClockIsReportedWithTheDates) {
  const Credentials credentials = Authority::create().issue({.role = "node", .name = "0"}, {}, kHour);
  const std::time_t now = ::time(nullptr);
  EXPECT_THAT(clock_fault(credentials.certificate, now), IsEmpty());
  constexpr std::time_t kTenYears = 315'360'000;
  EXPECT_THAT(clock_fault(credentials.certificate, now + kTenYears),
              AllOf(HasSubstr("the clock of this machine says 20"), HasSubstr("holds from 20"), HasSubstr("timedatectl set-ntp true")));
  EXPECT_THAT(clock_fault(credentials.certificate, now - kTenYears), HasSubstr("the clock of this machine says"));
}

TEST(Authority, TheSameSecretGivesTheSame) {
  const Authority one = Authority::from_secret("0123456789abcdef");
  const Authority two = Authority::from_secret("0123456789abcdef");
  const Authority other = Authority::from_secret("0123456789abcdeg");
  const Credentials credentials = one.issue({.role = "node", .name = "0"}, {}, kHour);
  EXPECT_TRUE(issued_by(credentials, two.certificate()));
  EXPECT_FALSE(issued_by(credentials, other.certificate()));
  EXPECT_THAT(thrown_error([] { Authority::from_secret("short"); }), HasSubstr("at least 16 bytes; this one has 5"));
}

TEST(Authority, NamesAreCheckedBeforeTheyGetIntoACertificate) {
  const Authority authority = Authority::create();
  for (const std::string name : {"", "a/b", "a b", "0,URI:trireme://coordinator/0", "ä"})
    EXPECT_THAT(thrown_error([&] { authority.issue({.role = "node", .name = name}, {}, kHour); }), HasSubstr("can't be named")) << name;
}

}  // namespace
}  // namespace trireme::rpc
