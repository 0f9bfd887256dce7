#include "coldtrace/registry/driver-check/listed_files.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "coldtrace/registry/hive/key.hpp"

namespace coldtrace::registry {
namespace {

// The folder of Windows of a volume.
struct Candidate {
  const ListedVolume* volume;
  std::string windows;
  bool named;  // as it is asked for

  auto rank() const { return std::tuple{!volume->shadow(), volume->shadow().value_or(0), named}; }
  std::string text() const {
    auto text = fmt::format("\\{}", windows);
    if (volume->partition()) text += fmt::format(" of partition {}", *volume->partition());
    if (volume->shadow()) text += fmt::format(", as shadow copy {} shows it", *volume->shadow());
    return text;
  }
};

class ListedFiles final : public DriverFiles {
 public:
  ListedFiles(ListedVolume volume, std::string windows, bool is_whole)
      : volume_{std::move(volume)},
        name_{std::move(windows)},
        below_{lower(name_) + '\\'},
        is_whole_{is_whole} {}

  std::string windows_folder() const override { return name_; }

  std::optional<bool> has(const WindowsPath& path, FileKind kind) const override {
    if (!path.is_known()) return std::nullopt;
    const bool below = path.place == WindowsPath::Place::windows;
    const auto own = below ? below_ + path.path : path.path;
    const bool folder = kind == FileKind::folder;
    if ((folder ? volume_.folders() : volume_.files()).contains(own)) return true;
    if (!is_whole_) return std::nullopt;
    if ((folder ? volume_.files() : volume_.folders()).contains(own)) return false;
    return not_found(path);
  }

 private:
  ListedVolume volume_;
  std::string name_, below_;
  bool is_whole_;
};

std::vector<Candidate> find_windows(const std::vector<ListedVolume>& volumes,
                                    std::string_view name) {
  std::vector<Candidate> found;
  for (const auto& volume : volumes)
    for (const auto& windows : volume.windows())
      found.push_back({&volume, windows, is_same_name(windows, name)});
  std::ranges::stable_sort(found, std::greater{}, &Candidate::rank);
  return found;
}

void tell_chosen(std::string_view list, const std::vector<Candidate>& found,
                 core::Findings& findings) {
  const bool is_copy = found.front().volume->shadow().has_value();
  std::string others;
  for (const auto& one : std::span{found}.subspan(1))
    if (is_copy || !one.volume->shadow())
      others += fmt::format("{} {}", others.empty() ? "; there are also" : ",", one.text());
  if (!others.empty() || is_copy)
    findings.info("windows-chosen", std::nullopt, "{}: files are looked for in {}{}", list,
                  found.front().text(), others);
}

}  // namespace

void ListedVolume::add(std::string_view path, std::optional<bool> is_folder,
                       const std::set<std::string>& asked) {
  std::string own{path};
  std::ranges::replace(own, '/', '\\');
  if (own.starts_with('\\')) own.erase(0, 1);
  const auto low = lower(own);
  const auto name = low.substr(low.rfind('\\') + 1);
  const auto slash = low.find('\\');
  if (name == "system32" && slash != low.npos && slash + 1 + name.size() == low.size())
    windows_.push_back(own.substr(0, slash));
  if (!asked.contains(name)) return;
  if (!is_folder || !*is_folder) files_.insert(low);
  if (!is_folder || *is_folder) folders_.insert(low);
}

std::unique_ptr<DriverFiles> choose_listed_files(const std::vector<ListedVolume>& volumes,
                                                 const WindowsFolder& windows, ListExtent extent,
                                                 std::string_view list, core::Findings& findings) {
  if (extent == ListExtent::selection)
    findings.warning(
        "snapshot-selection", std::nullopt,
        "{}: the snapshot lacks names or paths of its volumes: no file is reported as missing",
        list);
  const auto found = find_windows(volumes, windows.name);
  if (found.empty()) return nullptr;
  tell_chosen(list, found, findings);
  return std::make_unique<ListedFiles>(*found.front().volume, found.front().windows,
                                       extent == ListExtent::whole);
}

}  // namespace coldtrace::registry
