// The rules about drivers, each by configurations that its source calls right and wrong.

#include "coldtrace/registry/driver-check/driver_check.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "coldtrace/registry/hive/key.hpp"

using namespace coldtrace;
using namespace coldtrace::registry;
using core::Severity;

namespace {

constexpr u64 kernel_driver = 1, own_process = 0x10;  // winnt.h, SERVICE_KERNEL_DRIVER and so on
const char* const disk_drive = "{4d36e967-e325-11ce-bfc1-08002be10318}";
const char* const keyboard = "{4d36e96b-e325-11ce-bfc1-08002be10318}";
const char* const sound = "{4d36e96c-e325-11ce-bfc1-08002be10318}";

// A volume where everything is but these.
class AllBut final : public FileList {
 public:
  explicit AllBut(std::set<std::string> absent) : absent_{std::move(absent)} {}
  [[nodiscard]] std::optional<bool> has(const WindowsPath& path, FileKind) const override {
    return !absent_.contains(path.text());
  }

 private:
  std::set<std::string> absent_;
};

// A SYSTEM hive in which nothing is wrong.
Configuration healthy() {
  Configuration configuration;
  configuration.has_system = true;
  configuration.sets = {"SYSTEM\\Select", 1, 1, 0, 2, {1, 2}, true, "ControlSet001"};
  return configuration;
}

Service driver(std::string name, u64 start, std::string group = "") {
  Service service{.key = "Services\\" + name, .name = std::move(name)};
  service.type = kernel_driver;
  service.start = start;
  if (!group.empty()) service.group = std::move(group);
  return service;
}

Configuration with(std::vector<Service> services) {
  auto configuration = healthy();
  for (std::size_t i = 0; i < services.size(); ++i)
    configuration.services_by_name.emplace(lower(services[i].name), i);
  configuration.services = std::move(services);
  return configuration;
}

Configuration filtered(FilterList list, std::vector<Service> services) {
  auto configuration = with(std::move(services));
  configuration.filters.push_back(std::move(list));
  return configuration;
}

// Codes and severities, in their order; each is told as a finding too.
using Told = std::vector<std::pair<std::string, Severity>>;
Told told_of(const Configuration& configuration, const FileList* files = nullptr) {
  core::Findings findings;
  Told told;
  for (const auto& problem : check_drivers(configuration, files, findings)) {
    told.emplace_back(problem.code.view(), problem.severity);
    CHECK(findings.count(problem.code.view()) > 0);
    CHECK_FALSE(problem.text.empty());
    CHECK_FALSE(problem.advice.empty());
  }
  return told;
}

constexpr auto warning = Severity::warning, info = Severity::info;

struct Row {
  const char* why;
  Configuration configuration;
  Told told;
};

template <class Change>
Configuration changed(Configuration configuration, Change change) {
  change(configuration);
  return configuration;
}

Configuration selected(std::optional<u64> current, std::optional<u64> usual, u64 failed,
                       u64 last_known_good, bool before_windows_8 = false) {
  auto configuration = healthy();
  configuration.sets.current = current;
  configuration.sets.default_ = usual;
  configuration.sets.failed = failed;
  configuration.sets.last_known_good = last_known_good;
  configuration.before_windows_8 = before_windows_8;
  return configuration;
}

}  // namespace

// Source: MS Learn (archive), "HKLM\SYSTEM\Select": Current is the set that started, Default that
// of the next start, Failed the one that a start with LastKnownGood replaced; 0 means none.
TEST_CASE("a control set that is selected exists, and the one of the next start is the current") {
  const auto row = GENERATE(values<Row>({
      {"all is right", healthy(), {}},
      {"none of the last known good yet", selected(1, 1, 0, 0), {}},
      {"no Current", selected({}, 1, 0, 2), {{"control-set-missing", warning}}},
      {"Current is not there",
       selected(3, 3, 0, 2),
       {{"control-set-missing", warning}, {"control-set-missing", warning}}},
      {"the last known good one is not there",
       selected(1, 1, 0, 3),
       {{"control-set-missing", info}}},
      {"the next start takes another", selected(1, 2, 0, 2), {{"control-set-differs", warning}}},
      {"a start failed", selected(2, 2, 1, 2), {{"control-set-failed", warning}}},
      {"the last known good one runs", selected(2, 2, 0, 2, true), {{"last-known-good", info}}},
      {"Windows 8 keeps none", selected(2, 2, 0, 2, false), {}},
      {"a key beside them is damaged",
       changed(selected(3, 3, 0, 2), [](auto& all) { all.sets.whole = false; }),
       {}},
  }));
  CAPTURE(row.why);
  CHECK(told_of(row.configuration) == row.told);
}

// Source: MS Learn, "CreateServiceW": SERVICE_BOOT_START and SERVICE_SYSTEM_START are valid only
// for driver services; the types are 0 to 4.
TEST_CASE("a program does not start as drivers do, and there are five ways to start") {
  const bool is_driver = GENERATE(true, false);
  const u64 start = GENERATE(range(u64{0}, u64{7}));
  CAPTURE(is_driver, start);
  auto service = driver("Some", start);
  service.type = is_driver ? kernel_driver : own_process;
  const bool valid = start <= 4 && (is_driver || start >= 2);
  CHECK(told_of(with({service})) == (valid ? Told{} : Told{{"service-start", warning}}));
}

TEST_CASE("a key without a type is of other software, whatever it has") {
  auto settings = driver("Some", 9);
  settings.type.reset();
  settings.services = {"Nowhere"};
  CHECK(told_of(with({settings})).empty());
}

// Source: MS Learn, "CreateServiceW", lpBinaryPathName; a driver without one is of its own name.
TEST_CASE("a file that is missing matters where its service starts by itself") {
  const u64 start = GENERATE(range(u64{0}, u64{5}));
  CAPTURE(start);
  const AllBut files{{"%SystemRoot%\\system32\\drivers\\some.sys"}};
  const auto severity = start <= Service::automatic ? warning : info;
  CHECK(told_of(with({driver("Some", start)}), &files) == Told{{"service-file-missing", severity}});
  CHECK(told_of(with({driver("Other", start)}), &files).empty());
  CHECK(told_of(with({driver("Some", start)})).empty());
}

// Source: MS Learn, "CreateServiceW", dwErrorControl.
TEST_CASE("what comes of a driver that does not start is what its ErrorControl asks for") {
  struct Control {
    std::optional<u64> value;
    const char* text;
  };
  const auto control = GENERATE(values<Control>({
      {0, "no error is reported"},
      {1, "the event log records an error"},
      {std::nullopt, "the event log records an error"},
      {2, "restarts with the last known good configuration"},
      {3, "restarts with the last known good configuration, or fails to start"},
  }));
  CAPTURE(control.text);
  auto service = driver("Some", Service::boot);
  service.error_control = control.value;
  const AllBut files{{"%SystemRoot%\\system32\\drivers\\some.sys"}};
  core::Findings findings;
  const auto problems = check_drivers(with({service}), &files, findings);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].text.find(control.text) != std::string::npos);
}

// Source: MS Learn, "Specifying Driver Load Order": boot drivers come before system ones, and
// within one start type the groups come in the order of ServiceGroupOrder, what is in none of them
// last.
TEST_CASE("what a driver depends on is there and starts before it") {
  const auto needs = [](Service service, const char* name) {
    service.services = {name};
    return service;
  };
  const auto ordered = [](Service one, Service other) {
    auto configuration = with({std::move(one), std::move(other)});
    configuration.groups = {{"first", 0}, {"second", 1}};
    return configuration;
  };
  const auto of_group = [&](const char* group) {
    auto service = driver("Some", Service::boot, "First");
    service.groups = {group};
    return ordered(std::move(service), driver("Other", Service::boot, "Second"));
  };
  const auto row = GENERATE_COPY(values<Row>({
      {"earlier by its start", ordered(needs(driver("Some", 1), "other"), driver("Other", 0)), {}},
      {"of the same start, without groups",
       ordered(needs(driver("Some", 1), "Other"), driver("Other", 1)),
       {}},
      {"later by its start",
       ordered(needs(driver("Some", 0), "Other"), driver("Other", 1)),
       {{"service-order", warning}}},
      {"of an earlier group",
       ordered(needs(driver("Some", 0, "SECOND"), "Other"), driver("Other", 0, "First")),
       {}},
      {"of a later group",
       ordered(needs(driver("Some", 0, "First"), "Other"), driver("Other", 0, "Second")),
       {{"service-order", warning}}},
      {"earlier by its start, though of a later group",
       ordered(needs(driver("Some", 1, "First"), "Other"), driver("Other", 0, "Second")),
       {}},
      {"missing",
       ordered(needs(driver("Some", 0), "Gone"), driver("Other", 0)),
       {{"service-dependency", warning}}},
      {"disabled",
       ordered(needs(driver("Some", 2), "Other"), driver("Other", 4)),
       {{"service-dependency", warning}}},
      {"missing, for one that somebody has to ask for",
       ordered(needs(driver("Some", 3), "Gone"), driver("Other", 0)),
       {{"service-dependency", info}}},
      {"missing, for one that never starts",
       ordered(needs(driver("Some", 4), "Gone"), driver("Other", 0)),
       {}},
      {"missing, but not all services could be read",
       changed(ordered(needs(driver("Some", 0), "Gone"), driver("Other", 0)),
               [](auto& all) { all.services_whole = false; }),
       {}},
      {"a group with a member", of_group("second"), {}},
      {"a group without one", of_group("Third"), {{"service-dependency", warning}}},
      {"a boot driver of a group that is not ordered",
       ordered(driver("Some", 0, "Third"), driver("Other", 0)),
       {{"service-group", info}}},
      {"a driver that starts on demand need not be of an ordered one",
       ordered(driver("Some", 3, "Third"), driver("Other", 0)),
       {}},
  }));
  CAPTURE(row.why);
  CHECK(told_of(row.configuration) == row.told);
}

// Sources: MS Learn, "Specifying Driver Load Order", "Code 39 - CM_PROB_DRIVER_FAILED_LOAD", "Bug
// Check 0x7B".
TEST_CASE("a filter that cannot be loaded stops the devices that have it") {
  const auto list = [](const char* class_id, bool of_device = false) {
    return FilterList{
        "Class\\" + std::string{class_id}, "UpperFilters", class_id, {}, of_device, {"Filter"}};
  };
  const auto of_class = [&](const char* class_id, bool has_device) {
    auto configuration = filtered(list(class_id), {});
    configuration.has_devices = true;
    if (has_device) configuration.used_classes.insert(class_id);
    return configuration;
  };
  const auto row = GENERATE_COPY(values<Row>({
      {"it is there", filtered(list(sound), {driver("FILTER", 3)}), {}},
      {"no such service", filtered(list(sound), {}), {{"filter-service-missing", warning}}},
      {"of a class with a device", of_class(sound, true), {{"filter-service-missing", warning}}},
      {"of a class without one", of_class(sound, false), {{"filter-service-missing", info}}},
      {"of disks, without which nothing starts",
       of_class(disk_drive, false),
       {{"filter-service-missing", warning}}},
      {"disabled",
       filtered(list(keyboard), {driver("Filter", 4)}),
       {{"filter-service-disabled", warning}}},
      {"of disks, which start with the boot drivers",
       filtered(list(disk_drive), {driver("Filter", 0)}),
       {}},
      {"of disks, but later",
       filtered(list(disk_drive), {driver("Filter", 1)}),
       {{"filter-start", warning}}},
      {"of one disk, which may be another",
       filtered(list(disk_drive, true), {driver("Filter", 1)}),
       {}},
      {"missing, but not all services could be read",
       changed(filtered(list(sound), {}), [](auto& all) { all.services_whole = false; }),
       {}},
  }));
  CAPTURE(row.why);
  CHECK(told_of(row.configuration) == row.told);
}

TEST_CASE("the file of a filter is missing for the class and for its service") {
  const AllBut files{{"%SystemRoot%\\system32\\drivers\\filter.sys"}};
  const auto configuration =
      filtered({"Class", "LowerFilters", sound, {}, false, {"Filter"}}, {driver("Filter", 3)});
  CHECK(told_of(configuration, &files) ==
        Told{{"filter-file-missing", warning}, {"service-file-missing", info}});
}

// Source: MS Learn, "AppInit DLLs and Secure Boot": 0 disables them; before Vista there was no
// LoadAppInit_DLLs.
TEST_CASE("AppInit_DLLs are loaded if LoadAppInit_DLLs says so, or before Vista") {
  const auto init = [](std::vector<std::string> dlls, std::optional<u64> load,
                       const char* version) {
    Configuration configuration;
    configuration.has_software = true;
    configuration.windows_version = version;
    configuration.app_init.push_back({"Windows", false, std::move(dlls), load, {}});
    return configuration;
  };
  const auto row = GENERATE_COPY(values<Row>({
      {"none", init({}, 0, "6.1"), {}},
      {"enabled for nothing", init({}, 1, "6.1"), {{"appinit-enabled", info}}},
      {"two that are loaded",
       init({"a.dll", "b.dll"}, 1, "6.1"),
       {{"appinit-dll", warning}, {"appinit-dll", warning}}},
      {"disabled", init({"a.dll"}, 0, "6.1"), {{"appinit-dll", info}}},
      {"Windows 7 without the value", init({"a.dll"}, {}, "6.1"), {{"appinit-dll", info}}},
      {"Windows XP", init({"a.dll"}, {}, "5.1"), {{"appinit-dll", warning}}},
  }));
  CAPTURE(row.why);
  CHECK(told_of(row.configuration) == row.told);
}

TEST_CASE("an AppInit DLL of 32-bit programs lies in SysWOW64") {
  Configuration configuration;
  configuration.app_init.push_back({"Windows", true, {"a.dll"}, 0, {}});
  const AllBut files{{"%SystemRoot%\\syswow64\\a.dll"}}, other{{"%SystemRoot%\\system32\\a.dll"}};
  CHECK(told_of(configuration, &files) ==
        Told{{"appinit-dll", info}, {"appinit-file-missing", warning}});
  CHECK(told_of(configuration, &other) == Told{{"appinit-dll", info}});
}

TEST_CASE("KnownDLLs are names of files in System32, and nothing is excluded from them") {
  auto configuration = healthy();
  auto& known = configuration.known_dlls;
  known.key = "KnownDLLs";
  known.directory = "%SystemRoot%\\system32";
  known.directory_32 = "%SystemRoot%\\syswow64";
  known.entries = {{"kernel32", "KERNEL32.dll"}, {"_wow64cpu", "wow64cpu.dll"}};
  const AllBut files{
      {"%SystemRoot%\\system32\\kernel32.dll", "%SystemRoot%\\system32\\wow64cpu.dll"}};
  CHECK(told_of(configuration).empty());
  CHECK(told_of(configuration, &files) == Told{{"known-dlls-file-missing", warning}});
  known.directory = "C:\\Tools";
  known.entries = {{"a", "..\\a.dll"}};
  known.excluded = {"kernel32.dll"};
  CHECK(told_of(configuration) == Told{{"known-dlls-excluded", warning},
                                       {"known-dlls-folder", warning},
                                       {"known-dlls-folder", warning}});
}

// Source: MS Learn, "Configuring and Starting an AutoLogger Session": Start 1 starts the session,
// Enabled 1 enables the provider.
TEST_CASE("a session that starts with the machine has providers, and a folder for its file") {
  auto configuration = healthy();
  configuration.has_software = true;
  auto& session = configuration.autologgers.emplace_back();
  session.start = 1;
  session.file = "C:\\Logs\\a.etl";
  auto& provider = session.providers.emplace_back();
  provider.guid = "{00000000-0000-0000-0000-000000000001}";
  provider.enabled = 1;
  provider.name = "Known";
  provider.resource_file = "%SystemRoot%\\system32\\known.dll";
  const AllBut files{{"%SystemDrive%\\logs", "%SystemRoot%\\system32\\known.dll"}};
  const Told both{{"autologger-provider-file", warning}, {"autologger-folder-missing", warning}};
  CHECK(told_of(configuration).empty());
  CHECK(told_of(configuration, &files) == both);
  provider.name.clear();
  provider.resource_file.reset();
  CHECK(told_of(configuration) == Told{{"autologger-provider-unknown", info}});
  provider.enabled = 0;
  CHECK(told_of(configuration) == Told{{"autologger-empty", info}});
  session.kernel_flags = true;
  CHECK(told_of(configuration).empty());
  session.start = 0;
  CHECK(told_of(configuration, &files).empty());
  configuration.global_logger_start = 1;
  CHECK(told_of(configuration) == Told{{"global-logger", info}});
}

TEST_CASE("a device that names a service that is gone is told, and one of no hive is not") {
  auto configuration = healthy();
  configuration.devices_without_service.push_back({"Enum\\Root\\Some\\0000", "Gone"});
  CHECK(told_of(configuration) == Told{{"device-service-missing", info}});
  configuration.has_system = false;
  CHECK(told_of(configuration).empty());
}
