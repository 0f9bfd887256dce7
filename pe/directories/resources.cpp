#include "coldtrace/pe/resources.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory_resource>
#include <unordered_set>
#include <utility>

#include "coldtrace/core/text.hpp"
#include "coldtrace/core/unreadable.hpp"
#include "coldtrace/core/utf16.hpp"

namespace coldtrace::pe {
namespace {

constexpr u32 high_bit = 0x8000'0000;
constexpr std::size_t levels = 3;
// Ten times what the largest resource libraries of Windows have.
constexpr u64 most_entries = 100'000;

class TreeWalker {
 public:
  TreeWalker(const Image& image, core::Findings& findings)
      : image_{image},
        findings_{findings},
        window_{image},
        root_{image.directory(Directory::resources).address},
        size_{image.addresses().stored_size(root_)},
        base_{image.offset_of(Directory::resources)},
        entry_budget_{std::min(size_ / entry_size, most_entries)},
        name_budget_{size_ * 2 + slack},
        content_budget_{image.file().size() * 4} {}

  // All resources, or those whose type is `wanted`.
  template <class Type>
  std::vector<Resource> walk(const Type& wanted) {
    wanted_ = [&](const ResourceId& type) { return type.is(wanted); };
    return walk();
  }

  std::vector<Resource> walk() {
    if (size_ == 0)
      findings_.warning("resource-range", std::nullopt, "no bytes for the resources at RVA {:#x}",
                        value(root_));
    else
      walk_directory(0, 0, {});
    return std::move(resources_);
  }

 private:
  static constexpr u64 entry_size = 8;
  static constexpr u64 slack = 64 << 10;  // real types are repeated too

  u64 at(u64 offset) const { return base_ + offset; }

  core::ByteView bytes(u64 offset, u64 length) {
    if (offset >= size_) return {};
    return window_.bytes(root_ + offset, length);
  }

  template <std::size_t Size>
  std::optional<core::Fields<Size>> fields(u64 offset) {
    return core::Fields<Size>::at(bytes(offset, Size), 0);
  }

  void walk_directory(u32 offset, std::size_t level, Resource resource) {
    if (!visited_.insert(offset).second) {
      findings_.warning("resource-loop", at(offset),
                        "the resource directory at {:#x} is reached twice", offset);
      return;
    }
    constexpr u64 header_size = 16;
    const auto header = fields<header_size>(offset);
    if (!header) {
      findings_.warning("resource-range", at(offset),
                        "no room for a resource directory at {:#x} of {:#x} bytes", offset, size_);
      return;
    }
    const u64 count = u64{header->get<u16, 12>()} + header->get<u16, 14>();
    for (u64 i = 0; i < count; ++i) {
      const u64 entry_offset = offset + header_size + i * entry_size;
      const auto entry = fields<entry_size>(entry_offset);
      if (!entry || entry_budget_ == 0) {
        findings_.warning("resource-count", at(offset),
                          "a resource directory declares {}, of which {} possible",
                          core::counted(count, "entry", "entries"), core::counted(i, "is", "are"));
        return;
      }
      --entry_budget_;
      walk_entry(entry->get<u32, 0>(), entry->get<u32, 4>(), level, resource);
    }
  }

  void walk_entry(u32 id, u32 target, std::size_t level, Resource resource) {
    if (level == 0) {
      resource.type = read_id(id);
      if (wanted_ && !wanted_(resource.type)) return;
    }
    if (level == 1) resource.name = read_id(id);
    if (level == 2) resource.language = id;
    const bool directory = (target & high_bit) != 0;
    const auto offset = target & ~high_bit;
    if (directory == (level + 1 == levels)) {
      findings_.warning("resource-depth", at(offset), "a resource {} at level {} of {}",
                        directory ? "directory" : "entry", level + 1, levels);
      if (directory) return;
    }
    if (directory)
      walk_directory(offset, level + 1, resource);
    else
      add_leaf(offset, resource);
  }

  void add_leaf(u32 offset, Resource resource) {
    const auto entry = fields<16>(offset);
    if (!entry) {
      findings_.warning("resource-range", at(offset),
                        "no room for a resource data entry at {:#x} of {:#x} bytes", offset, size_);
      return;
    }
    resource.address = Rva{entry->get<u32, 0>()};
    resource.size = entry->get<u32, 4>();
    resource.code_page = entry->get<u32, 8>();
    // Resources may share their bytes, but not to make a reader of all of them slow.
    resource.stored = std::min(
        {u64{resource.size}, image_.addresses().stored_size(resource.address), content_budget_});
    content_budget_ -= resource.stored;
    resource.offset = image_.addresses().to_offset(resource.address);
    if (resource.stored < resource.size)
      findings_.warning("resource-range", at(offset),
                        "a resource of {:#x} bytes at RVA {:#x}, of which {:#x} are read",
                        resource.size, value(resource.address), resource.stored);
    limit_names(resource);
    resources_.push_back(resource);
  }

  // Every resource of a type repeats its name, which is short unless it is made to fill a disk.
  void limit_names(Resource& resource) {
    const auto size = resource.type.units.size() + resource.name.units.size();
    if (size <= name_budget_) {
      name_budget_ -= size;
      return;
    }
    findings_.warning("resource-name", resource.offset,
                      "the names of resources are together longer than their section");
    resource.type.units = resource.name.units = {};
  }

  ResourceId read_id(u32 id) {
    if ((id & high_bit) == 0) return {id, false, {}};
    const u64 offset = id & ~high_bit;
    const auto length = core::load<u16>(bytes(offset, 2), 0);
    const u64 size = length.value_or(0) * u64{2};
    const auto units = bytes(offset + 2, size);
    if (!length || units.size() < size) {
      findings_.warning("resource-name", at(offset),
                        "a resource name of {} bytes at {:#x} of {:#x}", size, offset, size_);
      return {0, true, {}};
    }
    return {0, true, units};
  }

  const Image& image_;
  core::Findings& findings_;
  Image::Window window_;
  Rva root_;
  u64 size_;  // of the section from the root on; offsets of the tree count from there
  u64 base_;
  u64 entry_budget_;
  u64 name_budget_;
  u64 content_budget_;
  std::function<bool(const ResourceId&)> wanted_;
  // Of a directory for each resource, which took as long to allocate as to read
  // (bench/compare-pe, `pe info` over folders).
  std::array<std::byte, 8192> room_;
  std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
  std::pmr::unordered_set<u32> visited_{&memory_};
  std::vector<Resource> resources_;
};

// Like the loader, which does not look at the size.
bool has_resources(const Image& image) {
  return value(image.directory(Directory::resources).address) != 0;
}

}  // namespace

bool ResourceId::is(std::string_view wanted) const {
  return named && units.size() == wanted.size() * 2 && core::decode_utf16(units).utf8 == wanted;
}

std::string to_string(const ResourceId& id) {
  return id.named ? core::decode_exact(id.units) : std::to_string(id.number);
}

std::string_view resource_type_name(u32 type) {
  constexpr std::string_view names[] = {
      "",         "cursor",          "bitmap",        "icon", "menu",
      "dialog",   "string table",    "font folder",   "font", "accelerators",
      "raw data", "message table",   "cursor group",  "",     "icon group",
      "",         "version",         "include",       "",     "plug and play",
      "VxD",      "animated cursor", "animated icon", "HTML", "manifest"};
  return type < std::size(names) ? names[type] : std::string_view{};
}

std::vector<Resource> read_resources(const Image& image, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  if (!has_resources(image)) return {};
  return TreeWalker{image, findings}.walk();
}

std::vector<Resource> find_resources(const Image& image, u32 type, core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  if (!has_resources(image)) return {};
  return TreeWalker{image, findings}.walk(type);
}

std::vector<Resource> find_resources(const Image& image, std::string_view type,
                                     core::Findings& findings) {
  const core::UnreadableNote note{image.file(), findings};
  if (!has_resources(image)) return {};
  return TreeWalker{image, findings}.walk(type);
}

}  // namespace coldtrace::pe
