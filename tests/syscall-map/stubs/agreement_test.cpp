#include "coldtrace/syscall-map/stubs/agreement.hpp"

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using syscall_map::compare_sides;
using syscall_map::Service;

std::vector<Service> hundred(const std::string& prefix) {
  std::vector<Service> services;
  for (u16 i = 0; i < 100; ++i) {
    Service service;
    service.number = i;
    service.name = prefix + "Service" + std::to_string(i);
    services.push_back(std::move(service));
  }
  return services;
}

TEST_CASE("kernel stubs are named at 95 percent agreement and not below") {
  const u16 wrong = GENERATE(as<u16>{}, 0, 4, 5, 6, 50);
  CAPTURE(wrong);
  auto user = hundred("Nt");
  auto kernel = hundred("Zw");
  Service unnamed;
  unnamed.number = 100;
  kernel.push_back(unnamed);
  auto hidden = user.back();
  hidden.number = 100;
  hidden.name = "NtHidden";
  user.push_back(hidden);
  for (u16 i = 0; i < wrong; ++i) user[i].number = static_cast<u16>(user[i].number + 500);

  const auto agreement = compare_sides(user, kernel);
  CHECK(agreement.shared == 100);
  CHECK(agreement.equal == 100U - wrong);
  CHECK(agreement.disagreements.size() == wrong);
  CHECK(agreement.trusted() == (wrong <= 5));
  REQUIRE(agreement.named.size() == (wrong <= 5 ? 1U : 0U));
  if (wrong <= 5) {
    CHECK(agreement.named[0].name == "NtHidden");
    CHECK(agreement.named[0].kernel == 100);
  }
}

TEST_CASE("services are shared by any of their names, and by none that is not a service's") {
  auto user = hundred("Nt");
  user.resize(2);
  user[0].name = "NtFirst";
  user[0].aliases = {"RtlOther", "ZwSecond"};
  user[1].name = "RtlThird";
  auto kernel = hundred("Zw");
  kernel.resize(5);
  kernel[0].name = "ZwSecond";
  kernel[1].name = "ZwOnlyHere";
  kernel[2].name = "RtlThird";
  kernel[3].name = "RtlOther";
  kernel[4].name = "ZwFirst";
  const auto agreement = compare_sides(user, kernel);
  CHECK(agreement.shared == 2);
  CHECK(agreement.equal == 1);
  REQUIRE(agreement.disagreements.size() == 1);
  CHECK(agreement.disagreements[0].name == "NtFirst");
  CHECK(agreement.disagreements[0].user == 0);
  CHECK(agreement.disagreements[0].kernel == 4);
}

TEST_CASE("two images without a shared name do not agree") {
  CHECK_FALSE(compare_sides(hundred("Nt"), {}).trusted());
}

}  // namespace
}  // namespace coldtrace
