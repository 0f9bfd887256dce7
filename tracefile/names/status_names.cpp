#include "coldtrace/tracefile/names/status_names.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace coldtrace::tracefile {
namespace {

struct Row {
  u32 value;
  std::string_view name;
};

constexpr Row nt_statuses[] = {
#define NT_STATUS(value, name) {value, name},
#include "tracefile/names/nt_status_table.inc"
#undef NT_STATUS
};

constexpr Row win32_errors[] = {
#define WIN32_ERROR(value, name) {value, name},
#include "tracefile/names/win32_error_table.inc"
#undef WIN32_ERROR
};

// Source: Windows SDK winerror.h.
constexpr Row hresults[] = {
    {0x00000000, "S_OK"},          {0x00000001, "S_FALSE"},      {0x80004001, "E_NOTIMPL"},
    {0x80004002, "E_NOINTERFACE"}, {0x80004003, "E_POINTER"},    {0x80004004, "E_ABORT"},
    {0x80004005, "E_FAIL"},        {0x8000ffff, "E_UNEXPECTED"},
};

template <std::size_t Count>
std::string_view find_in(const Row (&rows)[Count], u32 value) {
  const auto* const found =
      std::lower_bound(std::begin(rows), std::end(rows), value,
                       [](const Row& row, u32 wanted) { return row.value < wanted; });
  return found != std::end(rows) && found->value == value ? found->name : std::string_view{};
}

std::string find_hresult(u32 value) {
  constexpr u32 facility_win32 = 0x8007'0000;
  constexpr u32 facility_nt = 0x1000'0000;
  if (const auto name = find_in(hresults, value); !name.empty()) return std::string{name};
  const auto wrapped = [](std::string_view macro, std::string_view name) {
    return name.empty() ? std::string{} : fmt::format("{}({})", macro, name);
  };
  if ((value & 0xffff'0000) == facility_win32)
    return wrapped("HRESULT_FROM_WIN32", find_win32_error(value & 0xffff));
  if ((value & facility_nt) != 0)
    return wrapped("HRESULT_FROM_NT", find_nt_status(value & ~facility_nt));
  return {};
}

}  // namespace

std::string_view find_nt_status(u32 status) {
  return find_in(nt_statuses, status);
}

// Most exit statuses are numbers of the program's own; a status of the system has a severity.
std::string_view find_exit_status(u32 value) {
  constexpr u32 still_active = 0x103;
  if (value == still_active) return "STILL_ACTIVE";
  return value >> 30U != 0 ? find_nt_status(value) : std::string_view{};
}

std::string_view find_win32_error(u32 error) {
  return find_in(win32_errors, error);
}

std::string find_status_name(const Value& value) {
  const auto number = static_cast<u32>(value.number);
  switch (value.out) {
    case OutType::nt_status:
      return std::string{find_nt_status(number)};
    case OutType::win32_error:
      return std::string{find_win32_error(number)};
    case OutType::hresult:
      return find_hresult(number);
    case OutType::exit_status:
      return std::string{find_exit_status(number)};
    default:
      return {};
  }
}

}  // namespace coldtrace::tracefile
