#include "coldtrace/ntfs/disk/image_hashes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "coldtrace/core/file.hpp"
#include "coldtrace/digests/digest.hpp"

namespace coldtrace::ntfs {

std::string_view ImageHash::name() const {
  return algorithm == "md5" ? "MD5" : algorithm == "sha1" ? "SHA-1" : "SHA-256";
}

std::optional<bool> ImageHash::matches() const {
  return computed ? std::optional{*computed == stored} : std::nullopt;
}

std::vector<ImageHash> stored_hashes(const ImageFile& image, core::Findings& findings) {
  std::vector<ImageHash> hashes;
  if (image.ewf == nullptr) return hashes;
  for (auto& hash : image.ewf->hashes(findings))
    hashes.push_back({hash.algorithm, std::move(hash.value), std::nullopt});
  return hashes;
}

void verify_hashes(const core::ImageSource& disk, std::vector<ImageHash>& hashes,
                   core::Progress* progress, core::Findings& findings) {
  if (hashes.empty())
    return findings.warning("image-hash-none", std::nullopt,
                            "the image states no hash to verify its bytes");
  std::vector<digests::Digest> computed;
  for (const auto& hash : hashes) computed.push_back(*digests::Digest::make(hash.algorithm));
  constexpr u64 most_at_once = u64{1} << 20;
  core::ReadBuffer buffer;
  for (u64 at = 0; at < disk.size(); at += most_at_once) {
    const auto part = buffer.first(std::min(most_at_once, disk.size() - at));
    if (const auto read = disk.read_at(at, part); !read)
      return findings.warning("image-hash", read.error().offset,
                              "the hashes that the image states cannot be checked: the disk cannot "
                              "be read at {:#x}",
                              read.error().offset);
    for (auto& digest : computed) digest.add(part);
    if (progress != nullptr) progress->add(part.size(), 0);
  }
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    auto& hash = hashes[i];
    hash.computed = computed[i].take();
    if (*hash.computed != hash.stored)
      findings.warning("image-hash", std::nullopt,
                       "the {} of the disk is {}, but the image states {}: one of them was changed "
                       "since the image was made",
                       hash.name(), *hash.computed, hash.stored);
  }
}

}  // namespace coldtrace::ntfs
