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
  return consists_of(extension, is_digit) || consists_of(extension, is_letter);
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

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

}  // namespace

bool is_first_part(const std::string& extension) {
  if (consists_of(extension, is_letter))
    return extension.find_first_not_of('a', 1) == extension.npos;
  return consists_of(extension, is_digit) && extension.back() <= '1' &&
         std::all_of(extension.begin() + 1, extension.end() - 1, [](char c) { return c == '0'; });
}

bool are_parts_of_one_split(const std::string& extension, const std::string& other) {
  if (extension.size() != other.size()) return false;
  if (consists_of(extension, is_digit)) return consists_of(other, is_digit);
  return consists_of(extension, is_letter) && consists_of(other, is_letter) &&
         (is_first_part(extension) || is_first_part(other));
}

std::optional<std::string> next_part(const std::string& path) {
  return step(path, 1);
}

std::optional<std::string> find_part_beside(const std::string& path) {
  const auto extension = fs::path{path}.extension().string();
  if (!is_part(extension) || extension.size() > longest) return std::nullopt;
  if (is_letter(extension.back())) {
    const auto first = fs::path{path}.replace_extension(std::string(extension.size() - 1, 'a'));
    if (!is_file(first.string())) return std::nullopt;
  }
  for (const int direction : {1, -1})
    if (auto part = step(path, direction); part && is_file(*part)) return part;
  return std::nullopt;
}

}  // namespace coldtrace::core
