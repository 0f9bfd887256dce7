#include "coldtrace/syscall-map/hook-table/build_pairing.hpp"

#include <map>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using namespace syscall_map;

HookTableImage image(ImageRole role, const std::string& path, const std::string& version, u32 stamp,
                     pe::Machine machine = pe::Machine::amd64) {
  HookTableImage image{role, path, {}, {}};
  image.identity.machine = machine;
  image.identity.file_version = version;
  image.identity.time_date_stamp = stamp;
  return image;
}

// Twenty services, the one after the other; from `shifted` on each number is one higher.
std::vector<Service> numbered(bool kernel, u16 shifted = 20) {
  std::vector<Service> services;
  for (u16 i = 0; i < 20; ++i) {
    Service service;
    service.number = static_cast<u16>(i + (i >= shifted ? 1 : 0));
    service.name = (kernel ? "Zw" : "Nt") + std::string{"Service"} + std::to_string(i);
    services.push_back(std::move(service));
  }
  return services;
}

struct Files {
  std::map<std::string, std::vector<Service>> services;
  std::map<std::string, std::string> bytes;

  PairedBuilds pair(std::vector<HookTableImage> files) {
    return pair_builds(std::move(files),
                       {[this](const HookTableImage& file) { return services[file.path]; },
                        [this](const HookTableImage& a, const HookTableImage& b) {
                          return bytes[a.path] == bytes[b.path];
                        }});
  }
};

std::vector<std::string> paths(const BuildFiles& build) {
  std::vector<std::string> paths;
  for (const auto& file : build) paths.push_back(file.path);
  return paths;
}

using Paths = std::vector<std::string>;

TEST_CASE("a kernel takes what lies beside it, else what is of exactly its version") {
  Files files;
  const auto paired = files.pair({
      image(ImageRole::kernel, "a/kernel", "10.0.1.1", 1),
      image(ImageRole::ntdll, "a/ntdll", "10.0.1.9", 2),
      image(ImageRole::win32k, "a/arm", "10.0.1.1", 3, pe::Machine::arm64),
      image(ImageRole::ntdll, "b/ntdll", "10.0.1.1", 4),
      image(ImageRole::win32u, "b/win32u", "10.0.1.1", 5),
      image(ImageRole::win32k, "b/win32k", "10.0.1.2", 6),
  });
  REQUIRE(paired.builds.size() == 1);
  CHECK(paths(paired.builds[0]) == Paths{"a/kernel", "a/ntdll", "b/win32u"});
  Paths left;
  for (const auto& file : paired.unpaired) left.push_back(file.file.path);
  CHECK(left == Paths{"a/arm", "b/ntdll", "b/win32k"});
  CHECK(paired.findings.count("image-unpaired") == 3);
}

TEST_CASE("of several ntdlls the one that numbers as the kernel does is its own") {
  Files files;
  files.services = {
      {"a/kernel", numbered(true)}, {"b/ntdll", numbered(false, 10)}, {"c/ntdll", numbered(false)}};
  const auto paired = files.pair({image(ImageRole::kernel, "a/kernel", "10.0.1.1", 1),
                                  image(ImageRole::ntdll, "b/ntdll", "10.0.1.1", 2),
                                  image(ImageRole::ntdll, "c/ntdll", "10.0.1.1", 3)});
  REQUIRE(paired.builds.size() == 1);
  CHECK(paths(paired.builds[0]) == Paths{"a/kernel", "c/ntdll"});
}

TEST_CASE(
    "several ntdlls that agree are one image, or one of them serves as one of another build") {
  const bool copy = GENERATE(false, true);
  const bool same_bytes = GENERATE(false, true);
  Files files;
  files.services = {
      {"a/kernel", numbered(true)}, {"b/ntdll", numbered(false)}, {"c/ntdll", numbered(false)}};
  files.bytes = {{"b/ntdll", "one"}, {"c/ntdll", same_bytes ? "one" : "other"}};
  const auto paired = files.pair({image(ImageRole::kernel, "a/kernel", "10.0.1.1", 1),
                                  image(ImageRole::ntdll, "b/ntdll", "10.0.1.1", 2),
                                  image(ImageRole::ntdll, "c/ntdll", "10.0.1.1", copy ? 2 : 3)});
  REQUIRE(paired.builds.size() == 1);
  if (copy) {
    CHECK(paths(paired.builds[0]) == Paths{"a/kernel", "b/ntdll"});
    CHECK(paired.findings.count("image-twice") == (same_bytes ? 1 : 0));
    CHECK(paired.findings.count("image-conflict") == (same_bytes ? 0 : 1));
    REQUIRE(paired.unpaired.size() == 1);
    CHECK(paired.unpaired[0].file.path == "c/ntdll");
  } else {
    // Nothing tells which is its own, but both name the same.
    CHECK(paths(paired.builds[0]) == Paths{"a/kernel", "b/ntdll"});
    CHECK(paired.findings.count("ntdll-other-revision") == 1);
    REQUIRE(paired.unpaired.size() == 1);  // what serves is not left over as well
    CHECK(paired.unpaired[0].file.path == "c/ntdll");
  }
}

TEST_CASE("an ntdll of another revision serves where every shared number is the same") {
  struct Row {
    const char* why;
    std::vector<Service> first, second;
    Paths build;
    const char* reason;  // a part of why the kernel is left alone
  };
  const auto few = [] {
    auto services = numbered(false);
    services.resize(15);
    return services;
  };
  const auto row = GENERATE_COPY(values<Row>({
      {"all agree", numbered(false), numbered(false), {"a/kernel", "b/ntdll"}, nullptr},
      {"only the second agrees",
       numbered(false, 3),
       numbered(false),
       {"a/kernel", "c/ntdll"},
       nullptr},
      {"one of twenty differs",
       numbered(false, 19),
       {},
       {"a/kernel"},
       "the nearest other one, b/ntdll, has the same number for 19 of 20 shared names"},
      {"too few are shared", few(), {}, {"a/kernel"}, "for 15 of 15 shared names"},
  }));
  CAPTURE(row.why);
  Files files;
  files.services = {{"a/kernel", numbered(true)}, {"b/ntdll", row.first}, {"c/ntdll", row.second}};
  const auto paired = files.pair({image(ImageRole::kernel, "a/kernel", "10.0.1.1", 1),
                                  image(ImageRole::ntdll, "b/ntdll", "10.0.1.7", 2),
                                  image(ImageRole::ntdll, "c/ntdll", "10.0.1.8", 3)});
  REQUIRE(paired.builds.size() == 1);
  CHECK(paths(paired.builds[0]) == row.build);
  CHECK(paired.findings.count("ntdll-other-revision") == (row.reason ? 0 : 1));
  if (!row.reason) return;
  REQUIRE_FALSE(paired.unpaired.empty());
  CHECK(paired.unpaired[0].file.path == "a/kernel");
  CHECK(paired.unpaired[0].reason.find(row.reason) != std::string::npos);
}

TEST_CASE("a kernel that lies there twice is one build, and what lies beside the copy is a copy") {
  Files files;
  const auto paired = files.pair({image(ImageRole::kernel, "a/kernel", "10.0.1.1", 1),
                                  image(ImageRole::ntdll, "a/ntdll", "10.0.1.1", 2),
                                  image(ImageRole::kernel, "b/kernel", "10.0.1.1", 1),
                                  image(ImageRole::ntdll, "b/ntdll", "10.0.1.1", 2)});
  REQUIRE(paired.builds.size() == 1);
  CHECK(paths(paired.builds[0]) == Paths{"a/kernel", "a/ntdll"});
  CHECK(paired.findings.count("image-twice") == 2);
  CHECK(paired.findings.count("image-unpaired") == 0);
}

TEST_CASE("what lies beside a copy of a kernel is of its build, wherever the kernel itself lies") {
  Files files;
  const auto paired = files.pair({image(ImageRole::kernel, "a/kernel", "10.0.1.1", 1),
                                  image(ImageRole::kernel, "b/kernel", "10.0.1.1", 1),
                                  image(ImageRole::ntdll, "b/ntdll", "10.0.1.9", 2),
                                  image(ImageRole::win32u, "b/win32u", "10.0.1.9", 3)});
  REQUIRE(paired.builds.size() == 1);
  CHECK(paths(paired.builds[0]) == Paths{"a/kernel", "b/ntdll", "b/win32u"});
  CHECK(paired.findings.count("image-twice") == 1);
  CHECK(paired.findings.count("image-unpaired") == 0);
}

TEST_CASE("what a build has no use for is told from what it has in its place") {
  struct Row {
    const char* path;
    const char* version;
    pe::Machine machine;
    const char* reason;
  };
  const auto row = GENERATE(values<Row>({
      {"b/ntdll", "10.0.1.9", pe::Machine::amd64,
       "b/kernel is next to it, and its ntdll is a/ntdll"},
      {"c/ntdll", "10.0.1.1", pe::Machine::amd64,
       "a/kernel is of its version, and its ntdll is a/ntdll"},
      {"c/ntdll", "10.0.1.9", pe::Machine::amd64,
       "no kernel for its machine is next to it or of its version"},
      {"a/arm", "10.0.1.1", pe::Machine::arm64,
       "no kernel for its machine is next to it or of its version"},
  }));
  CAPTURE(row.path, row.version);
  Files files;
  const auto paired = files.pair({image(ImageRole::kernel, "a/kernel", "10.0.1.1", 1),
                                  image(ImageRole::ntdll, "a/ntdll", "10.0.1.1", 2),
                                  image(ImageRole::kernel, "b/kernel", "10.0.1.1", 1),
                                  image(ImageRole::ntdll, row.path, row.version, 7, row.machine)});
  REQUIRE(paired.unpaired.size() == 2);  // with the copy of the kernel
  CHECK(paired.unpaired[1].file.path == row.path);
  CHECK(paired.unpaired[1].reason == row.reason);
}

TEST_CASE("an image is the same by its role and the four values of its headers") {
  const auto one = image(ImageRole::ntdll, "a", "10.0.1.1", 1);
  auto other = image(ImageRole::ntdll, "b", "10.0.1.2", 1);
  CHECK(same_image(one, other));  // what its resources say does not count
  SECTION("role") {
    other.role = ImageRole::win32u;
  }
  SECTION("stamp") {
    other.identity.time_date_stamp = 2;
  }
  SECTION("size") {
    other.identity.size_of_image = 1;
  }
  SECTION("checksum") {
    other.identity.checksum = 1;
  }
  SECTION("machine") {
    other.identity.machine = pe::Machine::i386;
  }
  CHECK_FALSE(same_image(one, other));
}

}  // namespace
}  // namespace coldtrace
