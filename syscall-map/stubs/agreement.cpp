#include "coldtrace/syscall-map/stubs/agreement.hpp"

#include <map>

namespace coldtrace::syscall_map {
namespace {

// All names of each service; of a name that stands twice the first counts.
std::map<std::string, u16> numbers_by_name(const std::vector<Service>& services) {
  std::map<std::string, u16> numbers;
  for (const auto& service : services) {
    if (is_service_name(service.name)) numbers.emplace(to_nt_name(service.name), service.number);
    for (const auto& alias : service.aliases)
      if (is_service_name(alias)) numbers.emplace(to_nt_name(alias), service.number);
  }
  return numbers;
}

}  // namespace

Agreement compare_sides(const std::vector<Service>& user, const std::vector<Service>& kernel) {
  Agreement agreement;
  const auto user_numbers = numbers_by_name(user);
  for (const auto& [name, number] : numbers_by_name(kernel)) {
    const auto other = user_numbers.find(name);
    if (other == user_numbers.end()) continue;
    ++agreement.shared;
    if (other->second == number) {
      ++agreement.equal;
    } else {
      agreement.disagreements.push_back({name, other->second, number});
    }
  }
  if (!agreement.trusted()) return agreement;

  std::map<u16, std::string> user_names;
  for (const auto& service : user) user_names.emplace(service.number, to_nt_name(service.name));
  for (const auto& service : kernel) {
    const auto name = user_names.find(service.number);
    if (service.name.empty() && name != user_names.end())
      agreement.named.push_back({name->second, service.number, service.number});
  }
  return agreement;
}

}  // namespace coldtrace::syscall_map
