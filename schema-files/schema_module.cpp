#include "schema-files/schema_module.hpp"

#include <algorithm>

#include "coldtrace/core/file_kind.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/pe/identity.hpp"
#include "schema-files/file_walk.hpp"

namespace coldtrace::schema_files {
namespace {

// Twenty times what the largest of Windows has.
constexpr u64 largest_resource = u64{64} << 20;

// A module with its file, as long as they are needed together.
struct OpenImage {
  std::unique_ptr<const FileTree::File> file;
  pe::Image image;
};

// Why there is no image; one that is not damaged is of another format.
struct Refusal {
  std::string why;
  bool is_damaged = true;
};

core::Expected<OpenImage, Refusal> open_image(const std::string& path, const FileTree& tree) {
  auto file = tree.open(path, largest_module);
  if (!file) return core::fail(Refusal{reason_of(file.error())});
  const auto view = (*file)->view();
  core::Findings odd;  // of what has no schemas
  auto image = pe::Image::open(view, std::nullopt, odd);
  if (image) return OpenImage{std::move(*file), std::move(*image)};
  if (const auto* const unread = view.error()) return core::fail(Refusal{reason_of(*unread)});
  const auto kind = core::recognize_file(view);
  if (!kind) return core::fail(Refusal{reason_of(kind.error())});
  if (*kind == core::FileKind::pe_image) return core::fail(Refusal{reason_of(image.error())});
  return core::fail(
      Refusal{fmt::format("not a PE file: it is {}", to_string(*kind)), core::is_cut_image(*kind)});
}

// The GUIDs alone: the head of the resource is read, and not the rest.
struct DeclaredGuids {
  std::vector<core::Guid> guids;
  u64 count = 0;  // that the head declares
};

DeclaredGuids read_guids(const pe::Image& image, const pe::Resource& resource) {
  constexpr u64 head_size = 16;
  constexpr u64 row_size = 20;
  const auto head = image.bytes(resource.address, std::min(resource.stored, head_size));
  const u64 room = resource.stored > head_size ? (resource.stored - head_size) / row_size : 0;
  DeclaredGuids declared{.count = core::load<u32>(head, 12).value_or(0)};
  const auto rows = std::min(declared.count, room);
  const auto table = image.bytes(resource.address, head_size + rows * row_size);
  for (u64 i = 0; i < rows; ++i)
    if (const auto guid = core::slice(table, head_size + i * row_size, core::Guid::size_on_disk))
      declared.guids.push_back(core::to_guid(*guid));
  return declared;
}

}  // namespace

SchemaModule::Search SchemaModule::find(const std::string& path, const FileTree& tree) {
  const auto opened = open_image(path, tree);
  if (!opened) return {{}, opened.error().why, opened.error().is_damaged};
  core::Findings odd;
  for (const auto& resource : pe::find_resources(opened->image, "WEVT_TEMPLATE", odd)) {
    if (!resource.offset || resource.stored == 0) continue;
    auto declared = read_guids(opened->image, resource);
    Search found;
    if (declared.guids.size() < declared.count) {
      found.why = fmt::format("WEVT_TEMPLATE declares {}, of which {} can be read",
                              core::counted(declared.count, "provider", "providers"),
                              declared.guids.size());
      found.is_damaged = true;
    }
    found.module = {path, *resource.offset, std::min(resource.stored, largest_resource),
                    std::move(declared.guids), &tree};
    return found;
  }
  if (!odd.empty())
    return {{}, fmt::format("resources that cannot be read: {}", odd.all().front().text), true};
  if (const auto* const unread = opened->file->view().error())
    return {{}, reason_of(*unread), true};
  return {{}, "declares no event providers: it has no WEVT_TEMPLATE resource"};
}

core::Result<std::vector<std::byte>> SchemaModule::read() const {
  auto bytes = COLDTRACE_TRY(tree->read(path, offset, size));
  if (bytes.size() == size) return bytes;
  return core::fail(
      {core::Fault::truncated, offset, "WEVT_TEMPLATE", "resource", size, bytes.size()});
}

std::optional<std::string> SchemaModule::file_version() const {
  const auto opened = open_image(path, *tree);
  if (!opened) return std::nullopt;
  core::Findings odd;
  const auto version = pe::find_version_info(opened->image, odd);
  if (!version || !version->fixed) return std::nullopt;
  return pe::to_string(version->fixed->file);
}

}  // namespace coldtrace::schema_files
