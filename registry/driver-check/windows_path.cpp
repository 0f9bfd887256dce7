#include "coldtrace/registry/driver-check/windows_path.hpp"

#include <array>
#include <vector>

#include "coldtrace/registry/hive/key.hpp"

namespace coldtrace::registry {
namespace {

using Place = WindowsPath::Place;

struct Prefix {
  std::string_view text;
  std::string_view stands_for;
};

// What a path may begin with; "windows:" and "drive:" are the two places.
constexpr std::array prefixes = {
    Prefix{"\\systemroot\\", "windows:"},
    Prefix{"%systemroot%\\", "windows:"},
    Prefix{"%windir%\\", "windows:"},
    Prefix{"%systemdrive%\\", "drive:"},
    Prefix{"%programfiles%\\", "drive:program files\\"},
    Prefix{"%programfiles(x86)%\\", "drive:program files (x86)\\"},
    Prefix{"%programw6432%\\", "drive:program files\\"},
    Prefix{"%commonprogramfiles%\\", "drive:program files\\common files\\"},
    Prefix{"%programdata%\\", "drive:programdata\\"},
    Prefix{"%allusersprofile%\\", "drive:programdata\\"},
};
// Names of the object manager's folder of drives.
constexpr std::array drive_folders = {"\\??\\", "\\\\?\\", "\\\\.\\", "\\dosdevices\\",
                                      "\\global??\\"};

std::string trim(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Without quotes and arguments. Of one without quotes the program ends behind the first ".exe" that
// a space or nothing follows, else at the first space.
std::string program_of(const std::string& line) {
  if (line.starts_with('"')) return line.substr(1, line.find('"', 1) - 1);
  for (auto at = line.find(".exe"); at != line.npos; at = line.find(".exe", at + 1))
    if (at + 4 == line.size() || line[at + 4] == ' ') return line.substr(0, at + 4);
  return line.substr(0, line.find(' '));
}

// Without empty parts, "." and "..".
std::string resolve_dots(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const auto part = path.substr(0, path.find('\\'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (part == ".." && !parts.empty())
      parts.pop_back();
    else if (!part.empty() && part != "." && part != "..")
      parts.push_back(part);
  }
  std::string result;
  for (const auto part : parts) {
    if (!result.empty()) result += '\\';
    result += part;
  }
  return result;
}

WindowsPath on_drive(std::string_view path, const WindowsFolder& windows) {
  auto resolved = resolve_dots(path);
  const auto below = windows.name + '\\';
  if (resolved.starts_with(below)) return {Place::windows, resolved.substr(below.size())};
  return {Place::drive, std::move(resolved)};
}

WindowsPath in_windows(std::string_view path) {
  return {Place::windows, resolve_dots(path)};
}

}  // namespace

std::string WindowsPath::text() const {
  if (place == Place::windows) return "%SystemRoot%\\" + path;
  if (place == Place::drive) return "%SystemDrive%\\" + path;
  return path;
}

WindowsPath to_windows_path(std::string_view text, PathUse use, const WindowsFolder& windows) {
  std::string path = trim(lower(text));
  if (use == PathUse::program)
    path = program_of(path);
  else if (path.size() >= 2 && path.starts_with('"') && path.ends_with('"'))
    path = path.substr(1, path.size() - 2);
  for (auto& c : path)
    if (c == '/') c = '\\';
  for (const std::string_view folder : drive_folders)
    if (path.starts_with(folder)) {
      path.erase(0, folder.size());
      break;
    }
  for (const auto& prefix : prefixes) {
    if (!path.starts_with(prefix.text)) continue;
    const auto rest = path.substr(prefix.text.size());
    if (prefix.stands_for == "windows:") return in_windows(rest);
    return on_drive(std::string{prefix.stands_for.substr(6)} + rest, windows);
  }
  if (path.empty() || path.find('%') != path.npos) return {Place::unknown, path};
  if (path.size() >= 3 && path[1] == ':' && path[2] == '\\') {
    if (path[0] != windows.drive) return {Place::other, path};
    return on_drive(std::string_view{path}.substr(3), windows);
  }
  if (path.starts_with("\\\\") || path.starts_with("\\device\\")) return {Place::other, path};
  if (path.starts_with('\\')) return on_drive(path, windows);
  if (path.find(':') != path.npos) return {Place::unknown, path};
  const bool is_name = path.find('\\') == path.npos;
  if (is_name && use != PathUse::driver) path.insert(0, "system32\\");
  return in_windows(path);
}

WindowsPath parent_of(const WindowsPath& path) {
  const auto slash = path.path.rfind('\\');
  return {path.place, slash == path.path.npos ? std::string{} : path.path.substr(0, slash)};
}

}  // namespace coldtrace::registry
