#include "coldtrace/pe/import_hash.hpp"

#include "tests/pe/pe_test.hpp"

namespace coldtrace {
namespace {

using test::Opened;

// The expected texts follow pefile 2024.8.26, which defined the hash.
TEST_CASE("imports become the text that pefile hashes") {
  fixtures::PeSpec spec;
  spec.imports = {{"KERNEL32.dll", {{"HeapAlloc"}, {"", 7}}},
                  {"WS2_32.dll", {{"", 1}, {"", 400}, {"", 500}, {"WSAStartup"}}},
                  {"wsock32.DLL", {{"", 10}}},
                  {"OLEAUT32.dll", {{"", 2}}},
                  {"driver.SYS", {{"A"}}},
                  {"control.ocx", {{"B"}}},
                  {"tool.exe", {{"C"}}}};
  Opened image{spec};
  CHECK(pe::import_hash_text(*image, image.findings).value_or("none") ==
        "kernel32.heapalloc,kernel32.ord7,ws2_32.accept,ws2_32.ord400,ws2_32.wep,ws2_32.wsastartup,"
        "wsock32.ioctlsocket,oleaut32.sysallocstring,driver.a,control.b,tool.exe.c");
  CHECK(image.findings.empty());
}

TEST_CASE("an image without imports has no import hash") {
  Opened image{fixtures::PeSpec{}};
  CHECK_FALSE(pe::import_hash_text(*image, image.findings));
}

}  // namespace
}  // namespace coldtrace
