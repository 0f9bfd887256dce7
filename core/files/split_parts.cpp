#include "coldtrace/core/split_parts.hpp"

#include <algorithm>
#include <filesystem>

namespace coldtrace::core {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest = 7;  // with its dot; longer numbers are dates and the like

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
  return extension.size() <= longest &&
         (consists_of(extension, is_digit) || consists_of(extension, is_letter));
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

// The other parts beside one spelling of a path.
std::vector<std::string> find_others(const fs::path& path) {
  std::vector<std::string> parts;
  const auto extension = path.extension().string();
  if (!is_part(extension)) return parts;
  bool first = is_first_part(extension);
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path{"."};
  std::error_code error;
  for (fs::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
    const auto& other = at->path();
    std::error_code absent;
    if (other.filename() == path.filename() || other.stem() != path.stem() ||
        !are_of_one_kind(extension, other.extension()) || !fs::is_regular_file(other, absent))
      continue;
    first = first || is_first_part(other.extension());
    parts.push_back(fs::path{path}.replace_filename(other.filename()).string());
  }
  if (!first) parts.clear();
  std::ranges::sort(parts);
  return parts;
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

std::vector<std::string> find_parts_beside(const std::string& path) {
  std::vector<std::string> parts;
  for (const auto& spelling : spellings_of(path)) {
    const auto others = find_others(spelling);
    parts.insert(parts.end(), others.begin(), others.end());
  }
  return parts;
}

std::optional<std::string> find_part_beside(const std::string& path) {
  for (const auto& spelling : spellings_of(path)) {
    const auto parts = find_others(spelling);
    for (const int direction : {1, -1})
      if (auto part = step(spelling.string(), direction);
          part && std::ranges::binary_search(parts, *part))
        return part;
  }
  return std::nullopt;
}

}  // namespace coldtrace::core
