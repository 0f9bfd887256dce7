#include <algorithm>
#include <filesystem>

#include "coldtrace/core/file.hpp"
#include "coldtrace/tracefile/opening/input_file.hpp"
#include "coldtrace/tracefile/packing/unpack.hpp"

namespace coldtrace::tracefile {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 1'000'000;

std::string lower_name(const fs::path& path) {
  auto name = path.filename().string();
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name;
}

bool is_trace(const fs::path& path) {
  using core::FileKind;
  const auto file = core::FileImage::open(path.string());
  if (!file) return false;
  const auto kind = core::recognize_file(**file);
  const auto name = lower_name(path);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (is_unpackable(kind)) return has(".etl") || has(".ctrace") || has(".diagsession");
  return kind == FileKind::event_trace || kind == FileKind::ctrace ||
         (kind == FileKind::unknown && (name.ends_with(".etl") || name.ends_with(".ctrace")));
}

}  // namespace

std::vector<std::string> find_traces(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  std::size_t entries = 0;
  fs::recursive_directory_iterator at{folder, fs::directory_options::skip_permission_denied, error};
  for (const fs::recursive_directory_iterator end; !error && at != end && ++entries < most_entries;
       at.increment(error)) {
    std::error_code ignored;
    const auto status = at->symlink_status(ignored);
    if (fs::is_regular_file(status) && is_trace(at->path())) found.push_back(at->path().string());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace coldtrace::tracefile
