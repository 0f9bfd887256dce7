#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/syscall-map/hook-table/hook_table.hpp"

namespace coldtrace::syscall_map {

// A service that a profile may select, from any number of builds.
struct ListedService {
  std::string module;                  // "nt", "win32k", "VMM"; empty if the list does not say
  std::vector<std::string> names;      // as in the sources, the main one first; may be empty
  std::optional<u16> number;           // if it is the same in all sources
  std::vector<std::string> modules;    // all names of the module, in lower case
  std::vector<std::string> spellings;  // all names, each NtX also as ZwX and vice versa
};

// Services by module, from any number of maps, tables and lists.
class ServiceCatalogue {
 public:
  // Each adds a service, or new data of one that is known by its module and its first name, and
  // returns its index in services(). One without a name is identified by its number.
  u32 add(ServiceTable table, std::string_view image, const std::vector<std::string>& names,
          std::optional<u16> number);
  u32 add(const HookService& service);
  u32 add_named(std::string_view module, const std::string& name);

  [[nodiscard]] const std::vector<ListedService>& services() const { return services_; }

  // Services with this name; NtX is also ZwX.
  [[nodiscard]] const std::vector<u32>& find(std::string_view name) const;

 private:
  u32 merge(ListedService service);

  std::vector<ListedService> services_;
  std::map<std::string, u32, std::less<>> by_key_;
  std::map<std::string, std::vector<u32>, std::less<>> by_name_;
};

// The name of a module as it is compared: in lower case, without .exe, .dll, .sys or .vxd.
[[nodiscard]] std::string to_module_name(std::string_view name);

}  // namespace coldtrace::syscall_map
