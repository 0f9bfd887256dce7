#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/result.hpp"
#include "coldtrace/core/text_error.hpp"
#include "coldtrace/syscall-map/hook-profiles/service_catalogue.hpp"
#include "coldtrace/syscall-map/stubs/service_map.hpp"

namespace coldtrace::syscall_map {

// The kind of a file that lists services, by its first bytes.
enum class ServiceListKind : u8 { hook_table, image, json, names };

// 4,096 bytes of the file are enough. A file of no other kind is taken as names.
[[nodiscard]] ServiceListKind recognize_service_list(core::ByteView head);
core::Result<ServiceListKind> recognize_service_list(const std::string& path);

// A service from a JSON document of a map or a table.
struct DocumentedService {
  u32 number = 0;
  std::vector<std::string> names;  // the main one first
  std::string image;               // "nt", "ntdll.dll"; empty if the document does not say
  std::string role;                // "win32kbase" if a table says which part contains it
};

// Collects the services of maps, tables and lists in one catalogue.
class ServiceLists {
 public:
  void add(const ServiceMap& map, std::string_view image);
  void add(const HookTable& table);
  // Numbers beyond those of service tables are left out.
  void add(const DocumentedService& service);

  // The names of a list, which is a profile without groups, globs, includes and exclusions;
  // otherwise the first invalid element, and nothing is added.
  std::optional<core::TextError> add_names(std::string_view text);

  // A name without a module is a separate service only if no module has it.
  ServiceCatalogue take();

 private:
  ServiceCatalogue catalogue_;
  std::vector<std::string> without_module_;
};

}  // namespace coldtrace::syscall_map
