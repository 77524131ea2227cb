// SPDX-License-Identifier: Apache-2.0
// Tests of what is made of the dynamic loader's output.
#include "trireme/cluster/launch/shared_libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::cluster {
namespace {

using testing::ElementsAre;

TEST(SharedLibraries, WhatTheLoaderSays) {
  const LoaderReport report = read_loader_lines({
      "prog: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by prog)",
      "prog: /lib/x86_64-linux-gnu/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by prog)",
      "\tlinux-vdso.so.1 (0x00007ffd0c5f2000)",
      "\tlibdnnl.so.2 => not found",
      "\tlibgomp.so.1 => /lib/x86_64-linux-gnu/libgomp.so.1 (0x00007f5a4)",
      "\tlibdnnl.so.2 => not found",
      "\t/lib64/ld-linux-x86-64.so.2 (0x00007f5a5b)",
  });
  EXPECT_THAT(report.missing, ElementsAre("libstdc++.so.6", "libdnnl.so.2"));
  EXPECT_THAT(report.missing_of_c_library, ElementsAre("GLIBC_2.38"));
  EXPECT_EQ(report.found.size(), 1U);
  EXPECT_EQ(report.found.at("libgomp.so.1"), "/lib/x86_64-linux-gnu/libgomp.so.1");
}

TEST(SharedLibraries, OfASystemProgram) {
  const LoaderReport report = libraries_of("/bin/sh");
  EXPECT_TRUE(report.found.contains("libc.so.6"));
  EXPECT_FALSE(shippable(report).contains("libc.so.6"));
}

TEST(SharedLibraries, TheCLibraryStays) {
  const LoaderReport report = read_loader_lines({"\tlibdnnl.so.2 => /opt/lib/libdnnl.so.2 (0x0)", "\tlibm.so.6 => /lib/libm.so.6 (0x0)"});
  EXPECT_EQ(shippable(report), (std::map<std::string, std::filesystem::path>{{"libdnnl.so.2", "/opt/lib/libdnnl.so.2"}}));
}

}  // namespace
}  // namespace trireme::cluster
