#include "coldtrace/pdb/type_selection.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <tuple>

#include "coldtrace/core/glob.hpp"
#include "coldtrace/core/no_match.hpp"

namespace coldtrace::pe {
namespace {

using Definition = TypeTable::Definition;

std::optional<u32> index_of(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  u32 index = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), index, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return index;
}

bool is_declaration(const TypeTable& table, const Definition& type) {
  const auto head = read_type_head(*table.find_record(type.index));
  return head && (head->properties & property_forward) != 0;
}

class Wish {
 public:
  explicit Wish(std::string_view text)
      : text_{text}, index_{index_of(text)}, glob_{is_glob(text)} {}

  bool means(const Definition& type) const {
    return index_ ? type.index == *index_ : may_be_called(type.name);
  }
  bool may_be_called(std::string_view name) const {
    if (index_) return true;
    return glob_ ? glob_matches(text_, name, GlobCase::sensitive) : name == text_;
  }

 private:
  std::string_view text_;
  std::optional<u32> index_;
  bool glob_;
};

// Of the names that are wanted, by name, then index.
std::vector<Definition> types_of(const TypeTable& table,
                                 const std::function<bool(std::string_view)>& wanted) {
  std::vector<Definition> types;
  std::ranges::copy_if(table.definitions(), std::back_inserter(types), wanted, &Definition::name);
  const auto undefined = table.undefined(wanted);
  const auto defined = static_cast<std::ptrdiff_t>(types.size());
  types.insert(types.end(), undefined.begin(), undefined.end());
  std::inplace_merge(types.begin(), types.begin() + defined, types.end(),
                     [](const Definition& a, const Definition& b) {
                       return std::tie(a.name, a.index) < std::tie(b.name, b.index);
                     });
  return types;
}

bool any(std::string_view) {
  return true;
}

}  // namespace

std::vector<Definition> select_types(const TypeTable& table, std::span<const std::string> wanted,
                                     core::Findings& findings) {
  if (wanted.empty()) {
    table.report_unread(findings);
    return types_of(table, any);
  }

  const std::vector<Wish> wishes(wanted.begin(), wanted.end());
  auto types = types_of(table, [&](std::string_view name) {
    return std::ranges::any_of(wishes, [&](const Wish& wish) { return wish.may_be_called(name); });
  });
  std::vector<bool> chosen(types.size());
  core::NoMatch missing;
  std::vector<std::string_view> names;  // of all, where one is missing
  for (std::size_t number = 0; number < wishes.size(); ++number) {
    const auto& wish = wishes[number];
    const auto& text = wanted[number];
    bool found = false;
    bool only_declared = false;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (!wish.means(types[i])) continue;
      chosen[i] = found = true;
      only_declared |= is_declaration(table, types[i]);
    }
    if (only_declared) table.report_unread(text, findings);
    if (found) continue;
    if (names.empty())
      for (const auto& type : types_of(table, any)) names.push_back(type.name);
    missing.add("type", text, names);
    table.report_unread(text, findings);
  }
  missing.report(findings);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (chosen[i]) types[kept++] = types[i];
  types.resize(kept);
  return types;
}

}  // namespace coldtrace::pe
