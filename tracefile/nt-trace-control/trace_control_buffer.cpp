#include "coldtrace/nt_trace_control/trace_control_buffer.hpp"

#include <algorithm>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/nt_trace_control/trace_control_code.hpp"

namespace coldtrace::tracefile {
namespace {

// In an ETW_NOTIFICATION_HEADER: what follows is the rest of an enable notification.
constexpr u32 legacy_enable_type = 2;
constexpr u32 enable_type = 3;
constexpr u32 send_reply = 0x12;

constexpr u64 following_data_offset = 0x74;  // in an enable notification
constexpr u32 schematized_filters = 0x80000000;

class BufferDecoder {
 public:
  BufferDecoder(KernelVersion version, core::ByteView bytes) : version_{version}, bytes_{bytes} {}

  DecodedControlBuffer decode(ControlStructure structure) {
    decoded_.layout = find_control_layout(structure, version_);
    if (decoded_.layout) {
      check_size(*decoded_.layout);
      read(structure, 0, {});
      if (structure == ControlStructure::disallow_list) read_entries();
      if (structure == ControlStructure::enable_notification) read_filters(0);
      if (structure == ControlStructure::registration)
        read_filters(find_control_layout(ControlStructure::registration_header, version_)->size);
    }
    decoded_.rest_offset = std::min<u64>(end_, bytes_.size());
    decoded_.rest_size = bytes_.size() - decoded_.rest_offset;
    return std::move(decoded_);
  }

 private:
  void check_size(const ControlLayout& layout) {
    if (bytes_.size() < layout.size)
      decoded_.findings.warning("control-truncated", bytes_.size(),
                                "{} has {:#x} bytes, of which {:#x} are present",
                                layout.name.view(), layout.size, bytes_.size());
  }

  // All fields of the structure at `base` that are there.
  void read(ControlStructure structure, u64 base, const std::string& prefix) {
    for (const auto& field : control_fields()) {
      if (field.structure != structure || !field.versions.contains(version_)) continue;
      auto name = prefix + std::string{field.name.view()};
      if (field.type == ControlType::part) {
        read(field.inner, base + field.offset, name + ".");
      } else {
        read_field(field, base + field.offset, std::move(name));
      }
    }
    if (const auto* layout = find_control_layout(structure, version_))
      end_ = std::max(end_, base + layout->size);
  }

  void read_field(const ControlField& field, u64 offset, std::string name) {
    const auto bytes = core::slice(bytes_, offset, size_of(field.type));
    if (!bytes) return;
    DecodedControlField decoded{std::move(name), offset, field.type, field.use, 0, {}, {},
                                field.remark};
    switch (field.type) {
      case ControlType::guid:
      case ControlType::bytes:
        decoded.bytes = core::to_guid(*bytes);
        break;
      case ControlType::i32:
        decoded.number = static_cast<u64>(i64{*core::load<i32>(*bytes, 0)});
        break;
      default:
        for (std::size_t i = bytes->size(); i > 0; --i)
          decoded.number = decoded.number << 8 | std::to_integer<u64>((*bytes)[i - 1]);
    }
    decoded.value_name = name_of_value(field.structure, field.offset, decoded.number);
    decoded_.fields.push_back(std::move(decoded));
  }

  void read_entries() {
    const auto* list = decoded_.layout;
    const auto* entry = find_control_layout(ControlStructure::disallow_entry, version_);
    const auto count = core::load<u32>(bytes_, 4);
    if (!count || !entry) return;
    u64 at = list->size;
    for (u32 i = 0; i < *count; ++i, at += entry->size) {
      if (!core::slice(bytes_, at, entry->size)) {
        decoded_.findings.warning("control-entries", bytes_.size(), "{} counted, {} present",
                                  core::counted(*count, "entry is", "entries are"),
                                  core::counted(i, "is", "are"));
        return;
      }
      read(ControlStructure::disallow_entry, at, fmt::format("entries[{}].", i));
    }
  }

  // The schematized filters behind the enable notification at `base`.
  void read_filters(u64 base) {
    const auto* notification = find_control_layout(ControlStructure::enable_notification, version_);
    const auto following = core::load<u32>(bytes_, base + following_data_offset);
    if (!following || *following == 0 || version_ == KernelVersion::v6_0) return;
    const u64 start = base + notification->size;
    if (version_ < KernelVersion::v6_3) {
      if (*following == schematized_filters) walk_filters(bytes_, start);
      return;
    }
    const auto* descriptor = find_control_layout(ControlStructure::filter_descriptor, version_);
    read(ControlStructure::filter_descriptor, start, "filter descriptor.");
    if (!core::slice(bytes_, start, descriptor->size)) {
      decoded_.findings.warning("control-filters", bytes_.size(),
                                "the descriptor of the filters is incomplete");
      return;
    }
    const auto first = core::saturating_add(base, *core::load<u64>(bytes_, start));
    const auto size = *core::load<u32>(bytes_, start + 8);
    if (*core::load<u32>(bytes_, start + 12) != schematized_filters) return;
    if (!core::slice(bytes_, first, size)) {
      decoded_.findings.warning("control-filters", start, "the filters are incomplete");
      return;
    }
    walk_filters(bytes_.first(first + size), first);
  }

  // EVENT_FILTER_HEADERs, each of which leads to the next, inside `bytes`.
  void walk_filters(core::ByteView bytes, u64 at) {
    const auto* header = find_control_layout(ControlStructure::filter_header, version_);
    for (u64 i = 0;; ++i) {
      if (!core::slice(bytes, at, header->size)) {
        decoded_.findings.warning("control-filters", std::min<u64>(at, bytes_.size()),
                                  "filter {} is missing", i);
        return;
      }
      read(ControlStructure::filter_header, at, fmt::format("filters[{}].", i));
      const auto size = *core::load<u32>(bytes, at + 0x10);
      const auto next = *core::load<u32>(bytes, at + 0x14);
      if (size < header->size || !core::slice(bytes, at, size) || (next != 0 && next < size)) {
        decoded_.findings.warning("control-filters", at,
                                  "filter {} cannot have {:#x} bytes and {:#x} to the next", i,
                                  size, next);
        return;
      }
      end_ = std::max(end_, at + size);
      if (next == 0) return;
      at += next;  // at least the header's size, so the walk ends
    }
  }

  KernelVersion version_;
  core::ByteView bytes_;
  u64 end_ = 0;  // of what is decoded
  DecodedControlBuffer decoded_;
};

// What a notification is that says so in its type.
ControlStructure notification_of(u32 code, KernelVersion version, core::ByteView bytes) {
  const auto* enable = find_control_layout(ControlStructure::enable_notification, version);
  const auto type = core::load<u32>(bytes, 0);
  const bool enables = type == legacy_enable_type || type == enable_type;
  return code != send_reply && enables && bytes.size() >= enable->size
             ? ControlStructure::enable_notification
             : ControlStructure::notification;
}

}  // namespace

DecodedControlBuffer decode_control_buffer(u32 code, KernelVersion version,
                                           ControlDirection direction, core::ByteView bytes) {
  auto structure = ControlStructure::none;
  if (const auto* row = find_control_code(code); row && row->versions.contains(version))
    structure = direction == ControlDirection::input ? row->input_structure : row->output_structure;
  if (structure == ControlStructure::notification)
    structure = notification_of(code, version, bytes);
  return BufferDecoder{version, bytes}.decode(structure);
}

}  // namespace coldtrace::tracefile
