#include "coldtrace/syscall-map/hook-profiles/service_list.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "coldtrace/core/text.hpp"

namespace coldtrace {
namespace {

using namespace syscall_map;

ServiceListKind kind_of(std::string_view text) {
  return recognize_service_list(std::as_bytes(std::span{text.data(), text.size()}));
}

// "nt!NtClose/ZwClose 12", a line each.
std::string text_of(const ServiceCatalogue& catalogue) {
  std::string text;
  for (const auto& service : catalogue.services())
    text += fmt::format("{}!{} {}\n", service.module, fmt::join(service.names, "/"),
                        service.number ? std::to_string(*service.number) : "-");
  return text;
}

TEST_CASE("what lists services is recognized by how it begins") {
  using namespace std::string_view_literals;
  CHECK(kind_of("MZ\x90") == ServiceListKind::image);
  CHECK(kind_of("\0\0\0\0"sv) == ServiceListKind::image);
  CHECK(kind_of("{\"schema\": 1}") == ServiceListKind::json);
  CHECK(kind_of("\xEF\xBB\xBF \r\n\t{}") == ServiceListKind::json);
  CHECK(kind_of("NtClose {") == ServiceListKind::names);
  CHECK(kind_of("") == ServiceListKind::names);
  CHECK(kind_of("\n\n") == ServiceListKind::names);
}

TEST_CASE("a name without a module is a service of its own only where no module has it") {
  ServiceLists lists;
  REQUIRE_FALSE(lists.add_names("NtClose\nZwOpenKey\nGet_VMM_Version\nVMM!Get_Cur_VM_Handle\n"));
  lists.add(DocumentedService{0x12, {"NtOpenKey", "ZwOpenKey"}, "ntdll.dll", ""});
  CHECK(text_of(lists.take()) ==
        "VMM!Get_Cur_VM_Handle -\n"
        "nt!NtOpenKey/ZwOpenKey 18\n"
        "!NtClose -\n"
        "!Get_VMM_Version -\n");
  CHECK(lists.take().services().empty());
}

TEST_CASE("a service of a document is in the part of win32k that the document names") {
  ServiceLists lists;
  lists.add(DocumentedService{0x1005, {"NtUserOne"}, "win32u.dll", ""});
  lists.add(DocumentedService{0x1006, {"NtUserTwo"}, "win32u.dll", "win32kfull"});
  lists.add(DocumentedService{0x10000, {"NtBeyond"}, "ntdll.dll", ""});
  lists.add(DocumentedService{0x2, {"NtKernel"}, "", "kernel"});
  const auto catalogue = lists.take();
  REQUIRE(catalogue.services().size() == 3);
  CHECK(catalogue.find("NtBeyond").empty());
  const auto modules = [&](std::string_view name) {
    return catalogue.services()[catalogue.find(name).at(0)].modules;
  };
  CHECK_FALSE(modules("NtUserOne") == modules("NtUserTwo"));
  const auto full = modules("NtUserTwo");
  CHECK(std::find(full.begin(), full.end(), "win32kfull") != full.end());
}

TEST_CASE("what is not a list of names is refused at its place, and nothing of it is kept") {
  struct Row {
    const char* text;
    u32 line, column;
    const char* message;
  };
  const char* const more = "a list of services has only names, no globs, '-', '@' and includes";
  for (const auto& row : {Row{"NtClose\nNt*", 2, 1, more}, Row{"-NtClose", 1, 1, more},
                          Row{"a\n  @files", 2, 3, more}, Row{"nt*!NtClose", 1, 1, more},
                          Row{"a include \"b\"", 1, 11, more},
                          Row{"a\ngroup g { b }", 2, 7, "a list of services has no groups"}}) {
    CAPTURE(row.text);
    ServiceLists lists;
    const auto error = lists.add_names(row.text);
    REQUIRE(error);
    CHECK(error->line == row.line);
    CHECK(error->column == row.column);
    CHECK(error->message == row.message);
    CHECK(lists.take().services().empty());
  }
}

}  // namespace
}  // namespace coldtrace
