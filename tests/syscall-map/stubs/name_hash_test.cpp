#include "coldtrace/syscall-map/stubs/name_hash.hpp"

#include <string>
#include <utility>

#include <catch2/catch.hpp>

namespace coldtrace {
namespace {

using syscall_map::hash_name;
using syscall_map::hashed_name;

// A view of a text that ends with the statement would dangle.
template <class T>
concept gives_part = requires(T&& text) {
  hashed_name(std::forward<T>(text));
};
static_assert(gives_part<std::string&> && gives_part<const char*> && !gives_part<std::string>);

TEST_CASE("names hash to what kernels hold") {
  struct Row {
    std::string_view name;
    u32 hash;
  };
  // OpenKeyTransacted is from a debugger's output in the source; the others from KiServicesTab of
  // two kernels, 18362 and 22631.
  const Row rows[] = {{"OpenKeyTransacted", 0xb74a2d8f},
                      {"Close", 0x1b5610be},
                      {"OpenProcess", 0xcf65c41f},
                      {"CreateFile", 0xa97a4dd7},
                      {"AccessCheck", 0xd6a79254},
                      {"YieldExecution", 0x6eb72d36},
                      {"AllocateVirtualMemoryEx", 0xd62690a4}};
  for (const auto& row : rows) {
    CAPTURE(row.name);
    CHECK(hash_name(row.name) == row.hash);
    for (const char* prefix : {"Nt", "Zw"}) {
      const auto name = prefix + std::string{row.name};
      CHECK(hash_name(hashed_name(name)) == row.hash);
    }
  }
}

TEST_CASE("only a prefix is taken off") {
  CHECK(hashed_name("NtClose") == "Close");
  CHECK(hashed_name("Close") == "Close");
  CHECK(hashed_name("NtfsThing") == "NtfsThing");
  CHECK(hashed_name("Nt") == "Nt");
  CHECK(hashed_name("NtA") == "A");
  CHECK(hashed_name("ZwZone") == "Zone");
  CHECK(hashed_name("NtA1") == "A1");
  CHECK(hashed_name("Nt1A") == "Nt1A");
  CHECK(hashed_name("NtfA") == "NtfA");
  CHECK(hashed_name("OKAY") == "OKAY");
  CHECK(hashed_name("").empty());
  CHECK(hash_name("") == 0);
}

}  // namespace
}  // namespace coldtrace
