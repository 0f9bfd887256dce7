#include "coldtrace/syscall-map/hook-table/hook_table_differences.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "coldtrace/core/hex.hpp"
#include "syscall-map/hook-table/hook_table_fields.hpp"

namespace coldtrace::syscall_map {
namespace {

using namespace hook_table_format;

using Values = std::map<std::string, std::string>;

// What a record of a list is called: by what tells it from the others, so that one that is
// missing does not make those behind it differ.
std::string name_of(const HookTableImage& image) {
  return std::string{to_string(image.role)};
}
std::string name_of(const HookServiceTable& table) {
  return table.table.name;
}
std::string name_of(const ContextSwitch& found) {
  return found.name;
}
std::string name_of(const FieldOffset& field) {
  return field.structure + "." + field.field;
}
std::string name_of(const SupportedInterface& interface) {
  return interface.name;
}
std::string name_of(const TracePoint& point) {
  return point.requested;
}
std::string name_of(const MemberValue& member) {
  return member.name;
}
template <class Record>
std::string name_of(const Record&) {
  return {};
}

using ServiceNames = std::map<u16, std::string>;

// What services are called in paths: their number, followed by their name in the table that takes
// precedence, or else in the other one, so that a name that one table lacks is one difference.
std::string name_of(const HookService& service, const ServiceNames& names) {
  const auto name = names.find(service.number);
  return fmt::format("{:#06x}{}{}", service.number, name == names.end() ? "" : " ",
                     name == names.end() ? "" : name->second);
}
template <class Record>
std::string name_of(const Record& record, const ServiceNames&) {
  return name_of(record);
}

void add_names(const HookTable& table, ServiceNames& names) {
  for (const auto& service : table.services)
    if (!service.names.empty()) names.emplace(service.number, service.names.front());
}

// Puts every value of a record under its path.
class Flattener {
 public:
  static constexpr bool decodes = false;

  Flattener(Values& values, const ServiceNames& names, std::string path, bool all)
      : values_{values}, names_{names}, path_{std::move(path)}, all_{all} {}

  template <class T>
  void number(std::string_view name, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      put(name, fmt::format("{:#x}", static_cast<std::underlying_type_t<T>>(value)));
    } else {
      put(name, fmt::format("{:#x}", value));
    }
  }

  template <class T>
  void number_where(bool there, std::string_view name, const T& value) {
    if (there) number(name, value);
  }

  template <class T>
  void choice(std::string_view name, const T& value, T) {
    put(name, std::string{to_string(value)});
  }

  template <class T>
  void optional_choice(std::string_view name, const std::optional<T>& value, T) {
    if (value) put(name, std::string{to_string(*value)});
  }

  template <class T>
  void optional(std::string_view name, const std::optional<T>& value) {
    if (value) number(name, *value);
  }

  template <class... Bools>
  void flags(const Bit<Bools>&... bits) {
    (put(bits.name, bits.value ? "yes" : "no"), ...);
  }

  void padding(std::size_t) {}
  void text(std::string_view name, const std::string& text) { put(name, "\"" + text + "\""); }

  void optional_text(std::string_view name, const std::optional<std::string>& content) {
    if (content) text(name, *content);
  }

  void texts(std::string_view name, const std::vector<std::string>& texts) {
    put(name, fmt::format("\"{}\"", fmt::join(texts, "\", \"")));
  }

  void evidence(const std::vector<std::string>& sentences) {
    if (all_) texts("evidence", sentences);
  }

  void lines(const std::vector<std::string>& sentences) { evidence(sentences); }

  template <class T>
  void words(std::string_view name, const std::vector<T>& values) {
    std::string list;
    for (const auto value : values)
      list += fmt::format("{}{:#x}", list.empty() ? "" : " ", static_cast<u32>(value));
    put(name, std::move(list));
  }

  template <class T, class Code>
  void reasons(std::string_view name, const std::vector<T>& reasons, Code) {
    std::vector<std::string> sentences;
    for (const auto& reason : reasons)
      sentences.push_back(fmt::format("{}: {}", to_string(reason.code), reason.text));
    texts(name, sentences);
  }

  void bytes(std::string_view name, const std::vector<u8>& values) {
    put(name, core::to_hex(std::as_bytes(std::span{values})));
  }

  template <std::size_t Size>
  void fixed(std::string_view name, const std::array<std::byte, Size>& bytes) {
    put(name, core::to_hex(bytes));
  }

  void digest(std::string_view name, const std::optional<std::string>& hex, bool) {
    if (all_) optional_text(name, hex);
  }

  template <class T>
  void children(std::string_view name, const std::vector<T>& records) {
    put(name, fmt::format("{} of them", records.size()));
    std::map<std::string, u32> seen;
    for (std::size_t i = 0; i < records.size(); ++i) {
      auto key = name_of(records[i], names_);
      if (key.empty()) key = fmt::format("{}", i);
      const auto times = ++seen[key];
      if (times > 1) key += fmt::format(" #{}", times);
      Flattener record{values_, names_, fmt::format("{}[{}]", path_of(name), key), all_};
      describe(record, records[i]);
    }
  }

  template <class T>
  void later_children(std::string_view name, const std::vector<T>& records) {
    children(name, records);
  }

  template <class T>
  void child(std::string_view name, const std::optional<T>& record) {
    if (!record) return;
    Flattener fields{values_, names_, path_of(name), all_};
    describe(fields, *record);
  }

  void name_index(const std::vector<HookService>&) {}

 private:
  std::string path_of(std::string_view name) const {
    return path_.empty() ? std::string{name} : fmt::format("{}.{}", path_, name);
  }

  void put(std::string_view name, std::string value) {
    // Whether there is a hash is not a value where the hash is none.
    if (!all_ && name == "has_sha256") return;
    values_.insert_or_assign(path_of(name), std::move(value));
  }

  Values& values_;
  const ServiceNames& names_;
  std::string path_;
  bool all_;
};

std::vector<HookTableDifference> compare(const HookTable& before, const HookTable& after,
                                         bool all) {
  Values old_values;
  Values new_values;
  ServiceNames names;
  add_names(before, names);
  add_names(after, names);
  Flattener old_fields{old_values, names, "", all};
  Flattener new_fields{new_values, names, "", all};
  describe(old_fields, before);
  describe(new_fields, after);
  std::vector<HookTableDifference> differences;
  for (const auto& [path, value] : old_values) {
    const auto other = new_values.find(path);
    if (other == new_values.end())
      differences.push_back({path, value, std::nullopt});
    else if (other->second != value)
      differences.push_back({path, value, other->second});
  }
  for (const auto& [path, value] : new_values)
    if (!old_values.contains(path)) differences.push_back({path, std::nullopt, value});
  std::stable_sort(differences.begin(), differences.end(),
                   [](const auto& a, const auto& b) { return a.path < b.path; });
  return differences;
}

}  // namespace

std::vector<HookTableDifference> compare_hook_tables(const HookTable& before,
                                                     const HookTable& after) {
  return compare(before, after, false);
}

std::vector<HookTableDifference> compare_all(const HookTable& before, const HookTable& after) {
  return compare(before, after, true);
}

}  // namespace coldtrace::syscall_map
