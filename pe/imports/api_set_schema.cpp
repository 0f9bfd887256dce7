#include "coldtrace/pe/api_set_schema.hpp"

#include <algorithm>

#include "coldtrace/core/ascii.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/core/utf16.hpp"
#include "pe/image/dll_name.hpp"

namespace coldtrace::pe {
namespace {

// Where the fields of the three forms lie; offsets in the map count from its first byte.
struct Form {
  u32 version;
  u64 count_at;
  u64 entry_size;
  u64 name_at;    // NameOffset, then NameLength; in version 6 HashedLength is next
  u64 values_at;  // DataOffset; in version 6 ValueOffset, then ValueCount
  u64 list_size;  // the array of values starts with that much, Count last; 0: see the entry
  u64 value_size;
  u64 value_names_at;  // NameOffset, NameLength, ValueOffset, ValueLength
};

constexpr Form forms[] = {
    {2, 4, 12, 0, 8, 4, 16, 0},
    {4, 12, 24, 4, 20, 8, 20, 4},
    {6, 12, 24, 4, 16, 0, 20, 4},
};
constexpr u64 entries_of_version_2 = 8;
constexpr u64 entries_of_version_4 = 16;
constexpr u64 header_of_version_6 = 28;
constexpr u64 longest_name = 520;  // bytes: as long as the names of modules that are read

class SchemaReader {
 public:
  SchemaReader(core::ByteView map, u64 offset, const Form& form, core::Findings& findings)
      : map_{map},
        offset_{offset},
        form_{form},
        findings_{findings},
        // One name serves many sets, a list of hosts hardly ever does.
        text_budget_{32 * map.size()},
        host_budget_{4 * map.size() / form.value_size} {}

  std::vector<ApiSet> read(u64 first, u32 count) {
    const u64 room = map_.size() - std::min<u64>(first, map_.size());
    const u64 present = std::min<u64>(count, room / form_.entry_size);
    if (present < count)
      warn(form_.count_at, "an API set schema declares {}, of which {} possible",
           core::counted(count, "set", "sets"), core::counted(present, "is", "are"));
    std::vector<ApiSet> sets;
    for (u64 i = 0; i < present; ++i)
      if (auto set = read_set(first + i * form_.entry_size)) sets.push_back(std::move(*set));
    std::stable_sort(sets.begin(), sets.end(),
                     [](const ApiSet& a, const ApiSet& b) { return a.name < b.name; });
    return sets;
  }

 private:
  template <class... Args>
  void warn(u64 at, fmt::format_string<Args...> text, Args&&... args) {
    findings_.warning("api-set-schema", offset_ + at, text, std::forward<Args>(args)...);
  }

  // Fields are read inside of ranges that were found to be there.
  u32 word(u64 at) const { return core::load<u32>(map_, at).value_or(0); }

  std::optional<std::string> read_name(u64 field, std::optional<u32> length = std::nullopt) {
    const auto bytes = core::slice(map_, word(field), word(field + 4));
    if (!bytes || bytes->size() > std::min(text_budget_, longest_name) ||
        length.value_or(0) > bytes->size()) {
      warn(field, "a name of an API set schema is too long or not in its section");
      return std::nullopt;
    }
    text_budget_ -= bytes->size();
    return core::to_lower(core::decode_exact(bytes->first(length.value_or(u32(bytes->size())))));
  }

  std::optional<ApiSet> read_set(u64 at) {
    std::optional<u32> compared;
    if (form_.version == 6) compared = word(at + form_.name_at + 8);
    auto name = read_name(at + form_.name_at, compared);
    if (!name) return std::nullopt;
    u64 values = word(at + form_.values_at);
    u64 count = word(at + form_.values_at + 4);
    if (form_.list_size > 0) {
      if (!core::slice(map_, values, form_.list_size))
        count = ~u32{0};
      else
        count = word(values + form_.list_size - 4);
      values += form_.list_size;
    }
    if (count > host_budget_ || !core::slice(map_, values, count * form_.value_size)) {
      warn(at + form_.values_at, "the hosts of an API set are not in the section of the schema");
      return std::nullopt;
    }
    host_budget_ -= count;
    ApiSet set{std::move(*name), {}};
    for (u64 i = 0; i < count; ++i) {
      const u64 names = values + i * form_.value_size + form_.value_names_at;
      auto importer = read_name(names);
      auto dll = read_name(names + 8);
      if (!importer || !dll) return std::nullopt;
      set.hosts.push_back({std::move(*importer), std::move(*dll)});
    }
    return set;
  }

  core::ByteView map_;
  u64 offset_;
  const Form& form_;
  core::Findings& findings_;
  u64 text_budget_;
  u64 host_budget_;
};

// The part of `name` that the names of a schema are compared with.
std::string compared_name(std::string_view name, u32 version) {
  auto compared = core::to_lower(name);
  if (compared.ends_with(".dll")) compared.resize(compared.size() - 4);
  if (version < 6) return compared.substr(4);
  const auto hyphen = compared.rfind('-');
  return compared.substr(0, hyphen);
}

}  // namespace

ApiSetAnswer ApiSetSchema::find(std::string_view name, std::string_view importer,
                                std::string& dll) const {
  if (!is_api_set_name(name)) return ApiSetAnswer::unknown;
  const auto wanted = compared_name(name, version);
  const auto set = std::lower_bound(
      sets.begin(), sets.end(), wanted,
      [](const ApiSet& entry, const std::string& text) { return entry.name < text; });
  if (set == sets.end() || set->name != wanted || set->hosts.empty()) return ApiSetAnswer::unknown;
  const auto own = std::find_if(set->hosts.begin() + 1, set->hosts.end(), [&](const auto& host) {
    return host.importer == core::to_lower(importer);
  });
  dll = own == set->hosts.end() ? set->hosts.front().dll : own->dll;
  return dll.empty() ? ApiSetAnswer::no_host : ApiSetAnswer::host;
}

core::Result<ApiSetSchema> read_api_set_schema(core::ByteView section, u64 offset,
                                               core::Findings& findings) {
  core::Reader in{section, "API_SET_NAMESPACE", offset};
  ApiSetSchema schema;
  schema.version = in.read_u32("Version");
  const auto* form = std::find_if(std::begin(forms), std::end(forms), [&](const Form& known) {
    return known.version == schema.version;
  });
  if (in.ok() && form == std::end(forms))
    in.reject(core::Fault::unsupported, offset, "Version", 6, schema.version);
  u64 first = entries_of_version_2;
  u32 size = 0;
  if (schema.version != 2) {
    size = in.read_u32("Size");
    in.skip(4, "Flags");
    first = entries_of_version_4;
  }
  const auto count = in.read_u32("Count");
  if (schema.version == 6) {
    first = in.read_u32("EntryOffset");
    in.skip(8, "HashOffset and HashFactor");
    if (first < header_of_version_6)
      in.reject(core::Fault::bad_value, offset, "EntryOffset", header_of_version_6, first);
  }
  if (!in.ok()) return core::fail(in.error());
  if (size > section.size())
    findings.warning("api-set-schema", offset, "an API set schema has {} bytes, its section {}",
                     size, section.size());
  schema.sets = SchemaReader{section, offset, *form, findings}.read(first, count);
  return schema;
}

core::Result<std::optional<ApiSetSchema>> find_api_set_schema(const Image& image,
                                                              core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  for (const auto& section : image.sections()) {
    if (section.name() != ".apiset") continue;
    const auto offset = image.addresses().to_offset(section.address);
    if (offset)
      return COLDTRACE_TRY(read_api_set_schema(image.bytes(section.address), *offset, findings));
    findings.warning("api-set-schema", std::nullopt,
                     "the file stores nothing of the section .apiset at RVA {:#x}",
                     value(section.address));
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace coldtrace::pe
