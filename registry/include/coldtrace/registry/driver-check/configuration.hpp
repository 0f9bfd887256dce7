#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/integers.hpp"
#include "coldtrace/registry/driver-check/windows_path.hpp"

namespace coldtrace::registry {

// Whether the value exists and is not empty.
[[nodiscard]] inline bool has_text(const std::optional<std::string>& text) {
  return text && !text->empty();
}

// What SYSTEM and SOFTWARE say of drivers, of what is loaded into programs and of traces that start
// with the machine. Keys are paths: "SYSTEM\ControlSet001\Services\disk". An absent value is
// nothing; one that exists may be empty. Texts are exact text (coldtrace/core/utf16.hpp).

// SYSTEM\Select: numbers of control sets; 0: none.
struct ControlSets {
  std::string key;
  std::optional<u64> current, default_, failed, last_known_good;
  std::set<u64> present;  // of the existing keys
  bool whole = true;      // none of their sibling keys is damaged
  std::string name;       // of the set in use: "ControlSet001"
};

// A key of Services. Sources: Windows SDK, winnt.h (SERVICE_*); MS Learn, "HKLM SYSTEM
// CurrentControlSet Services Registry Tree".
struct Service {
  static constexpr u64 boot = 0, system = 1, automatic = 2, demand = 3, disabled = 4;
  std::string key, name;
  std::optional<u64> type, start, error_control;
  std::optional<std::string> image_path, group;  // as stored
  std::vector<std::string> services;             // those it depends on
  std::vector<std::string> groups;
  bool whole = true;  // all values could be read

  // Kernel, file system, adapter, recognizer.
  [[nodiscard]] bool is_driver() const { return type && (*type & 0xf) != 0; }
  // Keys without a type only hold settings of other software.
  [[nodiscard]] bool is_service() const { return type.has_value(); }
  [[nodiscard]] bool is_disabled() const { return start == disabled; }
  [[nodiscard]] bool starts_by_itself() const { return start && *start <= automatic; }
  // Its file; a driver without ImagePath has one of its own name. Nothing if it has no file, or if
  // ImagePath may be among the values that cannot be read.
  [[nodiscard]] std::optional<WindowsPath> file(const WindowsFolder& windows) const;
};

// The start type of a service in words: "boot", "demand".
[[nodiscard]] std::string_view start_name(std::optional<u64> start);

// A value UpperFilters or LowerFilters of a device class or of one device.
struct FilterList {
  std::string key, value;
  std::optional<std::string> class_id;  // lower case, with braces
  std::optional<std::string> class_name;
  bool of_device = false;
  std::vector<std::string> services;
};

// The key with the DLLs that are loaded into every process with user32.dll; there is one for 64-bit
// and one for 32-bit programs.
struct AppInit {
  std::string key;
  bool wow64 = false;
  std::vector<std::string> dlls;
  std::optional<u64> load, require_signed;
};

// Session Manager\KnownDLLs, and ExcludeFromKnownDlls.
struct KnownDlls {
  struct Entry {
    std::string name, dll;
  };
  std::string key;  // empty: there is none
  std::optional<std::string> directory, directory_32;
  std::vector<Entry> entries;
  std::string excluded_key;
  std::vector<std::string> excluded;
};

// A session that starts with the machine.
struct Autologger {
  struct Provider {
    std::string guid;  // as the key's name: "{...}"
    std::string name;  // empty: not known
    std::string publisher_key;
    std::optional<std::string> resource_file;
    std::optional<u64> enabled, level, keywords;
    [[nodiscard]] bool is_enabled() const { return enabled.value_or(0) != 0; }
  };
  std::string key, name;
  std::optional<std::string> guid, file;
  std::optional<u64> start, mode;
  bool kernel_flags = false;  // kernel events are enabled
  std::vector<Provider> providers;
  [[nodiscard]] bool is_enabled() const { return start.value_or(0) != 0; }
};

// A device whose driver is not a service.
struct DeviceWithoutService {
  std::string key, service;
};

// What the rules look at in the hives of one Windows installation.
struct Configuration {
  bool has_system = false, has_software = false;
  WindowsFolder windows;
  std::string system_root;      // from SOFTWARE; empty: not known, C:\Windows is assumed
  std::string windows_version;  // "6.1", from SOFTWARE; empty: not known
  bool before_windows_8 = false;
  ControlSets sets;
  std::vector<Service> services;
  // All keys of Services and the types of all services could be read: a service that is not listed
  // does not exist.
  bool services_whole = true;
  std::map<std::string, std::size_t> services_by_name;  // lower case
  std::map<std::string, u64> groups;  // of ServiceGroupOrder, in lower case: position
  std::vector<FilterList> filters;
  bool has_devices = false;            // there are devices that tell which classes are used
  std::set<std::string> used_classes;  // lower case
  std::vector<DeviceWithoutService> devices_without_service;
  std::vector<AppInit> app_init;
  KnownDlls known_dlls;
  std::vector<Autologger> autologgers;
  std::optional<u64> global_logger_start;
  std::string global_logger_key;

  // By the name of its key, ignoring case; null if there is none.
  [[nodiscard]] const Service* find_service(std::string_view name) const;
  // Whether it is known not to exist.
  [[nodiscard]] bool lacks_service(std::string_view name) const;
};

}  // namespace coldtrace::registry
