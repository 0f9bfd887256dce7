#include "coldtrace/registry/driver-check/configuration_reader.hpp"

#include <map>

#include <catch2/catch.hpp>

#include "tests/registry/hive/hive_writer.hpp"

using namespace coldtrace;
using namespace coldtrace::registry;
using Names = std::vector<std::string>;

namespace {

// What a key holds. A text of several is one with NULs in it.
struct Node {
  std::map<std::string, Node> keys;
  std::map<std::string, u32> numbers;
  std::map<std::string, std::string> texts;

  // By its path.
  Node& operator[](const std::string& path) {
    const auto end = path.find('\\');
    auto& key = keys[path.substr(0, end)];
    return end == path.npos ? key : key[path.substr(end + 1)];
  }
};

std::vector<std::byte> utf16_of(std::string_view text) {
  fixtures::ByteWriter out;
  for (const char c : text) out.write_u16(static_cast<u8>(c));
  return out.write_u16(0).bytes();
}

// Fills the key that is there already.
void write(test::HiveWriter& hive, u32 at, u32 parent, const std::string& name, const Node& node,
           u16 flags = 0x20) {
  std::vector<u32> values, keys;
  for (const auto& [value, number] : node.numbers)
    values.push_back(hive.add_value(value, ValueType::dword, 0x8000'0004, number));
  for (const auto& [value, text] : node.texts) {
    const auto data = utf16_of(text);
    const bool several = text.find('\0') != text.npos;
    values.push_back(hive.add_value(value, several ? ValueType::multi_text : ValueType::text,
                                    static_cast<u32>(data.size()), hive.add(data)));
  }
  for (const auto& [key, below] : node.keys) {
    keys.push_back(hive.add_key({.name = key, .parent = at}));
    write(hive, keys.back(), at, key, below);
  }
  test::HiveWriter::KeySpec spec{.name = name, .parent = parent, .flags = flags};
  spec.subkeys = static_cast<u32>(keys.size());
  spec.values = static_cast<u32>(values.size());
  if (!keys.empty()) spec.subkey_list = hive.add_list("li", keys);
  if (!values.empty()) spec.value_list = hive.add_words(values);
  hive.put_key(at, spec);
}

class Hives {
 public:
  Node system, software;

  Configuration read() {
    const auto one = open(system), other = open(software);
    CHECK(kind_of(one) == (system.keys.empty() ? HiveKind::other : HiveKind::system));
    return read_configuration(&one, &other, [](const core::Guid&) { return "named"; });
  }

  core::Findings findings;

 private:
  Hive open(const Node& root) {
    test::HiveWriter writer;
    write(writer, writer.add_key({.name = "ROOT"}), 0, "ROOT", root);
    auto hive = Hive::open(writer.bytes(), findings);
    REQUIRE(hive);
    return std::move(*hive);
  }
};

std::string several(const Names& names) {
  std::string text;
  for (const auto& name : names) text += name + '\0';
  return text;
}

}  // namespace

// Source: MS Learn (archive), "HKLM\SYSTEM\Select".
TEST_CASE("the control set is the one that Select names, or another that is there") {
  struct Row {
    const char* why;
    std::optional<u32> current, usual;
    const char* name;
  };
  const auto row = GENERATE(values<Row>({
      {"the current one", 2, 1, "ControlSet002"},
      {"the usual one, where the current is not there", 3, 2, "ControlSet002"},
      {"the first, where neither is there", 3, 4, "ControlSet001"},
      {"the first, where nothing is said", {}, {}, "ControlSet001"},
  }));
  CAPTURE(row.why);
  Hives hives;
  hives.system["ControlSet001\\Services"];
  hives.system["ControlSet002\\Services"];
  hives.system["CurrentControlSet"];
  hives.system["ControlSetABC"];
  if (row.current) hives.system["Select"].numbers["Current"] = *row.current;
  if (row.usual) hives.system["Select"].numbers["Default"] = *row.usual;
  const auto configuration = hives.read();
  CHECK(configuration.has_system);
  CHECK(configuration.sets.name == row.name);
  CHECK(configuration.sets.present == std::set<u64>{1, 2});
  CHECK(configuration.sets.current.has_value() == row.current.has_value());
  CHECK(configuration.before_windows_8);
  CHECK(hives.findings.empty());
}

// Sources: MS Learn, "HKLM SYSTEM CurrentControlSet Services Registry Tree"; "CreateServiceW",
// lpDependencies: names that begin with SC_GROUP_IDENTIFIER, '+', are of groups.
TEST_CASE("a service has what its key says, and depends on services and groups") {
  Hives hives;
  auto& key = hives.system["ControlSet001\\Services\\Tracer"];
  key.numbers = {{"Type", 1}, {"Start", 0}, {"ErrorControl", 3}};
  key.texts = {{"ImagePath", "system32\\DRIVERS\\tracer.sys"},
               {"Group", "Filter"},
               {"DependOnService", several({"Other", "+Base"})},
               {"DependOnGroup", several({"Boot Bus Extender", "Disk"})}};
  hives.system["ControlSet001\\Services\\Settings"].numbers["Start"] = 0;
  hives.system["ControlSet001\\Control\\ServiceGroupOrder"].texts["List"] =
      several({"Base", "Filter"});
  const auto configuration = hives.read();
  const auto* const service = configuration.find_service("tracer");
  REQUIRE(service);
  CHECK(service->name == "Tracer");
  CHECK(service->key == "SYSTEM\\ControlSet001\\Services\\Tracer");
  CHECK((service->type == 1U && service->start == 0U && service->error_control == 3U));
  CHECK(service->image_path == "system32\\DRIVERS\\tracer.sys");
  CHECK(service->services == Names{"Other"});
  CHECK(service->groups == Names{"Base", "Boot Bus Extender", "Disk"});
  CHECK(service->file({})->text() == "%SystemRoot%\\system32\\drivers\\tracer.sys");
  CHECK(configuration.groups == std::map<std::string, u64>{{"base", 0}, {"filter", 1}});
  CHECK(configuration.services_whole);
  CHECK(configuration.lacks_service("Settings"));  // a key without a type is of other software
  CHECK(hives.findings.empty());
}

// Source: MS Learn, "Device Filter Driver Ordering": values of a class, and of one device.
TEST_CASE("filters are of classes and of devices, and a device names its service") {
  const std::string keyboard = "{4D36E96B-E325-11CE-BFC1-08002BE10318}",
                    lower_case = "{4d36e96b-e325-11ce-bfc1-08002be10318}";
  Hives hives;
  auto& set = hives.system["ControlSet001"];
  set["Services\\kbdclass"].numbers["Type"] = 1;
  set["Control\\Class\\" + keyboard].texts = {{"Class", "Keyboard"},
                                              {"UpperFilters", several({"first", "kbdclass"})}};
  auto& device = set["Enum\\ACPI\\PNP0303\\4&1"];
  device.texts = {{"ClassGUID", lower_case}, {"Service", "i8042prt"}, {"LowerFilters", "below"}};
  set["Enum\\ROOT\\ACPI_HAL\\0000"].texts["Service"] = "\\Driver\\ACPI_HAL";
  const auto configuration = hives.read();
  REQUIRE(configuration.filters.size() == 2);
  const auto& of_class = configuration.filters[0];
  CHECK_FALSE(of_class.of_device);
  CHECK(of_class.value == "UpperFilters");
  CHECK(of_class.class_id == lower_case);
  CHECK(of_class.services == Names{"first", "kbdclass"});
  const auto& of_device = configuration.filters[1];
  CHECK(of_device.of_device);
  CHECK(of_device.value == "LowerFilters");
  CHECK(of_device.class_name == "Keyboard");
  CHECK(of_device.services == Names{"below"});
  CHECK(configuration.has_devices);
  CHECK(configuration.used_classes == std::set<std::string>{lower_case});
  REQUIRE(configuration.devices_without_service.size() == 1);
  CHECK(configuration.devices_without_service[0].service == "i8042prt");
}

// Source: MS Learn, "Configuring and Starting an AutoLogger Session".
TEST_CASE("a session has the providers of its key, by the names of their publishers") {
  const std::string one = "{11111111-0000-0000-0000-000000000000}",
                    other = "{22222222-0000-0000-0000-000000000000}";
  Hives hives;
  auto& session = hives.system["ControlSet001\\Control\\WMI\\Autologger\\Boot"];
  hives.system["Select"].numbers["Current"] = 1;
  session.numbers = {{"Start", 1}, {"LogFileMode", 2}};
  session.texts["FileName"] = "C:\\boot.etl";
  session[one].numbers = {{"Enabled", 1}, {"EnableLevel", 4}, {"MatchAnyKeyword", 8}};
  session[other].numbers["Enabled"] = 0;
  hives.system["ControlSet001\\Control\\WMI\\GlobalLogger"].numbers["Start"] = 1;
  auto& publisher =
      hives.software["Microsoft\\Windows\\CurrentVersion\\WINEVT\\Publishers\\" + one];
  publisher.texts = {{"", "Published"}, {"ResourceFileName", "%SystemRoot%\\a.dll"}};
  const auto configuration = hives.read();
  CHECK(configuration.global_logger_start == 1U);
  REQUIRE(configuration.autologgers.size() == 1);
  const auto& read = configuration.autologgers[0];
  CHECK(read.is_enabled());
  CHECK(read.name == "Boot");
  CHECK(read.file == "C:\\boot.etl");
  CHECK((read.mode == 2U && !read.kernel_flags));
  REQUIRE(read.providers.size() == 2);
  CHECK(read.providers[0].is_enabled());
  CHECK(read.providers[0].name == "Published");
  CHECK(read.providers[0].resource_file == "%SystemRoot%\\a.dll");
  CHECK((read.providers[0].level == 4U && read.providers[0].keywords == 8U));
  CHECK_FALSE(read.providers[1].is_enabled());
  CHECK(read.providers[1].name == "named");
}

// Source: MS Learn, "AppInit DLLs and Secure Boot": names are separated by blanks or commas.
TEST_CASE("SOFTWARE names Windows' folder, its version, and DLLs for 64-bit and 32-bit programs") {
  Hives hives;
  const std::string version = "Microsoft\\Windows NT\\CurrentVersion";
  hives.software[version].texts = {{"CurrentVersion", "6.1"}, {"SystemRoot", "D:\\WinNT"}};
  hives.software[version + "\\Windows"].texts["AppInit_DLLs"] = "a.dll, b.dll c.dll";
  hives.software[version + "\\Windows"].numbers["LoadAppInit_DLLs"] = 1;
  hives.software["WOW6432Node\\" + version + "\\Windows"].texts["AppInit_DLLs"] = "";
  hives.system["Select"];
  const auto configuration = hives.read();
  CHECK(configuration.has_software);
  CHECK(configuration.windows_version == "6.1");
  CHECK((configuration.windows.drive == 'd' && configuration.windows.name == "winnt"));
  REQUIRE(configuration.app_init.size() == 2);
  CHECK(configuration.app_init[0].dlls == Names{"a.dll", "b.dll", "c.dll"});
  CHECK(configuration.app_init[0].load == 1U);
  CHECK_FALSE(configuration.app_init[0].wow64);
  CHECK(configuration.app_init[1].wow64);
  CHECK(configuration.app_init[1].dlls.empty());
  CHECK_FALSE(configuration.app_init[1].load);
}

TEST_CASE("KnownDLLs have folders and names, and what is excluded from them") {
  Hives hives;
  auto& manager = hives.system["ControlSet001\\Control\\Session Manager"];
  manager.texts["ExcludeFromKnownDlls"] = several({"a.dll", "b.dll"});
  manager["KnownDLLs"].texts = {{"DllDirectory", "%SystemRoot%\\system32"},
                                {"DllDirectory32", "%SystemRoot%\\syswow64"},
                                {"kernel32", "kernel32.dll"}};
  const auto known = hives.read().known_dlls;
  CHECK(known.directory == "%SystemRoot%\\system32");
  CHECK(known.directory_32 == "%SystemRoot%\\syswow64");
  REQUIRE(known.entries.size() == 1);
  CHECK(known.entries[0].name == "kernel32");
  CHECK(known.entries[0].dll == "kernel32.dll");
  CHECK(known.excluded == Names{"a.dll", "b.dll"});
}
