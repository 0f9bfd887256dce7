#pragma once

#include <memory>

#include "coldtrace/ntfs/bitlocker/bitlocker_key.hpp"

namespace coldtrace::ntfs {

// An image with a BitLocker volume decrypted in it: its contents are where Windows shows them,
// everything else is the image's own. Nothing if the volume's encryption method is unknown. A
// decrypted volume needs no key.
std::unique_ptr<core::ImageSource> open_bitlocker_image(std::unique_ptr<core::ImageSource>& image,
                                                        const BitLockerMetadata& metadata,
                                                        const BitLockerVolumeKey* key);

}  // namespace coldtrace::ntfs
