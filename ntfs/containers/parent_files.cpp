#include "ntfs/containers/parent_files.hpp"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

namespace coldtrace::ntfs {

std::string file_name_of(std::string_view stated) {
  const auto end = stated.find_last_of("/\\");
  return std::string{end == stated.npos ? stated : stated.substr(end + 1)};
}

std::optional<std::string> find_beside(const std::string& image, std::string_view stated) {
  const auto name = file_name_of(stated);
  if (name.empty() || name == "." || name == "..") return std::nullopt;
  auto path = (std::filesystem::path{image}.parent_path() / name).string();
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return path;
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code ignored;
  return std::filesystem::equivalent(one, other, ignored);
}

std::string describe_missing_extent(std::string_view stated) {
  return fmt::format("part of its data is in {}, but there is no such file next to it",
                     file_name_of(stated));
}

std::string describe_unread_extent(std::string_view stated, const core::ParseError& error) {
  return fmt::format("part of its data is in {}, which cannot be read: {}", file_name_of(stated),
                     reason_of(error));
}

std::string reason_of(const core::ParseError& error) {
  if (error.fault == core::Fault::io && error.offset == 0)
    return std::generic_category().message(static_cast<int>(error.found));
  return to_string(error);
}

}  // namespace coldtrace::ntfs
