#pragma once

#include <memory>

#include "coldtrace/ntfs/bitlocker/bitlocker_key.hpp"

namespace coldtrace::ntfs {

// An image with a BitLocker volume in it decrypted: what it has lies where Windows shows it, all
// else is the image's own. Nothing where the volume's method of encryption is not known. No key is
// needed for a volume that is decrypted.
std::unique_ptr<core::ImageSource> open_bitlocker_image(std::unique_ptr<core::ImageSource>& image,
                                                        const BitLockerMetadata& metadata,
                                                        const BitLockerVolumeKey* key);

}  // namespace coldtrace::ntfs
