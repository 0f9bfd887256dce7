#include "coldtrace/tracefile/names/status_names.hpp"

#include <array>

#include <catch2/catch.hpp>

#include "coldtrace/tracefile/fields/value_text.hpp"
#include "tracefile/providers/kernel_values.hpp"

namespace coldtrace::tracefile {
namespace {

std::string name_of(OutType out, u32 number) {
  return find_status_name({InType::u32, out, 4, number, {}});
}

constexpr u32 nt_values[] = {
#define NT_STATUS(value, name) value,
#include "tracefile/names/nt_status_table.inc"
#undef NT_STATUS
};
constexpr u32 win32_values[] = {
#define WIN32_ERROR(value, name) value,
#include "tracefile/names/win32_error_table.inc"
#undef WIN32_ERROR
};

}  // namespace

// Values of [MS-ERREF], and of MS Learn "System Error Codes".
TEST_CASE("statuses have their names") {
  struct Row {
    OutType out;
    u32 number;
    const char* name;
  };
  const auto row = GENERATE(values<Row>({
      {OutType::nt_status, 0, "STATUS_SUCCESS"},
      {OutType::nt_status, 0x103, "STATUS_PENDING"},
      {OutType::nt_status, 0x80000005, "STATUS_BUFFER_OVERFLOW"},
      {OutType::nt_status, 0xc0000034, "STATUS_OBJECT_NAME_NOT_FOUND"},
      {OutType::nt_status, 0xcfffffff, ""},
      {OutType::win32_error, 2, "ERROR_FILE_NOT_FOUND"},
      {OutType::win32_error, 1450, "ERROR_NO_SYSTEM_RESOURCES"},
      {OutType::win32_error, 10061, "WSAECONNREFUSED"},
      {OutType::win32_error, 0xffffffff, ""},
      {OutType::hresult, 0, "S_OK"},
      {OutType::hresult, 0x80004005, "E_FAIL"},
      {OutType::hresult, 0x80070005, "HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED)"},
      {OutType::hresult, 0xd0000022, "HRESULT_FROM_NT(STATUS_ACCESS_DENIED)"},
      {OutType::hresult, 0x80131500, ""},
      {OutType::exit_status, 0, ""},
      {OutType::exit_status, 1, ""},
      {OutType::exit_status, 0x103, "STILL_ACTIVE"},
      {OutType::exit_status, 0xc0000005, "STATUS_ACCESS_VIOLATION"},
      {OutType::none, 5, ""},
  }));
  CAPTURE(row.number, row.name);
  CHECK(name_of(row.out, row.number) == row.name);
}

TEST_CASE("every row of the tables of statuses is found") {
  for (const auto value : nt_values) CHECK_FALSE(find_nt_status(value).empty());
  for (const auto value : win32_values) CHECK_FALSE(find_win32_error(value).empty());
  CHECK(std::size(nt_values) > 900);
  CHECK(std::size(win32_values) > 700);
}

TEST_CASE("bits of a signed number are those that are stored") {
  const ValueMap map{"Bits", true, {{1, "A"}, {0x80000000, "B"}}};
  const auto number = [](i64 stored) { return static_cast<u64>(stored); };
  CHECK(find_mapped_names(map, {InType::i32, OutType::none, 4, number(-0x7fffffff), {}}) == "A|B");
  CHECK(find_mapped_names(map, {InType::i16, OutType::none, 2, number(-2), {}}) == "");
  CHECK(find_mapped_names(map, {InType::u32, OutType::none, 4, 0x80000003, {}}) == "A|B|0x2");
}

TEST_CASE("values and bits of the kernel have names") {
  const auto name = [](std::string_view map, u64 number) {
    const auto values = find_kernel_values(map);
    REQUIRE(values);
    return find_mapped_names(*values, number);
  };
  CHECK(name("ThreadState", 5) == "Waiting");
  CHECK(name("WaitReason", 37) == "WrAlertByThreadId");
  CHECK(name("WaitReason", 99).empty());
  CHECK(name("IrpFlags", 0x60043) == "NOCACHE|PAGING_IO|INPUT_OPERATION|PriorityNormal");
  CHECK(name("IrpFlags", 0x80000000).empty());
  CHECK(name("MajorFunction", 0xe) == "IRP_MJ_DEVICE_CONTROL");
  CHECK(name("CreateOptions", 0x01000021) == "DIRECTORY_FILE|SYNCHRONOUS_IO_NONALERT|OPEN");
  CHECK(name("ProcessFlags", 0xb) == "PackageFullName|Wow64|0x8");
  CHECK(find_kernel_values("None") == nullptr);
}

TEST_CASE("a mapped number is compared as wide as it is") {
  const ValueMap map{"M", false, {{1, "one", 0}, {0xffffffff, "all", 0}}};
  CHECK(find_mapped_names(map, Value{InType::i32, OutType::none, 4, ~u64{0}, {}}) == "all");
  CHECK(find_mapped_names(map, Value{InType::i64, OutType::none, 8, ~u64{0}, {}}).empty());
}

}  // namespace coldtrace::tracefile
