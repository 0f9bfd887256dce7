#include "syscall-map/stubs/cross_checks.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "coldtrace/core/sorting.hpp"

namespace coldtrace::syscall_map {
namespace {

using Order = std::vector<const Service*>;

// A break of the stride is normal where NtQuerySystemTime or NtQueryInformationProcess stands.
constexpr u64 normal_breaks = 2;

void check_order(const Order& by_rva, core::Findings& findings) {
  for (std::size_t i = 1; i < by_rva.size(); ++i)
    if (by_rva[i]->number < by_rva[i - 1]->number)
      findings.warning("number-order", by_rva[i]->file_offset,
                       "{} at {:#x} has number {:#x}, below {:#x} of {} before it", by_rva[i]->name,
                       value(by_rva[i]->rva), by_rva[i]->number, by_rva[i - 1]->number,
                       by_rva[i - 1]->name);
}

void check_stride(const Order& by_rva, core::Findings& findings) {
  std::map<u32, u64> strides;
  for (std::size_t i = 1; i < by_rva.size(); ++i)
    ++strides[value(by_rva[i]->rva) - value(by_rva[i - 1]->rva)];
  if (strides.empty()) return;
  const auto usual = std::max_element(strides.begin(), strides.end(),
                                      [](auto& a, auto& b) { return a.second < b.second; });
  const u64 breaks = by_rva.size() - 1 - usual->second;
  if (breaks > normal_breaks)
    findings.info("stub-stride", std::nullopt,
                  "{} of {} stubs are not {} bytes after the one before", breaks, by_rva.size(),
                  usual->first);
}

void check_numbers(const Order& by_number, ServiceTable table, core::Findings& findings) {
  u64 missing = 0;
  std::optional<u32> first;
  u32 expected = table == ServiceTable::win32k ? win32k_bit : 0;
  for (const auto* service : by_number) {
    if (service->number > expected) {
      missing += service->number - expected;
      if (!first) first = expected;
    }
    expected = service->number + 1U;
  }
  if (missing == 0) return;
  // win32k reserves numbers that no DLL has stubs for.
  const auto* const numbers = missing == 1 ? "number" : "numbers";
  const auto* const have = missing == 1 ? "has" : "have";
  if (table == ServiceTable::win32k)
    findings.info("number-gap", std::nullopt,
                  "{} win32k {} below {:#x} {} no stub, the first is {:#x}", missing, numbers,
                  expected, have, *first);
  else
    findings.warning("number-missing", std::nullopt,
                     "{} {} below {:#x} {} no stub here, the first is {:#x}", missing, numbers,
                     expected, have, *first);
}

void check_duplicates(const Order& by_number, core::Findings& findings) {
  const Service* known = nullptr;
  for (const auto* service : by_number) {
    if (known && known->number == service->number)
      findings.warning("number-duplicate", service->file_offset,
                       "number {:#x} belongs to {} at {:#x} and to {} at {:#x}", service->number,
                       known->name, value(known->rva), service->name, value(service->rva));
    else
      known = service;
  }
}

// NtX and ZwX of one image are one address, except in kernels, where NtX is the service itself.
void check_aliases(const Order& by_rva, core::Findings& findings) {
  std::unordered_map<std::string_view, const Service*> first;  // by the name behind its prefix
  first.reserve(by_rva.size());
  const auto suffix = [](std::string_view name) {
    return is_service_name(name) ? name.substr(2) : std::string_view{};
  };
  const auto check = [&](std::string_view name, const Service* service) {
    if (name.empty()) return;
    const auto [known, added] = first.emplace(name, service);
    if (!added && known->second->rva != service->rva)
      findings.warning("alias-split", service->file_offset,
                       "the Nt and Zw names of Nt{} are at {:#x} and {:#x}", name,
                       value(known->second->rva), value(service->rva));
  };
  for (const auto* service : by_rva) {
    const auto name = suffix(service->name);
    check(name, service);
    for (const auto& alias : service->aliases)
      if (suffix(alias) != name) check(suffix(alias), service);
  }
}

}  // namespace

void check_services(ServiceMap& map) {
  if (map.services.empty()) {
    map.findings.warning("no-services", std::nullopt,
                         "no export is a system call stub of a known shape");
    return;
  }
  for (const auto table : {ServiceTable::nt, ServiceTable::win32k}) {
    Order by_rva;
    for (const auto& service : map.services)
      if (service.table == table) by_rva.push_back(&service);
    core::stable_sort_if_needed(by_rva,
                                [](const Service* a, const Service* b) { return a->rva < b->rva; });
    auto by_number = by_rva;
    core::stable_sort_if_needed(
        by_number, [](const Service* a, const Service* b) { return a->number < b->number; });
    check_order(by_rva, map.findings);
    check_stride(by_rva, map.findings);
    check_numbers(by_number, table, map.findings);
    check_duplicates(by_number, map.findings);
    check_aliases(by_rva, map.findings);
  }
}

}  // namespace coldtrace::syscall_map
