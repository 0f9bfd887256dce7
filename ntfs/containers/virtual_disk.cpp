#include "coldtrace/ntfs/containers/virtual_disk.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/file.hpp"
#include "coldtrace/core/reader.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/ntfs/containers/vmdk_extents.hpp"
#include "ntfs/containers/container_headers.hpp"
#include "ntfs/containers/disk_library.hpp"
#include "ntfs/containers/disk_map.hpp"
#include "ntfs/containers/flat_extents.hpp"
#include "ntfs/containers/own_extent.hpp"
#include "ntfs/containers/parent_files.hpp"
#include "ntfs/containers/reading_process.hpp"
#include "ntfs/containers/stored_numbers.hpp"

namespace coldtrace::ntfs {
namespace {

using core::Fault;
using core::FileKind;
using Where = MappedBytes::Where;

constexpr std::size_t longest_chain = 64;

// For one thread: a handle has one position and one cache.
class VirtualDisk final : public core::ImageSource {
 public:
  explicit VirtualDisk(const DiskLibrary& library) : library_{library} {}
  VirtualDisk(const DiskLibrary& library, std::unique_ptr<DiskMap> map, u64 size)
      : library_{library}, map_{std::move(map)}, size_{size} {}
  ~VirtualDisk() override {
    if (handle_ == nullptr) return;
    library_.close(handle_, nullptr);
    library_.free(&handle_, nullptr);
  }

  bool open(const std::string& path) {
    return library_.initialize(&handle_, nullptr) == 1 &&
           library_.open(handle_, path.c_str(), DiskLibrary::open_for_reading, nullptr) == 1;
  }

  bool read_size() { return library_.get_media_size(handle_, &size_, nullptr) == 1; }

  std::optional<std::string> parent_name() const {
    return read_name(handle_, library_.get_parent_name_size, library_.get_parent_name);
  }

  // Of an image with a map of all of it, whose parent no library has to take: that of a QCOW2 image
  // may be raw, and of another size.
  bool set_parent(std::unique_ptr<core::ImageSource> parent) {
    parent_ = std::move(parent);
    return true;
  }

  bool set_parent(std::unique_ptr<VirtualDisk> parent) {
    const bool taken = library_.set_parent(handle_, parent->handle_, nullptr) == 1;
    parent_ = std::move(parent);
    return taken;
  }

  void set_map(std::unique_ptr<DiskMap> map) { map_ = std::move(map); }

  // The library opens files of these names beside the image: each has to be one. A sparse image
  // holds its descriptor and its data itself, whatever its name is.
  bool open_extents(const std::string& path, FileKind kind, OpenProblem& problem) {
    if (library_.open_extents == nullptr) return true;
    int count = 0;
    if (library_.get_extent_count(handle_, &count, nullptr) != 1) return false;
    for (int i = 0; i < count; ++i) {
      DiskLibrary::Extent* extent = nullptr;
      if (library_.get_extent(handle_, i, &extent, nullptr) != 1) return false;
      const auto name = read_name(extent, library_.get_extent_name_size, library_.get_extent_name);
      library_.free_extent(&extent, nullptr);
      if (!name) continue;
      const auto beside = find_beside(path, *name);
      if (beside && (kind != FileKind::vmdk || is_same_file(*beside, path))) {
        const auto file = core::FileImage::open(*beside);
        if (file) continue;
        problem = {OpenProblem::What::extent, describe_unread_extent(*name, file.error())};
        return false;
      }
      if (kind == FileKind::vmdk && count == 1 && (extent_ = open_own_extent(handle_, path)))
        return true;
      problem = {
          OpenProblem::What::extent,
          beside ? fmt::format("its descriptor calls it {}, but the file of that name next to it "
                               "is a different one; alone and under that name it can be read",
                               file_name_of(*name))
                 : describe_missing_extent(*name)};
      return false;
    }
    return library_.open_extents(handle_, nullptr) == 1;
  }

  u64 size() const override { return size_; }

  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    if (const auto error = check_range(offset, destination.size())) return core::fail(*error);
    while (!destination.empty()) {
      const auto found = map_ ? COLDTRACE_TRY(map_->find(offset))
                              : MappedBytes{Where::library, destination.size(), nullptr, 0};
      const auto part = destination.first(std::min<u64>(destination.size(), found.length));
      COLDTRACE_TRY(read_part(found, offset, part));
      offset += part.size();
      destination = destination.subspan(part.size());
    }
    return core::Done{};
  }

 private:
  core::Result<core::Done> read_part(const MappedBytes& found, u64 offset,
                                     std::span<std::byte> part) const {
    switch (found.where) {
      case Where::parent:
        return read_parent(offset, part);
      case Where::zeros:
        std::ranges::fill(part, std::byte{0});
        return core::Done{};
      case Where::file:
        return found.file->read_at(found.offset, part);
      case Where::library:
        return read_library(offset, part);
    }
    return core::Done{};
  }

  // Behind the end of a smaller parent there are zeros.
  core::Result<core::Done> read_parent(u64 offset, std::span<std::byte> part) const {
    const u64 size = parent_ ? parent_->size() : 0;
    const u64 there = offset < size ? std::min<u64>(part.size(), size - offset) : 0;
    if (there != 0) COLDTRACE_TRY(parent_->read_at(offset, part.first(there)));
    std::ranges::fill(part.subspan(there), std::byte{0});
    return core::Done{};
  }

  core::Result<core::Done> read_library(u64 offset, std::span<std::byte> part) const {
    while (!part.empty()) {
      const auto count =
          library_.read(handle_, part.data(), part.size(), static_cast<off64_t>(offset), nullptr);
      if (count <= 0 || static_cast<std::size_t>(count) > part.size())
        return core::fail({Fault::io, offset, library_.structure, "block", 0, EIO});
      offset += static_cast<u64>(count);
      part = part.subspan(static_cast<std::size_t>(count));
    }
    return core::Done{};
  }

  const DiskLibrary& library_;
  std::unique_ptr<core::ImageSource> parent_;  // outlives the handle
  std::shared_ptr<void> extent_;               // that too
  std::unique_ptr<DiskMap> map_;
  DiskLibrary::Handle* handle_ = nullptr;
  u64 size_ = 0;
};

// Opens a disk and what it rests on; null with a problem.
class Chain {
 public:
  Chain(const std::vector<std::string>& parents, OpenProblem& problem)
      : parents_{parents}, problem_{problem} {}

  std::unique_ptr<VirtualDisk> open(const std::string& path, FileKind kind) {
    files_.push_back(path);
    auto disk = open_disk(path, kind);
    if (disk && level_ < parents_.size() && problem_.text.empty())
      problem_ = {
          OpenProblem::What::parent,
          fmt::format("{}, a file of --parent, is not used: the image has {}",
                      file_name_of(parents_[level_]), core::counted(level_, "parent", "parents"))};
    return disk;
  }

  // That it was read from, or that there are up to one that is missing.
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::unique_ptr<VirtualDisk> open_disk(const std::string& path, FileKind kind) {
    const auto& library = *disk_library(kind);
    if (kind == FileKind::vmdk_descriptor) {
      std::ranges::move(list_extents(path), std::back_inserter(files_));
      auto extents = open_flat_extents(path, problem_);
      if (!problem_.text.empty()) return nullptr;
      if (extents.map && level_ == 0)
        return std::make_unique<VirtualDisk>(library, std::move(extents.map), extents.size);
      if (extents.map && !extents.simple)
        return refuse(OpenProblem::What::extent,
                      fmt::format("its parent, {}, has zeros or a part of a file as its data; "
                                  "'qemu-img convert' joins the two",
                                  file_name_of(path)));
    }
    auto opened = open_map(path, kind);
    if (!opened.refusal.empty())
      return refuse(OpenProblem::What::feature, std::move(opened.refusal));
    if (opened.corrupt)
      problem_ = {OpenProblem::What::corrupt,
                  fmt::format("QEMU marked {} as corrupt: its tables may point to the wrong bytes; "
                              "'qemu-img check -r all' repairs a copy of it",
                              path.starts_with("/proc/") ? "the image" : file_name_of(path))};
    auto disk = opened.size
                    ? std::make_unique<VirtualDisk>(library, std::move(opened.map), *opened.size)
                    : open_by_library(library, path, kind);
    if (!disk) return nullptr;
    const auto name = opened.size
                          ? (opened.parent.empty() ? std::nullopt : std::optional{opened.parent})
                          : disk->parent_name();
    if (name) {
      if (!open_parent(*disk, path, *name, kind, opened)) return nullptr;
    } else if (opened.needs_parent) {
      return refuse(OpenProblem::What::parent, "the name of its parent cannot be read");
    }
    if (opened.size) return disk;
    disk->set_map(std::move(opened.map));
    return disk->read_size() ? std::move(disk) : nullptr;
  }

  std::unique_ptr<VirtualDisk> open_by_library(const DiskLibrary& library, const std::string& path,
                                               FileKind kind) {
    auto disk = std::make_unique<VirtualDisk>(library);
    const bool opened = disk->open(path) && disk->open_extents(path, kind, problem_);
    return opened ? std::move(disk) : nullptr;
  }

  static OpenedMap open_map(const std::string& path, FileKind kind) {
    if (kind == FileKind::qcow) return open_qcow_map(path);
    if (kind == FileKind::vhdx) return open_vhdx_map(path);
    return kind == FileKind::vhd ? open_vhd_map(path) : OpenedMap{};
  }

  std::unique_ptr<VirtualDisk> refuse(OpenProblem::What what, std::string text) {
    problem_ = {what, std::move(text)};
    return nullptr;
  }

  // False with a problem. `format` is what a QCOW2 image says that its parent is: of one that is
  // raw the bytes are not asked, which may be those of another format, as QEMU has it.
  bool open_parent(VirtualDisk& disk, const std::string& child, const std::string& stated,
                   FileKind child_kind, const OpenedMap& opened) {
    const auto& format = opened.parent_format;
    const auto name = file_name_of(stated);
    const auto fail = [&](std::string text) {
      return refuse(OpenProblem::What::parent, std::move(text)) != nullptr;
    };
    if (level_ == longest_chain)
      return fail(fmt::format("it has more than {} parents", longest_chain));
    const auto path =
        level_ < parents_.size() ? std::optional{parents_[level_]} : find_beside(child, stated);
    ++level_;
    if (!path)
      return fail(
          fmt::format("it contains only changes to its parent, {}, which is not next to it; give "
                      "the parent with --parent",
                      name));
    if (std::ranges::any_of(files_,
                            [&](const std::string& known) { return is_same_file(known, *path); }))
      return fail(fmt::format(
          "it names {} as its parent, which is itself based on it: none of them is complete",
          name));
    files_.push_back(*path);
    const auto unreadable = [&](const core::ParseError& error) {
      return fail(
          fmt::format("it contains only changes to its parent, {}, which cannot be read: {}",
                      file_name_of(*path), reason_of(error)));
    };
    auto file = core::FileImage::open(*path);
    if (!file) return unreadable(file.error());
    const auto recognized = core::recognize_file(**file);
    if (!recognized) return unreadable(recognized.error());
    const auto kind = *recognized;
    const bool qcow = child_kind == FileKind::qcow;
    if (qcow && (format == "raw" || (format.empty() && disk_library(kind) == nullptr)))
      return disk.set_parent(std::unique_ptr<core::ImageSource>{std::move(*file)});
    const bool as_stated = format.empty() || format == "qcow2" || format == "qcow";
    if (disk_library(kind) != disk_library(child_kind) || !as_stated)
      return fail(fmt::format(
          "its parent, {}, is {}{}, which {} does not accept; 'qemu-img convert' joins the two",
          name, core::to_string(kind),
          as_stated ? std::string{} : fmt::format(", stated as {}", format),
          disk_library(child_kind)->name.view()));
    auto parent = open_disk(*path, kind);
    if (!parent) return false;
    const auto not_its_own = [&] {
      return fail(fmt::format("{} is not the parent it was made from", name));
    };
    if (!opened.size) return disk.set_parent(std::move(parent)) || not_its_own();
    if (!qcow && !is_vhdx_of_identity(**file, opened.parent_identity)) return not_its_own();
    return disk.set_parent(std::unique_ptr<core::ImageSource>{std::move(parent)});
  }

  const std::vector<std::string>& parents_;
  OpenProblem& problem_;
  std::size_t level_ = 0;
  std::vector<std::string> files_;
};

// Lists of paths come out of the process that opened them as the bytes of a disk do.
class PathList final : public core::ImageSource {
 public:
  explicit PathList(const std::vector<std::string>& paths) {
    for (const auto& path : paths) text_ += path + '\0';
  }

  u64 size() const override { return text_.size(); }

  core::Result<core::Done> read_at(u64 offset, std::span<std::byte> destination) const override {
    return core::MemoryImage{std::as_bytes(std::span{text_})}.read_at(offset, destination);
  }

 private:
  std::string text_;
};

void tell(const OpenProblem& problem, core::Findings& findings) {
  switch (problem.what) {
    case OpenProblem::What::parent:
      return findings.warning("image-parent", std::nullopt, "{}", problem.text);
    case OpenProblem::What::extent:
      return findings.warning("image-extent", std::nullopt, "{}", problem.text);
    case OpenProblem::What::feature:
      return findings.warning("image-feature", std::nullopt, "{}", problem.text);
    case OpenProblem::What::corrupt:
      return findings.warning("image-corrupt", std::nullopt, "{}", problem.text);
    case OpenProblem::What::library:
      return;
  }
}

// Of a compressed cluster that is cut off, libqcow gives what its memory had: of version 1, whose
// clusters it is asked for.
void check_end(const std::string& path, core::Findings& findings) {
  constexpr u64 sector = 512;
  const auto file = core::FileImage::open(path);
  if (!file) return;
  const u64 size = (*file)->size();
  if (size % sector == 0 || load_big_u32(**file, 4).value_or(0) != 1) return;
  findings.warning("image-cut", size,
                   "the image, of QCOW version 1, ends inside a sector: if it was cut off, the "
                   "contents of its last cluster are uncertain");
}

// Where the header is by which a VHDX has changes in its log that are not in its blocks.
// Source: [MS-VHDX] 2.2.2, "Headers": two, of which the one with the higher number counts.
std::optional<u64> find_log(const std::string& path) {
  constexpr std::array<u64, 2> places = {u64{64} << 10U, u64{128} << 10U};
  const auto file = core::FileImage::open(path);
  if (!file || core::recognize_file(**file) != FileKind::vhdx) return std::nullopt;
  std::optional<u64> newest;
  bool has_log = false;
  u64 place = 0;
  for (const u64 at : places) {
    std::array<std::byte, 64> header{};
    if (!(*file)->read_at(at, header) || !core::to_chars(header).starts_with("head")) continue;
    const u64 number = core::load<u64>(header, 8).value_or(0);
    if (newest && *newest >= number) continue;
    newest = number;
    place = at;
    has_log = !core::is_zero(std::span{header}.subspan(48, 16));
  }
  return has_log ? std::optional{place} : std::nullopt;
}

// Changes that were in a log when the machine stopped are not in the disk: libvhdi does not apply
// them. `files` are the image and its parents.
void check_logs(const std::string& path, const std::vector<std::string>& files,
                core::Findings& findings) {
  std::optional<u64> first;
  std::vector<std::string> names;
  for (const auto& file : files) {
    const auto place = find_log(file);
    if (!place) continue;
    if (!first) first = place;
    names.push_back(file == path ? "the VHDX" : "its parent " + file_name_of(file));
  }
  if (names.size() == 1)
    findings.warning(
        "image-log", first,
        "{} was not closed: changes in its log are not read, and what they would replace is",
        names.front());
  else if (!names.empty())
    findings.warning(
        "image-log", first,
        "{} were not closed: changes in their logs are not read, and what they would replace is",
        fmt::join(names, " and "));
}

}  // namespace

bool is_readable_virtual_disk(FileKind kind) {
  return core::is_virtual_disk(kind) && disk_library(kind) != nullptr;
}

std::vector<DiskReader> disk_readers() {
  std::vector<DiskReader> readers;
  const auto add = [&](const char* images, FileKind kind) {
    const auto* const library = disk_library(kind);
    readers.push_back({images, std::string{library->name.view()}, library->loaded()});
  };
  add("VHD and VHDX images", FileKind::vhd);
  add("QCOW2 images", FileKind::qcow);
  add("VMDK images", FileKind::vmdk);
  return readers;
}

std::string_view container_name(FileKind kind) {
  switch (kind) {
    case FileKind::vhdx:
      return "vhdx";
    case FileKind::qcow:
      return "qcow";
    case FileKind::vmdk:
    case FileKind::vmdk_descriptor:
      return "vmdk";
    default:
      return "vhd";
  }
}

std::vector<std::string> list_disk_files(const std::string& path,
                                         const std::vector<std::string>& parents) {
  constexpr u64 longest = u64{1} << 26U;
  const auto file = core::FileImage::open(path);
  const auto kind =
      file ? core::recognize_file(**file).value_or(FileKind::unknown) : FileKind::unknown;
  if (!is_readable_virtual_disk(kind)) return {path};
  const auto& library = *disk_library(kind);
  OpenProblem problem;
  const auto list = ReadingProcess::start(
      library.structure,
      [&](OpenProblem& why) -> std::unique_ptr<core::ImageSource> {
        Chain chain{parents, why};
        if (library.loaded()) chain.open(path, kind);
        return std::make_unique<PathList>(chain.files());
      },
      problem);
  std::vector<std::string> files;
  if (!list || list->size() > longest) return {path};
  std::string text(list->size(), '\0');
  if (!list->read_at(0, std::as_writable_bytes(std::span{text}))) return {path};
  for (std::size_t at = 0; at < text.size();) {
    files.emplace_back(text.c_str() + at);
    at += files.back().size() + 1;
  }
  if (files.empty()) files.push_back(path);
  return files;
}

core::Result<std::unique_ptr<core::ImageSource>> open_virtual_disk(
    const std::string& path, FileKind kind, const std::vector<std::string>& parents,
    core::Findings& findings) {
  const auto& library = *disk_library(kind);
  if (!library.loaded())
    return core::fail({Fault::unsupported, 0, library.structure, library.name, 1, 0});
  const bool has_headers =
      kind == FileKind::vhd || kind == FileKind::vhdx || kind == FileKind::vmdk;
  const auto files = has_headers ? list_disk_files(path, parents) : std::vector{path};
  for (const auto& each : files)
    if (const auto file = core::FileImage::open(each))
      check_container_headers(**file, core::recognize_file(**file).value_or(FileKind::unknown),
                              each == path ? "" : file_name_of(each), findings);
  OpenProblem problem;
  auto source = ReadingProcess::start(
      library.structure,
      [path, kind, parents](OpenProblem& why) -> std::unique_ptr<core::ImageSource> {
        return Chain{parents, why}.open(path, kind);
      },
      problem);
  if (source) {
    if (!problem.text.empty()) tell(problem, findings);
    if (kind == FileKind::qcow) check_end(path, findings);
    if (kind == FileKind::vhdx) check_logs(path, files, findings);
    return std::unique_ptr<core::ImageSource>{std::move(source)};
  }
  tell(problem, findings);
  if (problem.what == OpenProblem::What::library)
    COLDTRACE_TRY(check_tables_readable(path, list_disk_files(path, parents), findings));
  return core::fail({Fault::bad_value, 0, library.structure, library.name, 1, 0});
}

}  // namespace coldtrace::ntfs
