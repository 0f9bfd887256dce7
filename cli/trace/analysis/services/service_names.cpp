#include "cli/trace/analysis/services/service_names.hpp"

#include <fmt/format.h>

#include "cli/output/text.hpp"

namespace coldtrace::cli {

using trace_analysis::CodeNames;
using trace_analysis::Service;
using trace_analysis::ServiceSums;

namespace {

std::string name_in(const std::map<u32, std::string>& names, u64 number) {
  const auto place = names.find(static_cast<u32>(number));
  return place == names.end() ? std::string{} : place->second;
}

std::string address_text(const std::string& name, u64 number) {
  return name.empty() ? fmt::format("{:#x}", number) : name;
}

}  // namespace

std::string ServiceNames::find(const ServiceSums& one) const {
  using Kind = Service::Kind;
  switch (one.service.kind) {
    case Kind::system_call:
      return calls_ == nullptr ? "" : name_in(calls_->by_number, one.service.number);
    case Kind::hashed_system_call:
      return calls_ == nullptr ? "" : name_in(calls_->by_hash, one.service.number);
    case Kind::vxd_service:
      return std::string{services_.name_of(one.service)};
    case Kind::event_pair:
      return pairs_ == nullptr ? "" : pairs_->all()[one.service.number].text;
    default:
      if (one.code.module == CodeNames::no_module ||
          one.code.function == CodeNames::other_functions)
        return {};
      return std::string{code_.functions()[one.code.function].name};
  }
}

std::string ServiceNames::label(const ServiceSums& one) const {
  return printable(name(one));
}

std::string ServiceNames::name(const ServiceSums& one) const {
  using Kind = Service::Kind;
  auto name = find(one);
  const auto number = one.service.number;
  switch (one.service.kind) {
    case Kind::system_call:
      return name.empty() ? fmt::format("system call {:#x}", number) : name;
    case Kind::hashed_system_call:
      return name.empty() ? fmt::format("system call with hash {:#x}", number) : name;
    case Kind::vxd_service:
      if (!name.empty()) return name;
      return fmt::format("VxD {:#x} service {}", number >> 16, number & 0xffff);
    case Kind::system_call_address:
      return fmt::format("system call {}", address_text(name, number));
    case Kind::isr:
      return fmt::format("ISR {}", address_text(name, number));
    case Kind::dpc:
      return fmt::format("DPC {}", address_text(name, number));
    case Kind::timer_dpc:
      return fmt::format("timer DPC {}", address_text(name, number));
    case Kind::io_timer:
      return fmt::format("I/O timer {}", address_text(name, number));
    case Kind::event_pair:
      break;
  }
  return name;
}

}  // namespace coldtrace::cli
