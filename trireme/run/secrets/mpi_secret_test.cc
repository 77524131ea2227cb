// SPDX-License-Identifier: Apache-2.0
// Tests of what MPI carries instead of the job's secret. Whole trainings are in tests/mpi.
#include "trireme/run/secrets/mpi_secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/files.h"
#include "trireme/base/hexadecimal.h"
#include "trireme/run/secrets/launch_secret.h"

namespace trireme::run {
namespace {

using testing::HasSubstr;
using testing::Not;

class MpiSecret : public testing::Test {
 protected:
  MpiSecret() {
    make_secret_file(file_);
    secret_ = read_secret_file(file_);
  }
  ~MpiSecret() override { std::filesystem::remove(file_); }

  std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) / "mpi_secret_test.secret";
  std::string secret_;
};

TEST_F(MpiSecret, IsNotInWhatAllReceive) {
  const std::string told = offer_secret("10.0.0.1:4711", secret_, file_, 0).text();
  EXPECT_THAT(told, testing::AllOf(HasSubstr("10.0.0.1:4711"), Not(HasSubstr(secret_)), Not(HasSubstr(to_hex(secret_)))));
}

TEST_F(MpiSecret, IsInTheFileOfASharedDisk) {
  const SecretOffer told = secret_offer(offer_secret("10.0.0.1:4711", secret_, file_, 0).text());
  EXPECT_EQ(told.coordinator, "10.0.0.1:4711");
  EXPECT_EQ(take_secret(told, 1), secret_);
}

TEST_F(MpiSecret, AFileOfTheSameNameOnAnotherDiskIsNotTakenForIt) {
  const SecretOffer told = secret_offer(offer_secret("10.0.0.1:4711", secret_, file_, 0).text());
  make_secret_file(file_);
  EXPECT_EQ(take_secret(told, 1), std::nullopt);
  std::filesystem::remove(file_);
  EXPECT_EQ(take_secret(told, 1), std::nullopt);
}

TEST_F(MpiSecret, ACredentialThatCannotBeDecodedLeavesTheFile) {
  SecretOffer told = offer_secret("10.0.0.1:4711", secret_, file_, 0);
  told.credentials = {"MUNGE:AwQFAAB:", "MUNGE:AwQFAAC:"};
  told = secret_offer(told.text());
  EXPECT_EQ(told.credentials.size(), 2U);
  EXPECT_EQ(take_secret(told, 2), secret_);
}

}  // namespace
}  // namespace trireme::run
