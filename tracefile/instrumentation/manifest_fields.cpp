#include "tracefile/instrumentation/manifest_fields.hpp"

#include <algorithm>

#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/fields/event_schema.hpp"
#include "coldtrace/tracefile/fields/type_names.hpp"

namespace coldtrace::tracefile {
namespace {

using Rule = FieldSchema::Rule;

constexpr std::size_t longest_name = 4096;  // bytes, as of schemas that a merge embeds

class FieldReader {
 public:
  explicit FieldReader(
      const std::function<std::shared_ptr<const ValueMap>(const std::string&)>& find_map)
      : find_map_{find_map} {}

  ManifestFields read(const pugi::xml_node& declared) {
    read_.incomplete = !read_all(read_.fields.fields, declared, 0);
    make_names_unique(read_.fields.fields);
    return std::move(read_);
  }

 private:
  // False when the fields end here.
  bool read_all(std::vector<FieldSchema>& fields, const pugi::xml_node& parent, unsigned depth) {
    scopes_.push_back(&fields);
    bool complete = true;
    for (const auto& node : parent.children()) {
      complete = read_one(fields, node, depth);
      if (!complete) break;
    }
    scopes_.pop_back();
    return complete;
  }

  bool read_one(std::vector<FieldSchema>& fields, const pugi::xml_node& node, unsigned depth) {
    const bool structure = is_named(node, "struct");
    const bool binary = is_named(node, "binary");
    if (!structure && !binary && !is_named(node, "data")) return true;
    if (binary && !add_length(fields)) return false;
    if (++count_ > most_fields) return false;
    FieldSchema field;
    field.name = name_of(node, "name");
    if (!set_amount(field.count, name_of(node, "count"))) return false;
    if (structure) {
      field.in = InType::structure;
      // One that is incomplete is not begun.
      if (depth + 1 >= deepest_structure || !read_all(field.members, node, depth + 1)) return false;
    } else if (binary) {
      field.in = InType::binary;
      field.out = OutType::hex_binary;
      field.length = {Rule::slot, fields.back().slot};
    } else if (!read_type(field, node)) {
      return false;
    }
    fields.push_back(std::move(field));
    return true;
  }

  bool read_type(FieldSchema& field, const pugi::xml_node& node) {
    const auto in = find_in_type(node.attribute("inType").as_string());
    if (!in) return false;
    field.in = *in;
    field.out =
        find_out_type(node.attribute("outType").as_string()).value_or(default_out_type(*in));
    const bool sized =
        *in == InType::utf16 || *in == InType::ansi || *in == InType::binary;  // others are not
    if (sized && !set_amount(field.length, name_of(node, "length"))) return false;
    if (*in == InType::binary && field.length.rule == Rule::none && field.out != OutType::ipv6)
      return false;
    if (const auto map = text_of(node, "map"); !map.empty()) field.map = find_map_(map);
    return true;
  }

  // The compiler makes two items of a <binary>: its length, and the bytes.
  bool add_length(std::vector<FieldSchema>& fields) {
    if (++count_ > most_fields || read_.fields.slots >= EventSchema::largest_slot) return false;
    FieldSchema length;
    length.name = "__binLength";
    length.in = InType::u32;
    length.out = default_out_type(length.in);
    length.slot = ++read_.fields.slots;
    fields.push_back(std::move(length));
    return true;
  }

  std::string name_of(const pugi::xml_node& node, const char* attribute) {
    const std::string_view name = node.attribute(attribute).as_string();
    read_.cut |= name.size() > longest_name;
    return core::to_valid_utf8(name.substr(0, longest_name));
  }

  // A number, or the name of an earlier field: the nearest, those of the same structure first.
  bool set_amount(FieldSchema::Amount& amount, const std::string& text) {
    if (text.empty()) return true;
    if (const auto number = to_number(text)) {
      amount = {Rule::fixed, static_cast<u16>(*number)};
      return *number <= 0xffff;
    }
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = std::find_if((*scope)->rbegin(), (*scope)->rend(),
                                      [&](const auto& field) { return field.name == text; });
      if (found == (*scope)->rend()) continue;
      if (found->slot == 0) {
        if (read_.fields.slots >= EventSchema::largest_slot) return false;
        found->slot = ++read_.fields.slots;
      }
      amount = {Rule::slot, found->slot};
      return true;
    }
    return false;
  }

  const std::function<std::shared_ptr<const ValueMap>(const std::string&)>& find_map_;
  ManifestFields read_;
  std::vector<std::vector<FieldSchema>*> scopes_;  // the fields so far, outermost first
  std::size_t count_ = 0;
};

}  // namespace

ManifestFields read_manifest_fields(
    const pugi::xml_node& declared,
    const std::function<std::shared_ptr<const ValueMap>(const std::string&)>& find_map) {
  return FieldReader{find_map}.read(declared);
}

}  // namespace coldtrace::tracefile
