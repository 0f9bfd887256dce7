#include "ntfs/volume/security_index.hpp"

#include <algorithm>
#include <unordered_set>

#include "coldtrace/core/checked.hpp"
#include "coldtrace/ntfs/extents.hpp"
#include "coldtrace/ntfs/structures/fixup.hpp"
#include "coldtrace/ntfs/structures/index.hpp"

namespace coldtrace::ntfs {
namespace {

class SecurityIndexReader {
 public:
  SecurityIndexReader(const core::ImageSource& image, const Mft& mft, const RecordFacts& secure,
                      core::Findings& findings)
      : image_{image}, mft_{mft}, secure_{secure}, findings_{findings} {}

  std::vector<SecurityIndexEntry> read(u64 most_bytes) {
    const u64 at = mft_.offset_of(secure_.record).value_or(0);
    const auto* value = secure_.find(AttributeType::index_root, security_index_name);
    if (!value) {
      findings_.warning("security-index", at, "$Secure has no index $SII");
      return {};
    }
    const auto root = read_index_root(value->value, at + value->value_offset, view_index);
    if (!root) {
      findings_.warning("security-index", root.error());
      return {};
    }
    read_node(root->node);
    read_buffers(root->buffer_size, most_bytes);
    std::ranges::stable_sort(entries_, {}, &SecurityIndexEntry::position);
    return std::move(entries_);
  }

 private:
  void read_node(const IndexNode& node) {
    constexpr u64 head_size = 0x10, key_size = 4, data_size = 0x14;
    constexpr u16 has_child = 1, is_last = 2;
    for (u64 at = 0;;) {
      const auto head = core::Fields<head_size>::at(node.entries, at);
      const u16 length = head ? head->get<u16, 8>() : u16{0};
      const auto bytes = length < head_size ? std::nullopt : core::slice(node.entries, at, length);
      if (!bytes) {
        findings_.warning("security-index", node.entries_offset + at,
                          "an entry of $SII is cut off or not {} bytes long", length);
        return;
      }
      const u16 flags = head->get<u16, 0x0c>();
      if (flags & has_child)
        if (const auto child = core::load<u64>(*bytes, bytes->size() - 8))
          children_.push_back(*child);
      if (flags & is_last) return;
      const auto key = core::load<u32>(*bytes, head_size);
      const auto data = core::Fields<data_size>::at(*bytes, head->get<u16, 0>());
      if (!key || !data || head->get<u16, 0x0a>() != key_size || data->get<u32, 4>() != *key) {
        findings_.warning("security-index", node.entries_offset + at,
                          "an entry of $SII has another id in its key than in its data");
      } else {
        entries_.push_back({.position = data->get<u64, 8>(),
                            .id = *key,
                            .hash = data->get<u32, 0>(),
                            .length = data->get<u32, 0x10>()});
      }
      at += length;
    }
  }

  // Each buffer once, whatever its parents say.
  void read_buffers(u32 size, u64 most_bytes) {
    const auto* allocation = secure_.find(AttributeType::index_allocation, security_index_name);
    if (children_.empty() || !allocation) return tell_missing(children_.size());
    ExtentFaults faults;
    const auto extents = collect_extents(secure_, AttributeType::index_allocation, allocation->name,
                                         mft_.clusters(), faults);
    const u32 unit = index_vcn_unit(size, mft_.clusters().cluster_size);
    std::unordered_set<u64> visited;
    std::vector<std::byte> buffer(size);
    while (!children_.empty()) {
      const u64 vcn = children_.back();
      children_.pop_back();
      if (!visited.insert(vcn).second) continue;
      if (visited.size() > most_bytes / size) return tell_missing(children_.size() + 1);
      const u64 position = core::saturating_multiply(vcn, unit);
      const auto offset = find_offset(mft_.clusters(), extents, position);
      if (!offset || !read_stream(image_, mft_.clusters(), extents, position, buffer)) {
        tell_missing(1);
        continue;
      }
      apply_fixups(buffer);
      const auto index = read_index_buffer(buffer, *offset);
      if (!index) {
        findings_.warning("security-index", index.error());
      } else {
        read_node(index->node);
      }
    }
  }

  void tell_missing(u64 buffers) {
    if (buffers > 0)
      findings_.warning("security-index", mft_.offset_of(secure_.record),
                        "$SII of $Secure: {} of its buffers cannot be read", buffers);
  }

  const core::ImageSource& image_;
  const Mft& mft_;
  const RecordFacts& secure_;
  core::Findings& findings_;
  std::vector<SecurityIndexEntry> entries_;
  std::vector<u64> children_;
};

}  // namespace

std::vector<SecurityIndexEntry> read_security_index(const core::ImageSource& image, const Mft& mft,
                                                    const RecordFacts& secure, u64 most_bytes,
                                                    core::Findings& findings) {
  return SecurityIndexReader{image, mft, secure, findings}.read(most_bytes);
}

}  // namespace coldtrace::ntfs
