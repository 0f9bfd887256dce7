#include "coldtrace/core/split_parts.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "coldtrace/core/ascii.hpp"

namespace coldtrace::core {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_letters = 7;  // with the dot
constexpr int most_missing = 32;            // parts in a row

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

bool consists_of(const std::string& extension, bool (*is)(char)) {
  return extension.size() > 2 && std::all_of(extension.begin() + 1, extension.end(), is);
}

bool is_part(const std::string& extension) {
  return consists_of(extension, is_digit) ||
         (extension.size() <= longest_letters && consists_of(extension, is_letter));
}

bool are_of_one_kind(const std::string& extension, const std::string& other) {
  return is_part(extension) && is_part(other) && extension.size() == other.size() &&
         is_digit(extension.back()) == is_digit(other.back());
}

// Counts up or down, without a change of length.
std::optional<std::string> step(std::string path, int direction) {
  const auto extension = fs::path{path}.extension().string();
  if (!is_part(extension)) return std::nullopt;
  const bool digits = is_digit(extension.back());
  const char first = digits ? '0' : 'a';
  const char last = digits ? '9' : 'z';
  for (std::size_t place = path.size(); place > path.size() - extension.size() + 1;) {
    char& c = path[--place];
    if (c != (direction > 0 ? last : first)) {
      c = static_cast<char>(c + direction);
      return path;
    }
    c = direction > 0 ? first : last;
  }
  return std::nullopt;
}

// The path as it is given and, where that is another, without links.
std::vector<fs::path> spellings_of(const fs::path& path) {
  std::vector<fs::path> spellings{path};
  std::error_code error;
  auto canonical = fs::canonical(path, error);
  if (!error && canonical != path) spellings.push_back(std::move(canonical));
  return spellings;
}

std::string extension_of(const std::string& path) {
  return fs::path{path}.extension().string();
}

// A link that leads nowhere is a file that cannot be read, and not one that is missing.
bool is_file(const fs::path& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  return fs::exists(status) ? fs::is_regular_file(status) : fs::is_symlink(path, error);
}

// Whether an extension counts parts: three digits do and those with a leading zero; letters and
// other numbers, which are years and the like, where the first part is beside. By name, as a folder
// may be one that cannot be listed, or one of many files.
bool counts_parts(const fs::path& path) {
  const auto extension = path.extension().string();
  if (!is_part(extension)) return false;
  if (is_first_part(extension)) return true;
  if (is_digit(extension[1]) && (extension[1] == '0' || extension.size() == 4)) return true;
  auto first = extension;
  std::fill(first.begin() + 1, first.end(), is_digit(extension[1]) ? '0' : 'a');
  if (is_file(fs::path{path}.replace_extension(first))) return true;
  first.back() = '1';
  return is_digit(extension[1]) && is_file(fs::path{path}.replace_extension(first));
}

// The nearest part that is there, behind or before.
std::optional<std::string> nearest(const std::string& path, int direction) {
  auto part = step(path, direction);
  for (int i = 0; i <= most_missing && part; ++i, part = step(*part, direction))
    if (is_file(*part)) return part;
  return std::nullopt;
}

// The parts that lie around one of this very name; none where it counts no parts.
std::vector<SplitPart> list_spelled_parts(const fs::path& path) {
  std::vector<SplitPart> parts;
  if (!counts_parts(path) || !is_file(path)) return parts;
  auto first = path.string();
  while (const auto before = nearest(first, -1)) first = *before;
  parts.push_back({first, true});
  while (const auto behind = nearest(parts.back().path, 1)) {
    while (parts.back().path != *behind) {
      auto next = *step(parts.back().path, 1);
      const bool there = next == *behind;
      parts.push_back({std::move(next), there});
    }
  }
  return parts;
}

// Of one folder, and alike but for what may count parts.
bool are_named_as_parts(const fs::path& part, const fs::path& other) {
  std::error_code error;
  return part.stem() == other.stem() &&
         are_of_one_kind(part.extension().string(), other.extension().string()) &&
         fs::equivalent(fs::absolute(part, error).parent_path(),
                        fs::absolute(other, error).parent_path(), error);
}

}  // namespace

bool is_first_part(const std::string& extension) {
  if (consists_of(extension, is_letter))
    return extension.find_first_not_of('a', 1) == extension.npos;
  return consists_of(extension, is_digit) && extension.back() <= '1' &&
         std::all_of(extension.begin() + 1, extension.end() - 1, [](char c) { return c == '0'; });
}

std::optional<std::string> next_part(const std::string& path) {
  return step(path, 1);
}

bool is_named_as_part_beside(const std::string& path, const std::string& other) {
  for (const fs::path& part : spellings_of(path))
    for (const fs::path& named : spellings_of(other))
      if (are_named_as_parts(part, named)) return true;
  return false;
}

bool is_named_as_segment_beside(const std::string& path, const std::string& other) {
  const auto counts = [](const std::string& extension) {
    const auto last = extension.substr(extension.size() - 2);
    return std::ranges::all_of(last, is_digit) ||
           std::ranges::all_of(last, [](char c) { return is_letter(to_lower(c)); });
  };
  const auto own = extension_of(path);
  const auto named = extension_of(other);
  std::error_code error;
  return own.size() >= 4 && own.size() == named.size() && to_lower(own[1]) == to_lower(named[1]) &&
         counts(named) && fs::path{path}.stem() == fs::path{other}.stem() &&
         fs::equivalent(fs::absolute(path, error).parent_path(),
                        fs::absolute(other, error).parent_path(), error);
}

bool is_part_beside(const std::string& path, const std::string& other) {
  for (const fs::path& part : spellings_of(path)) {
    if (!is_part(part.extension().string())) continue;
    for (const fs::path& named : spellings_of(other))
      if (are_named_as_parts(part, named) && (counts_parts(part) || counts_parts(named)))
        return true;
    // Other names lead to it as well.
    for (const auto& beside : list_spelled_parts(part)) {
      std::error_code error;
      if (beside.there && fs::equivalent(beside.path, other, error)) return true;
    }
  }
  return false;
}

std::vector<SplitPart> list_parts(const std::string& path) {
  for (const auto& spelling : spellings_of(path))
    if (auto parts = list_spelled_parts(spelling); parts.size() > 1) return parts;
  return {{path, true}};
}

std::optional<std::string> find_longer_part(const std::string& last) {
  const auto extension = extension_of(last);
  if (!is_part(extension)) return std::nullopt;
  const auto digits = extension.substr(1);
  std::string longer;
  if (digits.find_first_not_of('9') == digits.npos)
    longer = "1" + std::string(digits.size(), '0');
  else if (digits == "8" + std::string(digits.size() - 1, '9'))
    longer = "9" + std::string(digits.size() + 1, '0');
  else if (digits == "y" + std::string(digits.size() - 1, 'z'))
    longer = "z" + std::string(digits.size() + 1, 'a');
  auto path = last.substr(0, last.size() - digits.size()) + longer;
  if (longer.empty() || !is_file(path)) return std::nullopt;
  return path;
}

std::optional<std::string> find_missing_part(const std::string& path) {
  for (const auto& spelling : spellings_of(path)) {
    if (!counts_parts(spelling)) continue;
    auto next = step(spelling.string(), 1);
    if (next && !is_file(*next) && nearest(*next, 1)) return next;
    for (auto part = spelling.string(); !is_first_part(extension_of(part));) {
      auto before = step(part, -1);
      if (!before) break;
      if (!is_file(*before)) return before;
      part = std::move(*before);
    }
  }
  return std::nullopt;
}

}  // namespace coldtrace::core
